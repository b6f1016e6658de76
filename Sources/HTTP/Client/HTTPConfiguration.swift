/// What holds for every transfer of a client.
public struct HTTPConfiguration: Sendable {
    /// How Vitrine calls itself to servers.
    public var userAgent: String
    /// A PEM file of certificates to trust in place of the system's.
    public var certificates: String?
    /// Which proxy leads where. What the environment says is read by the program and not here.
    public var proxies: ProxyChoice
    /// Who asks proxies, where the user has said so.
    public var proxyCredentials: ProxyCredentials
    /// A netrc file, in which hosts are looked for where a request does not say who asks.
    public var netrc: String?
    /// A certificate for servers that want one.
    public var clientCertificate: ClientCertificate?
    /// Seconds to wait for a connection.
    public var connectTimeout: Int
    /// Seconds with next to nothing coming, after which a transfer is given up. There is no limit to the whole: a slow
    /// server that keeps sending is served to the end.
    public var stallTimeout: Int
    /// How many connections that nobody uses are kept for later, each with a file descriptor: 64 to each of a few hosts.
    public var warmConnections = 256
    /// Names that lead somewhere without anybody being asked, as `name:port:address`. Tests have no other names.
    var names: [String] = []

    /// A configuration; the defaults are for real use.
    public init(
        userAgent: String = "Vitrine/1.0", certificates: String? = nil,
        proxies: ProxyChoice = ProxyChoice(), proxyCredentials: ProxyCredentials = ProxyCredentials(),
        netrc: String? = nil,
        clientCertificate: ClientCertificate? = nil, connectTimeout: Int = 30, stallTimeout: Int = 30
    ) {
        self.userAgent = userAgent
        self.certificates = certificates
        self.proxies = proxies
        self.proxyCredentials = proxyCredentials
        self.netrc = netrc
        self.clientCertificate = clientCertificate
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
    }
}
