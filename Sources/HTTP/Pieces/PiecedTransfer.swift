import Numbers
import Synchronization

/// Fetches something in pieces, each by a transfer of its own, and puts them into a file in their order.
///
/// The first piece tells whether the server does that at all. RFC 9110, section 15.3.7.3: parts may be combined "if they all
/// share the same strong validator", so where there is none, or another, all of it is asked for in one. The same where a
/// piece does not come: the rest is then asked for as it would have been after a break.
final class PiecedTransfer: Sendable {
    private let request: HTTPRequest
    private let file: BodyFile
    private let memory: RangeMemory
    private let transferInOne: @Sendable (HTTPRequest) -> HTTPTransfer
    private let mailbox = TransferMailbox()
    private let beginning = ContinuousClock.now
    private let state: Mutex<PiecedState>

    /// A transfer in pieces; nil for a request that is to be served in one.
    init?(
        _ request: HTTPRequest, _ memory: RangeMemory, transferInOne: @escaping @Sendable (HTTPRequest) -> HTTPTransfer
    ) {
        guard let pieces = request.pieces, case .file(let file) = request.destination, !request.allowsCompression,
            !FileTransfer.serves(request), memory[request] != false
        else { return nil }
        (self.request, self.file, self.memory, self.transferInOne) = (request, file, memory, transferInOne)
        state = Mutex(PiecedState(pieces, of: request, isGranted: memory[request] == true))
    }

    /// The transfer as others see it.
    var handle: HTTPTransfer {
        HTTPTransfer(
            mailbox, onCancel: { self.end(.failure(CancellationError())) }, onWeight: { self.setWeight($0) },
            onPieces: { self.setPieces($0) })
    }

    func start() {
        let (first, isGranted) = state.withLock { ($0.plan.first(), $0.isGranted) }
        begin(isGranted ? .piece(first) : .lead, first)
        askForMore()
    }

    private func setWeight(_ weight: Int) {
        let parts = state.withLock { state in
            state.weight = weight
            return Array(state.parts.values)
        }
        for part in parts { part.transfer.setWeight(weight) }
    }

    private func setPieces(_ pieces: HTTPRequest.Pieces) {
        state.withLock { $0.plan.pieces = pieces }
        askForMore()
    }

    // MARK: - Asking

    /// Asks for what is to be asked for by now: ahead of the first answer only where it is known what that will be.
    private func askForMore() {
        while let piece = state.withLock({ $0.nextPiece() }) {
            begin(.piece(piece), piece)
        }
        while let late = state.withLock({ $0.nextLate() }) { begin(.again(late), late) }
        noteCounts()
    }

    private func begin(_ role: PiecedState.Role, _ range: Range<ByteCount>?) {
        let (number, part) = state.withLock { state in
            state.lastNumber += 1
            return (state.lastNumber, state.request(for: role, range))
        }
        let transfer = transferInOne(part)
        let isWanted = state.withLock { state in
            guard state.wants(role) else { return false }
            state.parts[number] = PiecedState.Part(role: role, transfer: transfer)
            return true
        }
        guard isWanted else { return transfer.cancel() }
        Task { [meter = part.meter] in await follow(transfer, number, meter) }
    }

    private func follow(_ transfer: HTTPTransfer, _ number: Int, _ meter: TransferMeter?) async {
        do {
            for try await event in transfer {
                guard let role = state.withLock({ $0.parts[number]?.role }) else { return }
                do { try take(event, role, of: number, meter) } catch { return fail(error, role) }
            }
        } catch {
            // What was dropped ends too, and nobody asks how.
            guard let part = state.withLock({ $0.parts.removeValue(forKey: number) }) else { return }
            // What was to come once more is under way as before.
            if case .again = part.role { return }
            fail(error, part.role)
        }
    }

    // MARK: - What comes

    private func take(_ event: HTTPEvent, _ role: PiecedState.Role, of number: Int, _ meter: TransferMeter?) throws {
        switch event {
        case .response(let head):
            try take(head, role, of: number)
            tell(meter)
        case .bytes(let bytes):
            state.withLock { state in
                state.parts[number]?.bytes += bytes
                if case .piece = role { state.plan.note(received: ByteCount(bytes.count)) }
            }
        case .written(let place):
            state.withLock { $0.plan.note(written: place) }
            mailbox.post(written: place)
            mailbox.tell()
        case .end(let metrics): try finish(number, role, metrics, meter)
        }
        askForMore()
    }

