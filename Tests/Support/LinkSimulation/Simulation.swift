import Model
import TestSupport
import Scheduling

/// A simulated client, server and link, with the real queue and a real governor.
///
///     var simulation = Simulation(link, AdaptiveGovernor())
///     simulation.want(2_000, .thumbnail, sizes: 6_000...18_000)
///     simulation.run()
///     simulation.time  // seconds
///
/// It simulates what decides how long transfers take: the queue of the link, slow start, losses and TCP's repairs, and
/// the round trips of connections and requests. Each run with the same seed is the same. It delivers the bytes behind a
/// lost packet at once, not when that is repaired, and has neither HTTP/1.1 over TLS nor several hosts.
public final class Simulation {
    /// Seconds since the start.
    public private(set) var time = 0.0
    /// The link.
    public private(set) var link: SimulatedLink
    /// All transfers, complete or not.
    public private(set) var transfers: [SimulatedTransfer] = []
    /// The number of interruptions.
    public private(set) var interruptions = 0
    /// Received bytes that were thrown away.
    public private(set) var wasted = 0
    /// The most transfers that ran at once.
    public private(set) var mostAtOnce = 0

    private var governor: any Governor
    /// The governor's history.
    public var history: HostHistory { governor.history }
    /// Whether all transfers share a connection, with TLS.
    private let isShared: Bool
    private var isSecure: Bool { isShared }
    private var queue = TransferQueue()
    private var events = SimulatedEvents()
    private var connections: [SimulatedConnection] = []
    private var idle: [SimulatedConnection] = []
    /// The numbers of the running transfers, in order.
    private var running: [Int] = []
    /// Hanging transfers by the governor's numbers of their second requests, which are negative.
    private var repeats: [Int: Int] = [:]
    private var lastRepeat = 0
    private var left = 0
    private var numbers: SeededNumbers
    private var isTicking = false

    /// The least bytes of an interrupted transfer to keep.
    private static let worthKeeping = 65_536

    /// Creates a simulation.
    ///
    /// - Parameter isShared: whether all transfers share a connection, as with HTTP/2 over TLS.
    public init(_ link: SimulatedLink, _ governor: any Governor, isShared: Bool = false, seed: UInt64 = 1) {
        (self.link, self.governor, self.isShared) = (link, governor, isShared)
        numbers = SeededNumbers(seed: seed)
    }

    /// Adds a transfer that is wanted from a time on. Returns its number.
    @discardableResult
    public func want(
        _ kind: TransferKind, bytes: Int, importance: Importance = .visible, at time: Double = 0
    ) -> Int {
        let number = transfers.count
        transfers.append(
            SimulatedTransfer(
                number: number,
                candidate: TransferCandidate(
                    host: "example.org", isSecure: isSecure, importance: importance, kind: kind),
                size: bytes, time: time))
        events.add(.wanted(number), at: time)
        left += 1
        return number
    }

    /// Adds many transfers of random sizes, the same in each run.
    public func want(
        _ count: Int, _ kind: TransferKind, sizes: ClosedRange<Int>, importance: Importance = .visible
    ) {
        var random = SeededNumbers(seed: 42)
        // The sequences of `Int.random` may differ in another version of Swift.
        for _ in 0..<count {
            let more = random.next().multipliedFullWidth(by: UInt64(sizes.count)).high
            want(kind, bytes: sizes.lowerBound + Int(more), importance: importance)
        }
    }

    /// Runs until all transfers, or one of them, are complete.
    public func run(until last: Int? = nil, atMost limit: Double = 3_000) {
        while left > 0, let next = events.popFirst(), next.time < limit {
            time = next.time
            handle(next.event)
            if let last, transfers[last].doneTime != nil { return }
        }
    }

