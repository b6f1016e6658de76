import CCurl
import Glibc
import Numbers

extension HTTPRequest {
    /// The addresses to which a transfer may connect.
    public enum AddressPolicy: Hashable, Sendable {
        /// The transfer may connect to all addresses.
        case anywhere
        /// The transfer may connect only to public addresses and one host. The user has named this host.
        case publicOnly(except: String?)
        /// The transfer may read local files below a folder. It must not follow links that lead out of the folder. The
        /// value is the folder's `file` URL. On the network, all addresses are allowed.
        case filesBelow(String)
    }
}

extension HTTPRequest.AddressPolicy {
    /// Returns whether this policy allows only public addresses for a host.
    func isBounded(at host: String, _ curl: Curl) -> Bool {
        switch self {
        case .anywhere, .filesBelow: false
        case .publicOnly(let exception):
            exception.flatMap { try? HTTPURL("http://\($0)/", curl) }?.origin.host != host
        }
    }

    /// Returns whether the policy allows requests to a host's name. Vitrine checks the addresses when it connects, but
    /// not behind a proxy.
    func allows(_ host: String, _ curl: Curl) -> Bool {
        guard isBounded(at: host, curl) else { return true }
        if let address = HostAddress(host) { return address.isPublic }
        // RFC 6761, section 6.3: names that always lead to this machine.
        var name = host[...]
        while name.last == "." { name.removeLast() }
        return name != "localhost" && !name.hasSuffix(".localhost")
    }
}

/// Prevents the use of new and reused connections to forbidden addresses.
struct AddressCheck {
    /// Whether a connection must lead to a public address. The value is false behind a proxy: the user chose the proxy,
    /// so its address may be private.
    private(set) var isBounded: Bool
    /// Whether a connection reached a public address. Then all later connections must also reach public addresses: see
    /// ``ExchangePlan/addressPolicy``.
    private(set) var hasReachedPublic = false
    private let isBehindProxy: Bool
    private let stallTimeout: Int
    /// Whether a forbidden address prevented the request. If curl also tried an allowed address, that attempt's result
    /// counts instead.
    var hasRefused: Bool { isRequestRefused || isAnyRefused && !isAnyTried }
    /// Whether a socket could not be created for lack of file descriptors.
    private(set) var lacksDescriptors = false
    private var (isAnyRefused, isAnyTried, isRequestRefused) = (false, false, false)
    /// Whether the connection leads to this machine or the user's network. Behind a proxy, only the host's name
    /// decides.
    private(set) var isPrivate: Bool

    init(_ plan: ExchangePlan, _ configuration: HTTPConfiguration) throws(HTTPError) {
        let (addressPolicy, host, curl) = (plan.addressPolicy, plan.hop.url.origin.host, plan.hop.url.curl)
        guard addressPolicy.allows(host, curl) else { throw .privateAddress(host) }
        isBehindProxy = plan.proxy != nil
        stallTimeout = configuration.stallTimeout
        isBounded = !isBehindProxy && addressPolicy.isBounded(at: host, curl)
        isPrivate = !HTTPRequest.AddressPolicy.publicOnly(except: nil).allows(host, curl)
    }

    /// Creates a socket, if the policy allows the address.
    ///
    /// The kernel closes the socket when this process starts a program, unlike curl's own sockets in older versions. If
    /// sent data is not acknowledged, the connection fails after the stall time-out; the system's default is about 15
    /// minutes.
    mutating func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let length = Int(clamping: address.pointee.addrlen)
        // The declared type fits an IPv4 address; an IPv6 address extends beyond it.
        let start = UnsafeRawPointer(address) + MemoryLayout<curl_sockaddr>.offset(of: \.addr)!
        guard isAllowed(HostAddress(start.assumingMemoryBound(to: sockaddr.self), length: length)) else {
            isAnyRefused = true
            return curl_socket_t(-1)
        }
        isAnyTried = true
        let (family, kind) = (address.pointee.family, address.pointee.socktype)
        let socket = socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        guard socket >= 0 else {
            lacksDescriptors = lacksDescriptors || DescriptorProbe.isShortage(errno)
            return CURL_SOCKET_BAD
        }
        var milliseconds = Int32(clamped: Double(stallTimeout) * 1000)
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }

    /// Returns whether a request may be sent to an address. Also records whether the address is public.
    mutating func allows(_ text: String) -> Bool {
        let address = HostAddress(text)
        if !isBehindProxy { isPrivate = address?.isPublic != true }
        // The results for earlier connections do not count any more.
        (isAnyRefused, isAnyTried, isRequestRefused) = (false, false, !isAllowed(address))
        if !isBehindProxy, address?.isPublic == true { (hasReachedPublic, isBounded) = (true, true) }
        return !isRequestRefused
    }

    private func isAllowed(_ address: HostAddress?) -> Bool { !isBounded || address?.isPublic == true }
}

