import Traffic

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
    /// Goes up with each attempt, so that what is still on its way for an older one is known.
    var attempt = 0
    /// When all of it was here.
    public private(set) var doneTime: Double?

    /// Bytes of an answer's head.
    static let head = 250

    /// A part that is asked for by itself.
    struct Piece {
        let bytes: Int
        var requestTime = 0.0
        /// What is to come, with the head of the answer.
        var left: Int

        init(_ bytes: Int) { (self.bytes, left) = (bytes, bytes + SimulatedTransfer.head) }
    }

    /// Bytes that were to come in this attempt.
    var rest: Int { size - held }

    /// The next piece to be asked for, if it is time.
    mutating func nextPiece() -> Piece? {
        let left = rest - asked
        guard left > 0 else { return nil }
        guard let inPieces else {
            asked = rest
            return Piece(left)
        }
        guard Double(asked - received) < inPieces.window else { return nil }
        let size = min(left, Int(inPieces.size))
        asked += size
        return Piece(size)
    }

    mutating func finish(at now: Double) { doneTime = now }

    /// Seconds from when it was wanted to when it was here.
    public var duration: Double? { doneTime.map { $0 - time } }
}
