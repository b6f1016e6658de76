import Glibc

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
            // inet_aton ignores what follows a space.
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
