import CCurl

/// The ways of saying who one is that are tried with one server or proxy.
///
/// curl asks once without a password, and then chooses. Where a password has been taken in the plain way before, it is sent
/// at once: otherwise each thumbnail would be asked for twice.
struct Authentication {
    /// curl's own bits.
    struct Methods: OptionSet, Hashable {
        let rawValue: Int

        static let basic = Methods(rawValue: ccurl_basic())
        static let digest = Methods(rawValue: ccurl_digest())
        static let negotiate = Methods(rawValue: ccurl_negotiate())
        /// Those that a password is for. Never NTLM, which is broken.
        static let password: Methods = [.basic, .digest]
    }

    /// What curl may choose from now.
    private(set) var methods: Methods
    /// All that it could choose from so far.
    private var tried: Methods

    /// - Parameter known: what worked before.
    init(known: Methods?) {
        methods = known ?? .password
        tried = methods
    }

    /// What is left to try when the answer is still no; nil if nothing is.
    ///
    /// Negotiate is for where no password will do, though curl would choose it first: it speaks for whoever is logged in on
    /// this machine, and curl does not go on to a password where that is nobody.
    func next(offered: [HTTPChallenge]) -> Authentication? {
        let schemes = Set(offered.map(\.scheme))
        var open: Methods = []
        if schemes.contains("basic") { open.insert(.basic) }
        if schemes.contains("digest") { open.insert(.digest) }
        if open.isEmpty, schemes.contains("negotiate") { open = .negotiate }
        open.subtract(tried)
        guard !open.isEmpty else { return nil }
        var next = self
        next.methods = open
        next.tried.formUnion(open)
        return next
    }

    /// What is worth knowing of an exchange that went well, by what was on offer when it was asked for a password: nothing
    /// if it was not.
    func learned(fromOffer offer: Methods) -> Methods? {
        let possible = methods.intersection(offer)
        // A digest is of what the server says each time; it cannot be sent at once.
        return possible == .basic || possible == .negotiate ? possible : nil
    }
}

/// How servers and proxies have been told who asks. Touched on the network's thread only.
final class AuthenticationMemory {
    private var methods: [String: Authentication.Methods] = [:]
    private static let maximumCount = 256

    /// - Parameter place: an origin, or a proxy.
    subscript(place: String) -> Authentication.Methods? {
        get { methods[place] }
        set {
            // It can be learned again.
            if methods.count >= Self.maximumCount { methods = [:] }
            methods[place] = newValue
        }
    }
}

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
