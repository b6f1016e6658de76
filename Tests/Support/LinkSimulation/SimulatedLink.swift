/// A way between a client and a server: so many bytes a second, so long a round trip, a queue that drops what it has no room
/// for, and packets that get lost. All on a clock of its own.
public struct SimulatedLink: Sendable {
    /// What the link is like from a moment on.
    public struct Stage: Sendable {
        let time: Double
        let rate: Double
        let roundTrip: Double

        /// - Parameters:
        ///   - bits: bits a second.
        ///   - roundTrip: seconds.
        public init(from time: Double = 0, bits: Double, roundTrip: Double) {
            (self.time, rate, self.roundTrip) = (time, bits / 8, roundTrip)
        }
    }

    let stages: [Stage]
    let loss: Double
    /// When the queue will be empty.
    private var free = 0.0
    private(set) var dropped = 0
    /// Bytes that went through.
    public private(set) var carried = 0.0

    /// - Parameter loss: the part of packets that get lost.
    public init(_ stages: [Stage], loss: Double = 0) {
        (self.stages, self.loss) = (stages, loss)
    }

    func stage(at time: Double) -> Stage {
        stages.last { $0.time <= time } ?? stages[0]
    }

    /// What becomes of a packet.
    enum Fate {
        /// It is at the client's at that time.
        case arrives(Double)
        /// It is gone, behind that many seconds of queue.
        case lost(behind: Double)
    }

    mutating func send(_ bytes: Int, at now: Double, isUnlucky: Bool) -> Fate {
        let stage = stage(at: now)
        let start = max(free, now)
        // The queue holds a round trip, and 64 KiB at least.
        let room = max(stage.roundTrip, 65_536 / stage.rate)
        guard start - now <= room, !isUnlucky else {
            dropped += 1
            return .lost(behind: start - now)
        }
        // 52 bytes of headers, as TCP over IPv4 has them with time stamps.
        free = start + Double(bytes + 52) / stage.rate
        carried += Double(bytes)
        return .arrives(free + stage.roundTrip / 2)
    }
}
