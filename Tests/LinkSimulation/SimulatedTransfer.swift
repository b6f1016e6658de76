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
    var headLeft = SimulatedTransfer.head
    var connection: SimulatedConnection?
    var requestTime = 0.0
    /// Goes up with each attempt, so that what is still on its way for an older one is known.
    var attempt = 0
    /// When all of it was here.
    public private(set) var doneTime: Double?

    /// Bytes of an answer's head.
    static let head = 250

    mutating func finish(at now: Double) { doneTime = now }

    /// Seconds from when it was wanted to when it was here.
    public var duration: Double? { doneTime.map { $0 - time } }
}
