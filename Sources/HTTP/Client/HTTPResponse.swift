import Numbers

/// The head of an answer, after redirects.
public struct HTTPResponse: Hashable, Sendable {
    /// The HTTP status. For a local file the status is 200, or 304 if `If-None-Match` matches. A request for some bytes
    /// of a local file gets 206, even if the file has none of these bytes.
    public let status: Int
    /// The URL that finally answered, after redirects.
    public let url: String
    /// The header values by names in lower case. If a header is repeated, the last one counts, but all `Set-Cookie`
    /// values are kept, as lines.
    public let headers: [String: String]
    /// The length of the whole resource, including the part before ``begin``; nil if unknown.
    public let length: ByteCount?
    /// The offset of the body in the whole resource. The offset is 0, except after a 206 to a
    /// ``HTTPRequest/resumption`` or to a request for ``HTTPRequest/wantedBytes``.
    public let begin: ByteCount
    /// The requests for credentials in a 401 or 407. Requests of a proxy that refuses a tunnel are included.
    public let challenges: [HTTPChallenge]
    /// The proxy that requests credentials; nil if no proxy does.
    public let proxyRefusal: ProxyRefusal?
    /// Whether the answer came from this machine or the user's network. Behind a proxy, only the host's name decides.
    public let isPrivate: Bool
    /// Whether the request before any redirect went to a public address. Behind a proxy this is unknown, so the value
    /// is false.
    public let beganPublic: Bool
    /// Whether the answer came over HTTP/1. Later versions mark the end of each body.
    public let isHTTP1: Bool

    /// Creates a head.
    public init(
        status: Int, url: String, headers: [String: String] = [:], length: ByteCount? = nil, begin: ByteCount = 0,
        challenges: [HTTPChallenge] = [], proxyRefusal: ProxyRefusal? = nil, isPrivate: Bool = false,
        beganPublic: Bool = false, isHTTP1: Bool = false
    ) {
        self.status = status
        self.url = url
        self.headers = headers
        self.length = length
        self.begin = begin
        self.challenges = challenges
        self.proxyRefusal = proxyRefusal
        self.isPrivate = isPrivate
        self.beganPublic = beganPublic
        self.isHTTP1 = isHTTP1
    }
}

/// An event of a transfer. The order is: response, pieces of the body or progress, end.
public enum HTTPEvent: Hashable, Sendable {
    /// The head of the answer is complete.
    case response(HTTPResponse)
    /// A piece of the body has arrived. The transfer sends this event if the destination is a stream.
    case bytes([UInt8])
    /// The file has this length now. The transfer sends this event if the destination is a file.
    case written(ByteCount)
    /// The transfer is complete.
    case end(HTTPMetrics)
}

/// The size and time of a finished transfer. A ``TransferMeter`` shows the size and time while the transfer runs.
public struct HTTPMetrics: Hashable, Sendable {
    /// The number of bytes of body that the network transferred.
    public var bytes: ByteCount = 0
    /// The number of seconds from the start to the last byte.
    public var duration: Double = 0
    /// The number of redirects.
    public var redirects = 0
}
