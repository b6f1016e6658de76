/// The target, proxy and credentials of one exchange.
struct ExchangePlan {
    let request: HTTPRequest
    let hop: Hop
    /// The request's address policy. After a connection to a public address, the policy allows only public addresses.
    /// Otherwise, the owner of a host name could point the name to a private address a moment later.
    var addressPolicy: HTTPRequest.AddressPolicy
    let proxy: Proxy?
    /// The credentials for the request's origin; nil if the target has another origin.
    let credentials: HTTPRequest.Credentials?
    let proxyCredentials: HTTPRequest.Credentials?
    /// The authentication methods to try with the server.
    var server: Authentication
    /// The authentication methods to try with the proxy.
    var way: Authentication

    init(
        _ request: HTTPRequest, _ hop: Hop, _ configuration: HTTPConfiguration, _ memory: AuthenticationMemory
    ) throws(HTTPError) {
        self.request = request
        self.hop = hop
        addressPolicy = request.addressPolicy
        proxy = try configuration.proxies.proxy(for: hop.url)
        credentials = hop.isOwn ? request.credentials : nil
        proxyCredentials = proxy.flatMap { configuration.proxyCredentials.known($0.url) ?? $0.credentials }
        guard credentials?.isSound ?? true, proxyCredentials?.isSound ?? true else { throw .unusableCredentials }
        server = Authentication(
            known: memory[Self.place(hop)] ?? (hop.isOwn && request.sendsPasswordUnasked ? .basic : nil))
        way = Authentication(known: proxy.flatMap { memory[Self.place($0)] })
    }

    /// The key that signs the request; nil for a request without a signature.
    var signature: Signature? { credentials?.signature }

    /// Whether the plan sends a password. If it does, another authentication method may work after a refusal.
    private var hasPassword: Bool {
        if case .password = credentials?.kind { true } else { false }
    }

    /// Returns the plan for a repeat with another authentication method. Returns nil if no method is left.
    func next(status: Int, challenges: [HTTPChallenge]) -> ExchangePlan? {
        var next = self
        if status == 401, hasPassword, let server = server.next(offered: challenges) {
            next.server = server
        } else if status == 407, proxyCredentials != nil, let way = way.next(offered: challenges) {
            next.way = way
        } else {
            return nil
        }
        return next
    }

    /// Remembers the authentication methods that worked in an exchange.
    func learn(_ exchange: Exchange, _ memory: AuthenticationMemory) {
        let status = exchange.status
        if status != 401, status != 407, let methods = server.learned(fromOffer: exchange.serverOffer) {
            memory[Self.place(hop)] = methods
        }
        if status != 407, let proxy, let methods = way.learned(fromOffer: exchange.proxyOffer) {
            memory[Self.place(proxy)] = methods
        }
    }

    private static func place(_ proxy: Proxy) -> String { "through " + proxy.url }

    private static func place(_ hop: Hop) -> String {
        "\(hop.url.origin.scheme)://\(hop.url.origin.host):\(hop.url.origin.port)"
    }
}

/// A target of a transfer, and the data that may be sent to it.
///
/// Vitrine follows redirects itself: curl would send the headers to other hosts, follow from https to http, and check
/// no address.
struct Hop: Equatable, Sendable {
    let url: HTTPURL
    /// The number of redirects before this target.
    let number: Int
    /// Whether this and all earlier targets have the request's origin. Vitrine sends credentials and headers to no
    /// other target, even if a redirect leads back.
    let isOwn: Bool
    /// Whether this and all earlier targets are on the request's host. A target is on that host if it has the request's
    /// origin, or uses TLS, which proves the host.
    let isOfHost: Bool

    /// Creates the first target of a request.
    init(_ request: HTTPRequest, _ curl: Curl) throws(HTTPError) {
        self.init(url: try HTTPURL(request.url, curl), number: 0, isOwn: true, isOfHost: true)
    }

    private init(url: HTTPURL, number: Int, isOwn: Bool, isOfHost: Bool) {
        self.url = url
        self.number = number
        self.isOwn = isOwn
        self.isOfHost = isOfHost
    }

    /// Returns the target that an answer redirects to. Returns nil if the answer is final.
    ///
    /// RFC 9110, section 15.4: Vitrine follows these five statuses. 300 asks the user, 304 is no redirect, and 305 "has
    /// been deprecated due to security concerns".
    func next(status: Int, location: String?, of method: HTTPRequest.Method = .get) throws(HTTPError) -> Hop? {
        guard [301, 302, 303, 307, 308].contains(status), let location, !location.isEmpty else { return nil }
        guard number < HTTPRequest.maximumRedirects else { throw .tooManyRedirects }
        guard let next = url.resolving(location) else { throw .forbiddenRedirect }
        // A secure request must not be repeated in the clear.
        guard next.isSecure || !url.isSecure else { throw .forbiddenRedirect }
        let isSame = next.origin == url.origin
        guard method == .get || isSame && method.isKept(by: status) else { throw .forbiddenRedirect }
        return Hop(
            url: next, number: number + 1, isOwn: isOwn && isSame,
            isOfHost: isOfHost && (isSame || next.isSecure && next.origin.host == url.origin.host))
    }
}
