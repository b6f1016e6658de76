import Concurrency
import Glibc
import HTTP

/// Whether this machine is on any network.
public struct NetworkPresence: Coalescing, Hashable, Sendable {
    /// Whether the machine has a network address, other than its own loopback address.
    public let isThere: Bool
    /// The addresses that the machine had earlier and does not have any more.
    public let lost: Set<String>

    /// Creates a value.
    public init(isThere: Bool, lost: Set<String> = []) {
        (self.isThere, self.lost) = (isThere, lost)
    }

    /// Replaces this value by the later one.
    public mutating func merge(_ later: NetworkPresence) {
        self = later
    }

    /// The current state. If the system gives no answer, the machine counts as on a network.
    static var current: NetworkPresence {
        NetworkPresence(isThere: NetworkAddress.all()?.isEmpty != true)
    }

    /// Replaces an error whose only cause is that the machine is offline.
    ///
    /// Without a network no name can be looked up, and the user must not read that a host does not exist. With a
    /// network, the error stays unchanged.
    static func refine(_ error: RequestError, hasAddress: @autoclosure () -> Bool = current.isThere) -> RequestError {
        switch error {
        case .transfer(.unknownHost), .transfer(.lookupTimedOut), .transfer(.unknownProxy), .transfer(.connectTimedOut),
            .transfer(.proxyUnreachable), .transfer(.silentBehindProxy), .transfer(.stalled), .transfer(.noRoute):
            hasAddress() ? error : .noNetwork
        default: error
        }
    }
}

/// Whether the machine is on a network, and since when it was on none.
struct NetworkAttachment {
    /// Whether the machine is on a network, according to the kernel's last message.
    private(set) var isThere = true
    private var absence: (beginning: Duration, lost: Set<String>)?

    /// The time after which the other ends have given up their connections. A machine that was asleep may get its
    /// former address again.
    private static let longest = Duration.seconds(30)

    /// Records a message of the kernel. Returns the addresses whose connections are useless now.
    mutating func change(to presence: NetworkPresence, at now: Duration) -> Set<String> {
        isThere = presence.isThere
        guard isThere else {
            absence = absence ?? (now, presence.lost)
            return []
        }
        defer { absence = nil }
        guard let absence, now - absence.beginning >= Self.longest else { return presence.lost }
        return presence.lost.union(absence.lost)
    }
}

/// A network address of this machine.
struct NetworkAddress: Hashable, Sendable {
    /// The name of the network interface that has the address.
    let interface: String
    /// The four bytes of an IPv4 address, or the sixteen of an IPv6 address.
    let bytes: [UInt8]

    /// The address as text, in the form that curl uses.
    var text: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the addresses of connected interfaces except loopback. Returns nil if the system gives no answer.
    ///
    /// Link-local IPv6 addresses such as fe80 do not count, because interfaces give them to themselves.
    static func all() -> Set<NetworkAddress>? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var all: Set<NetworkAddress> = []
        var entry = list
        while let interface = entry?.pointee {
            entry = interface.ifa_next
            let flags = Int32(bitPattern: interface.ifa_flags)
            // IFF_RUNNING means that a cable is plugged in, or that a wireless network is joined.
            let isUp = flags & Int32(IFF_UP) != 0 && flags & Int32(IFF_RUNNING) != 0
            guard isUp, flags & Int32(IFF_LOOPBACK) == 0, let bytes = bytes(of: interface.ifa_addr) else { continue }
            all.insert(NetworkAddress(interface: String(cString: interface.ifa_name), bytes: bytes))
        }
        return all
    }

    private static func bytes(of address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            let bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
            }
            return bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 ? nil : bytes
        default: return nil
        }
    }
}
