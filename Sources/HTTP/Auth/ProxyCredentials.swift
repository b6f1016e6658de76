/// Who asks proxies, beyond what stands in their addresses: what the user has said since, which comes first.
///
///     HTTPConfiguration(proxyCredentials: ProxyCredentials(known: { proxy in … }, onRefusal: { credentials, proxy in … }))
///
/// A proxy is called by its scheme, host and port. What it is told is for it alone. Both are called on the threads that
/// transfers run on, which wait meanwhile.
public struct ProxyCredentials: Sendable {
    let known: @Sendable (_ proxy: String) -> HTTPRequest.Credentials?
    let onRefusal: @Sendable (_ refused: HTTPRequest.Credentials, _ proxy: String) -> Void

    /// States who asks, by what is known of each proxy at the moment.
    ///
    /// - Parameter onRefusal: hears that a proxy was told something and refuses it, before anybody else hears of that.
    public init(
        known: @escaping @Sendable (_ proxy: String) -> HTTPRequest.Credentials?,
        onRefusal: @escaping @Sendable (_ refused: HTTPRequest.Credentials, _ proxy: String) -> Void
    ) {
        self.known = known
        self.onRefusal = onRefusal
    }

    /// Nobody, beyond what the addresses say.
    public init() {
        self.init(known: { _ in nil }, onRefusal: { _, _ in })
    }
}
