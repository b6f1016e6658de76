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
        /// The transfer may read local files below a folder. Links in the folder do not change this limit. The value is
        /// the folder's `file` URL. On the network, all addresses are allowed.
        case filesBelow(String)
    }
}

extension HTTPRequest.AddressPolicy {
    /// Whether this policy allows only public addresses for a host.
    func isBounded(at host: String, _ curl: Curl) -> Bool {
        switch self {
        case .anywhere, .filesBelow: false
        case .publicOnly(let exception):
            exception.flatMap { try? HTTPURL("http://\($0)/", curl) }?.origin.host != host
        }
    }

    /// Whether the policy allows requests to a host, judged by its name. The addresses are checked when Vitrine
    /// connects, but never behind a proxy.
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
    /// Whether the other end must have a public address. The value is false behind a proxy: the user chose the proxy,
    /// so its address may be private.
    private(set) var isBounded: Bool
    /// Whether a connection reached a public address. Then all later connections must also reach
    /// public addresses: see ``ExchangePlan/addressPolicy``.
    private(set) var hasReachedPublic = false
    private let isBehindProxy: Bool
    private let stallTimeout: Int
    /// Whether a forbidden address prevented the request. If curl also tried an allowed address, that attempt's result
    /// counts instead.
    var hasRefused: Bool { isRequestRefused || isAnyRefused && !isAnyTried }
    /// Whether a socket could not be created for lack of file descriptors.
    private(set) var lacksDescriptors = false
    private var (isAnyRefused, isAnyTried, isRequestRefused) = (false, false, false)
    /// Whether the other end is on this machine or in the user's network. Behind a proxy, only the host's name decides.
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
    /// The kernel closes the socket when this process starts a program, unlike curl's own sockets in older versions.
    /// Unacknowledged data fails after the stall time-out; the system's default is about 15 minutes.
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

    /// Whether a request may be sent to the other end of a connection.
    mutating func allows(_ text: String) -> Bool {
        let address = HostAddress(text)
        if !isBehindProxy { isPrivate = address?.isPublic != true }
        // The flags of earlier connections do not count any more.
        (isAnyRefused, isAnyTried, isRequestRefused) = (false, false, !isAllowed(address))
        if !isBehindProxy, address?.isPublic == true { (hasReachedPublic, isBounded) = (true, true) }
        return !isRequestRefused
    }

    private func isAllowed(_ address: HostAddress?) -> Bool { !isBounded || address?.isPublic == true }
}
