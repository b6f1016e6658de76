import CCurl

/// Who asks, as an exchange tells it: to the origin of the request, and to the proxy, each what is meant for it.
enum CredentialOptions {
    static func apply(_ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: EasyHandle) {
        easy.set(CURLOPT_HTTPAUTH, plan.server.methods.rawValue)
        easy.set(CURLOPT_PROXYAUTH, plan.way.methods.rawValue)
        applyServer(plan, configuration, to: easy)
        if let certificate = configuration.clientCertificate, certificate.isMeant(for: plan) {
            easy.set(CURLOPT_SSLCERT, certificate.file)
            easy.set(CURLOPT_SSLKEY, certificate.key)
            // Without one OpenSSL asks the terminal for it, which others draw on, and the network's thread waits.
            easy.set(CURLOPT_KEYPASSWD, "")
        }
    }

    private static func applyServer(
        _ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: EasyHandle
    ) {
        switch plan.credentials?.kind {
        case .password(let user, let password):
            easy.set(CURLOPT_USERNAME, user)
            easy.set(CURLOPT_PASSWORD, password)
        case .bearer(let token):
            easy.set(CURLOPT_HTTPAUTH, ccurl_bearer())
            easy.set(CURLOPT_XOAUTH2_BEARER, token)
        case nil:
            // Each hop has a handle of its own, so that curl looks for the very host that it is about to ask. But where a
            // redirect leads may be anybody's, who would like to hear what the file says; so may be what a list names, and a
            // "default" in the file is for every host.
            guard let netrc = configuration.netrc, plan.request.isNamedByUser, plan.request.credentials == nil,
                plan.hop.isOfHost
            else { return }
            easy.set(CURLOPT_NETRC_FILE, netrc)
            easy.set(CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
        }
    }
}
