/// What a host had delivered at some moments of late.
struct DeliveryLog {
    private var entries: [(time: Double, delivered: Double)] = []

    /// Notes a moment. What is older than four spans is forgotten, and within one no more is kept than is of use.
    mutating func note(_ delivered: Double, at now: Double, span: Double) {
        if let last = entries.last, now - last.time < span / 16 { return }
        entries.append((now, delivered))
        if let outdated = entries.lastIndex(where: { $0.time < now - 4 * span }) { entries.removeSubrange(...outdated) }
    }

    /// Bytes a second over a time; nil if it is not known what was delivered then.
    func rate(_ delivered: Double, at now: Double, over span: Double) -> Double? {
        guard let old = entries.last(where: { $0.time <= now - span }) else { return nil }
        return (delivered - old.delivered) / (now - old.time)
    }
}
