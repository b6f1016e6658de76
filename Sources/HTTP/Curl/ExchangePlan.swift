/// What one exchange is to do: where it goes, by which way, and who it says is asking.
struct ExchangePlan {
    let request: HTTPRequest
    let hop: Hop
    /// The addresses that this exchange may reach: those of the request, or fewer once an earlier exchange reached a public address. The
    /// owner of a public name can have it lead to a private address a moment later.
    var addressPolicy: HTTPRequest.AddressPolicy
    let proxy: Proxy?
    /// What the origin is told; nil where it is not the one that was asked for.
    let credentials: HTTPRequest.Credentials?
    let proxyCredentials: HTTPRequest.Credentials?
    /// How the server is told who asks.
    var server: Authentication
    /// How the proxy is.
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
        server = Authentication(known: memory[Self.place(hop)])
        way = Authentication(known: proxy.flatMap { memory[Self.place($0)] })
    }

    /// Whether there is a password that another way of telling it might make welcome.
    private var hasPassword: Bool {
        if case .password = credentials?.kind { true } else { false }
    }

    /// The same once more, told in another way; nil if there is none.
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

    /// Notes how it was told, after an exchange that went well.
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