    private func handle(_ event: SimulatedEvents.Event) {
        switch event {
        case .wanted(let number):
            put(number)
            pump()
        case .tick:
            isTicking = false
            pump()
        case .reached(let number, let seconds): governor.record(.connected(seconds), of: number, at: time)
        case .hello(let number): greet(connections[number])
        case .connected(let number): open(connections[number])
        case .request(let connection, let number, let attempt): answer(number, attempt, over: connections[connection])
        case .segment(let connection, let number, let attempt, let bytes, let sent):
            deliver(connections[connection], number, attempt, bytes, sent: sent)
        case .ack(let number, let delay):
            connections[number].recordAck(delay: delay, at: time)
            send(connections[number])
        case .lost(let number, let transfer, let attempt, let bytes, let isFast):
            let connection = connections[number]
            let isCurrent = transfers[transfer].attempt == attempt
            connection.recordLoss(
                of: isCurrent ? bytes : 0, transfer, isFast: isFast, at: time, roundTrip: link.stage(at: time).roundTrip
            )
            send(connection)
        }
    }

    // MARK: - The client

    private func put(_ number: Int) {
        var candidate = transfers[number].candidate
        candidate.held = Double(transfers[number].held)
        queue.put(number, candidate.importance, rank: number, as: candidate)
    }

    private func pump() {
        for number in running where transfers[number].received > 0 {
            governor.record(.received(Double(transfers[number].received)), of: number, at: time)
        }
        for number in governor.advance(to: time, waiting: { queue.count(of: $0) }) {
            // The other request of the same transfer may have been interrupted before.
            let number = repeats[number] ?? number
            if running.contains(number) { interrupt(number) }
        }
        let hanging = governor.takeHanging(at: time)
        for (number, way) in hanging.sorted(by: { $0.key < $1.key }) { repeatHanging(number, over: way) }
        while let (entry, way) = queue.popFirst({ governor.admit($0, at: time) }) {
            governor.recordStart(of: entry.number, entry.candidate, over: way, at: time)
            start(entry.number, over: way)
        }
        for number in running where transfers[number].inPieces != nil {
            transfers[number].inPieces = governor.pieces(of: number)
            askForPieces(of: number)
        }
        mostAtOnce = max(mostAtOnce, running.count)
        if !isTicking, left > 0, let pace = governor.timeUntilAdvance(at: time, waiting: { queue.count(of: $0) }) {
            isTicking = true
            events.add(.tick, at: time + pace)
        }
    }

    private func start(_ number: Int, over way: Admission.Way) {
        running.insert(number, at: running.firstIndex { $0 > number } ?? running.count)
        (transfers[number].received, transfers[number].asked) = (0, 0)
        transfers[number].attempt += 1
        transfers[number].inPieces = way.isInPieces ? governor.pieces(of: number) : nil
        transfers[number].way = way.connection
        askForPieces(of: number)
    }

    private func askForPieces(of number: Int) {
        while transfers[number].pieces.count < TransferPieces.most,
            var piece = transfers[number].nextPiece() ?? transfers[number].nextLate(at: time)
        {
            piece.askTime = time
            let connection = connection(for: number, transfers[number].way)
            transfers[number].pieces[connection.number] = piece
            if transfers[number].inPieces != nil {
                governor.record(.asked(Double(transfers[number].asked)), of: number, at: time)
            }
            if connection.isOpen { request(number, over: connection) }
        }
    }

    /// Requests a hanging transfer once more over another connection.
    private func repeatHanging(_ number: Int, over way: Admission.Way) {
        guard var piece = transfers[number].again() else { return }
        piece.askTime = time
        lastRepeat -= 1
        let name = lastRepeat
        repeats[name] = number
        var candidate = transfers[number].candidate
        candidate.isAgain = true
        governor.recordStart(of: name, candidate, over: way, at: time)
        piece.name = name
        let connection = connection(for: number, way.connection, as: name)
        transfers[number].pieces[connection.number] = piece
        if connection.isOpen { request(number, over: connection) }
    }

