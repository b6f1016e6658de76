import Numbers

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
