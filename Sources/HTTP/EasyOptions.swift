import CCurl

/// What every exchange of ours sets, and why.
enum EasyOptions {
    static func apply(_ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_string(easy, CURLOPT_URL, plan.hop.url.text)
        vitrine_curl_set_string(easy, CURLOPT_USERAGENT, configuration.userAgent)
        // Signals are for the thread that draws.
        vitrine_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // A name is looked up on a thread of its own, which curl waits for when a transfer ends before it: one slow resolver
        // would hold up all transfers. "libcurl should skip lengthy cleanups …, by canceling and/or forgetting about a
        // resolver thread, at the expense of a possible (though short-lived) leak of associated resources."
        vitrine_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        applyProtocols(to: easy)
        applyConnection(plan, to: easy)
        applyTimeouts(configuration, to: easy)
        applyTrust(configuration, to: easy)
        applyProxy(plan, to: easy)
        // A curl that was built without a coding refuses what it cannot undo, so all that it has may be offered.
        if plan.request.allowsCompression, plan.request.resumption == nil {
            vitrine_curl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "")
        }
        CredentialOptions.apply(plan, configuration, to: easy)
    }

    /// Which connection it takes.
    private static func applyConnection(_ plan: ExchangePlan, to easy: UnsafeMutableRawPointer) {
        // Of many transfers that begin at once the first makes a connection, and the others wait to see whether it carries
        // them too. In the open nobody speaks HTTP/2 to us, and waiting would be for nothing.
        vitrine_curl_set_long(easy, CURLOPT_PIPEWAIT, plan.hop.url.isSecure && plan.request.connection == .any ? 1 : 0)
        vitrine_curl_set_long(easy, CURLOPT_FRESH_CONNECT, plan.request.connection == .fresh ? 1 : 0)
        let version = plan.request.connection == .unshared ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS
        vitrine_curl_set_long(easy, CURLOPT_HTTP_VERSION, version)
    }

    /// Says what a stream of HTTP/2 weighs, once there is a connection for it: curl that knows it before tells the server
    /// of a stream with the number 4294967295. Set again later, it is told with the next bytes that go back and forth.
    static func setWeight(_ weight: Int, of easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_long(easy, CURLOPT_STREAM_WEIGHT, min(max(weight, 1), 256))
    }

    /// By default curl speaks some twenty protocols, and we two.
    private static func applyProtocols(to easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        vitrine_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        vitrine_curl_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
    }

    private static func applyTimeouts(_ configuration: HTTPConfiguration, to easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT, configuration.connectTimeout)
        // Fewer than this many bytes a second, on average over the whole of the time, is a stall.
        vitrine_curl_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, 30)
        vitrine_curl_set_long(easy, CURLOPT_LOW_SPEED_TIME, configuration.stallTimeout)
    }

    /// There is no way to go on regardless. All of it is curl's default, but for the versions; it is said once more so that
    /// it can be read.
    private static func applyTrust(_ configuration: HTTPConfiguration, to easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
        vitrine_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
        vitrine_curl_set_long(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        vitrine_curl_set_long(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        // RFC 8996: those before "MUST NOT be used".
        vitrine_curl_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        vitrine_curl_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        guard let certificates = configuration.certificates else { return }
        vitrine_curl_set_string(easy, CURLOPT_CAINFO, certificates)
        vitrine_curl_set_string(easy, CURLOPT_PROXY_CAINFO, certificates)
    }

    private static func applyProxy(_ plan: ExchangePlan, to easy: UnsafeMutableRawPointer) {
        // "Setting the proxy string to "" (an empty string) will explicitly disable the use of a proxy, even if there is an
        // environment variable set for it", and the other one overrides the variable of exceptions.
        vitrine_curl_set_string(easy, CURLOPT_PROXY, plan.proxy?.url ?? "")
        vitrine_curl_set_string(easy, CURLOPT_NOPROXY, "")
    }
}
