/// A certificate that says who asks, for servers that want one.
public struct ClientCertificate: Hashable, Sendable {
    /// A PEM file with the certificate.
    public let file: String
    /// A PEM file with its key.
    public let key: String
    /// The one host that is shown it; nil for whichever a request names. Where a redirect leads, nobody is.
    public let host: String?

    /// Names the files.
    public init(file: String, key: String, host: String? = nil) {
        self.file = file
        self.key = key
        self.host = host
    }

    func isMeant(for hop: Hop) -> Bool {
        hop.url.isSecure && hop.isOwn && (host == nil || host?.lowercased() == hop.url.origin.host)
    }
}
