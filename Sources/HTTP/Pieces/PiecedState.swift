import Numbers

/// How far something is that comes in pieces: what is under way of it, and for what.
struct PiecedState {
    /// What a transfer of a part is for.
    enum Role {
        /// The first piece, where it is not known what the server makes of that: into the file, for it may be all.
        case lead
        case piece(Range<ByteCount>)
        /// A piece once more, which is under way already and does not come.
        case again(Range<ByteCount>)
        /// All that is not there yet, into the file.
        case rest
        /// All of it, and nothing of what came before it was told to anybody.
        case all
        /// The same from the very beginning: the server sends another part than the one that was asked for.
        case anew

        /// The piece that it brings.
        var piece: Range<ByteCount>? {
            switch self {
            case .piece(let piece), .again(let piece): piece
            case .lead, .rest, .all, .anew: nil
            }
        }
    }

    enum Stage {
        /// Nobody knows yet whether the server sends pieces.
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
        /// How many pieces have come that were asked for later.
        var overtaken = 0
        /// Whether it has been asked for once more.
        var isRepeated = false

        /// The piece that it brings.
        var piece: Range<ByteCount>? { role.piece }

        var isLead: Bool { if case .lead = role { true } else { false } }
    }

    var plan: PiecePlan
    var weight: Int
    private(set) var stage = Stage.asking
    /// Whether the server is known to send pieces, so that more are asked for before the first answer. Of one of which that
    /// is not known a first piece is asked for alone, and nothing beside it: what comes may be all, into the file.
    let isGranted: Bool
    var parts: [Int: Part] = [:]
    var lastNumber = 0
    /// What the first answer said of the whole.
    var edition = PiecePlan.Edition()
    var packets: TransferMeter.Packets?
    private var mustBePublic = false
    /// What is asked for.
    private let request: HTTPRequest
    /// How long a piece takes, of late.
    private var usualTime: Duration?

    init(_ pieces: HTTPRequest.Pieces, of request: HTTPRequest, isGranted: Bool) {
        self.isGranted = isGranted
        self.request = request
        plan = PiecePlan(pieces, from: request.resumption?.offset ?? 0, limit: request.limit)
        weight = request.weight
    }

    /// What is asked for a part.
    func request(for role: Role, _ range: Range<ByteCount>?) -> HTTPRequest {
        var part = request
        (part.pieces, part.range, part.weight) = (nil, range, weight)
        part.meter = request.meter.map { _ in TransferMeter() }
        if mustBePublic { part.addressPolicy = .publicOnly(except: nil) }
        switch role {
        case .lead: break
        case .all: part.isBegunAnew = true
        case .anew: (part.resumption, part.isBegunAnew) = (nil, true)
        case .piece, .again:
            (part.destination, part.resumption) = (.stream, nil)
            // Of those that few share it might be given the one that it hangs on.
            if case .again = role, part.connection == .few { part.connection = .unshared }
        case .rest:
            part.resumption = edition.validator.flatMap {
                plan.written > 0
                    ? HTTPRequest.Resumption(
                        offset: plan.written, validator: $0, url: request.url, whole: edition.length) : nil
            }
            // The first piece may have written to the file what was not heard of before it was dropped.
            part.isBegunAnew = part.resumption == nil
        }
        return part
    }

    /// Takes in the head of an answer to a part.
    ///
    /// Once one part has come from a public address, all others must: the name may lead to a private one by then.
    mutating func note(_ head: HTTPResponse) {
        if head.beganPublic { mustBePublic = true }
    }

    /// The next piece, if it is time to ask for one.
    mutating func nextPiece() -> Range<ByteCount>? {
        guard stage == .inPieces || (stage == .asking && isGranted) else { return nil }
        return plan.next(underWay: parts.count)
    }

    /// With so few under way the link has room for one once more.
    private static let few = 6
    /// What takes no longer than that is not late, however fast the others were.
    private static let soon = Duration.milliseconds(50)

    /// A piece that hangs: meanwhile as many have come as are under way at once, and some more; or there is nothing else to
    /// ask for, and it takes longer than others did. A packet of it was lost and not missed, as happens to last ones, and it
    /// may be a second until the server tries again. Over another connection it is here sooner.
    mutating func nextLate() -> Range<ByteCount>? {
        guard stage == .inPieces, let usualTime, plan.hasRoom else { return nil }
        let longTime = max(usualTime + usualTime / 2, Self.soon)
        for (number, part) in parts where !part.isRepeated {
            let isLate = plan.isAllAsked && parts.count <= Self.few && ContinuousClock.now - part.beginning > longTime
            guard isLate || part.overtaken > parts.count + 2, let piece = part.piece else { continue }
            parts[number]?.isRepeated = true
            return piece
        }
        return nil
    }

    /// A piece is here. Returns those that were to bring it too.
    mutating func noteCome(_ part: Part, _ number: Int) -> [Part] {
        guard let piece = part.piece else { return [] }
        let rivals = parts.filter { $0.value.piece == piece }
        for rival in rivals.keys { parts[rival] = nil }
        if case .again = part.role {
            // Of the first one it was counted how much had come, and of that one alone.
            let counted = rivals.values.lazy.filter { if case .piece = $0.role { true } else { false } }
                .reduce(0) { $0 + $1.bytes.count }
            plan.note(received: ByteCount(part.bytes.count), inPlaceOf: ByteCount(counted))
        } else {
            let time = ContinuousClock.now - part.beginning
            usualTime = usualTime.map { ($0 * 7 + time) / 8 } ?? time
        }
        plan.note(PiecePlan.Arrival(bytes: part.bytes, edition: part.edition), at: piece.lowerBound)
        for other in parts.keys where other < number { parts[other]?.overtaken += 1 }
        return Array(rivals.values)
    }

    /// Goes on from one stage to another, with those parts alone that are of use there. Returns the others; nil, having done
    /// nothing, if another part was first: answers come on several threads, and only one of them decides.
    mutating func goOn(from before: Stage, to after: Stage, with isOfUse: (Role) -> Bool = { _ in false }) -> [Part]? {
        guard stage == before else { return nil }
        stage = after
        if after == .inOne { isInOne = true }
        let dropped = parts.filter { !isOfUse($0.value.role) }
        for number in dropped.keys { parts[number] = nil }
        return Array(dropped.values)
    }

    /// Ends it. Returns what was under way; nil if it has ended before.
    mutating func end() -> [Part]? {
        guard stage != .over else { return nil }
        defer { (stage, parts) = (.over, [:]) }
        return Array(parts.values)
    }

    /// Whether all that is not there was asked for at once after all.
    private(set) var isInOne = false

    /// Whether a part is still of use: meanwhile it may be over, or known that no pieces come.
    func wants(_ role: Role) -> Bool {
        switch (role, stage) {
        case (_, .over), (.piece, .inOne), (.again, .inOne): false
        default: true
        }
    }

    /// Whether it lies behind the end of the whole, as far as is known.
    func isBehind(_ piece: Range<ByteCount>) -> Bool {
        piece.lowerBound >= (stage == .asking ? plan.begin + 1 : plan.end)
    }
}
