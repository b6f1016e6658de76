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
        state = Mutex(PiecedState(pieces, of: request))
    }

    /// The transfer as others see it.
    var handle: HTTPTransfer {
        HTTPTransfer(
            mailbox, onCancel: { self.end(.failure(CancellationError())) }, onWeight: { self.setWeight($0) },
            onPieces: { self.setPieces($0) })
    }

    func start() {
        let first = state.withLock { $0.plan.first() }
        begin(memory[request] == true ? .piece(first) : .lead, first)
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
        while let piece = state.withLock({ $0.nextPiece(isGranted: memory[request] == true) }) {
            begin(.piece(piece), piece)
        }
        while let late = state.withLock({ $0.nextLate() }) { begin(.again(late), late) }
        request.meter?.note(asked: state.withLock { $0.stage == .inOne ? nil : $0.plan.wanted })
    }

    private func begin(_ role: PiecedState.Role, _ range: Range<Int64>?) {
        let (number, weight, written, edition) = state.withLock { state in
            state.lastNumber += 1
            return (state.lastNumber, state.weight, state.plan.written, state.edition)
        }
        var part = request
        (part.pieces, part.range, part.weight) = (nil, range, weight)
        part.meter = request.meter.map { _ in TransferMeter() }
        switch role {
        case .lead: break
        case .all: part.isBegunAnew = true
        case .piece, .again: (part.destination, part.resumption) = (.stream, nil)
        case .rest:
            part.resumption = edition.validator.flatMap {
                written > 0 ? HTTPRequest.Resumption(offset: written, validator: $0, url: request.url) : nil
            }
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
                do { try take(event, of: number, meter) } catch { return fail(error) }
            }
        } catch {
            // What was dropped ends too, and nobody asks how.
            switch state.withLock({ $0.parts.removeValue(forKey: number) })?.role {
            // What it was to bring is under way as before.
            case .again?, nil: break
            case .lead?, .piece?, .rest?, .all?: fail(error)
            }
        }
    }

    // MARK: - What comes

    private func take(_ event: HTTPEvent, of number: Int, _ meter: TransferMeter?) throws {
        guard let role = state.withLock({ $0.parts[number]?.role }) else { return }
        switch event {
        case .response(let head):
            try take(head, role, of: number)
            tell(meter)
        case .bytes(let bytes):
            state.withLock { state in
                state.parts[number]?.bytes += bytes
                if case .piece = role { state.plan.note(received: Int64(bytes.count)) }
            }
        case .written(let place):
            state.withLock { $0.plan.note(written: place) }
            mailbox.post(written: place)
            mailbox.tell()
        case .end(let metrics): try finish(number, role, metrics, meter)
        }
        request.meter?.note(bytes: state.withLock { $0.plan.come })
        askForMore()
    }

    private func take(_ head: HTTPResponse, _ role: PiecedState.Role, of number: Int) throws {
        let edition = PiecePlan.Edition(validator: head.resumptionValidator, length: head.length)
        switch role {
        case .lead:
            guard head.status == 206 else { return takeAll(head) }
            takeFirst(head, edition)
        case .piece(let piece), .again(let piece):
            // Asked for before it was known how long the whole is, it may lie behind the end.
            if head.status == 416, state.withLock({ $0.isBehind(piece) }) { return }
            state.withLock { $0.parts[number]?.edition = edition }
            if state.withLock({ $0.stage }) == .asking { return takeFirst(head, edition) }
            guard head.status == 206 else {
                memory[request] = false
                throw HTTPError.wrongRange("a piece was answered with \(head.status)")
            }
        case .rest:
            guard head.status == 206 || head.status == 200 else { throw HTTPError.brokenOff }
            guard edition == state.withLock({ $0.edition }) else { throw HTTPError.wrongRange("it has become another") }
            state.withLock { $0.plan.note(written: head.begin) }
        case .all: post(head)
        }
    }

    /// All of it comes in place of the first piece, or a refusal.
    private func takeAll(_ head: HTTPResponse) {
        if head.status == 200 { memory[request] = false }
        dropParts(for: .inOne) { if case .lead = $0 { true } else { false } }
        post(head)
    }

    /// The first answer decides how the rest comes.
    private func takeFirst(_ head: HTTPResponse, _ edition: PiecePlan.Edition) {
        let isOfUse =
            head.status == 206 && edition.validator != nil && head.url == request.url
            && edition.validator == request.resumption?.validator ?? edition.validator
        guard isOfUse, let length = head.length else {
            // What a piece is refused for is said of the whole, too.
            if head.status < 300 { memory[request] = false }
            dropParts(for: .inOne) { _ in false }
            return begin(.all, nil)
        }
        memory[request] = true
        state.withLock { state in
            state.plan.note(length: length)
            state.edition = edition
        }
        dropParts(for: .inPieces) { if case .piece(let piece) = $0 { piece.lowerBound < length } else { true } }
        post(
            HTTPResponse(
                status: request.resumption == nil ? 200 : 206, url: head.url, headers: head.headers, length: length,
                begin: request.resumption?.offset ?? 0, isPrivate: head.isPrivate))
    }

    private func post(_ head: HTTPResponse) {
        state.withLock { $0.plan.note(begin: head.begin) }
        if let length = head.length { request.meter?.note(length: length - head.begin) }
        mailbox.post(head)
        mailbox.tell()
    }

    private func finish(_ number: Int, _ role: PiecedState.Role, _ metrics: HTTPMetrics, _ meter: TransferMeter?) throws
    {
        if let packets = meter?.reading.packets {
            state.withLock { $0.packets = packets.added(to: $0.packets) }
        }
        let (stage, rivals) = state.withLock { state in
            (state.stage, state.parts.removeValue(forKey: number).map { state.noteCome($0, number) } ?? [])
        }
        for rival in rivals { rival.transfer.cancel() }
        guard stage == .inPieces else {
            // A piece may be through before the first answer has come.
            if case .piece = role { return }
            return end(.success(total(metrics.redirects)))
        }
        try write()
        if state.withLock({ $0.plan.isComplete && $0.stage == .inPieces }) { end(.success(total())) }
    }

    /// Writes what is next in the order of the whole. Never while the first piece is still on its way: whoever writes that is
    /// not done.
    private func write() throws {
        let written = try state.withLock { state -> Int64? in
            guard state.stage == .inPieces, !state.parts.values.contains(where: \.isLead) else { return nil }
            let before = state.plan.written
            while let arrival = state.plan.takeNext() {
                guard arrival.edition == state.edition, !arrival.bytes.isEmpty else {
                    throw HTTPError.wrongRange("it is of another edition")
                }
                try file.write(arrival.bytes, at: state.plan.written)
                state.plan.noteWritten(arrival)
            }
            return state.plan.written > before ? state.plan.written : nil
        }
        guard let written else { return }
        mailbox.post(written: written)
        mailbox.tell()
    }

    private func total(_ redirects: Int = 0) -> HTTPMetrics {
        let time = (ContinuousClock.now - beginning).components
        return HTTPMetrics(
            bytes: state.withLock { $0.plan.come },
            duration: Double(time.seconds) + Double(time.attoseconds) / 1e18, redirects: redirects)
    }

    // MARK: - The end

    /// What went wrong with a part. Where it is one of several, the rest is asked for in one.
    private func fail(_ error: any Error) {
        if case HTTPError.disk? = error as? HTTPError { return end(.failure(error)) }
        switch state.withLock({ $0.stage }) {
        case .over: break
        case .inPieces:
            if case HTTPError.wrongRange? = error as? HTTPError { memory[request] = false }
            dropParts(for: .inOne) { _ in false }
            begin(.rest, nil)
        case .asking, .inOne: end(.failure(error))
        }
    }

    /// Goes on to another stage, with those parts alone that are of use there.
    private func dropParts(for stage: PiecedState.Stage, except isOfUse: (PiecedState.Role) -> Bool) {
        let dropped = state.withLock { state -> [PiecedState.Part] in
            guard state.stage != .over else { return [] }
            state.stage = stage
            let dropped = state.parts.filter { !isOfUse($0.value.role) }
            for number in dropped.keys { state.parts[number] = nil }
            return Array(dropped.values)
        }
        for part in dropped { part.transfer.cancel() }
    }

    private func end(_ result: Result<HTTPMetrics, any Error>) {
        let parts = state.withLock { state -> [PiecedState.Part]? in
            guard state.stage != .over else { return nil }
            defer { (state.stage, state.parts) = (.over, [:]) }
            return Array(state.parts.values)
        }
        guard let parts else { return }
        for part in parts { part.transfer.cancel() }
        mailbox.post(end: result)
        mailbox.tell()
        request.meter?.note(packets: state.withLock { $0.packets })
        request.meter?.noteEnd(result)
    }

    /// Tells what a part's meter shows of its answer.
    private func tell(_ meter: TransferMeter?) {
        guard let reading = meter?.reading, let outer = request.meter else { return }
        if let connect = reading.connect { outer.noteConnected(connect) }
        if let wait = reading.wait { outer.noteAnswered(after: wait, version: reading.version) }
    }
}