    private func endRepeats(of number: Int) {
        for name in repeats.keys where repeats[name] == number {
            governor.record(.ended(.cancelled), of: name, at: time)
            repeats[name] = nil
        }
    }

    /// - Parameter name: the governor's number of a second request.
    private func connection(
        for number: Int, _ kind: Admission.Connection, as name: Int? = nil
    ) -> SimulatedConnection {
        let roundTrip = link.stage(at: time).roundTrip
        let sharing: SimulatedConnection.Sharing =
            switch kind {
            case .any: isShared ? .all : .one
            case .few: isShared ? .few : .one
            case .unshared: .one
            }
        switch sharing {
        case .all: if let first = connections.first(where: { $0.sharing == .all }) { return first }
        case .few: if let first = connections.first(where: { canShare($0, for: number) }) { return first }
        case .one: if let warm = idle.popLast() { return warm }
        }
        let connection = SimulatedConnection(connections.count, sharing)
        connections.append(connection)
        // TCP takes one round trip, TLS another.
        events.add(.reached(name ?? number, after: roundTrip), at: time + roundTrip)
        if isSecure {
            events.add(.hello(connection.number), at: time + roundTrip * 3 / 2)
        } else {
            events.add(.connected(connection.number), at: time + roundTrip)
        }
        return connection
    }

    /// Returns whether another transfer may share an open connection: at most two do, with pieces of different
    /// transfers.
    private func canShare(_ connection: SimulatedConnection, for number: Int) -> Bool {
        connection.sharing == .few && connection.isOpen && transfers[number].pieces[connection.number] == nil
            && running.count { transfers[$0].pieces[connection.number] != nil } < 2
    }

    private func open(_ connection: SimulatedConnection) {
        connection.isOpen = true
        for number in running where transfers[number].pieces[connection.number] != nil {
            request(number, over: connection)
        }
    }

    private func request(_ number: Int, over connection: SimulatedConnection) {
        transfers[number].pieces[connection.number]?.requestTime = time
        events.add(
            .request(connection: connection.number, transfer: number, attempt: transfers[number].attempt),
            at: time + link.stage(at: time).roundTrip / 2)
    }

    private func interrupt(_ number: Int) {
        governor.record(.ended(.cancelled), of: number, at: time)
        endRepeats(of: number)
        let received = transfers[number].held + transfers[number].received
        let kept = received >= Self.worthKeeping ? received : 0
        wasted += received - kept
        transfers[number].held = kept
        transfers[number].attempt += 1
        for connection in transfers[number].pieces.keys { connections[connection].remove(number) }
        transfers[number].pieces = [:]
        running.removeAll { $0 == number }
        interruptions += 1
        put(number)
    }

    private func deliver(
        _ connection: SimulatedConnection, _ number: Int, _ attempt: Int, _ bytes: Int, sent: Double
    ) {
        let roundTrip = link.stage(at: time).roundTrip
        connection.recordArrival()
        events.add(.ack(connection: connection.number, delay: time + roundTrip / 2 - sent), at: time + roundTrip / 2)
        guard isSecure else { return see(number, attempt, bytes, over: connection) }
        // Over a shared connection, the head of an answer has a record of its own.
        if connection.sharing != .one { recordAnswer(number, attempt, over: connection) }
        let left = transfers[number].attempt == attempt ? transfers[number].pieces[connection.number]?.left : nil
        for part in connection.unlock(number, attempt, bytes, of: left ?? 0) {
            see(part.transfer, part.attempt, part.bytes, over: connection)
        }
    }

    private func recordAnswer(_ number: Int, _ attempt: Int, over connection: SimulatedConnection) {
        guard transfers[number].attempt == attempt, let piece = transfers[number].pieces[connection.number],
            !piece.isAnswered
        else { return }
        transfers[number].pieces[connection.number]?.isAnswered = true
        governor.record(
            .answered(
                wait: time - piece.requestTime, length: Double(transfers[number].rest),
                isShared: connection.sharing == .all),
            of: piece.name ?? number, at: time)
    }

