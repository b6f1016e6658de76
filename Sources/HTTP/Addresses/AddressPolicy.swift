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