    private func take(_ head: HTTPResponse, _ role: PiecedState.Role, of number: Int) throws {
        let edition = PiecePlan.Edition(validator: head.resumptionValidator, length: head.length)
        state.withLock { $0.note(head) }
        switch role {
        case .lead:
            guard head.status == 206 else { return takeAll(head) }
            takeFirst(head, edition)
        case .piece(let piece), .again(let piece):
            // Asked for before it was known how long the whole is, it may lie behind the end.
            if head.status == 416, state.withLock({ $0.isBehind(piece) }) { return }
            state.withLock { $0.parts[number]?.edition = edition }
            if takeFirst(head, edition) { return }
            guard head.status == 206 else {
                memory[request] = false
                throw HTTPError.wrongRange("a piece was answered with \(head.status)")
            }
        case .rest:
            guard head.status == 206 || head.status == 200 else { throw HTTPError.brokenOff }
            guard edition == state.withLock({ $0.edition }) else { throw HTTPError.wrongRange("it has become another") }
            let come = state.withLock { state in
                state.plan.note(written: head.begin)
                return state.plan.come
            }
            // What came and was dropped has come all the same.
            if let length = head.length { request.meter?.note(length: come + length - head.begin) }
        case .all, .anew: post(head)
        }
    }

    /// All of it comes in place of the first piece, or a refusal.
    private func takeAll(_ head: HTTPResponse) {
        if head.status == 200 { memory[request] = false }
        guard state.withLock({ $0.goOn(from: .asking, to: .inOne) { _ in true } }) != nil else { return }
        post(head)
    }

    /// The first answer decides how the rest comes. Returns false if this was not the first.
    @discardableResult
    private func takeFirst(_ head: HTTPResponse, _ edition: PiecePlan.Edition) -> Bool {
        let isOfUse =
            head.status == 206 && edition.validator != nil && head.url == request.url
            && edition.validator == request.resumption?.validator ?? edition.validator
        guard isOfUse, let length = head.length else {
            guard let dropped = state.withLock({ $0.goOn(from: .asking, to: .inOne) }) else { return false }
            // What a piece is refused for is said of the whole, too.
            if head.status < 300 { memory[request] = false }
            for part in dropped { part.transfer.cancel() }
            begin(.all, nil)
            return true
        }
        let begin = request.resumption?.offset ?? 0
        let dropped = state.withLock { state -> [PiecedState.Part]? in
            let dropped = state.goOn(from: .asking, to: .inPieces) {
                if case .piece(let piece) = $0 { piece.lowerBound < length } else { true }
            }
            guard dropped != nil else { return nil }
            state.plan.note(length: length)
            state.edition = edition
            request.meter?.note(length: length - begin)
            // Here, so that nobody says before it how much has been written.
            mailbox.post(
                HTTPResponse(
                    status: request.resumption == nil ? 200 : 206, url: head.url, headers: head.headers, length: length,
                    begin: begin, isPrivate: head.isPrivate, beganPublic: head.beganPublic))
            return dropped
        }
        guard let dropped else { return false }
        memory[request] = true
        mailbox.tell()
        for part in dropped { part.transfer.cancel() }
        return true
    }

    private func post(_ head: HTTPResponse) {
        state.withLock { $0.plan.note(begin: head.begin) }
        if let length = head.length { request.meter?.note(length: length - head.begin) }
        mailbox.post(head)
        mailbox.tell()
    }

    private func finish(_ number: Int, _ role: PiecedState.Role, _ metrics: HTTPMetrics, _ meter: TransferMeter?) throws
    {
        let packets = meter?.reading.packets
        let found = state.withLock { state -> (stage: PiecedState.Stage, rivals: [PiecedState.Part])? in
            if let packets { state.packets = packets.added(to: state.packets) }
            // Of what was dropped the end says nothing.
            guard let part = state.parts.removeValue(forKey: number) else { return nil }
            return (state.stage, state.noteCome(part, number))
        }
        guard let (stage, rivals) = found else { return }
        for rival in rivals { rival.transfer.cancel() }
        guard stage == .inPieces else {
            // A piece may be through before it has been taken in what the first answer says.
            return role.piece != nil ? () : end(.success(total(metrics.redirects)))
        }
        if try write() { end(.success(total())) }
    }