    private func see(_ number: Int, _ attempt: Int, _ bytes: Int, over connection: SimulatedConnection) {
        recordAnswer(number, attempt, over: connection)
        guard transfers[number].attempt == attempt else {
            wasted += bytes
            return
        }
        guard let piece = transfers[number].pieces[connection.number] else { return }
        transfers[number].pieces[connection.number]?.left -= bytes
        if !piece.isAgain {
            transfers[number].received += max(0, min(bytes, bytes + piece.bytes - piece.left))
        } else {
            wasted += bytes
        }
        if piece.left <= bytes {
            for rival in transfers[number].recordComplete(over: connection.number, at: time) {
                connections[rival].remove(number)
            }
            if connection.sharing == .one { idle.append(connection) }
        }
        askForPieces(of: number)
        guard transfers[number].received >= transfers[number].rest else { return }
        governor.record(.received(Double(transfers[number].received)), of: number, at: time)
        governor.record(connection.takePackets(), of: number, at: time)
        governor.record(.ended(.completed), of: number, at: time)
        endRepeats(of: number)
        transfers[number].finish(at: time)
        running.removeAll { $0 == number }
        left -= 1
        pump()
    }

    // MARK: - The server

    private static let segment = 1448
    /// The bytes of a TLS handshake with certificates.
    private static let certificates = 3_000
    /// The bytes of a handshake with a session ticket.
    private static let ticket = 300

    /// Sends the server's part of the TLS handshake (RFC 8446).
    private func greet(_ connection: SimulatedConnection) {
        let roundTrip = link.stage(at: time).roundTrip
        // A client that was connected before sends a ticket and gets no certificates.
        let isKnown = connections.contains(where: \.isOpen)
        switch link.send(isKnown ? Self.ticket : Self.certificates, at: time, isUnlucky: isUnlucky()) {
        case .arrives(let arrival): events.add(.connected(connection.number), at: arrival)
        case .lost(let queue):
            events.add(.hello(connection.number), at: time + max(0.2, 2 * (queue + roundTrip)))
        }
    }

    private func isUnlucky() -> Bool {
        link.loss > 0 && Double(numbers.next() & 0x1F_FFFF_FFFF_FFFF) * 0x1p-53 < link.loss
    }

    private func answer(_ number: Int, _ attempt: Int, over connection: SimulatedConnection) {
        guard transfers[number].attempt == attempt else { return }
        connection.wake(at: time, roundTrip: link.stage(at: time).roundTrip)
        guard let piece = transfers[number].pieces[connection.number] else { return }
        connection.add(number, bytes: piece.left, weight: weight(transfers[number].candidate.importance))
        send(connection)
    }

    private func weight(_ importance: Importance) -> Double {
        importance >= .lookedAt ? 256 : 16
    }

    private func send(_ connection: SimulatedConnection) {
        defer { connection.recordSent(at: time) }
        while connection.canSend, let (number, bytes) = connection.next(Self.segment) {
            guard bytes > 0 else { continue }
            let attempt = transfers[number].attempt
            let roundTrip = link.stage(at: time).roundTrip
            connection.flying += 1
            switch link.send(bytes, at: time, isUnlucky: isUnlucky()) {
            case .arrives(let arrival):
                connection.recordComing()
                events.add(
                    .segment(
                        connection: connection.number, transfer: number, attempt: attempt, bytes: bytes, sent: time),
                    at: arrival)
            case .lost(let queue):
                connection.recordMissing()
                // Three later packets show the loss to the sender; without them, it waits for its timer.
                let isFast = connection.flying >= 4
                events.add(
                    .lost(
                        connection: connection.number, transfer: number, attempt: attempt, bytes: bytes, isFast: isFast),
                    at: time + (isFast ? queue + roundTrip : max(0.2, 2 * (queue + roundTrip))))
            }
        }
    }
}
