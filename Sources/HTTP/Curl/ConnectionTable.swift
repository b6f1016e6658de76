import CCurl
import Glibc

/// The sockets of the connections that curl has made, and how many packets of each have been told of. Touched on the network's
/// thread only.
///
/// curl says which socket a transfer had (CURLINFO_ACTIVESOCKET) only when nobody uses that connection any more: of one that
/// is shared, never while it is. So its sockets are noted when they are made, and told apart by their ends.
final class ConnectionTable {
    private struct Connection {
        /// Its ends; nil until it has been seen to be connected.
        var ends: ConnectionEnds?
        /// Packets that have been told of. The system's counts begin anew after the largest.
        var (received, disordered): (UInt32, UInt32) = (0, 0)
    }

    /// By socket. One that was closed stays until another has its number, so there are never more than descriptors.
    private var connections: [curl_socket_t: Connection] = [:]
    private var sockets: [ConnectionEnds: curl_socket_t] = [:]
    private var unconnected: Set<curl_socket_t> = []

    /// A socket has been made, which will be connected.
    func note(_ socket: curl_socket_t) {
        if let before = connections.updateValue(Connection(), forKey: socket)?.ends { sockets[before] = nil }
        unconnected.insert(socket)
    }

    /// What has come over a connection since it was last asked for of the same one; nil where the system does not say.
    func advance(_ ends: ConnectionEnds) -> TransferMeter.Packets? {
        guard let socket = socket(ends), let last = connections[socket] else { return nil }
        var (roundTrip, received, disordered): (UInt32, UInt32, UInt32) = (0, 0, 0)
        guard ccurl_get_packets(socket, &roundTrip, &received, &disordered) != 0 else { return nil }
        connections[socket] = Connection(ends: ends, received: received, disordered: disordered)
        return TransferMeter.Packets(
            received: Int(clamping: received &- last.received),
            disordered: Int(clamping: disordered &- last.disordered),
            roundTrip: Double(roundTrip) / 1e6)
    }

    /// Nobody wants any more of what comes over a connection. If it is closed for that, it is with a reset (socket(7),
    /// SO_LINGER): else the server goes on to send until something of that has come here and been refused, which on a long
    /// link that is full takes seconds, and is in the way of what is wanted.
    func abandon(_ ends: ConnectionEnds) {
        guard let socket = socket(ends) else { return }
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    }

    /// A transfer has waited in vain. If nothing else has come over its connection for half of that time it is dead, though
    /// nobody says so: a way that is gone sends no word. It is given its end here, which curl sees before it is used again, and
    /// at once by all that wait for something over it. Left alone it would be used until the system gives it up: curl takes one
    /// that several share for as good as before, and each would wait for as long once more. So would those who are given
    /// another that nobody uses now: to connect anew takes less.
    func giveUp(_ ends: ConnectionEnds, after seconds: Int, inUse: Set<ConnectionEnds>) {
        noteEnds()
        for (other, socket) in sockets where other == ends || other.leadsWhere(ends) && !inUse.contains(other) {
            var silence: UInt32 = 0
            guard ConnectionEnds(socket) == other,
                ccurl_get_silence(socket, &silence) == 0 || Double(silence) >= Double(seconds) * 500
            else { continue }
            shutdown(socket, Int32(SHUT_RD))
        }
    }

    /// Whether something lies on a connection that nobody has read.
    func hasUnread(_ ends: ConnectionEnds) -> Bool {
        guard let socket = socket(ends) else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    private func socket(_ ends: ConnectionEnds) -> curl_socket_t? {
        noteEnds()
        // Something else may have the number of a socket that was closed.
        guard let socket = sockets[ends], ConnectionEnds(socket) == ends else { return nil }
        return socket
    }

    private func noteEnds() {
        for socket in unconnected {
            guard let ends = ConnectionEnds(socket) else { continue }
            connections[socket]?.ends = ends
            sockets[ends] = socket
            unconnected.remove(socket)
        }
    }
}

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
