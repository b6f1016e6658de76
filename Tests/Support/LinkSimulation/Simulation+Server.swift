import Model

/// What the server does.
extension Simulation {
    private static let segment = 1448
    /// Bytes of a server's certificate and of the one that vouches for it, with what else it says at first.
    private static let certificates = 3_000
    /// The same from a server that knows the client.
    private static let ticket = 300

    /// Shows who it is: TLS takes a round trip (RFC 8446), and the certificates have to come.
    func greet(_ connection: SimulatedConnection) {
        let roundTrip = link.stage(at: time).roundTrip
        // Who has been there before shows a ticket, and is shown no certificates.
        let isKnown = connections.contains(where: \.isOpen)
        switch link.send(isKnown ? Self.ticket : Self.certificates, at: time, isUnlucky: isUnlucky()) {
        case .arrives(let arrival): events.add(.connected(connection.number), at: arrival)
        case .lost(let queue):
            events.add(.hello(connection.number), at: time + max(0.2, 2 * (queue + roundTrip)))
        }
    }

    private func isUnlucky() -> Bool { link.loss > 0 && Double.random(in: 0..<1, using: &numbers) < link.loss }

    func answer(_ number: Int, _ attempt: Int, over connection: SimulatedConnection) {
        guard transfers[number].attempt == attempt else { return }
        connection.wake(at: time, roundTrip: link.stage(at: time).roundTrip)
        guard let piece = transfers[number].pieces[connection.number] else { return }
        connection.add(number, bytes: piece.left, weight: weight(transfers[number].candidate.importance))
        send(connection)
    }

    private func weight(_ importance: Importance) -> Double {
        importance >= .lookedAt ? 256 : 16
    }

    func send(_ connection: SimulatedConnection) {
        defer { connection.noteSent(at: time) }
        while connection.hasRoom, let (number, bytes) = connection.next(Self.segment) {
            guard bytes > 0 else { continue }
            let attempt = transfers[number].attempt
            let roundTrip = link.stage(at: time).roundTrip
            connection.flying += 1
            switch link.send(bytes, at: time, isUnlucky: isUnlucky()) {
            case .arrives(let arrival):
                connection.noteComing()
                events.add(
                    .segment(
                        connection: connection.number, transfer: number, attempt: attempt, bytes: bytes, sent: time),
                    at: arrival)
            case .lost(let queue):
                connection.noteMissing()
                // Three later packets tell the sender; where there are none, it waits for its timer.
                let isFast = connection.flying >= 4
                events.add(
                    .lost(
                        connection: connection.number, transfer: number, attempt: attempt, bytes: bytes, isFast: isFast),
                    at: time + (isFast ? queue + roundTrip : max(0.2, 2 * (queue + roundTrip))))
            }
        }
    }
}
