/// A link between a client and a server, with a rate, a round trip, a queue that overflows, and random losses.
public struct SimulatedLink: Sendable {
    /// The link's properties from a time on.
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
    /// The bytes that the link has carried.
    public private(set) var carried = 0.0

    /// - Parameter loss: the share of packets that are lost.
    public init(_ stages: [Stage], loss: Double = 0) {
        (self.stages, self.loss) = (stages, loss)
    }

    func stage(at time: Double) -> Stage {
        stages.last { $0.time <= time } ?? stages[0]
    }

    /// The fate of a packet.
    enum Fate {
        /// It reaches the client at this time.
        case arrives(Double)
        /// It is lost, behind so many seconds of queue.
        case lost(behind: Double)
    }

    mutating func send(_ bytes: Int, at now: Double, isUnlucky: Bool) -> Fate {
        let stage = stage(at: now)
        let start = max(free, now)
        // The queue holds a round trip, and at least 64 KiB.
        let depth = max(stage.roundTrip, 65_536 / stage.rate)
        guard start - now <= depth, !isUnlucky else {
            dropped += 1
            return .lost(behind: start - now)
        }
        // TCP over IPv4 with time stamps has 52 bytes of headers.
        free = start + Double(bytes + 52) / stage.rate
        carried += Double(bytes)
        return .arrives(free + stage.roundTrip / 2)
    }
}
