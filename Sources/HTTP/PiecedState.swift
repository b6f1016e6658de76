/// How far something is that comes in pieces: what is under way of it, and for what.
struct PiecedState {
    /// What a transfer of a part is for.
    enum Role {
        /// The first piece. It goes into the file.
        case lead
        case piece(Range<Int64>)
        /// A piece once more, which does not come over the connection of the part of that number.
        case again(Range<Int64>, of: Int)
        /// All that is not there yet, into the file.
        case rest
        /// All of it, and nothing of what came before it was told to anybody.
        case all
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

        /// How many pieces have come that were asked for later.
        var overtaken = 0
        /// Whether it has been asked for once more.
        var isRepeated = false

        var isLead: Bool { if case .lead = role { true } else { false } }
    }

    var plan: PiecePlan
    var weight: Int
    var stage = Stage.asking
    var parts: [Int: Part] = [:]
    var lastNumber = 0
    /// What the first answer said of the whole.
    var edition = PiecePlan.Edition()
    var packets: TransferMeter.Packets?

    init(_ pieces: HTTPRequest.Pieces, of request: HTTPRequest) {
        plan = PiecePlan(pieces, from: request.resumption?.offset ?? 0, limit: request.limit)
        weight = request.weight
    }

    /// The next piece, if it is time to ask for one.
    mutating func nextPiece(isGranted: Bool) -> Range<Int64>? {
        guard stage == .inPieces || (stage == .asking && isGranted) else { return nil }
        return plan.next(underWay: parts.count)
    }

    /// A piece that hangs: meanwhile as many have come as are under way at once, and some more. A packet of it was lost and
    /// not missed, as happens to last ones, and it may be a second until the server tries again. Over another connection
    /// it is here sooner.
    mutating func nextLate() -> (number: Int, piece: Range<Int64>)? {
        guard stage == .inPieces else { return nil }
        for (number, part) in parts where !part.isRepeated && part.overtaken > parts.count + 2 {
            guard case .piece(let piece) = part.role else { continue }
            parts[number]?.isRepeated = true
            return (number, piece)
        }
        return nil
    }

    /// A piece is here. Returns those that were to bring it too.
    mutating func noteCome(_ part: Part, _ number: Int) -> [Part] {
        let rivals: [Int]
        switch part.role {
        case .piece(let piece):
            rivals = parts.keys.filter { if case .again(_, number) = parts[$0]?.role { true } else { false } }
            plan.note(PiecePlan.Arrival(bytes: part.bytes, edition: part.edition), at: piece.lowerBound)
            for other in parts.keys where other < number { parts[other]?.overtaken += 1 }
        case .again(let piece, let late):
            rivals = [late]
            plan.note(received: Int64(part.bytes.count - (parts[late]?.bytes.count ?? 0)))
            plan.note(PiecePlan.Arrival(bytes: part.bytes, edition: part.edition), at: piece.lowerBound)
        case .lead, .rest, .all: rivals = []
        }
        return rivals.compactMap { parts.removeValue(forKey: $0) }
    }

    /// Whether a part is still of use: meanwhile it may be over, or known that no pieces come.
    func wants(_ role: Role) -> Bool {
        switch (role, stage) {
        case (_, .over), (.piece, .inOne), (.again, .inOne): false
        default: true
        }
    }

    /// Whether it lies behind the end of the whole, as far as is known.
    func isBehind(_ piece: Range<Int64>) -> Bool {
        stage == .asking || piece.lowerBound >= plan.end
    }
}