/// An IP address, which may be public or reserved.
struct HostAddress: Equatable, Sendable {
    /// The four bytes of an IPv4 address, or the sixteen of an IPv6 address.
    let bytes: [UInt8]

    /// Reads a socket address. Returns nil for other address families.
    init?(_ address: UnsafePointer<sockaddr>, length: Int) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Self.bytes(of: $0.pointee.sin_addr) }
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                Self.bytes(of: $0.pointee.sin6_addr)
            }
        default: return nil
        }
    }

    /// Parses an address in any spelling that a resolver accepts. The text may have brackets, zones, fewer parts, octal
    /// or hexadecimal numbers. Returns nil for a name.
    init?(_ text: String) {
        var text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        while text.last == "." { text.removeLast() }
        if text.contains(":") {
            var address = in6_addr()
            guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &address) == 1 else { return nil }
            bytes = Self.bytes(of: address)
        } else {
            var address = in_addr()
            // inet_aton ignores everything after a space, so a text with a space is no address.
            guard !text.isEmpty, !text.contains(where: \.isWhitespace), inet_aton(text, &address) != 0 else {
                return nil
            }
            bytes = Self.bytes(of: address)
        }
    }

    private init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = Array(bytes)
    }

    private static func bytes<Address>(of address: Address) -> [UInt8] {
        withUnsafeBytes(of: address) { Array($0) }
    }

    /// Whether the address is public. Reserved addresses, and addresses of this machine, a link, a private network, a
    /// carrier or a multicast group, are not public (RFC 6890 and its registries).
    var isPublic: Bool {
        bytes.count == 4 ? !Self.reserved4.contains { $0.contains(bytes) } : isPublic6
    }

    private var isPublic6: Bool {
        // Three kinds of IPv6 addresses contain an IPv4 address and lead to it.
        if Self.mapped.contains(bytes) || Self.translated.contains(bytes) { return HostAddress(bytes[12...]).isPublic }
        if Self.tunnelled.contains(bytes) { return HostAddress(bytes[2..<6]).isPublic }
        return Self.global.contains(bytes) && !Self.reserved6.contains { $0.contains(bytes) }
    }

    private static let reserved4: [AddressBlock] = [
        .init([0], 8), .init([10], 8), .init([100, 64], 10), .init([127], 8), .init([169, 254], 16),
        .init([172, 16], 12), .init([192, 0, 0], 24), .init([192, 0, 2], 24), .init([192, 88, 99], 24),
        .init([192, 168], 16), .init([198, 18], 15), .init([198, 51, 100], 24), .init([203, 0, 113], 24),
        .init([224], 4), .init([240], 4),
    ]
    private static let mapped = AddressBlock([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96)
    /// The IPv6 block for IPv4 addresses behind NAT64 (RFC 6052). The private block 64:ff9b:1::/48 is not included.
    private static let translated = AddressBlock([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96)
    /// The IPv6 block for 6to4 tunnels (RFC 3056).
    private static let tunnelled = AddressBlock([0x20, 0x02], 16)
    /// All IPv6 unicast addresses assigned so far.
    private static let global = AddressBlock([0x20], 3)
    /// The reserved parts of the unicast addresses, for protocols and examples. Teredo addresses are among them,
    /// because each contains an IPv4 address.
    private static let reserved6: [AddressBlock] = [
        .init([0x20, 0x01, 0x00], 23), .init([0x20, 0x01, 0x0D, 0xB8], 32), .init([0x3F, 0xFF, 0x00], 20),
    ]
}

/// A block of IP addresses with a common prefix.
struct AddressBlock: Equatable, Sendable {
    private let prefix: [UInt8]
    private let bits: Int

    /// - Parameter prefix: the first bytes, at least as many as the bits need.
    init(_ prefix: [UInt8], _ bits: Int) {
        self.prefix = prefix
        self.bits = bits
    }

    func contains(_ bytes: [UInt8]) -> Bool {
        guard bytes.count * 8 >= bits else { return false }
        let (whole, rest) = (bits / 8, bits % 8)
        guard bytes[..<whole] == prefix[..<whole] else { return false }
        return rest == 0 || (bytes[whole] ^ prefix[whole]) >> (8 - rest) == 0
    }
}
