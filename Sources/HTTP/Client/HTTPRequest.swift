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
        /// writes from the resumption's offset on.
        case file(BodyFile)

        var isStream: Bool { if case .stream = self { true } else { false } }
    }

    /// The method of a request.
    ///
    /// Only `get` follows redirects to other origins. `propfind` and `options` keep their method and body after a
    /// redirect within the origin. So do `post` and `put`, but only after 307 and 308, which mean that the server has
    /// not processed the request.
    public enum Method: String, Hashable, Sendable {
        /// Fetches a resource.
        case get = "GET"
        /// Lists a WebDAV folder, or reads properties of a file.
        case propfind = "PROPFIND"
        /// Asks which features a server supports. The body of the answer is dropped.
        case options = "OPTIONS"
        /// Sends a query. Vitrine never repeats a query after sending it, except as an answer to 401, 407, 307 or 308.
        case post = "POST"
        /// Stores the file in the request's ``HTTPRequest/upload``. Vitrine may repeat this request.
        case put = "PUT"

        /// Returns whether a status means success for a request with this method. The request must have no range.
        public func isSuccess(_ status: Int) -> Bool {
            switch self {
            case .get: status == 200
            case .propfind: status == 200 || status == 207
            case .options: (200..<300).contains(status)
            case .post, .put: [200, 201, 204].contains(status)
            }
        }

        /// Returns whether a redirect with this status keeps method and body.
        func isKept(by status: Int) -> Bool {
            switch self {
            case .get: true
            // RFC 9110, section 15.4.4: 303 leads to another resource, which a GET fetches.
            case .propfind, .options: status != 303
            // After the other statuses, the server may have acted on the request already.
            case .post, .put: status == 307 || status == 308
            }
        }
    }

    /// A file to send, and the digest of its bytes.
    public struct Upload: Sendable {
        /// The open file.
        public let file: UploadFile
        /// The SHA-256 digest of the bytes as hexadecimal digits; nil to sign no bytes.
        ///
        /// The request's signature contains this digest. Without TLS, only the digest keeps others from changing the
        /// bytes on the way.
        public let digest: String?

        /// Creates a description of a file to send.
        public init(_ file: UploadFile, digest: String? = nil) {
            (self.file, self.digest) = (file, digest)
        }
    }

    /// The kind of connection that a transfer uses.
    public enum Connection: Hashable, Sendable {
        /// The transfer may share any connection, if the server allows that.
        case any
        /// The transfer has a connection of its own, with HTTP/1.1.
        case unshared
        /// At most two transfers share the connection. A lost packet delays only these two transfers. The loss of a
        /// transfer's last packet is noticed soon, because the other transfer sends more packets.
        case few
    }

    /// The way to split a transfer into pieces.
    public struct Pieces: Hashable, Sendable {
        /// The number of bytes per piece.
        public var size: ByteCount
        /// The maximum number of requested bytes that have not arrived. The bytes of all pieces count together.
        public var window: ByteCount

        /// The maximum number of pieces to request at a time.
        public var most: Int

        /// Creates a description of pieces.
        public init(size: ByteCount, window: ByteCount, most: Int) {
            (self.size, self.window, self.most) = (size, window, most)
        }
    }

    /// The URL, without credentials: `http`, `https`, or `file` if ``allowsFiles`` is true.
    public var url: String
    /// The method. `file` URLs support only `get`.
    public var method: Method
    /// The names and values of additional headers, for the URL's origin only. The client drops a header that would not
    /// be a single line.
    public var headers: [(name: String, value: String)]
    /// The body to send; nil for none. A `get` sends no body. The headers must state its type.
    public var body: [UInt8]?
    /// The file to send; nil for none. Only `put` sends a file.
    public var upload: Upload?
    /// The credentials for the URL's origin.
    public var credentials: Credentials?
    /// The place where the body goes.
    public var destination: Destination
    /// The beginning of the body that an earlier transfer received.
    public var resumption: Resumption?
    /// The bytes of the resource to fetch; nil for all bytes. Only `get` without a ``resumption`` uses this.
    ///
    /// Status 206 means that the server supports ranges. After status 200, the transfer ends when it has received these
    /// bytes. If the bytes are not at the beginning of the resource, no body arrives after status 200. If the resource
    /// is shorter, the answer is still complete. ``HTTPResponse/length`` is the length of the whole resource, which may
    /// be beyond ``limit``. Status 416 means that the resource has none of the bytes; with the length 0, the resource
    /// is empty.
    public var wantedBytes: Range<ByteCount>?
    /// The maximum number of bytes of the decompressed body, including bytes received earlier.
    public var limit: ByteCount
    /// Whether the client may read `file` URLs. A redirect never leads to a file.
    public var allowsFiles: Bool
    /// Whether the server may compress the body, which helps for text.
    public var allowsCompression: Bool
    /// The maximum number of decompressed bytes per compressed byte, after the first mebibyte; nil for no limit.
    public var maximumExpansion: Int?
    /// The addresses to which the transfer may connect, also after redirects.
    public var addressPolicy: AddressPolicy
    /// Whether the user has named the URL's origin. Vitrine uses netrc files and general client certificates only if
    /// this is true.
    public var isNamedByUser: Bool
    /// Whether to send the password at once. Some servers expect a password without asking for it.
    public var sendsPasswordUnasked = false
    /// Whether to pass on the beginning of a refusal's body.
    ///
    /// The body may explain the refusal. At most 64 KiB arrive, as ``HTTPEvent/bytes(_:)``. A transfer in ``pieces``
    /// passes on no refusals.
    public var wantsRefusals = false
    /// Whether to send the URL in its canonical form, which encodes each `+`.
    ///
    /// Storage services take a `+` in a path for a space. Signed requests always have the canonical form. Without a
    /// signature, a redirect's target keeps its own form.
    public var hasCanonicalURL = false
    /// The secrets in the URL, such as a token in its path. The log shows `…` in their places.
    public var secrets: [String] = []
    /// The priority on an HTTP/2 connection, from 1 to 256.
    public var weight: Int
    /// The kind of connection to use.
    public var connection: Connection
    /// The pieces to split the transfer into; nil for one request. Use pieces only for large bodies that go into a
    /// file: several connections start faster, and a lost packet slows down only one connection. If the server does not
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

    /// Returns a URL of the request or of a redirect for the log.
    func logged(_ url: String) -> String {
        secrets.reduce(url) { $0.replacing($1, with: "…") }
    }

    /// Whether the client receives the whole body of a successful answer.
    var wantsWholeBody: Bool { method != .options && excerpt == nil }

    /// The weight of an HTTP/2 stream without a priority (RFC 7540, section 5.3.5).
    public static let usualWeight = 16

    /// The maximum number of redirects that Vitrine follows.
    static let maximumRedirects = 10

    /// Creates a request.
    public init(
        url: String, method: Method = .get, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        credentials: Credentials? = nil, destination: Destination, resumption: Resumption? = nil,
        wantedBytes: Range<ByteCount>? = nil, limit: ByteCount, allowsFiles: Bool = false,
        allowsCompression: Bool = false,
        addressPolicy: AddressPolicy = .anywhere, isNamedByUser: Bool = false, weight: Int = HTTPRequest.usualWeight,
        connection: Connection = .any, pieces: Pieces? = nil, meter: TransferMeter? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.credentials = credentials
        self.destination = destination
        self.resumption = resumption
        self.wantedBytes = wantedBytes
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
