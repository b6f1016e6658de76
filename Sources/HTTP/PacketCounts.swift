import CCurl

/// Packets of each connection, as far as they have been told of. Touched on the network's thread only.
struct PacketCounts {
    /// By socket; another connection may have its number later, and comes from another port.
    private var told: [curl_socket_t: (port: Int, packets: TransferMeter.Packets)] = [:]

    /// What has come over a transfer's connection since a transfer over the same one ended; nil where the system does not say.
    ///
    /// - Parameter easy: a transfer that has ended, and has not been removed: before, curl does not say which connection it is.
    mutating func advance(_ easy: EasyHandle) -> TransferMeter.Packets? {
        var connection: curl_socket_t = -1
        var (roundTrip, received, disordered): (UInt32, UInt32, UInt32) = (0, 0, 0)
        let isKnown = ccurl_get_packets(
            easy.curl.functions, easy.pointer, &connection, &roundTrip, &received, &disordered)
        guard isKnown != 0 else { return nil }
        let now = TransferMeter.Packets(
            received: Int(received), disordered: Int(disordered), roundTrip: Double(roundTrip) / 1e6)
        let port = easy.long(CURLINFO_LOCAL_PORT)
        guard let last = told.updateValue((port, now), forKey: connection), last.port == port else { return now }
        return TransferMeter.Packets(
            received: max(0, now.received - last.packets.received),
            disordered: max(0, now.disordered - last.packets.disordered), roundTrip: now.roundTrip)
    }
}
