import CCurl

/// A proxy, taken apart: what curl is told of it, in an error too, has no password in it.
struct Proxy: Equatable, Sendable {
    /// Scheme, host and port.
    let url: String
    /// Who asks it, as its address says.
    let credentials: HTTPRequest.Credentials?

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Reads a proxy's address; without a scheme it is an HTTP proxy. Nil if that cannot be one.
    init?(_ text: String, _ curl: Curl) {
        guard let parts = URLParts(curl) else { return nil }
        let isWhole = text.contains("://")
        guard
            parts.set(CURLUPART_URL, isWhole ? text : "http://" + text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let scheme = parts.text(CURLUPART_SCHEME)?.lowercased(), Self.schemes.contains(scheme),
            let host = parts.text(CURLUPART_HOST), !host.isEmpty
        else { return nil }
        let port = parts.text(CURLUPART_PORT).map { ":" + $0 } ?? ""
        url = "\(scheme)://\(host)\(port)"
        let decoded = UInt32(CURLU_URLDECODE)
        credentials = parts.text(CURLUPART_USER, decoded).map {
            .init(user: $0, password: parts.text(CURLUPART_PASSWORD, decoded) ?? "")
        }
    }
}
