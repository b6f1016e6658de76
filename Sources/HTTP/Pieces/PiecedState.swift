import Numbers

/// The state of a transfer in pieces and of its parts.
struct PiecedState {
    /// The purpose of one request of a transfer in pieces.
    enum Role {
        /// The first piece, from a server that may not support ranges. The answer may be the whole file, so the body
        /// goes into the file.
        case lead
        case piece(Range<ByteCount>)
        /// A second request for a piece that is late.
        case duplicate(Range<ByteCount>)
        /// All missing bytes in one request, which go into the file.
        case rest
        /// The whole file, requested before the caller has received an event.
        case all
        /// The whole file from the beginning, after the server sent a wrong range.
        case restart

        /// The piece that the request fetches; nil if the request fetches no single piece.
        var piece: Range<ByteCount>? {
            switch self {
            case .piece(let piece), .duplicate(let piece): piece
            case .lead, .rest, .all, .restart: nil
            }
        }
    }

    enum Stage {
        /// The transfer does not know yet whether the server supports ranges.
        case asking
        case inPieces
        case inOne
        case over
    }

    struct Part {
        let role: Role
        let transfer: HTTPTransfer
        var bytes: [UInt8] = []
        var edition = PiecePlan.Edition()
        let beginning = ContinuousClock.now
        /// The number of pieces requested later that have already arrived.
        var overtaken = 0
        /// Whether the transfer has requested this piece a second time.
        var isRepeated = false

        /// The piece that the part fetches; nil if the part fetches no single piece.
        var piece: Range<ByteCount>? { role.piece }

        var isLead: Bool { if case .lead = role { true } else { false } }
    }

    var plan: PiecePlan
    var weight: Int
    private(set) var stage = Stage.asking
    /// Whether the server is known to support ranges. Only then does the transfer request more pieces before the first
    /// answer.
    let isGranted: Bool
    var parts: [Int: Part] = [:]
    var lastNumber = 0
    /// The version of the file in the first answer.
    var edition = PiecePlan.Edition()
    var packets: TransferMeter.Packets?
    private var mustBePublic = false
    /// The caller's request for the whole file.
    private let request: HTTPRequest
    /// The recent time to fetch a piece; nil until a piece has arrived.
    private var usualTime: Duration?
    /// Whether the server has refused a duplicate, because it had too many requests.
    private var isDuplicateRefused = false

    init(_ pieces: HTTPRequest.Pieces, of request: HTTPRequest, isGranted: Bool) {
        self.isGranted = isGranted
        self.request = request
        plan = PiecePlan(pieces, from: request.resumption?.offset ?? 0, limit: request.limit)
        weight = request.weight
    }

    /// Creates the request for a part.
    func request(for role: Role, _ range: Range<ByteCount>?) -> HTTPRequest {
        var part = request
        (part.pieces, part.range, part.weight) = (nil, range, weight)
        part.meter = request.meter.map { _ in TransferMeter() }
        if mustBePublic { part.addressPolicy = .publicOnly(except: nil) }
        switch role {
        case .lead: break
        case .all: part.isRestarted = true
        case .restart: (part.resumption, part.isRestarted) = (nil, true)
        case .piece, .duplicate:
            (part.destination, part.resumption) = (.stream, nil)
            // The shared connection may be the one that hangs.
            if case .duplicate = role, part.connection == .few { part.connection = .unshared }
        case .rest:
            part.resumption = edition.validator.flatMap {
                plan.written > 0
                    ? HTTPRequest.Resumption(
                        offset: plan.written, validator: $0, url: request.url, whole: edition.length) : nil
            }
            // The first piece may have written unreported bytes before it was cancelled.
            part.isRestarted = part.resumption == nil
        }
        return part
    }

    /// Records the head of a part's answer.
    ///
    /// After one part came from a public address, all later parts must do so, too. The host's name may meanwhile lead
    /// to a private address.
    mutating func adopt(_ head: HTTPResponse) {
        if head.beganPublic { mustBePublic = true }
    }