    /// Writes what is next in the order of the whole. Never while the first piece is still on its way: whoever writes that is
    /// not done. Returns whether all has been written.
    private func write() throws -> Bool {
        let isComplete = try state.withLock { state in
            guard state.stage == .inPieces, !state.parts.values.contains(where: \.isLead) else { return false }
            while let arrival = state.plan.takeNext() {
                guard arrival.edition == state.edition, !arrival.bytes.isEmpty else {
                    throw HTTPError.wrongRange("it is of another edition")
                }
                try arrival.bytes.withUnsafeBytes { try file.write($0, at: state.plan.written) }
                state.plan.noteWritten(arrival)
                // Here, so that what is said never goes down.
                mailbox.post(written: state.plan.written)
            }
            return state.plan.isComplete
        }
        mailbox.tell()
        return isComplete
    }

    private func total(_ redirects: Int = 0) -> HTTPMetrics {
        let time = (ContinuousClock.now - beginning).components
        return HTTPMetrics(
            bytes: state.withLock { $0.plan.come },
            duration: Double(time.seconds) + Double(time.attoseconds) / 1e18, redirects: redirects)
    }

    // MARK: - The end

    /// What went wrong with a part. Where it is one of several, what is not there yet is asked for in one; of several that go
    /// wrong the first sees to that.
    private func fail(_ error: any Error, _ role: PiecedState.Role) {
        if case HTTPError.disk? = error as? HTTPError { return end(.failure(error)) }
        let isWrong = if case HTTPError.wrongRange? = error as? HTTPError { true } else { false }
        if isWrong { memory[request] = false }
        if let dropped = state.withLock({ $0.goOn(from: .inPieces, to: .inOne) }) {
            for part in dropped { part.transfer.cancel() }
            begin(.rest, nil)
        } else if case .lead = role, isWrong, state.withLock({ $0.goOn(from: .asking, to: .inOne) }) != nil {
            begin(.anew, nil)
        } else if role.piece == nil {
            end(.failure(error))
        } else if let dropped = state.withLock({ $0.goOn(from: .asking, to: .inOne) }) {
            for part in dropped { part.transfer.cancel() }
            begin(.all, nil)
        }
    }

    private func end(_ result: Result<HTTPMetrics, any Error>) {
        guard let parts = state.withLock({ $0.end() }) else { return }
        for part in parts { part.transfer.cancel() }
        noteCounts()
        mailbox.post(end: result)
        // Before anybody is told: who hears that it is over reads off how it was.
        request.meter?.note(packets: state.withLock { $0.packets })
        request.meter?.noteEnd(result)
        mailbox.tell()
    }

    /// Shows how much was asked for and has come: under the lock, or an older count might be the last.
    private func noteCounts() {
        state.withLock { state in
            request.meter?.note(bytes: state.plan.come)
            request.meter?.note(asked: state.isInOne ? nil : state.plan.wanted)
        }
    }

    /// Tells what a part's meter shows of its answer.
    private func tell(_ meter: TransferMeter?) {
        guard let reading = meter?.reading, let outer = request.meter else { return }
        if let connect = reading.connect { outer.noteConnected(connect) }
        if let wait = reading.wait { outer.noteAnswered(after: wait, version: reading.version) }
    }
}

/// Which servers send parts of what they have, and say by a strong validator of which edition they are.
final class RangeMemory: Sendable {
    private let grants = Mutex<[String: Bool]>([:])

    /// A list may name very many hosts.
    private static let most = 256

    /// Whether the server of a request does; nil if that is not known.
    subscript(request: HTTPRequest) -> Bool? {
        get { grants.withLock { $0[Self.origin(of: request)] } }
        set {
            grants.withLock { grants in
                let origin = Self.origin(of: request)
                if grants.count >= Self.most, grants[origin] == nil { grants = [:] }
                grants[origin] = newValue
            }
        }
    }

    /// Takes in what a server says of itself. Where it did otherwise that is what counts, and where it sent one on too.
    func note(_ response: HTTPResponse, to request: HTTPRequest) {
        guard response.status == 200, request.range == nil, response.url == request.url,
            response.headers["accept-ranges"]?.lowercased() == "bytes", response.resumptionValidator != nil,
            self[request] == nil
        else { return }
        self[request] = true
    }

    /// Scheme, host and port as the URL has them.
    private static func origin(of request: HTTPRequest) -> String {
        request.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }
}
