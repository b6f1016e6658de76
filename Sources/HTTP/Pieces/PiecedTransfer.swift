import Numbers
import Synchronization

/// Fetches a file's pieces with several requests, and writes them in order.
///
/// The first answer shows whether the server supports ranges. RFC 9110, section 15.3.7.3: parts may be combined "if
/// they all share the same strong validator". Without such a validator, this class requests the whole file at once. If
/// a piece fails, this class requests all missing bytes at once, as after a broken transfer. If the server has too many
/// requests, the transfer ends, unless the server refuses only a duplicate.
final class PiecedTransfer: Sendable {
    private let request: HTTPRequest
    private let file: BodyFile
    private let memory: RangeMemory
    private let transferInOne: @Sendable (HTTPRequest) -> HTTPTransfer
    private let mailbox = TransferMailbox()
    private let beginning = ContinuousClock.now
    private let state: Mutex<PiecedState>

    /// Creates a transfer in pieces. Returns nil if the request must not be split.
    init?(
        _ request: HTTPRequest, _ memory: RangeMemory, transferInOne: @escaping @Sendable (HTTPRequest) -> HTTPTransfer
    ) {
        guard let pieces = request.pieces, request.method == .get, request.excerpt == nil,
            case .file(let file) = request.destination, !request.allowsCompression,
            !FileTransfer.serves(request), memory[request] != false
        else { return nil }
        (self.request, self.file, self.memory, self.transferInOne) = (request, file, memory, transferInOne)
        state = Mutex(PiecedState(pieces, of: request, isGranted: memory[request] == true))
    }

    /// The transfer that the caller gets, with the events of all parts.
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

    // MARK: - Requests

    /// Requests all pieces that may be requested now.
    private func askForMore() {
        while let piece = state.withLock({ $0.nextPiece() }) {
            begin(.piece(piece), piece)
        }
        while let late = state.withLock({ $0.nextLate() }) { begin(.duplicate(late), late) }
        updateMeter()
    }

