import Numbers

/// The head of an answer, after redirects.
public struct HTTPResponse: Hashable, Sendable {
    /// The status. For a local file it is 200, or 304 if `If-None-Match` matches.
    public let status: Int
    /// The URL that answered in the end.
    public let url: String
    /// Header values by lower-case names. The last of repeated headers counts.
    public let headers: [String: String]
    /// The length of the whole resource, including the part before ``begin``; nil if unknown.
    public let length: ByteCount?
    /// The offset of the body in the whole. It is not 0 only for a 206 to a ``HTTPRequest/resumption``.
    public let begin: ByteCount
    /// The challenges of a 401 or 407, including a proxy's refusal of a tunnel.
    public let challenges: [HTTPChallenge]
    /// The proxy that asks for credentials; nil if none does.
    public let proxyRefusal: ProxyRefusal?
    /// Whether the answer came from this machine or the user's network. Behind a proxy, only the name is judged.
    public let isPrivate: Bool
    /// Whether the request before any redirect went to a public address. Behind a proxy this is unknown, and false.
    public let beganPublic: Bool

    /// Makes a head.
    public init(
        status: Int, url: String, headers: [String: String] = [:], length: ByteCount? = nil, begin: ByteCount = 0,
        challenges: [HTTPChallenge] = [], proxyRefusal: ProxyRefusal? = nil, isPrivate: Bool = false,
        beganPublic: Bool = false
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
    }
}

/// An event of a transfer. The order is: response, body pieces or progress, end.
public enum HTTPEvent: Hashable, Sendable {
    /// The answer has begun.
    case response(HTTPResponse)
    /// A piece of the body, if the destination is a stream.
    case bytes([UInt8])
    /// The new length of the file, if the destination is a file.
    case written(ByteCount)
    /// The answer is complete.
    case end(HTTPMetrics)
}

/// The size and time of a finished transfer. A ``TransferMeter`` shows them while it runs.
public struct HTTPMetrics: Hashable, Sendable {
    /// Bytes of body that crossed the network.
    public var bytes: ByteCount = 0
    /// Seconds from the start to the last byte.
    public var duration: Double = 0
    /// The number of redirects.
    public var redirects = 0
}
