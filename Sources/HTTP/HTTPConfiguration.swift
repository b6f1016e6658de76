/// What holds for every transfer of a client.
public struct HTTPConfiguration: Sendable {
    /// How Vitrine calls itself to servers.
    public var userAgent: String
    /// A file of certificates to trust in place of the system's.
    public var certificates: String?
    /// Seconds to wait for a connection.
    public var connectTimeout: Int
    /// Seconds with next to nothing coming, after which a transfer is given up. There is no limit to the whole: a slow
    /// server that keeps sending is served to the end.
    public var stallTimeout: Int

    /// A configuration; the defaults are for real use.
    public init(
        userAgent: String = "Vitrine/1.0", certificates: String? = nil, connectTimeout: Int = 30, stallTimeout: Int = 30
    ) {
        self.userAgent = userAgent
        self.certificates = certificates
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
    }
}
