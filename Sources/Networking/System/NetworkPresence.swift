import Concurrency
import Glibc
import HTTP

/// Whether this machine is on any network at all.
public struct NetworkPresence: Coalescing, Hashable, Sendable {
    /// Whether it is.
    public let isThere: Bool

    /// States it.
    public init(isThere: Bool) {
        self.isThere = isThere
    }

    /// The later one counts.
    public mutating func merge(_ later: NetworkPresence) {
        self = later
    }

    /// How it is now. Where that cannot be told it is taken to be on one.
    static var current: NetworkPresence {
        NetworkPresence(isThere: NetworkAddress.all()?.isEmpty != true)
    }

    /// Tells a name that is not known from one that could not be asked for: without a network no name is known, and
    /// nobody should be told that his host does not exist. Nor that there is no network, when one host of it is off.
    static func refine(_ error: RequestError, hasAddress: @autoclosure () -> Bool = current.isThere) -> RequestError {
        switch error {
        case .transfer(.unknownHost), .transfer(.lookupTimedOut), .transfer(.unknownProxy), .transfer(.connectTimedOut),
            .transfer(.proxyUnreachable), .transfer(.silentBehindProxy), .transfer(.stalled), .transfer(.noRoute):
            hasAddress() ? error : .noNetwork
        default: error
        }
    }
}

/// An address by which this machine is on a network.
struct NetworkAddress: Hashable, Sendable {
    /// The interface that has it.
    let interface: String
    /// 4 bytes, or 16.
    let bytes: [UInt8]

    /// Those of interfaces other than loopback that are up and have somebody at the other end; nil if they cannot be told.
    ///
    /// An interface gives itself addresses of version 6 that lead nowhere, fe80 and so on: they do not count.
    static func all() -> Set<NetworkAddress>? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var all: Set<NetworkAddress> = []
        var entry = list
        while let interface = entry?.pointee {
            entry = interface.ifa_next
            let flags = Int32(bitPattern: interface.ifa_flags)
            // "Resources allocated": a cable is plugged in, a cell is joined.
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
