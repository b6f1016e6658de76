import CCurl
import Glibc

/// The sockets of curl's connections and their packet counts. Used on the network's thread only.
///
/// curl names a transfer's socket (CURLINFO_ACTIVESOCKET) only when no transfer uses the connection any more. So
/// sockets are recorded when they are made, and recognized by their ends.
final class ConnectionTable {
    private struct Connection {
        /// The ends; nil before the connection was seen to stand.
        var ends: ConnectionEnds?
        /// Packets reported so far. The system's counters wrap around.
        var (received, disordered): (UInt32, UInt32) = (0, 0)
    }

    /// By socket. A closed one stays until its number is reused, so there are never more than descriptors.
    private var connections: [curl_socket_t: Connection] = [:]
    private var sockets: [ConnectionEnds: curl_socket_t] = [:]
    private var unconnected: Set<curl_socket_t> = []

    /// Adds a new socket.
    func add(_ socket: curl_socket_t) {
        if let before = connections.updateValue(Connection(), forKey: socket)?.ends { sockets[before] = nil }
        unconnected.insert(socket)
    }

    /// Returns the packets since the last call for the same connection; nil if the system does not tell.
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

    /// Makes curl's close of a connection a reset (socket(7), SO_LINGER). Its remaining data is not wanted.
    ///
    /// Otherwise the server keeps sending until its data is refused here. On a long, full link that takes seconds and
    /// delays other transfers.
    func abandon(_ ends: ConnectionEnds) {
        guard let socket = socket(ends) else { return }
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    }

    /// Shuts down a connection that seems dead after a stall.
    ///
    /// It counts as dead if nothing else came over it for half of that time. A dead route reports nothing. curl would
    /// keep using the connection until the system gives it up, and each transfer on it would wait as long again. The
    /// same holds for idle connections to the same host, since reconnecting is faster.
    func giveUp(_ ends: ConnectionEnds, after seconds: Int, inUse: Set<ConnectionEnds>) {
        updateEnds()
        for (other, socket) in sockets where other == ends || other.hasSameTarget(ends) && !inUse.contains(other) {
            var silence: UInt32 = 0
            guard ConnectionEnds(socket) == other,
                ccurl_get_silence(socket, &silence) == 0 || Double(silence) >= Double(seconds) * 500
            else { continue }
            shutdown(socket, Int32(SHUT_RD))
        }
    }

    /// Whether a connection holds unread bytes.
    func hasUnread(_ ends: ConnectionEnds) -> Bool {
        guard let socket = socket(ends) else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    private func socket(_ ends: ConnectionEnds) -> curl_socket_t? {
        updateEnds()
        // The number of a closed socket may have been reused.
        guard let socket = sockets[ends], ConnectionEnds(socket) == ends else { return nil }
        return socket
    }

    private func updateEnds() {
        for socket in unconnected {
            guard let ends = ConnectionEnds(socket) else { continue }
            connections[socket]?.ends = ends
            sockets[ends] = socket
            unconnected.remove(socket)
        }
    }
}

/// The two ends of a connection, which identify it. The local port does not: Linux reuses it for connections to other
/// hosts.
struct ConnectionEnds: Hashable {
    private struct End: Hashable {
        var port: Int
        var address: String
    }

    private let local: End
    private let remote: End

    /// The ends of a socket; nil while it is not connected.
    init?(_ socket: curl_socket_t) {
        var ports: (local: Int32, remote: Int32) = (0, 0)
        var local = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var remote = local
        guard ccurl_get_ends(socket, &ports.local, &local, &ports.remote, &remote) != 0 else { return nil }
        self.local = End(port: Int(clamping: ports.local), address: Self.text(local))
        self.remote = End(port: Int(clamping: ports.remote), address: Self.text(remote))
    }

    /// The ends of the connection that a transfer used.
    init(_ easy: EasyHandle) {
        local = End(port: easy.long(CURLINFO_LOCAL_PORT), address: easy.text(CURLINFO_LOCAL_IP))
        remote = End(port: easy.long(CURLINFO_PRIMARY_PORT), address: easy.text(CURLINFO_PRIMARY_IP))
    }

    /// Whether both connections lead to the same address and port.
    func hasSameTarget(_ other: ConnectionEnds) -> Bool { remote == other.remote }

    /// The ends of the connection for a request, as curl names them.
    init(from local: String, port: Int, to remote: String, port remotePort: Int) {
        self.local = End(port: port, address: local)
        self.remote = End(port: remotePort, address: remote)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
