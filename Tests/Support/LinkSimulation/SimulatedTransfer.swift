import Scheduling

/// A transfer in a simulation.
public struct SimulatedTransfer {
    /// Its number.
    public let number: Int
    let candidate: TransferCandidate
    /// The bytes of its body.
    public let size: Int
    /// When it is wanted.
    let time: Double

    /// Bytes kept from an interrupted attempt.
    var held = 0
    /// Bytes received in this attempt.
    var received = 0
    /// Bytes requested in this attempt.
    var asked = 0
    /// The pieces to request; nil for one request.
    var inPieces: TransferPieces?
    /// The kind of its connections.
    var way = Admission.Connection.any
    /// The requested pieces by the numbers of their connections.
    var pieces: [Int: Piece] = [:]
    /// How long pieces take on average.
    var usualTime: Double?
    /// The number of the attempt, to recognise packets of an earlier one.
    var attempt = 0
    /// When it was complete.
    public private(set) var doneTime: Double?

    /// The bytes of an answer's head.
    static let head = 250

    /// A part with a request of its own.
    struct Piece {
        let bytes: Int
        /// Where it ends among the bytes requested in this attempt.
        let end: Int
        var requestTime = 0.0
        var askTime = 0.0
        /// Whether the head of its answer has arrived.
        var isAnswered = false
        /// Whether it was requested once more over another connection.
        var isRepeated = false
        /// Whether it is that second request.
        var isAgain = false
        /// Its number in the governor, if it is a transfer of its own there.
        var name: Int?
        /// How many pieces requested later have arrived.
        var overtaken = 0
        /// Bytes still to come, with the head of the answer.
        var left: Int

        init(_ bytes: Int, end: Int) {
            (self.bytes, self.end, left) = (bytes, end, bytes + SimulatedTransfer.head)
        }

        var received: Int { max(0, bytes - left) }
    }

    /// The bytes of this attempt.
    var rest: Int { size - held }

    /// Returns the next piece to request, if the window allows one.
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

    /// Returns a second request of a hanging piece, by the rules of the program.
    ///
    /// A piece hangs when many requested later have arrived, or when nothing else is left and it takes longer than
    /// usual.
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

    /// Returns a second request of a transfer in one request.
    mutating func again() -> Piece? {
        guard inPieces == nil, let (connection, piece) = pieces.first, pieces.count == 1 else { return nil }
        return again(piece, over: connection)
    }

    /// - Parameter connection: the connection of the first request.
    private mutating func again(_ piece: Piece, over connection: Int) -> Piece {
        pieces[connection]?.isRepeated = true
        var again = Piece(piece.bytes, end: piece.end)
        again.isAgain = true
        return again
    }

    /// Records a complete piece. Returns the connections of its other requests.
    mutating func recordComplete(over connection: Int, at now: Double) -> [Int] {
        guard let piece = pieces.removeValue(forKey: connection) else { return [] }
        let rivals = pieces.filter { $0.value.end == piece.end }
        for rival in rivals.keys { pieces[rival] = nil }
        if piece.isAgain {
            received += piece.bytes - rivals.values.reduce(0) { $0 + ($1.isAgain ? 0 : $1.received) }
        } else {
            usualTime = usualTime.map { ($0 * 7 + now - piece.askTime) / 8 } ?? (now - piece.askTime)
        }
        for (other, later) in pieces where later.askTime < piece.askTime { pieces[other]?.overtaken += 1 }
        return rivals.keys.sorted()
    }

    mutating func finish(at now: Double) { doneTime = now }

    /// The seconds from the wish to the last byte.
    public var duration: Double? { doneTime.map { $0 - time } }
}
