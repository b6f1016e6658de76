/// Whether more comes for more that is asked for, and for how long it has not.
struct BandwidthGrowth: Sendable {
    /// For how many rounds there has been no more.
    private(set) var roundsWithoutMore = 0
    /// The bandwidth that was found last.
    private var found: Double

    /// Begins with a bandwidth that is known.
    init(from found: Double = 0) {
        self.found = found
    }

    /// A round trip is over, by which so much was the greatest rate of late.
    mutating func endRound(_ rate: Double) {
        if rate >= 1.25 * found {
            (found, roundsWithoutMore) = (rate, 0)
        } else {
            roundsWithoutMore += 1
        }
    }
}