    /// Returns the next piece to request. Returns nil if the transfer may request no piece now.
    mutating func nextPiece() -> Range<ByteCount>? {
        guard stage == .inPieces || (stage == .asking && isGranted) else { return nil }
        return plan.next(underWay: parts.count)
    }

    /// The maximum number of running parts that leave space for a duplicate.
    private static let few = 6
    /// The shortest time after which a part can count as late.
    private static let soon = Duration.milliseconds(50)

    /// Returns a late piece to request again. Returns nil if no piece is late.
    ///
    /// A piece is late if clearly more later pieces have arrived than parts are running. A piece is also late if it is
    /// among the last and takes longer than usual. Its last packet was probably lost, and the server may take a second
    /// to resend the packet. Another connection is faster.
    mutating func nextLate() -> Range<ByteCount>? {
        guard stage == .inPieces, !isDuplicateRefused, let usualTime, plan.hasSpace else { return nil }
        let longTime = max(usualTime + usualTime / 2, Self.soon)
        for (number, part) in parts where !part.isRepeated {
            let isLate = plan.isAllAsked && parts.count <= Self.few && ContinuousClock.now - part.beginning > longTime
            guard isLate || part.overtaken > parts.count + 2, let piece = part.piece else { continue }
            parts[number]?.isRepeated = true
            return piece
        }
        return nil
    }

    /// Records that the server has too many requests for a duplicate. Returns the duplicate. Repeats no more pieces.
    mutating func refuseDuplicate(_ number: Int) -> Part? {
        isDuplicateRefused = true
        return parts.removeValue(forKey: number)
    }

    /// Records that a piece is complete. Returns the parts that were also fetching this piece.
    mutating func complete(_ part: Part, _ number: Int) -> [Part] {
        guard let piece = part.piece else { return [] }
        let rivals = parts.filter { $0.value.piece == piece }
        for rival in rivals.keys { parts[rival] = nil }
        if case .duplicate = part.role {
            // Only the bytes of the original part were counted.
            let counted = rivals.values.lazy.filter { if case .piece = $0.role { true } else { false } }
                .reduce(0) { $0 + $1.bytes.count }
            plan.add(received: ByteCount(part.bytes.count), replacing: ByteCount(counted))
        } else {
            let time = ContinuousClock.now - part.beginning
            usualTime = usualTime.map { ($0 * 7 + time) / 8 } ?? time
        }
        plan.add(PiecePlan.Arrival(bytes: part.bytes, edition: part.edition), at: piece.lowerBound)
        for other in parts.keys where other < number { parts[other]?.overtaken += 1 }
        return Array(rivals.values)
    }

    /// Changes the stage and keeps the useful parts. Returns the parts that are not useful. Returns nil if another
    /// thread has changed the stage first.
    mutating func goOn(from before: Stage, to after: Stage, with isOfUse: (Role) -> Bool = { _ in false }) -> [Part]? {
        guard stage == before else { return nil }
        stage = after
        if after == .inOne { isInOne = true }
        let dropped = parts.filter { !isOfUse($0.value.role) }
        for number in dropped.keys { parts[number] = nil }
        return Array(dropped.values)
    }

    /// Ends the transfer. Returns its running parts. Returns nil if the transfer has already ended.
    mutating func end() -> [Part]? {
        guard stage != .over else { return nil }
        defer { (stage, parts) = (.over, [:]) }
        return Array(parts.values)
    }

    /// Whether the transfer has switched from pieces to one request for the rest.
    private(set) var isInOne = false

    /// Returns whether the transfer still needs a part with this purpose.
    func wants(_ role: Role) -> Bool {
        switch (role, stage) {
        case (_, .over), (.piece, .inOne), (.duplicate, .inOne): false
        default: true
        }
    }

    /// Returns whether a piece is beyond the known end of the file.
    func isBehind(_ piece: Range<ByteCount>) -> Bool {
        piece.lowerBound >= (stage == .asking ? plan.begin + 1 : plan.end)
    }
}
