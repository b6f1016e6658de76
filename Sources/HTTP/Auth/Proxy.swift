import CCurl
import Numbers

/// A proxy, with its credentials separated from its address.
struct Proxy: Equatable, Sendable {
    /// The scheme, host and port of the proxy.
    let url: String
    /// The credentials that the proxy's address contains.
    let credentials: HTTPRequest.Credentials?

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Parses a proxy's address. An address without a scheme belongs to an HTTP proxy. Returns nil if the address is
    /// invalid.
    init?(_ text: String, _ curl: Curl) {
        guard let parts = URLParts(curl) else { return nil }
        let isWhole = text.contains("://")
        guard
            parts.set(CURLUPART_URL, isWhole ? text : "http://" + text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let scheme = parts.text(CURLUPART_SCHEME).map(Self.scheme), Self.schemes.contains(scheme),
            let host = parts.text(CURLUPART_HOST), !host.isEmpty
        else { return nil }
        let port = parts.text(CURLUPART_PORT).map { ":" + $0 } ?? ""
        url = "\(scheme)://\(host)\(port)"
        let decoded = UInt32(CURLU_URLDECODE)
        credentials = parts.text(CURLUPART_USER, decoded).map {
            .init(user: $0, password: parts.text(CURLUPART_PASSWORD, decoded) ?? "")
        }
    }

    /// Returns a scheme in lower case. GNOME writes `socks`, which curl would take for an older version of SOCKS.
    private static func scheme(_ text: String) -> String {
        let scheme = text.lowercased()
        return scheme == "socks" ? "socks5" : scheme
    }

    /// Returns the reason why a text is no proxy's address.
    static func failure(_ text: String) -> HTTPError {
        guard let mark = text.firstRange(of: "://") else { return .unusableProxy }
        let stated = Self.scheme(String(text[..<mark.lowerBound]))
        // Other texts may contain a password.
        let isName =
            !stated.isEmpty && stated.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
        return isName && !schemes.contains(stated) ? .proxyScheme(stated) : .unusableProxy
    }

    /// Returns the URL with credentials, for curl only.
    ///
    /// The credentials are not set by separate options: when curl before 8.8 reuses a connection, it decodes `%41` in
    /// such credentials, contrary to its manual.
    func url(telling credentials: HTTPRequest.Credentials?) -> String {
        url.replacing("://", with: "://" + Self.userInfo(credentials), maxReplacements: 1)
    }

    /// Removes the credentials from an error message of curl. The message may quote the proxy's URL.
    static func withoutCredentials(_ text: String, _ credentials: HTTPRequest.Credentials?) -> String {
        let secret = userInfo(credentials)
        return secret.isEmpty ? text : text.replacing(secret, with: "")
    }

    /// Returns the user and password in the form for a URL. Escapes all bytes except letters and digits.
    private static func userInfo(_ credentials: HTTPRequest.Credentials?) -> String {
        guard case .password(let user, let password) = credentials?.kind else { return "" }
        let escaped = [user, password].map { text in
            text.utf8.map { byte in
                let character = Character(UnicodeScalar(byte))
                if character.isASCII, character.isLetter || character.isNumber { return String(character) }
                return (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }.joined()
        }
        return escaped.joined(separator: ":") + "@"
    }
}

/// The proxies from the environment, and the hosts that need no proxy.
///
///     HTTPConfiguration(proxies: ProxyChoice { name in getenv(name).map { String(cString: $0) } })
///
/// `http_proxy`, or `https_proxy` and `HTTPS_PROXY`, name the proxy of a scheme; `all_proxy` or `ALL_PROXY` names the
/// proxy of both. `no_proxy` or `NO_PROXY` lists hosts, domains and address blocks that need no proxy; `*` stands for
/// all. Vitrine, not curl, chooses the proxy, because behind a proxy only a host's name can be checked.
public struct ProxyChoice: Hashable, Sendable {
    private let http: String?
    private let https: String?
    private let exceptions: [String]
    private let isOff: Bool

    /// Creates a choice that uses no proxy.
    public init() {
        self.init { _ in nil }
    }

    /// Reads environment variables. An empty variable counts as unset.
    public init(_ variable: (String) -> String?) {
        func first(_ names: [String]) -> String? {
            for name in names {
                if let value = variable(name), !value.isEmpty { return value }
            }
            return nil
        }
        // HTTP_PROXY is not read: a web server's client could set it by a header.
        http = first(["http_proxy", "all_proxy", "ALL_PROXY"])
        https = first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        let none = first(["no_proxy", "NO_PROXY"]) ?? ""
        isOff = none == "*"
        exceptions = none.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }

    /// Returns the proxy for a URL. Returns nil if the URL needs no proxy.
    func proxy(for url: HTTPURL) throws(HTTPError) -> Proxy? {
        guard !isOff, let text = url.isSecure ? https : http, !isException(url.origin.host) else { return nil }
        guard let proxy = Proxy(text, url.curl) else { throw Proxy.failure(text) }
        return proxy
    }

    private func isException(_ host: String) -> Bool {
        if let address = HostAddress(host) { return exceptions.contains { Self.block($0, contains: address) } }
        let name = Self.withoutDots(host, before: false)
        return exceptions.contains { exception in
            let domain = Self.withoutDots(exception, before: true)
            return !domain.isEmpty && (name == domain || name.hasSuffix("." + domain))
        }
    }

    private static func withoutDots(_ name: String, before: Bool) -> Substring {
        let name = name.hasSuffix(".") ? name.dropLast() : name[...]
        return before && name.hasPrefix(".") ? name.dropFirst() : name
    }

    /// Returns whether an address block such as `10.0.0.0/8` contains an address. A single address counts as a block.
    private static func block(_ text: String, contains address: HostAddress) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let block = HostAddress(String(parts[0])), block.bytes.count == address.bytes.count else { return false }
        guard parts.count == 2 else { return block == address }
        guard let bits = Int(digits: parts[1]), (0...block.bytes.count * 8).contains(bits) else { return false }
        return AddressBlock(block.bytes, bits).contains(address.bytes)
    }
}

/// Credentials for proxies whose addresses contain no credentials.
public struct ProxyCredentials: Sendable {
    let known: @Sendable (_ proxy: String) -> HTTPRequest.Credentials?
    let onRefusal: @Sendable (_ refused: HTTPRequest.Credentials, _ proxy: String) -> Void

    /// Creates credentials from a lookup function.
    ///
    /// - Parameters:
    ///   - known: returns the current credentials for a proxy.
    ///   - onRefusal: receives credentials that a proxy refused.
    public init(
        known: @escaping @Sendable (_ proxy: String) -> HTTPRequest.Credentials?,
        onRefusal: @escaping @Sendable (_ refused: HTTPRequest.Credentials, _ proxy: String) -> Void
    ) {
        self.known = known
        self.onRefusal = onRefusal
    }

    /// Creates an empty collection of credentials.
    public init() {
        self.init(known: { _ in nil }, onRefusal: { _, _ in })
    }
}

/// The fact that a proxy requests credentials.
public struct ProxyRefusal: Hashable, Sendable {
    /// The scheme, host and port of the proxy.
    public let proxy: String
    /// Whether Vitrine sent credentials and the proxy refused them.
    public let wasTold: Bool

    /// Creates a refusal.
    public init(proxy: String, wasTold: Bool) {
        self.proxy = proxy
        self.wasTold = wasTold
    }
}
