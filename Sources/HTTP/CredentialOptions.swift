import CCurl

/// Who asks, as an exchange tells it: to the origin of the request, and to the proxy, each what is meant for it.
enum CredentialOptions {
    static func apply(_ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: UnsafeMutableRawPointer) {
        vitrine_curl_set_long(easy, CURLOPT_HTTPAUTH, plan.server.methods.rawValue)
        vitrine_curl_set_long(easy, CURLOPT_PROXYAUTH, plan.way.methods.rawValue)
        applyServer(plan, configuration, to: easy)
        if case .password(let user, let password) = plan.proxyCredentials?.kind {
            vitrine_curl_set_string(easy, CURLOPT_PROXYUSERNAME, user)
            vitrine_curl_set_string(easy, CURLOPT_PROXYPASSWORD, password)
        }
        if let certificate = configuration.clientCertificate, certificate.isMeant(for: plan) {
            vitrine_curl_set_string(easy, CURLOPT_SSLCERT, certificate.file)
            vitrine_curl_set_string(easy, CURLOPT_SSLKEY, certificate.key)
        }
    }

    private static func applyServer(
        _ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: UnsafeMutableRawPointer
    ) {
        switch plan.credentials?.kind {
        case .password(let user, let password):
            vitrine_curl_set_string(easy, CURLOPT_USERNAME, user)
            vitrine_curl_set_string(easy, CURLOPT_PASSWORD, password)
        case .bearer(let token):
            vitrine_curl_set_long(easy, CURLOPT_HTTPAUTH, vitrine_curl_bearer())
            vitrine_curl_set_string(easy, CURLOPT_XOAUTH2_BEARER, token)
        case nil:
            // Each hop has a handle of its own, so that curl looks for the very host that it is about to ask. But a
            // redirect in the open may be anybody's, who would like to hear what the file says; so may be what a list names,
            // and a "default" in the file is for every host.
            guard let netrc = configuration.netrc, plan.request.isNamedByUser, plan.request.credentials == nil,
                plan.hop.isOwn || plan.hop.url.isSecure
            else { return }
            vitrine_curl_set_string(easy, CURLOPT_NETRC_FILE, netrc)
            vitrine_curl_set_long(easy, CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
        }
    }
}
