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
