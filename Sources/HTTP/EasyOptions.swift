import CCurl

/// What every transfer of ours sets, and why.
enum EasyOptions {
    static func apply(
        _ request: HTTPRequest, _ hop: Hop, _ proxy: Proxy?, _ configuration: HTTPConfiguration,
        to easy: UnsafeMutableRawPointer
    ) {
        vitrine_curl_set_string(easy, CURLOPT_URL, hop.url.text)
        vitrine_curl_set_string(easy, CURLOPT_USERAGENT, configuration.userAgent)
        // Signals are for the thread that draws.
        vitrine_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // A name is looked up on a thread of its own, which curl waits for when a transfer ends before it: one slow resolver
        // would hold up all transfers. "libcurl should skip lengthy cleanups …, by canceling and/or forgetting about a
        // resolver thread, at the expense of a possible (though short-lived) leak of associated resources."
        vitrine_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        applyProtocols(to: easy)
        applyConnection(request, hop, to: easy)
        applyTimeouts(configuration, to: easy)
        applyProxy(proxy, to: easy)
        // A curl that was built without a coding refuses what it cannot undo, so all that it has may be offered.
        if request.allowsCompression, request.resumption == nil {
            vitrine_curl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "")
        }
        if let certificates = configuration.certificates {
            vitrine_curl_set_string(easy, CURLOPT_CAINFO, certificates)
        }
        if let credentials = request.credentials, hop.isOwn {
            vitrine_curl_set_string(easy, CURLOPT_USERNAME, credentials.user)
            vitrine_curl_set_string(easy, CURLOPT_PASSWORD, credentials.password)
            vitrine_curl_set_long(easy, CURLOPT_HTTPAUTH, vitrine_curl_password_methods())
        }
    }

    private static func applyProxy(_ proxy: Proxy?, to easy: UnsafeMutableRawPointer) {
        // "Setting the proxy string to "" (an empty string) will explicitly disable the use of a proxy, even if there is an
        // environment variable set for it", and the other one overrides the variable of exceptions.
        vitrine_curl_set_string(easy, CURLOPT_PROXY, proxy?.url ?? "")
        vitrine_curl_set_string(easy, CURLOPT_NOPROXY, "")
        guard let credentials = proxy?.credentials else { return }
        vitrine_curl_set_string(easy, CURLOPT_PROXYUSERNAME, credentials.user)
        vitrine_curl_set_string(easy, CURLOPT_PROXYPASSWORD, credentials.password)
    }

    /// Which connection it takes.
    private static func applyConnection(_ request: HTTPRequest, _ hop: Hop, to easy: UnsafeMutableRawPointer) {
        // Of many transfers that begin at once the first makes a connection, and the others wait to see whether it carries
        // them too. In the open nobody speaks HTTP/2 to us, and waiting would be for nothing.
        vitrine_curl_set_long(easy, CURLOPT_PIPEWAIT, hop.url.isSecure ? 1 : 0)
        vitrine_curl_set_long(easy, CURLOPT_FRESH_CONNECT, request.wantsFreshConnection ? 1 : 0)
        setWeight(request.weight, of: easy)
    }

    /// It can be set again later: curl then tells the server.
    static func setWeight(_ weight: Int, of easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_long(easy, CURLOPT_STREAM_WEIGHT, min(max(weight, 1), 256))
    }

    /// By default curl speaks some twenty protocols, and we two.
    private static func applyProtocols(to easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        vitrine_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        vitrine_curl_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        vitrine_curl_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
    }

    private static func applyTimeouts(_ configuration: HTTPConfiguration, to easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT, configuration.connectTimeout)
        // Fewer than this many bytes a second, on average over the whole of the time, is a stall.
        vitrine_curl_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, 30)
        vitrine_curl_set_long(easy, CURLOPT_LOW_SPEED_TIME, configuration.stallTimeout)
    }
}
