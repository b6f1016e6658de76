import Scheduling

/// Something to be transferred in a simulation.
public struct SimulatedTransfer {
    /// Its number.
    public let number: Int
    let candidate: TransferCandidate
    /// Bytes of its body.
    public let size: Int
    /// When it is wanted.
    let time: Double

    /// Bytes that are kept of an attempt that was interrupted.
    var held = 0
    /// Bytes of this attempt.
    var received = 0
    /// Bytes that were asked for in this attempt.
    var asked = 0
    /// In what pieces that is done; nil for all at once.
    var inPieces: TransferPieces?
    /// What it comes over.
    var way = Admission.Connection.any
    /// What is asked for, by the number of the connection that it comes over.
    var pieces: [Int: Piece] = [:]
    /// How long a piece takes, of late.
    var usualTime: Double?
    /// Goes up with each attempt, so that what is still on its way for an older one is known.
    var attempt = 0
    /// When all of it was here.
    public private(set) var doneTime: Double?

    /// Bytes of an answer's head.
    static let head = 250

    /// A part that is asked for by itself.
    struct Piece {
        let bytes: Int
        /// Where it ends, among what was asked for in this attempt.
        let end: Int
        var requestTime = 0.0
        var askTime = 0.0
        /// Whether the head of its answer has been seen.
        var isAnswered = false
        /// Whether it is asked for once more, over another connection; and whether this is that one.
        var isRepeated = false
        var isAgain = false
        /// How the governor calls it, where it is a transfer of its own.
        var name: Int?
        /// How many have come that were asked for later.
        var overtaken = 0
        /// What is to come, with the head of the answer.
        var left: Int

        init(_ bytes: Int, end: Int) {
            (self.bytes, self.end, left) = (bytes, end, bytes + SimulatedTransfer.head)
        }

        var come: Int { max(0, bytes - left) }
    }

    /// Bytes that were to come in this attempt.
    var rest: Int { size - held }

    /// The next piece to be asked for, if it is time.
    mutating func nextPiece() -> Piece? {
        let left = rest - asked
        guard left > 0 else { return nil }
        guard let inPieces else {
            asked = rest
            return Piece(left, end: rest)
        }
        guard Double(asked - received) < inPieces.window else { return nil }
        let size = min(left, Int(inPieces.size))
        asked += size
        return Piece(size, end: asked)
    }

    /// A piece that hangs, once more, as the program does it: when many have come that were asked for later, or when there is
    /// nothing else to ask for and it takes longer than others did.
    mutating func nextLate(at now: Double) -> Piece? {
        guard let inPieces, let usualTime, Double(asked - received) < inPieces.window else { return nil }
        let isAlmostOver = asked == rest && pieces.count <= 6
        let late = pieces.filter {
            !$0.value.isRepeated
                && ((isAlmostOver && now - $0.value.askTime > max(1.5 * usualTime, 0.05))
                    || $0.value.overtaken > pieces.count + 2)
        }
        return late.min { $0.value.end < $1.value.end }.map { again($0.value, over: $0.key) }
    }

    /// All of it once more, which came in one and hangs.
    mutating func again() -> Piece? {
        guard inPieces == nil, let (connection, piece) = pieces.first, pieces.count == 1 else { return nil }
        return again(piece, over: connection)
    }

    /// - Parameter connection: the one that it is under way on.
    private mutating func again(_ piece: Piece, over connection: Int) -> Piece {
        pieces[connection]?.isRepeated = true
        var again = Piece(piece.bytes, end: piece.end)
        again.isAgain = true
        return again
    }

    /// A piece is here. Returns the connections over which it was to come too.
    mutating func noteCome(over connection: Int, at now: Double) -> [Int] {
        guard let piece = pieces.removeValue(forKey: connection) else { return [] }
        let rivals = pieces.filter { $0.value.end == piece.end }
        for rival in rivals.keys { pieces[rival] = nil }
        if piece.isAgain {
            received += piece.bytes - rivals.values.reduce(0) { $0 + ($1.isAgain ? 0 : $1.come) }
        } else {
            usualTime = usualTime.map { ($0 * 7 + now - piece.askTime) / 8 } ?? (now - piece.askTime)
        }
        for (other, later) in pieces where later.askTime < piece.askTime { pieces[other]?.overtaken += 1 }
        return rivals.keys.sorted()
    }

    mutating func finish(at now: Double) { doneTime = now }

    /// Seconds from when it was wanted to when it was here.
    public var duration: Double? { doneTime.map { $0 - time } }
}
