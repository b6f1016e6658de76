/// A certificate that says who asks, for servers that want one.
public struct ClientCertificate: Hashable, Sendable {
    /// A PEM file with the certificate.
    public let file: String
    /// A PEM file with its key.
    public let key: String
    /// The one host that is shown it; nil for each that the user has named. Where a redirect leads, nobody is.
    public let host: String?

    /// Names the files.
    public init(file: String, key: String, host: String? = nil) {
        self.file = file
        self.key = key
        self.host = host
    }

    func isMeant(for plan: ExchangePlan) -> Bool {
        guard plan.hop.url.isSecure, plan.hop.isOwn else { return false }
        return host.map { $0.lowercased() == plan.hop.url.origin.host } ?? plan.request.isNamedByUser
    }
}
