import Numbers

/// A request and its limits.
///
///     HTTPRequest(url: "https://example.org/index.xml", destination: .stream, limit: 1 << 30)
public struct HTTPRequest: Sendable {
    /// The place where the body of a successful answer goes. Other bodies are dropped.
    public enum Destination: Sendable {
        /// The body goes to the iteration over the transfer, piece by piece. A slow reader makes the server wait.
        case stream
        /// The body goes to an open file, from the file's beginning on. A request with a ``HTTPRequest/resumption``
        /// writes from the offset that the resumption names.
        case file(BodyFile)

        var isStream: Bool { if case .stream = self { true } else { false } }
    }

    /// The kind of connection that a transfer uses.
    public enum Connection: Hashable, Sendable {
        /// The transfer may share any connection, if the server allows that.
        case any
        /// The transfer has a connection of its own, with HTTP/1.1.
        case unshared
        /// At most two transfers share the connection. A lost packet delays only those two. The loss of a last packet
        /// is noticed soon, because the other transfer sends more after it.
        case few
    }

    /// The way to split a transfer into pieces.
    public struct Pieces: Hashable, Sendable {
        /// The number of bytes per piece.
        public var size: ByteCount
        /// The most bytes that may be requested but not yet received, over all pieces.
        public var window: ByteCount

        /// The most pieces to request at a time.
        public var most: Int

        /// Creates a description of pieces.
        public init(size: ByteCount, window: ByteCount, most: Int) {
            (self.size, self.window, self.most) = (size, window, most)
        }
    }

    /// The URL, without credentials: `http`, `https`, or `file` if ``allowsFiles`` is true.
    public var url: String
    /// The names and values of additional headers.
    public var headers: [(name: String, value: String)]
    /// The credentials for the URL's origin.
    public var credentials: Credentials?
    /// The place where the body goes.
    public var destination: Destination
    /// The beginning of the body that an earlier transfer received.
    public var resumption: Resumption?
    /// The most bytes of the body, decompressed and including those received earlier.
    public var limit: ByteCount
    /// Whether the client may read `file` URLs. A redirect never leads to a file.
    public var allowsFiles: Bool
    /// Whether the server may compress the body, which helps for text.
    public var allowsCompression: Bool
    /// The most decompressed bytes per compressed byte, after the first mebibyte; nil for no limit.
    public var maximumExpansion: Int?
    /// The addresses to which the transfer may connect, also after redirects.
    public var addressPolicy: AddressPolicy
    /// Whether the user has named the URL's origin. Only then does Vitrine use netrc files and general client
    /// certificates.
    public var isNamedByUser: Bool
    /// The priority on an HTTP/2 connection, from 1 to 256.
    public var weight: Int
    /// The kind of connection to use.
    public var connection: Connection
    /// The pieces to split the transfer into; nil for one request. Use pieces only for large bodies that go into a
    /// file: several connections start faster, and a lost packet slows down only one of them. If the server does not
    /// support ranges reliably, the client requests the whole file at once.
    public var pieces: Pieces?
    /// The meter that shows the transfer's progress.
    public var meter: TransferMeter?
    /// The range to request; nil for the whole resource.
    var range: Range<ByteCount>?
    /// Remembers which servers support ranges.
    var ranges: RangeMemory?
    /// Whether to overwrite bytes that an earlier transfer left in the file.
    var isRestarted = false

    /// The weight of an HTTP/2 stream without a priority (RFC 7540, section 5.3.5).
    public static let usualWeight = 16

    /// The most redirects that Vitrine follows.
    static let maximumRedirects = 10

    /// Creates a request.
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
