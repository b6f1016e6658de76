import CCurl
import Numbers

/// A proxy, taken apart: what is said of it, in an error too, has no password in it.
struct Proxy: Equatable, Sendable {
    /// Scheme, host and port.
    let url: String
    /// Who asks it, as its address says.
    let credentials: HTTPRequest.Credentials?

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Reads a proxy's address; without a scheme it is an HTTP proxy. Nil if that cannot be one.
    init?(_ text: String, _ curl: Curl) {
        guard let parts = URLParts(curl) else { return nil }
        let isWhole = text.contains("://")
        guard
            parts.set(CURLUPART_URL, isWhole ? text : "http://" + text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let scheme = parts.text(CURLUPART_SCHEME)?.lowercased(), Self.schemes.contains(scheme),
            let host = parts.text(CURLUPART_HOST), !host.isEmpty
        else { return nil }
        let port = parts.text(CURLUPART_PORT).map { ":" + $0 } ?? ""
        url = "\(scheme)://\(host)\(port)"
        let decoded = UInt32(CURLU_URLDECODE)
        credentials = parts.text(CURLUPART_USER, decoded).map {
            .init(user: $0, password: parts.text(CURLUPART_PASSWORD, decoded) ?? "")
        }
    }

    /// The URL with who asks in it, for curl alone. Told of that by other options, curl before 8.8 takes `%41` for a letter
    /// each time that it looks for a connection, whatever its manual says.
    func url(telling credentials: HTTPRequest.Credentials?) -> String {
        url.replacing("://", with: "://" + Self.userInfo(credentials), maxReplacements: 1)
    }

    /// What curl says, who may have named the proxy as it was told of it.
    static func withoutCredentials(_ text: String, _ credentials: HTTPRequest.Credentials?) -> String {
        let secret = userInfo(credentials)
        return secret.isEmpty ? text : text.replacing(secret, with: "")
    }

    /// A user and a password as they stand in a URL, with every byte as `%41` that is neither a letter nor a digit.
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

/// Which proxy leads to which host, as the environment says to curl and to many other programs.
///
///     HTTPConfiguration(proxies: ProxyChoice { name in getenv(name).map { String(cString: $0) } })
///
/// `http_proxy`, or `https_proxy` and `HTTPS_PROXY`, for a scheme, and `all_proxy` or `ALL_PROXY` for both; `no_proxy` or
/// `NO_PROXY` names hosts, domains and blocks of addresses, by commas, that are reached without one, and `*` all. It is
/// decided here and not by curl, since of a host behind a proxy only the name can be judged.
public struct ProxyChoice: Hashable, Sendable {
    private let http: String?
    private let https: String?
    private let exceptions: [String]
    private let isOff: Bool

    /// No proxy for anything.
    public init() {
        self.init { _ in nil }
    }

    /// Reads variables; one that is empty is as good as none.
    public init(_ variable: (String) -> String?) {
        func first(_ names: [String]) -> String? {
            for name in names {
                if let value = variable(name), !value.isEmpty { return value }
            }
            return nil
        }
        // HTTP_PROXY is not read: to a program that a web server starts it is what a stranger sent as "Proxy:".
        http = first(["http_proxy", "all_proxy", "ALL_PROXY"])
        https = first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        let none = first(["no_proxy", "NO_PROXY"]) ?? ""
        isOff = none == "*"
        exceptions = none.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }

    /// The proxy that leads to a URL; nil if none does.
    func proxy(for url: HTTPURL) throws(HTTPError) -> Proxy? {
        guard !isOff, let text = url.isSecure ? https : http, !isException(url.origin.host) else { return nil }
        guard let proxy = Proxy(text, url.curl) else { throw .unusableProxy }
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

    /// Whether `10.0.0.0/8` or `10.1.2.3` holds an address.
    private static func block(_ text: String, contains address: HostAddress) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let block = HostAddress(String(parts[0])), block.bytes.count == address.bytes.count else { return false }
        guard parts.count == 2 else { return block == address }
        guard let bits = Int(digits: parts[1]), (0...block.bytes.count * 8).contains(bits) else { return false }
        return AddressBlock(block.bytes, bits).contains(address.bytes)
    }
}

/// Who asks proxies, beyond what stands in their addresses: what the user has said since, which comes first.
///
///     HTTPConfiguration(proxyCredentials: ProxyCredentials(known: { proxy in … }, onRefusal: { credentials, proxy in … }))
///
/// A proxy is called by its scheme, host and port. What it is told is for it alone. Both are called on the threads that
/// transfers run on, which wait meanwhile.
public struct ProxyCredentials: Sendable {
    let known: @Sendable (_ proxy: String) -> HTTPRequest.Credentials?
    let onRefusal: @Sendable (_ refused: HTTPRequest.Credentials, _ proxy: String) -> Void

    /// States who asks, by what is known of each proxy at the moment.
    ///
    /// - Parameter onRefusal: hears that a proxy was told something and refuses it, before anybody else hears of that.
    public init(
        known: @escaping @Sendable (_ proxy: String) -> HTTPRequest.Credentials?,
        onRefusal: @escaping @Sendable (_ refused: HTTPRequest.Credentials, _ proxy: String) -> Void
    ) {
        self.known = known
        self.onRefusal = onRefusal
    }

    /// Nobody, beyond what the addresses say.
    public init() {
        self.init(known: { _ in nil }, onRefusal: { _, _ in })
    }
}

/// A proxy that wants to know who asks.
public struct ProxyRefusal: Hashable, Sendable {
    /// Its scheme, host and port.
    public let proxy: String
    /// Whether it was told something, which does not satisfy it.
    public let wasTold: Bool

    /// States it.
    public init(proxy: String, wasTold: Bool) {
        self.proxy = proxy
        self.wasTold = wasTold
    }
}
