import CCurl
import Glibc

/// Where a connection begins and ends, which tells it from all others that there are. Its port on this machine alone does not:
/// Linux has the same one for connections to different hosts.
struct ConnectionEnds: Hashable {
    private let port: Int
    private let remotePort: Int
    private let remoteAddress: String

    /// Of a socket; nil while it is not connected.
    init?(_ socket: curl_socket_t) {
        var (port, remotePort): (Int32, Int32) = (0, 0)
        var address = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard ccurl_get_ends(socket, &port, &remotePort, &address) != 0 else { return nil }
        self.port = Int(port)
        self.remotePort = Int(remotePort)
        remoteAddress = String(decoding: address.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Of the connection that a transfer went over.
    init(_ easy: EasyHandle) {
        port = easy.long(CURLINFO_LOCAL_PORT)
        remotePort = easy.long(CURLINFO_PRIMARY_PORT)
        remoteAddress = easy.text(CURLINFO_PRIMARY_IP)
    }
}
