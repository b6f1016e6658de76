import Numbers

/// The state of a transfer in pieces and of its parts.
struct PiecedState {
    /// The purpose of a part's transfer.
    enum Role {
        /// The first piece, from a server that may not support ranges. Into the file, since the answer may be the
        /// whole.
        case lead
        case piece(Range<ByteCount>)
        /// A piece that is under way already and is late.
        case duplicate(Range<ByteCount>)
        /// Everything that is missing, into the file.
        case rest
        /// The whole, before anything was reported.
        case all
        /// The whole from the beginning, after the server sent a wrong range.
        case restart

        /// The piece that the part fetches.
        var piece: Range<ByteCount>? {
            switch self {
            case .piece(let piece), .duplicate(let piece): piece
            case .lead, .rest, .all, .restart: nil
            }
        }
    }

    enum Stage {
        /// Range support is unknown.
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
        /// Whether a duplicate was requested.
        var isRepeated = false

        /// The piece that the part fetches.
        var piece: Range<ByteCount>? { role.piece }

        var isLead: Bool { if case .lead = role { true } else { false } }
    }

    var plan: PiecePlan
    var weight: Int
    private(set) var stage = Stage.asking
    /// Whether the server is known to support ranges. Only then are more pieces requested before the first answer.
    let isGranted: Bool
    var parts: [Int: Part] = [:]
    var lastNumber = 0
    /// The edition of the first answer.
    var edition = PiecePlan.Edition()
    var packets: TransferMeter.Packets?
    private var mustBePublic = false
    /// The request for the whole.
    private let request: HTTPRequest
    /// The recent time for a piece.
    private var usualTime: Duration?

    init(_ pieces: HTTPRequest.Pieces, of request: HTTPRequest, isGranted: Bool) {
        self.isGranted = isGranted
        self.request = request
        plan = PiecePlan(pieces, from: request.resumption?.offset ?? 0, limit: request.limit)
        weight = request.weight
    }

    /// Makes the request for a part.
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
            // A shared connection might be the one that hangs.
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

    /// Adopts the head of a part's answer.
    ///
    /// After one part came from a public address, all others must: the name may point to a private address by then.
    mutating func adopt(_ head: HTTPResponse) {
        if head.beganPublic { mustBePublic = true }
    }

    /// The next piece; nil if none may be requested now.
    mutating func nextPiece() -> Range<ByteCount>? {
        guard stage == .inPieces || (stage == .asking && isGranted) else { return nil }
        return plan.next(underWay: parts.count)
    }

    /// With at most this many parts the link has space for a duplicate.
    private static let few = 6
    /// A part is never late before this time.
    private static let soon = Duration.milliseconds(50)

    /// A late piece to request again; nil if there is none.
    ///
    /// A piece is late if more later pieces have arrived than are under way, or if it is among the last and takes
    /// longer than usual. Its last packet was probably lost, and the server may take a second to resend it. Another
    /// connection is faster.
    mutating func nextLate() -> Range<ByteCount>? {
        guard stage == .inPieces, let usualTime, plan.hasSpace else { return nil }
        let longTime = max(usualTime + usualTime / 2, Self.soon)
        for (number, part) in parts where !part.isRepeated {
            let isLate = plan.isAllAsked && parts.count <= Self.few && ContinuousClock.now - part.beginning > longTime
            guard isLate || part.overtaken > parts.count + 2, let piece = part.piece else { continue }
            parts[number]?.isRepeated = true
            return piece
        }
        return nil
    }

    /// Records a complete piece. Returns the parts that were fetching it too.
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

    /// Changes the stage and keeps the useful parts. Returns the others, or nil if another thread has changed the stage
    /// first.
    mutating func goOn(from before: Stage, to after: Stage, with isOfUse: (Role) -> Bool = { _ in false }) -> [Part]? {
        guard stage == before else { return nil }
        stage = after
        if after == .inOne { isInOne = true }
        let dropped = parts.filter { !isOfUse($0.value.role) }
        for number in dropped.keys { parts[number] = nil }
        return Array(dropped.values)
    }

    /// Ends the transfer. Returns its parts, or nil if it has ended before.
    mutating func end() -> [Part]? {
        guard stage != .over else { return nil }
        defer { (stage, parts) = (.over, [:]) }
        return Array(parts.values)
    }

    /// Whether the rest was requested at once in the end.
    private(set) var isInOne = false

    /// Whether a part is still useful.
    func wants(_ role: Role) -> Bool {
        switch (role, stage) {
        case (_, .over), (.piece, .inOne), (.duplicate, .inOne): false
        default: true
        }
    }

    /// Whether a piece lies beyond the known end of the whole.
    func isBehind(_ piece: Range<ByteCount>) -> Bool {
        piece.lowerBound >= (stage == .asking ? plan.begin + 1 : plan.end)
    }
}
