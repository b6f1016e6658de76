import Numbers

/// What to fetch, and within what bounds.
///
///     HTTPRequest(url: "https://example.org/index.xml", destination: .stream, limit: 1 << 30)
public struct HTTPRequest: Sendable {
    /// Where the body of a successful answer goes. Any other answer's body goes nowhere.
    public enum Destination: Sendable {
        /// To whoever iterates over the transfer, piece by piece. When that one is slow, the server is made to wait.
        case stream
        /// Into an open file, from its beginning; with a ``HTTPRequest/resumption``, from its offset or from the beginning.
        case file(BodyFile)

        var isStream: Bool { if case .stream = self { true } else { false } }
    }

    /// What a transfer goes over.
    public enum Connection: Hashable, Sendable {
        /// Whatever is there, shared with others where the server can do that.
        case any
        /// A new one, though an old one could be used. Of use for what is large and urgent: over HTTP/1.1 an old connection
        /// of a busy line sends slowly.
        case fresh
        /// One that it has for itself: HTTP/1.1, whatever the server can do.
        case unshared
        /// One of many that two share at most, where the server can do that. A packet that is lost holds up those two and no
        /// others; and the end of one is soon missed, since mostly something of the other comes after it.
        case few
    }

    /// How something is asked for in pieces.
    public struct Pieces: Hashable, Sendable {
        /// Bytes of one.
        public var size: ByteCount
        /// How many bytes are to be asked for and not here, over all of them.
        public var window: ByteCount

        /// How many pieces are under way at once at most.
        public var most: Int

        /// States it.
        public init(size: ByteCount, window: ByteCount, most: Int) {
            (self.size, self.window, self.most) = (size, window, most)
        }
    }

    /// A URL without credentials: `http`, `https`, and `file` where ``allowsFiles`` says so.
    public var url: String
    /// Header lines, name and value.
    public var headers: [(name: String, value: String)]
    /// Who asks.
    public var credentials: Credentials?
    /// Where the body goes.
    public var destination: Destination
    /// What of the body is there already.
    public var resumption: Resumption?
    /// The most bytes that the body may have, after any decompression; with what is there already.
    public var limit: ByteCount
    /// Whether `file` URLs are read. A redirect never leads to one.
    public var allowsFiles: Bool
    /// Whether the server may compress the body. Of use for text.
    public var allowsCompression: Bool
    /// How many bytes may be made of each byte of a compressed body, beyond the first mebibyte; nil for any number.
    public var maximumExpansion: Int?
    /// What it may reach, redirects included.
    public var addressPolicy: AddressPolicy
    /// Whether the user himself has named the URL's origin, and not a stranger, on whose list it stands. Only then is who asks
    /// looked for in a netrc file, and a certificate shown that is for no host in particular.
    public var isNamedByUser: Bool
    /// This transfer's share of an HTTP/2 connection, in relation to the others on it: from 1 to 256.
    public var weight: Int
    /// What it goes over.
    public var connection: Connection
    /// In what pieces it may come; nil for in one. Of use for what is large, and goes into a file: many connections begin
    /// faster than one, and the loss of a packet slows down one of them and not all. A server that does not do that, or does
    /// it in a way that is not to be trusted, is asked for all of it in one.
    public var pieces: Pieces?
    /// Shows how the transfer goes while it does.
    public var meter: TransferMeter?
    /// The part that is asked for; nil for all.
    var range: Range<ByteCount>?
    /// Where it is kept what its server says of parts.
    var ranges: RangeMemory?
    /// Whether the file has something of an earlier transfer that is of no use.
    var isBegunAnew = false

    /// What RFC 7540, section 5.3.5, gives to a stream that says nothing.
    public static let usualWeight = 16

    /// Redirects that are followed.
    static let maximumRedirects = 10

    /// Describes a request.
    public init(
        url: String, headers: [(name: String, value: String)] = [], credentials: Credentials? = nil,
        destination: Destination, resumption: Resumption? = nil, limit: ByteCount, allowsFiles: Bool = false,
        allowsCompression: Bool = false,
        addressPolicy: AddressPolicy = .anywhere, isNamedByUser: Bool = false, weight: Int = HTTPRequest.usualWeight,
        connection: Connection = .any, pieces: Pieces? = nil, meter: TransferMeter? = nil
    ) {
        self.url = url
        self.headers = headers
        self.credentials = credentials
        self.destination = destination
        self.resumption = resumption
        self.limit = limit
        self.allowsFiles = allowsFiles
        self.allowsCompression = allowsCompression
        self.addressPolicy = addressPolicy
        self.isNamedByUser = isNamedByUser
        self.weight = weight
        self.connection = connection
        self.pieces = pieces
        self.meter = meter
    }
}
