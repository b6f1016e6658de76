import Numbers

/// A request and its limits.
///
///     HTTPRequest(url: "https://example.org/index.xml", destination: .stream, limit: 1 << 30)
public struct HTTPRequest: Sendable {
    /// The destination of a successful answer's body. Other bodies are dropped.
    public enum Destination: Sendable {
        /// The iteration over the transfer, piece by piece. A slow reader makes the server wait.
        case stream
        /// An open file, from its beginning or from the offset of a ``HTTPRequest/resumption``.
        case file(BodyFile)

        var isStream: Bool { if case .stream = self { true } else { false } }
    }

    /// The connection that a transfer uses.
    public enum Connection: Hashable, Sendable {
        /// Any connection, shared with other transfers if the server allows that.
        case any
        /// A connection of its own: HTTP/1.1, whatever the server supports.
        case unshared
        /// A connection that at most two transfers share. A lost packet delays only those two, and the loss of a last
        /// packet is noticed soon, since the other transfer sends more after it.
        case few
    }

    /// How a transfer is split into pieces.
    public struct Pieces: Hashable, Sendable {
        /// Bytes per piece.
        public var size: ByteCount
        /// Bytes that may be requested and missing at a time, over all pieces.
        public var window: ByteCount

        /// The most pieces under way at a time.
        public var most: Int

        /// Makes a description of pieces.
        public init(size: ByteCount, window: ByteCount, most: Int) {
            (self.size, self.window, self.most) = (size, window, most)
        }
    }

    /// A URL without credentials: `http`, `https`, or `file` if ``allowsFiles`` is set.
    public var url: String
    /// Header names and values.
    public var headers: [(name: String, value: String)]
    /// The credentials for the URL's origin.
    public var credentials: Credentials?
    /// The destination of the body.
    public var destination: Destination
    /// The part of the body that is already there.
    public var resumption: Resumption?
    /// The most bytes of the body, decompressed and including those already there.
    public var limit: ByteCount
    /// Whether `file` URLs are read. A redirect never leads to one.
    public var allowsFiles: Bool
    /// Whether the server may compress the body. Useful for text.
    public var allowsCompression: Bool
    /// The most bytes per compressed byte, beyond the first mebibyte; nil for no limit.
    public var maximumExpansion: Int?
    /// The addresses that the transfer may reach, redirects included.
    public var addressPolicy: AddressPolicy
    /// Whether the user has named the URL's origin. Only then are netrc files and general client certificates used.
    public var isNamedByUser: Bool
    /// The share of an HTTP/2 connection, from 1 to 256.
    public var weight: Int
    /// The connection to use.
    public var connection: Connection
    /// The pieces to split the transfer into; nil for one request. Only for large bodies that go into a file: several
    /// connections start faster, and a lost packet slows down only one of them. If the server does not support ranges
    /// reliably, the whole is requested at once.
    public var pieces: Pieces?
    /// The meter that shows the transfer's progress.
    public var meter: TransferMeter?
    /// The range to request; nil for the whole.
    var range: Range<ByteCount>?
    /// Remembers which servers support ranges.
    var ranges: RangeMemory?
    /// Whether the file holds useless bytes of an earlier transfer.
    var isRestarted = false

    /// The weight of a stream without one (RFC 7540, section 5.3.5).
    public static let usualWeight = 16

    /// The most redirects that are followed.
    static let maximumRedirects = 10

    /// Makes a request.
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
