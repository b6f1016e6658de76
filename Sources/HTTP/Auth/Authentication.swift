import CCurl

/// The authentication methods to try with one server or proxy.
///
/// curl first sends a request without a password and then chooses a method. Where Basic has worked before, curl sends
/// the password at once; otherwise each thumbnail would need two requests.
struct Authentication {
    /// A set of authentication methods, in curl's bits.
    struct Methods: OptionSet, Hashable {
        let rawValue: Int

        static let basic = Methods(rawValue: ccurl_basic())
        static let digest = Methods(rawValue: ccurl_digest())
        /// The methods that send a password. NTLM is excluded, because NTLM is insecure. Negotiate is excluded, because
        /// it needs the user's Kerberos ticket, which `vitrine-fetcher` cannot read.
        static let password: Methods = [.basic, .digest]
    }

    /// The methods that curl may choose from in the next request.
    private(set) var methods: Methods
    /// All methods that curl was allowed to choose so far.
    private var tried: Methods
    /// Whether the server wants Basic under another name.
    private var isDisguised = false

    /// - Parameter known: the methods that worked before; nil if unknown.
    init(known: Methods?) {
        methods = known ?? .password
        tried = methods
    }

    /// Returns the methods to try after a refusal. Returns nil if no method is left.
    func next(offered: [HTTPChallenge]) -> Authentication? {
        let schemes = Set(offered.map(\.scheme))
        var open: Methods = []
        if schemes.contains("basic") { open.insert(.basic) }
        if schemes.contains("digest") { open.insert(.digest) }
        // curl does not know the server's other name for Basic, so it has not sent the password yet. It sends the
        // password unasked if Basic is the only allowed method.
        let isDisguised = open == .basic && methods != .basic && offered.contains(where: \.isDisguised)
        if !isDisguised { open.subtract(tried) }
        guard !open.isEmpty else { return nil }
        var next = self
        next.isDisguised = isDisguised
        next.methods = open
        next.tried.formUnion(open)
        return next
    }

    /// Returns the offered methods to remember after a success. Returns nil if the server wanted no password, or if
    /// Digest may have been the method.
    func learned(fromOffer offer: Methods) -> Methods? {
        if isDisguised { return methods }
        let possible = methods.intersection(offer)
        // A digest answers a new challenge each time, so it cannot be sent at once.
        return possible == .basic ? possible : nil
    }
}

/// Remembers which authentication methods worked. Used on the network's thread only.
final class AuthenticationMemory {
    private var methods: [String: Authentication.Methods] = [:]
    private static let maximumCount = 256

    /// - Parameter place: the text of an origin or a proxy.
    subscript(place: String) -> Authentication.Methods? {
        get { methods[place] }
        set {
            // If there are too many places, the memory forgets all of them. The client can learn the methods again.
            if methods.count >= Self.maximumCount { methods = [:] }
            methods[place] = newValue
        }
    }
}

/// Sets curl's options for the credentials of an exchange. The credentials are for the origin and for the proxy.
enum CredentialOptions {
    static func apply(_ plan: ExchangePlan, _ configuration: HTTPConfiguration, to easy: EasyHandle) {
        easy.set(CURLOPT_HTTPAUTH, plan.server.methods.rawValue)
        easy.set(CURLOPT_PROXYAUTH, plan.way.methods.rawValue)
        applyServer(plan, configuration, to: easy)
        if let certificate = configuration.clientCertificate, certificate.isMeant(for: plan) {
            easy.set(CURLOPT_SSLCERT, certificate.file)
            easy.set(CURLOPT_SSLKEY, certificate.key)
            // Without a value OpenSSL would prompt on the terminal and block the network's thread.
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
        // RequestHeaders adds the header.
        case .header: break
        case .signature(let key): key.apply(to: easy)
        case nil:
            // curl looks up its handle's host in the netrc file. But a "default" entry in the file matches every host.
            // So the file is not used after a redirect to another host, nor for hosts that only a gallery's list names.
            guard let netrc = configuration.netrc, plan.request.isNamedByUser, plan.request.credentials == nil,
                plan.hop.isOfHost
            else { return }
            easy.set(CURLOPT_NETRC_FILE, netrc)
            easy.set(CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
        }
    }
}
