/// The greatest rate of late: what a link can carry, of which many things show less.
///
/// It forgets against newer samples and not against the clock: as long as there is nothing to transfer, nothing is learned.
struct BandwidthFilter {
    /// The greatest first, each newer than the one before it.
    private var samples: [(time: Double, rate: Double)] = []

    /// The greatest rate, in bytes a second.
    var greatest: Double? { samples.first?.rate }

    /// - Parameter window: for how many seconds a sample counts.
    mutating func add(_ rate: Double, at now: Double, window: Double) {
        while let last = samples.last, last.rate <= rate { samples.removeLast() }
        samples.append((now, rate))
        if let outdated = samples.lastIndex(where: { $0.time <= now - window }) { samples.removeSubrange(...outdated) }
        // Samples that fall one after the other: of so many the ones in between say nothing more.
        if samples.count > Self.most { samples.remove(at: samples.count / 2) }
    }

    /// Forgets all, but for this.
    mutating func reset(to rate: Double, at now: Double) {
        samples = [(now, rate)]
    }

    private static let most = 64
}
