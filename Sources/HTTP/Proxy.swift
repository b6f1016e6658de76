import CCurl

/// A proxy, taken apart: what curl is told of it, in an error too, has no password in it.
struct Proxy: Equatable, Sendable {
    /// Scheme, host and port.
    let url: String
    /// Who asks it, as its address says.
    let credentials: HTTPRequest.Credentials?

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Reads a proxy's address; without a scheme it is an HTTP proxy. Nil if that cannot be one.
    init?(_ text: String) {
        guard let parts = curl_url() else { return nil }
        defer { curl_url_cleanup(parts) }
        let isWhole = text.contains("://")
        guard
            curl_url_set(parts, CURLUPART_URL, isWhole ? text : "http://" + text, UInt32(CURLU_NON_SUPPORT_SCHEME))
                == CURLUE_OK,
            let scheme = HTTPURL.part(CURLUPART_SCHEME, of: parts)?.lowercased(), Self.schemes.contains(scheme),
            let host = HTTPURL.part(CURLUPART_HOST, of: parts), !host.isEmpty
        else { return nil }
        let port = HTTPURL.part(CURLUPART_PORT, of: parts).map { ":" + $0 } ?? ""
        url = "\(scheme)://\(host)\(port)"
        let decoded = UInt32(CURLU_URLDECODE)
        credentials = HTTPURL.part(CURLUPART_USER, decoded, of: parts).map {
            .init(user: $0, password: HTTPURL.part(CURLUPART_PASSWORD, decoded, of: parts) ?? "")
        }
    }
}
