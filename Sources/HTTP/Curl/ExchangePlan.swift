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

/// One of the places that a transfer is sent to, and what may go along.
///
/// Redirects are followed here and not by curl, which sends headers of ours along to other hosts, follows from https to
/// http, and asks nobody in between.
struct Hop: Equatable, Sendable {
    let url: HTTPURL
    /// How many redirects led here.
    let number: Int
    /// Whether this and all before are of the origin that was asked for. A password goes nowhere else, nor do headers; and
    /// it does not come back with the way, which a stranger may have chosen.
    let isOwn: Bool
    /// Whether this and all before are of the host that was asked for: of its origin, or over TLS, by which it proves to be
    /// itself.
    let isOfHost: Bool

    /// Where a request begins.
    init(_ request: HTTPRequest, _ curl: Curl) throws(HTTPError) {
        self.init(url: try HTTPURL(request.url, curl), number: 0, isOwn: true, isOfHost: true)
    }

    private init(url: HTTPURL, number: Int, isOwn: Bool, isOfHost: Bool) {
        self.url = url
        self.number = number
        self.isOwn = isOwn
        self.isOfHost = isOfHost
    }

    /// Where an answer leads; nil if it leads nowhere, and is the answer.
    ///
    /// RFC 9110, section 15.4: these five are for following. 300 is a question to the user, 304 no redirect at all, and 305
    /// "has been deprecated due to security concerns".
    func next(status: Int, location: String?) throws(HTTPError) -> Hop? {
        guard [301, 302, 303, 307, 308].contains(status), let location, !location.isEmpty else { return nil }
        guard number < HTTPRequest.maximumRedirects else { throw .tooManyRedirects }
        guard let next = url.resolving(location) else { throw .forbiddenRedirect }
        // What was asked for in secret would be asked for again in the open.
        guard next.isSecure || !url.isSecure else { throw .forbiddenRedirect }
        let isSame = next.origin == url.origin
        return Hop(
            url: next, number: number + 1, isOwn: isOwn && isSame,
            isOfHost: isOfHost && (isSame || next.isSecure && next.origin.host == url.origin.host))
    }
}
