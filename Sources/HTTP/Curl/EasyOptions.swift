import CCurl
import Numbers

/// The curl options that every exchange sets.
enum EasyOptions {
    static func apply(_ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: EasyHandle) {
        let isCanonical = plan.signature != nil || plan.request.hasCanonicalURL && plan.hop.number == 0
        easy.set(CURLOPT_URL, isCanonical ? Signature.canonical(plan.hop.url.text) : plan.hop.url.text)
        easy.set(CURLOPT_USERAGENT, configuration.userAgent)
        // curl must not use signals, because they belong to the thread that draws.
        easy.set(CURLOPT_NOSIGNAL, 1)
        // curl resolves names on a thread and waits for it when a transfer ends early, so a slow resolver would block
        // all transfers. "libcurl should skip lengthy cleanups …, by canceling and/or forgetting about a resolver
        // thread, at the expense of a possible (though short-lived) leak of associated resources."
        easy.set(CURLOPT_QUICK_EXIT, 1)
        applyProtocols(to: easy)
        applyConnection(plan, to: easy)
        applyTimeouts(configuration, to: easy)
        applyTrust(configuration, to: easy)
        applyProxy(plan, to: easy)
        // An empty value offers every coding that curl was built with.
        if plan.request.allowsCompression, plan.request.resumption == nil, plan.request.excerpt == nil {
            easy.set(CURLOPT_ACCEPT_ENCODING, "")
        }
        CredentialOptions.apply(plan, configuration, to: easy)
    }

    /// Sets the options for the kind of connection.
    private static func applyConnection(_ plan: ExchangePlan, to easy: EasyHandle) {
        // If many transfers start at once, the first one connects, and the others wait to share the connection. Plain
        // HTTP has no HTTP/2, so waiting would be useless. Transfers with another kind of connection do not wait,
        // either.
        easy.set(CURLOPT_PIPEWAIT, plan.hop.url.isSecure && plan.request.connection == .any ? 1 : 0)
        let version = plan.request.connection == .unshared ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS
        easy.set(CURLOPT_HTTP_VERSION, version)
    }

    /// Sets the weight of an HTTP/2 stream, after its connection is established.
    ///
    /// If the weight is set earlier, curl sends it for stream 4294967295 instead. curl sends a later change with the
    /// next bytes.
    static func setWeight(_ weight: Int, of easy: EasyHandle) {
        easy.set(CURLOPT_STREAM_WEIGHT, min(max(weight, 1), 256))
    }

    /// Limits curl to HTTP and HTTPS. By default curl supports about twenty protocols.
    private static func applyProtocols(to easy: EasyHandle) {
        easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        easy.set(CURLOPT_FOLLOWLOCATION, 0)
        easy.set(CURLOPT_HTTP09_ALLOWED, 0)
    }

    private static func applyTimeouts(_ configuration: HTTPConfiguration, to easy: EasyHandle) {
        easy.set(CURLOPT_CONNECTTIMEOUT, configuration.connectTimeout)
        // A transfer has stalled if its average rate over the whole time-out is below this number of bytes per second.
        easy.set(CURLOPT_LOW_SPEED_LIMIT, 30)
        easy.set(CURLOPT_LOW_SPEED_TIME, configuration.stallTimeout)
    }

    /// Requires valid certificates. Except for the TLS versions, the options are curl's defaults, repeated for clarity.
    /// No setting disables the checks.
    private static func applyTrust(_ configuration: HTTPConfiguration, to easy: EasyHandle) {
        easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        easy.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        // RFC 8996: earlier versions "MUST NOT be used".
        easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        easy.set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        guard let certificates = configuration.certificates else { return }
        easy.set(CURLOPT_CAINFO, certificates)
        easy.set(CURLOPT_PROXY_CAINFO, certificates)
        // Debian's curl would also search its built-in folder.
        easy.unset(CURLOPT_CAPATH)
        easy.unset(CURLOPT_PROXY_CAPATH)
    }

