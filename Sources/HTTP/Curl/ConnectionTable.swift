import CCurl
import Glibc
import Numbers

/// The sockets of curl's connections with their packet counts. Used on the network's thread only.
///
/// curl reports a transfer's socket (CURLINFO_ACTIVESOCKET) only when no transfer uses the connection any more. So the
/// table records sockets when they are created, and recognizes them by the addresses at both ends.
final class ConnectionTable {
    private struct Connection {
        /// The addresses of both ends; nil until the connection is established.
        var ends: ConnectionEnds?
        /// The packet counts at the last report. The system's counters wrap around.
        var (received, disordered): (UInt32, UInt32) = (0, 0)
        var (sent, repeated): (UInt32, UInt32) = (0, 0)
    }

    /// The connections by socket. A closed socket stays until its number is reused, so the table never has more entries
    /// than the process has descriptors.
    private var connections: [curl_socket_t: Connection] = [:]
    private var sockets: [ConnectionEnds: curl_socket_t] = [:]
    private var unconnected: Set<curl_socket_t> = []

    /// Adds a new socket.
    func add(_ socket: curl_socket_t) {
        if let before = connections.updateValue(Connection(), forKey: socket)?.ends { sockets[before] = nil }
        unconnected.insert(socket)
    }

    /// Returns the packets since the last call for the same connection. Returns nil if the system does not count
    /// packets.
    ///
    /// - Parameter isUpload: whether to count the sent packets, and those sent again, in place of the received ones.
    func advance(_ ends: ConnectionEnds, isUpload: Bool = false) -> TransferMeter.Packets? {
        guard let socket = socket(ends), let last = connections[socket] else { return nil }
        var roundTrip: UInt32 = 0
        var now = Connection()
        now.ends = ends
        guard ccurl_get_packets(socket, &roundTrip, &now.received, &now.disordered, &now.sent, &now.repeated) != 0
        else { return nil }
        connections[socket] = now
        return TransferMeter.Packets(
            received: Int(clamping: isUpload ? now.sent &- last.sent : now.received &- last.received),
            disordered: Int(
                clamping: isUpload ? now.repeated &- last.repeated : now.disordered &- last.disordered),
            roundTrip: Double(roundTrip) / 1e6)
    }

    /// Returns the number of sent bytes without an acknowledgement. The bytes are on the way, or wait in the system.
    func unacknowledged(_ socket: curl_socket_t?) -> ByteCount {
        ByteCount(socket.map { ccurl_get_unacknowledged($0) } ?? 0)
    }

    /// Makes curl reset the connection when closing it (socket(7), SO_LINGER). Vitrine does not want the remaining data
    /// of the connection.
    ///
    /// Otherwise the server keeps sending until this machine refuses its data. On a long, full link that takes seconds
    /// and delays other transfers.
    func abandon(_ ends: ConnectionEnds) {
        guard let socket = socket(ends) else { return }
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    }

    /// Shuts down a connection that seems dead after a stall.
    ///
    /// A connection counts as dead if no data arrived over it for half of the given seconds. The system does not report
    /// a dead route. So curl would keep using the connection until the system gives it up, and each new transfer on it
    /// would stall. Silent idle connections to the same host are shut down, too, because reconnecting is faster.
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

    /// Shuts down all connections from addresses that this machine does not have any more.
    ///
    /// Otherwise curl would use them for new transfers.
    func shutDown(from addresses: Set<String>) {
        updateEnds()
        for (ends, socket) in sockets where addresses.contains(ends.localAddress) && ConnectionEnds(socket) == ends {
            shutdown(socket, Int32(SHUT_RD))
        }
    }

    /// Returns whether unread bytes wait in a connection's socket.
    func hasUnread(_ ends: ConnectionEnds) -> Bool {
        guard let socket = socket(ends) else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    /// Returns a connection's socket. Returns nil for an unknown connection.
    func socket(_ ends: ConnectionEnds) -> curl_socket_t? {
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

/// The addresses and ports of both ends of a connection, which identify it. The local port alone is not enough: Linux
/// reuses the port for connections to other hosts.
struct ConnectionEnds: Hashable {
    private struct End: Hashable {
        var port: Int
        var address: String
    }

    private let local: End
    private let remote: End

    /// Reads the ends of a socket's connection. Returns nil while the socket is not connected.
    init?(_ socket: curl_socket_t) {
        var ports: (local: Int32, remote: Int32) = (0, 0)
        var local = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var remote = local
        guard ccurl_get_ends(socket, &ports.local, &local, &ports.remote, &remote) != 0 else { return nil }
        self.local = End(port: Int(clamping: ports.local), address: Self.text(local))
        self.remote = End(port: Int(clamping: ports.remote), address: Self.text(remote))
    }

    /// Creates the ends of the connection that a transfer used.
    init(_ easy: EasyHandle) {
        local = End(port: easy.long(CURLINFO_LOCAL_PORT), address: easy.text(CURLINFO_LOCAL_IP))
        remote = End(port: easy.long(CURLINFO_PRIMARY_PORT), address: easy.text(CURLINFO_PRIMARY_IP))
    }

    /// The address of this machine's end. The text is empty while a transfer has no connection.
    var localAddress: String { local.address }

    /// Returns whether both connections lead to the same address and port.
    func hasSameTarget(_ other: ConnectionEnds) -> Bool { remote == other.remote }

    /// Creates the ends of a connection from addresses and ports. curl states these values for a request.
    init(from local: String, port: Int, to remote: String, port remotePort: Int) {
        self.local = End(port: port, address: local)
        self.remote = End(port: remotePort, address: remote)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