    private func begin(_ role: PiecedState.Role, _ range: Range<ByteCount>?) {
        var (number, part) = state.withLock { state in
            state.lastNumber += 1
            return (state.lastNumber, state.request(for: role, range))
        }
        // All bytes of a part must belong to the file, so the body of a refusal must not be passed on.
        part.wantsRefusals = false
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
            // The end of a cancelled part does not count.
            guard let part = state.withLock({ $0.parts.removeValue(forKey: number) }) else { return }
            // The original of a duplicate still runs.
            if case .duplicate = part.role { return }
            fail(error, part.role)
        }
    }

    // MARK: - Answers

    private func take(_ event: HTTPEvent, _ role: PiecedState.Role, of number: Int, _ meter: TransferMeter?) throws {
        switch event {
        case .response(let head):
            try take(head, role, of: number)
            forwardTimes(of: meter)
        case .bytes(let bytes):
            state.withLock { state in
                state.parts[number]?.bytes += bytes
                if case .piece = role { state.plan.add(received: ByteCount(bytes.count)) }
            }
        case .written(let length):
            state.withLock { $0.plan.set(written: length) }
            mailbox.post(written: length)
            mailbox.wake()
        case .end(let metrics): try finish(number, role, metrics, meter)
        }
        askForMore()
    }

    private func take(_ head: HTTPResponse, _ role: PiecedState.Role, of number: Int) throws {
        let edition = PiecePlan.Edition(validator: head.resumptionValidator, length: head.length)
        state.withLock { $0.adopt(head) }
        switch role {
        case .lead:
            guard head.status == 206 else { return takeAll(head) }
            takeFirst(head, edition)
        case .piece(let piece), .duplicate(let piece):
            // The piece may lie beyond the end, because it was requested before the length was known.
            if head.status == 416, state.withLock({ $0.isBehind(piece) }) { return }
            if head.status == 429 {
                // The server may limit the requests at a time, so the next transfer comes in one.
                memory[request] = false
                guard case .duplicate = role else { throw Self.refusal(head) }
                // The original of the duplicate still runs.
                state.withLock { $0.refuseDuplicate(number) }?.transfer.cancel()
                return
            }
            state.withLock { $0.parts[number]?.edition = edition }
            if takeFirst(head, edition) { return }
            guard head.status == 206 else {
                memory[request] = false
                throw HTTPError.wrongRange("the server answered the request for a piece with \(head.status)")
            }
        case .rest:
            if head.status == 429 || head.status == 503 { throw Self.refusal(head) }
            guard head.status == 206 || head.status == 200 else { throw HTTPError.brokenOff }
            guard edition == state.withLock({ $0.edition }) else { throw HTTPError.wrongRange("the file has changed") }
            let come = state.withLock { state in
                state.plan.set(written: head.begin)
                return state.plan.come
            }
            // Bytes of cancelled parts still count as received.
            if let length = head.length { request.meter?.set(length: come + length - head.begin) }
        case .all, .restart: post(head)
        }
    }

    /// Returns the error for a server that has too much to do.
    private static func refusal(_ head: HTTPResponse) -> HTTPError {
        .refused(status: head.status, retryAfter: head.headers["retry-after"])
    }

    /// Accepts the whole file, or a refusal, as the answer to the first request.
    private func takeAll(_ head: HTTPResponse) {
        if head.status == 200 { memory[request] = false }
        guard state.withLock({ $0.goOn(from: .asking, to: .inOne) { _ in true } }) != nil else { return }
        post(head)
    }

    /// Decides after the first answer how to fetch the rest. Returns false if another answer came first.
    @discardableResult
    private func takeFirst(_ head: HTTPResponse, _ edition: PiecePlan.Edition) -> Bool {
        let isOfUse =
            head.status == 206 && edition.validator != nil && head.url == request.url
            && edition.validator == request.resumption?.validator ?? edition.validator
        guard isOfUse, let length = head.length else {
            guard let dropped = state.withLock({ $0.goOn(from: .asking, to: .inOne) }) else { return false }
            // A refusal says nothing about ranges, because the server would refuse the whole file, too.
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
            state.plan.set(length: length)
            state.edition = edition
            request.meter?.set(length: length - begin)
            // The lock is held, so that no progress is posted before the response.
            mailbox.post(
                HTTPResponse(
                    status: request.resumption == nil ? 200 : 206, url: head.url, headers: head.headers, length: length,
                    begin: begin, isPrivate: head.isPrivate, beganPublic: head.beganPublic,
                    isHTTP1: head.isHTTP1))
            return dropped
        }
        guard let dropped else { return false }
        memory[request] = true
        mailbox.wake()
        for part in dropped { part.transfer.cancel() }
        return true
    }

    private func post(_ head: HTTPResponse) {
        state.withLock { $0.plan.set(begin: head.begin) }
        if let length = head.length { request.meter?.set(length: length - head.begin) }
        mailbox.post(head)
        mailbox.wake()
    }

    private func finish(_ number: Int, _ role: PiecedState.Role, _ metrics: HTTPMetrics, _ meter: TransferMeter?) throws
    {
        let packets = meter?.reading.packets
        let found = state.withLock { state -> (stage: PiecedState.Stage, rivals: [PiecedState.Part])? in
            if let packets { state.packets = packets.added(to: state.packets) }
            // The end of a cancelled part does not count.
            guard let part = state.parts.removeValue(forKey: number) else { return nil }
            return (state.stage, state.complete(part, number))
        }
        guard let (stage, rivals) = found else { return }
        for rival in rivals { rival.transfer.cancel() }
        guard stage == .inPieces else {
            // A piece can end before the first answer was processed.
            return role.piece != nil ? () : end(.success(total(metrics.redirects)))
        }
        if try write() { end(.success(total())) }
    }

    /// Writes the next pieces in order. Returns true if the file is complete.
    ///
    /// The method writes nothing while the first part may still write into the file.
    private func write() throws -> Bool {
        let isComplete = try state.withLock { state in
            guard state.stage == .inPieces, !state.parts.values.contains(where: \.isLead) else { return false }
            while let arrival = state.plan.takeNext() {
                guard arrival.edition == state.edition, !arrival.bytes.isEmpty else {
                    throw HTTPError.wrongRange("it comes from a different version")
                }
                try arrival.bytes.withUnsafeBytes { try file.write($0, at: state.plan.written) }
                state.plan.markWritten(arrival)
                // The lock is held, so that progress never decreases.
                mailbox.post(written: state.plan.written)
            }
            return state.plan.isComplete
        }
        mailbox.wake()
        return isComplete
    }

    private func total(_ redirects: Int = 0) -> HTTPMetrics {
        HTTPMetrics(
            bytes: state.withLock { $0.plan.come }, duration: (ContinuousClock.now - beginning) / .seconds(1),
            redirects: redirects)
    }

    // MARK: - The end

    /// Handles the failure of a part. The first failure leads to one request for the rest, or for the whole file.
    private func fail(_ error: any Error, _ role: PiecedState.Role) {
        switch error as? HTTPError {
        case .disk?, .refused?: return end(.failure(error))
        default: break
        }
        let isWrong = if case HTTPError.wrongRange? = error as? HTTPError { true } else { false }
        if isWrong { memory[request] = false }
        if let dropped = state.withLock({ $0.goOn(from: .inPieces, to: .inOne) }) {
            for part in dropped { part.transfer.cancel() }
            // The pieces' answers are no answer to the new request.
            request.meter?.recordConnection(nil)
            begin(.rest, nil)
        } else if case .lead = role, isWrong, state.withLock({ $0.goOn(from: .asking, to: .inOne) }) != nil {
            begin(.restart, nil)
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
        updateMeter()
        mailbox.post(end: result)
        // The meter gets the packets before it records the end, because its reader then reads both.
        request.meter?.set(packets: state.withLock { $0.packets })
        request.meter?.recordEnd(result)
        mailbox.wake()
    }

    /// Updates the meter. The method holds the lock, so that an older count never overwrites a newer one.
    private func updateMeter() {
        state.withLock { state in
            request.meter?.set(bytes: state.plan.come)
            request.meter?.set(asked: state.isInOne ? nil : state.plan.wanted)
        }
    }

    /// Forwards the connection times of a part's meter to the caller's meter.
    private func forwardTimes(of meter: TransferMeter?) {
        guard let reading = meter?.reading, let outer = request.meter else { return }
        if let connect = reading.connect { outer.recordConnection(connect) }
        if let wait = reading.wait { outer.recordAnswer(after: wait, version: reading.version) }
    }
}

/// Remembers which servers support ranges with strong validators.
final class RangeMemory: Sendable {
    private let grants = Mutex<[String: Bool]>([:])

    /// The maximum number of origins to remember. A gallery's list may contain addresses of very many origins.
    private static let most = 256

    /// Whether the request's server supports ranges; nil if unknown.
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

    /// Learns from an answer's headers whether the server supports ranges. Does nothing if this is already known.
    func learn(from response: HTTPResponse, to request: HTTPRequest) {
        guard response.status == 200, request.range == nil, request.excerpt == nil, response.url == request.url,
            response.headers["accept-ranges"]?.lowercased() == "bytes", response.resumptionValidator != nil,
            self[request] == nil
        else { return }
        self[request] = true
    }

    /// Returns the scheme, host and port in the request's URL.
    private static func origin(of request: HTTPRequest) -> String {
        request.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }
}
