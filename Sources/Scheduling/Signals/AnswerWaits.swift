/// How long a server takes to begin its answers, and how much that differs.
struct AnswerWaits {
    private var mean: Double?
    private var deviation = 0.0

    mutating func add(_ wait: Double) {
        guard let mean else {
            (mean, deviation) = (wait, wait / 2)
            return
        }
        deviation += (abs(wait - mean) - deviation) / 4
        self.mean = mean + (wait - mean) / 8
    }

    /// What takes longer than that is late, as TCP reckons it (RFC 6298): where some answers are there at once and others have to
    /// be made, it is long. Nil as long as nothing is known.
    var bound: Double? { mean.map { $0 + 4 * deviation } }
}
