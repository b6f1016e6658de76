/// In which round trips packets got lost, which shows in the order of those that came.
///
/// A link that is full loses packets too, when whoever sends tries to send more: once, and then nothing for many round trips.
/// So whether it is the line that loses them shows in how often it begins anew.
struct LossRecord: Sendable {
    /// A bit for each of the last rounds of which anything is known, the latest lowest: whether there was a loss.
    private var rounds: UInt32 = 0
    /// Whether there was one in this round; nil as long as nothing is known of it.
    private var hasLoss: Bool?

    /// Notes of something that came whether its packets came in their order.
    mutating func note(isKept: Bool) {
        hasLoss = (hasLoss ?? false) || !isKept
    }

    mutating func endRound() {
        guard let hasLoss else { return }
        rounds = rounds << 1 | (hasLoss ? 1 : 0)
        self.hasLoss = nil
    }

    /// Whether some were lost of late.
    var isAny: Bool { rounds != 0 }

    /// Whether they get lost again and again.
    var areOfLine: Bool { beginnings >= 3 }

    /// Bits that are set where the one before, which is higher, is not.
    private var beginnings: Int { (rounds & ~(rounds >> 1)).nonzeroBitCount }
}
