/// How fast a terminal takes what it is sent, as far as that shows: a value without a clock.
///
/// What it takes at once says little: that goes into buffers on the way, of which nobody knows how large they are. But when they
/// are full, there is room again for just as much as has gone out at the other end.
struct DrainRate {
    /// Bytes a second; nil as long as the terminal keeps nobody waiting.
    private(set) var bytesPerSecond: Double?
    /// When that was found out.
    private var measured: UInt64 = 0
    /// What was taken while somebody waited, and in how long.
    private var taken: (bytes: Double, seconds: Double) = (0, 0)
    /// Until when that is counted; nil while nobody waits.
    private var counted: UInt64?
    /// What was taken at once, in the second that began then.
    private var atOnce: (bytes: Int, begun: UInt64) = (0, 0)

    /// Fewer bytes say nothing: a terminal may be busy with something else for a moment.
    private static let least = 16_384.0
    /// What is longer ago than so many bytes counts half.
    private static let memory = 131_072.0
    /// So many bytes a second that are taken at once are more than buffers hold.
    private static let plenty = 131_072
    /// Nanoseconds after which a line that nobody has waited for may be twice as fast.
    private static let patience: UInt64 = 5_000_000_000
    /// How often that is believed.
    private static let mostHopes: UInt64 = 2

    /// The most bytes that are gone within half a second, as far as can be told.
    ///
    /// When nobody has waited for five seconds, the line may be twice as fast, and four times when it is ten: so something a
    /// little larger is tried, and what comes of that is measured.
    func mostInHalfASecond(at now: UInt64) -> Int {
        guard let bytesPerSecond else { return .max }
        return Int(min(bytesPerSecond * Double(1 << hopes(at: now)) / 2, 1e15))
    }

    /// In how many nanoseconds more may be tried though nothing is known; nil if that is not so.
    func nextHope(at now: UInt64) -> UInt64? {
        guard bytesPerSecond != nil, hopes(at: now) < Self.mostHopes else { return nil }
        return Self.patience - (now &- measured) % Self.patience
    }

    private func hopes(at now: UInt64) -> UInt64 { min(Self.mostHopes, (now &- measured) / Self.patience) }

    /// The terminal takes no more for now.
    ///
    /// - Parameter now: nanoseconds, of any clock.
    mutating func noteFull(at now: UInt64) {
        if counted == nil { counted = now }
    }

    /// The terminal has taken something.
    mutating func noteTaken(_ bytes: Int, at now: UInt64) {
        guard let counted else { return noteTakenAtOnce(bytes, now) }
        self.counted = now
        taken.bytes += Double(bytes)
        // Who has stopped the output for a while has not made the line slower.
        taken.seconds += min(Double(now &- counted) / 1e9, 1)
        if taken.bytes > Self.memory { taken = (taken.bytes / 2, taken.seconds / 2) }
        guard taken.bytes >= Self.least else { return }
        bytesPerSecond = taken.bytes / max(taken.seconds, 0.001)
        measured = now
    }

    /// The terminal has taken everything.
    mutating func noteIdle() { counted = nil }

    private mutating func noteTakenAtOnce(_ bytes: Int, _ now: UInt64) {
        if now &- atOnce.begun > 1_000_000_000 { atOnce = (0, now) }
        atOnce.bytes += bytes
        guard atOnce.bytes >= Self.plenty else { return }
        bytesPerSecond = nil
        taken = (0, 0)
    }
}
