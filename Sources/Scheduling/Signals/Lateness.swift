/// When something has taken so long that it must have stood in a queue.
enum Lateness {
    /// Seconds that are not late yet: a quarter more than it takes at least, and so much longer as any machine may.
    ///
    /// - Parameter least: what it takes without a queue.
    static func bound(least: Double) -> Double { 1.25 * least + 0.005 }
}
