import CCurl
import Glibc
import Numbers

extension HTTPRequest {
    /// What a transfer may reach.
    public enum AddressPolicy: Hashable, Sendable {
        /// Whatever there is.
        case anywhere
        /// Only addresses of the whole world's, for what a stranger has named: nothing on this machine or in the user's own
        /// network. But the one host may be there, which the user has named.
        case publicOnly(except: String?)
        /// Of this machine's files only those below a folder, which is named by its `file` URL, whatever links lie there. On the
        /// network, whatever there is.
        case filesBelow(String)
    }
}

extension HTTPRequest.AddressPolicy {
    /// Whether a host's addresses must be the whole world's.
    func isBounded(at host: String, _ curl: Curl) -> Bool {
        switch self {
        case .anywhere, .filesBelow: false
        case .publicOnly(let exception):
            exception.flatMap { try? HTTPURL("http://\($0)/", curl) }?.origin.host != host
        }
    }

    /// Whether a host may be asked for, as far as its name tells. An address that a name leads to is looked at when the
    /// connection is made; by a proxy it is made elsewhere, and the name is all that there is.
    func allows(_ host: String, _ curl: Curl) -> Bool {
        guard isBounded(at: host, curl) else { return true }
        if let address = HostAddress(host) { return address.isPublic }
        // RFC 6761, section 6.3: names that always lead to this machine.
        var name = host[...]
        while name.last == "." { name.removeLast() }
        return name != "localhost" && !name.hasSuffix(".localhost")
    }
}

/// Sees to it that a hop connects to no address that it must not reach: when a connection is made, and when one is used
/// that was made for somebody else.
struct AddressCheck {
    /// Whether the other end must have a public address. A proxy is the user's own word, wherever it is; what lies behind it
    /// cannot be seen.
    private(set) var isBounded: Bool
    /// Whether the connection was to a public address. All that follows it must be, too: see ``ExchangePlan/reach``.
    private(set) var hasReachedPublic = false
    private let isBehindProxy: Bool
    private let stallTimeout: Int
    /// Whether it was an address that must not be reached for which there was no request. Where another address could be
    /// tried, it is what came of that one.
    var hasRefused: Bool { isRequestRefused || isAnyRefused && !isAnyTried }
    /// Whether a socket could not be made because there was no file descriptor left.
    private(set) var lacksDescriptors = false
    private var (isAnyRefused, isAnyTried, isRequestRefused) = (false, false, false)
    /// Whether the other end is on this machine or in the user's own network; of what lies behind a proxy, as far as its name
    /// tells.
    private(set) var isPrivate: Bool

    init(_ plan: ExchangePlan, _ configuration: HTTPConfiguration) throws(HTTPError) {
        let (addressPolicy, host, curl) = (plan.addressPolicy, plan.hop.url.origin.host, plan.hop.url.curl)
        guard addressPolicy.allows(host, curl) else { throw .privateAddress(host) }
        isBehindProxy = plan.proxy != nil
        stallTimeout = configuration.stallTimeout
        isBounded = !isBehindProxy && addressPolicy.isBounded(at: host, curl)
        isPrivate = !HTTPRequest.AddressPolicy.publicOnly(except: nil).allows(host, curl)
    }

    /// Makes a socket for an address, or none.
    ///
    /// It is closed in programs that we start: curl's own sockets, up to now, are not. And it does not wait for longer than
    /// transfers do until what was sent has arrived: by default the system tries for some 15 minutes.
    mutating func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let length = Int(clamping: address.pointee.addrlen)
        // What is declared holds an address of version 4; one of version 6 goes on behind it.
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

    /// Whether a request may go to the other end of a connection.
    mutating func allows(_ text: String) -> Bool {
        let address = HostAddress(text)
        if !isBehindProxy { isPrivate = address?.isPublic != true }
        // What comes now is about another connection, if there is one.
        (isAnyRefused, isAnyTried, isRequestRefused) = (false, false, !isAllowed(address))
        if !isBehindProxy, address?.isPublic == true { (hasReachedPublic, isBounded) = (true, true) }
        return !isRequestRefused
    }

    private func isAllowed(_ address: HostAddress?) -> Bool { !isBounded || address?.isPublic == true }
}
