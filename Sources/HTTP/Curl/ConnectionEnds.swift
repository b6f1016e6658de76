import CCurl
import Glibc

/// Where a connection begins and ends, which tells it from the others that there are. Its port on this machine alone does not:
/// Linux has the same one for connections to different hosts.
struct ConnectionEnds: Hashable {
    private struct End: Hashable {
        var port: Int
        var address: String
    }

    private let local: End
    private let remote: End

    /// Of a socket; nil while it is not connected.
    init?(_ socket: curl_socket_t) {
        var ports: (local: Int32, remote: Int32) = (0, 0)
        var local = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var remote = local
        guard ccurl_get_ends(socket, &ports.local, &local, &ports.remote, &remote) != 0 else { return nil }
        self.local = End(port: Int(clamping: ports.local), address: Self.text(local))
        self.remote = End(port: Int(clamping: ports.remote), address: Self.text(remote))
    }

    /// Of the connection that a transfer went over.
    init(_ easy: EasyHandle) {
        local = End(port: easy.long(CURLINFO_LOCAL_PORT), address: easy.text(CURLINFO_LOCAL_IP))
        remote = End(port: easy.long(CURLINFO_PRIMARY_PORT), address: easy.text(CURLINFO_PRIMARY_IP))
    }

    /// Whether it leads to the same place as another.
    func leadsWhere(_ other: ConnectionEnds) -> Bool { remote == other.remote }

    /// Of the connection that a request is about to go out over, as curl names it.
    init(from local: String, port: Int, to remote: String, port remotePort: Int) {
        self.local = End(port: port, address: local)
        self.remote = End(port: remotePort, address: remote)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
