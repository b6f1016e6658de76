import Glibc
import HTTP

/// Whether this machine is on any network at all.
enum NetworkPresence {
    /// Tells a name that is not known from one that could not be asked for: without a network no name is known, and
    /// nobody should be told that his host does not exist. Nor that there is no network, when one host of it is off.
    static func refine(_ error: RequestError, hasAddress: @autoclosure () -> Bool = hasAddress()) -> RequestError {
        switch error {
        case .transfer(.unknownHost), .transfer(.lookupTimedOut), .transfer(.unknownProxy), .transfer(.connectTimedOut),
            .transfer(.proxyUnreachable), .transfer(.stalled), .transfer(.noRoute):
            hasAddress() ? error : .noNetwork
        default: error
        }
    }

    /// Whether an interface other than loopback is up and has an address.
    private static func hasAddress() -> Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return true }
        defer { freeifaddrs(list) }
        var entry = list
        while let interface = entry?.pointee {
            entry = interface.ifa_next
            let flags = Int32(bitPattern: interface.ifa_flags)
            let isUp = flags & Int32(IFF_UP) != 0 && flags & Int32(IFF_LOOPBACK) == 0
            let family = Int32(interface.ifa_addr?.pointee.sa_family ?? 0)
            if isUp, family == AF_INET || (family == AF_INET6 && !isLinkLocal(interface.ifa_addr)) { return true }
        }
        return false
    }

    /// An interface gives itself such an address; it leads nowhere.
    private static func isLinkLocal(_ address: UnsafeMutablePointer<sockaddr>?) -> Bool {
        guard let address else { return false }
        return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
            withUnsafeBytes(of: address.pointee.sin6_addr) { $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
        }
    }
}