    private static func applyProxy(_ plan: ExchangePlan, to easy: EasyHandle) {
        // "Setting the proxy string to "" (an empty string) will explicitly disable the use of a proxy, even if there
        // is an environment variable set for it". CURLOPT_NOPROXY overrides the environment variable with exceptions.
        easy.set(CURLOPT_PROXY, plan.proxy?.url(telling: plan.proxyCredentials) ?? "")
        easy.set(CURLOPT_NOPROXY, "")
    }
}

/// The method and the body of a request.
enum MethodOptions {
    /// Allocates a copy of the body for curl, which keeps the address. Returns nil if the request sends no body.
    static func body(of request: HTTPRequest) -> UnsafeMutableBufferPointer<UInt8>? {
        guard request.sendsBody else { return nil }
        let bytes = request.body ?? []
        let body = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = body.initialize(from: bytes)
        return body
    }

    /// - Parameter body: the body, which must outlive the handle; nil for no body.
    static func apply(_ request: HTTPRequest, _ body: UnsafeMutableBufferPointer<UInt8>?, to easy: EasyHandle) {
        let method = request.method
        if method == .put {
            easy.set(CURLOPT_UPLOAD, 1)
            easy.set(CURLOPT_INFILESIZE_LARGE, request.upload?.file.length ?? 0)
            // curl waits a second for servers that do not answer `Expect: 100-continue`. A line that removes this
            // header would become part of curl 7.88's signature, and servers would refuse the signature.
            easy.set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1)
        }
        if let body, let address = body.baseAddress {
            easy.set(CURLOPT_POSTFIELDSIZE, body.count)
            easy.set(CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(address))
        }
        // curl's manual: "do not use this option to change a GET into a POST".
        if method == .propfind || method == .options { easy.set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
    }
}

extension HTTPRequest {
    /// Whether curl sends a body. A POST without a body sends an empty body.
    fileprivate var sendsBody: Bool { method != .get && method != .put && body != nil || method == .post }
}

/// The headers of a request, except the headers that curl adds.
enum RequestHeaders {
    static func lines(of request: HTTPRequest, at hop: Hop) -> [String] {
        // Other servers than the user's own get none of the request's headers.
        let signature = hop.isOwn ? request.credentials?.signature : nil
        let headers = request.headers + (signature?.headers(of: request) ?? [])
        var lines = hop.isOwn ? headers.compactMap { line($0.name, $0.value) } : []
        if hop.isOwn, case .header(let name, let value)? = request.credentials?.kind {
            lines += line(name, value).map { [$0] } ?? []
        }
        if request.sendsBody {
            // Without this line, curl waits a second for servers that do not answer `Expect: 100-continue`.
            lines.append("Expect:")
            // Without this line, curl states the type of a web form.
            if !lines.contains(where: isContentType) { lines.append("Content-Type:") }
        }
        // A range counts uncompressed bytes, so requests for a range refuse compression. Some services change the
        // `Accept-Encoding` header, which would break a signature, so signed requests do not have it. Without the
        // header curl accepts no compression either.
        let uncompressed = signature == nil ? ["Accept-Encoding: identity"] : []
        let end = request.range.map { "\($0.upperBound - 1)" } ?? ""
        if let resumption = request.resumption(at: hop), let validator = line("If-Range", resumption.validator) {
            lines += ["Range: bytes=\(resumption.offset)-\(end)", validator] + uncompressed
        } else if request.resumption == nil, let range = request.range {
            lines += ["Range: bytes=\(range.lowerBound)-\(end)"] + uncompressed
        } else if let excerpt = request.excerpt {
            lines += ["Range: \(excerpt.header)"] + uncompressed
        }
        return lines
    }

    private static func isContentType(_ line: String) -> Bool {
        let name = line.prefix { $0 != ":" && $0 != ";" }
        return name.lowercased() == "content-type"
    }

    /// Returns a header line for curl. Returns nil if the result would not be a single line.
    private static func line(_ name: String, _ value: String) -> String? {
        let isSound = !name.isEmpty && (name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        guard isSound, !name.contains(":") else { return nil }
        // "If you add a header with no content as in 'Accept:' …, it will be disabled."
        return value.isEmpty ? "\(name);" : "\(name): \(value)"
    }
}
