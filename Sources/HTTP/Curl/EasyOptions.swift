import CCurl
import Numbers

/// What every exchange of ours sets, and why.
enum EasyOptions {
    static func apply(_ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: EasyHandle) {
        easy.set(CURLOPT_URL, plan.hop.url.text)
        easy.set(CURLOPT_USERAGENT, configuration.userAgent)
        // Signals are for the thread that draws.
        easy.set(CURLOPT_NOSIGNAL, 1)
        // A name is looked up on a thread of its own, which curl waits for when a transfer ends before it: one slow resolver
        // would hold up all transfers. "libcurl should skip lengthy cleanups …, by canceling and/or forgetting about a
        // resolver thread, at the expense of a possible (though short-lived) leak of associated resources."
        easy.set(CURLOPT_QUICK_EXIT, 1)
        applyProtocols(to: easy)
        applyConnection(plan, to: easy)
        applyTimeouts(configuration, to: easy)
        applyTrust(configuration, to: easy)
        applyProxy(plan, to: easy)
        // A curl that was built without a coding refuses what it cannot undo, so all that it has may be offered.
        if plan.request.allowsCompression, plan.request.resumption == nil {
            easy.set(CURLOPT_ACCEPT_ENCODING, "")
        }
        CredentialOptions.apply(plan, configuration, to: easy)
    }

    /// Which connection it takes.
    private static func applyConnection(_ plan: ExchangePlan, to easy: EasyHandle) {
        // Of many transfers that begin at once the first makes a connection, and the others wait to see whether it carries
        // them too. In the open nobody speaks HTTP/2 to us, and waiting would be for nothing; and where many connections are
        // meant they are made at once.
        easy.set(CURLOPT_PIPEWAIT, plan.hop.url.isSecure && plan.request.connection == .any ? 1 : 0)
        easy.set(CURLOPT_FRESH_CONNECT, plan.request.connection == .fresh ? 1 : 0)
        let version = plan.request.connection == .unshared ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS
        easy.set(CURLOPT_HTTP_VERSION, version)
    }

    /// Says what a stream of HTTP/2 weighs, once there is a connection for it: curl that knows it before tells the server
    /// of a stream with the number 4294967295. Set again later, it is told with the next bytes that go back and forth.
    static func setWeight(_ weight: Int, of easy: EasyHandle) {
        easy.set(CURLOPT_STREAM_WEIGHT, min(max(weight, 1), 256))
    }

    /// By default curl speaks some twenty protocols, and we two.
    private static func applyProtocols(to easy: EasyHandle) {
        easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        easy.set(CURLOPT_FOLLOWLOCATION, 0)
        easy.set(CURLOPT_HTTP09_ALLOWED, 0)
    }

    private static func applyTimeouts(_ configuration: HTTPConfiguration, to easy: EasyHandle) {
        easy.set(CURLOPT_CONNECTTIMEOUT, configuration.connectTimeout)
        // Fewer than this many bytes a second, on average over the whole of the time, is a stall.
        easy.set(CURLOPT_LOW_SPEED_LIMIT, 30)
        easy.set(CURLOPT_LOW_SPEED_TIME, configuration.stallTimeout)
    }

    /// There is no way to go on regardless. All of it is curl's default, but for the versions; it is said once more so that
    /// it can be read.
    private static func applyTrust(_ configuration: HTTPConfiguration, to easy: EasyHandle) {
        easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        easy.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        // RFC 8996: those before "MUST NOT be used".
        easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        easy.set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        guard let certificates = configuration.certificates else { return }
        easy.set(CURLOPT_CAINFO, certificates)
        easy.set(CURLOPT_PROXY_CAINFO, certificates)
        // Where curl was built to look for more, as Debian's is, it would go on doing so.
        easy.unset(CURLOPT_CAPATH)
        easy.unset(CURLOPT_PROXY_CAPATH)
    }

    private static func applyProxy(_ plan: ExchangePlan, to easy: EasyHandle) {
        // "Setting the proxy string to "" (an empty string) will explicitly disable the use of a proxy, even if there is an
        // environment variable set for it", and the other one overrides the variable of exceptions.
        easy.set(CURLOPT_PROXY, plan.proxy?.url(telling: plan.proxyCredentials) ?? "")
        easy.set(CURLOPT_NOPROXY, "")
    }
}

/// The header lines that go out at a hop, besides those that curl writes.
enum RequestHeaders {
    static func lines(of request: HTTPRequest, at hop: Hop) -> [String] {
        // What the user's own server may know of us is nobody else's business.
        var lines = hop.isOwn ? request.headers.compactMap { line($0.name, $0.value) } : []
        // The bytes that are there were not compressed.
        let end = request.range.map { "\($0.upperBound - 1)" } ?? ""
        if let resumption = request.resumption(at: hop), let validator = line("If-Range", resumption.validator) {
            lines += ["Range: bytes=\(resumption.offset)-\(end)", validator, "Accept-Encoding: identity"]
        } else if request.resumption == nil, let range = request.range {
            lines += ["Range: bytes=\(range.lowerBound)-\(end)", "Accept-Encoding: identity"]
        }
        return lines
    }

    /// A line for curl, which sends it as it is. One that would not stay a single line is left out.
    private static func line(_ name: String, _ value: String) -> String? {
        let isSound = !name.isEmpty && (name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        guard isSound, !name.contains(":") else { return nil }
        // "If you add a header with no content as in 'Accept:' …, it will be disabled."
        return value.isEmpty ? "\(name);" : "\(name): \(value)"
    }
}
