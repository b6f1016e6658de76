import Numbers

/// The head of an answer, after redirects.
public struct HTTPResponse: Hashable, Sendable {
    /// The status code; for a file 200, or 304 if it is the one that `If-None-Match` knows.
    public let status: Int
    /// Where the answer came from in the end.
    public let url: String
    /// Header values by their names in lower case; of a repeated header the last.
    public let headers: [String: String]
    /// The length of the whole, where it is known beforehand: of the body and of what comes before ``begin``.
    public let length: ByteCount?
    /// The place in the whole at which the body begins: not 0 only where a ``HTTPRequest/resumption`` was granted, with
    /// status 206.
    public let begin: ByteCount
    /// Who wants to know who asks, of an answer 401 or 407, the proxy's refusal of a tunnel included.
    public let challenges: [HTTPChallenge]
    /// The proxy that wants to know; nil where it is the server, or nobody.
    public let proxyRefusal: ProxyRefusal?
    /// Whether it came from this machine or from the user's own network; of what lies behind a proxy, as far as its name tells.
    public let isPrivate: Bool
    /// Whether the request itself, before any redirect, was sent to a public address. Through a proxy nobody can tell, and this
    /// is false.
    public let beganPublic: Bool

    /// Puts a head together.
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

/// What happens in a transfer, in this order: a response, then pieces of its body or word of how much has been written,
/// then the end.
public enum HTTPEvent: Hashable, Sendable {
    /// The answer has begun.
    case response(HTTPResponse)
    /// A piece of the body, for a request whose destination is a stream.
    case bytes([UInt8])
    /// Where the file now ends, counted from the beginning of the whole, for one whose destination is a file.
    case written(ByteCount)
    /// All of it is there.
    case end(HTTPMetrics)
}

/// What a transfer took. Who decides how many run at once reads it off a ``TransferMeter``, while they do.
public struct HTTPMetrics: Hashable, Sendable {
    /// Bytes of body that crossed the network.
    public var bytes: ByteCount = 0
    /// Seconds from the start to the last byte.
    public var duration: Double = 0
    /// How many redirects were followed.
    public var redirects = 0
}
