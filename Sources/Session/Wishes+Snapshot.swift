import Model
import Concurrency

extension Wishes {
    /// Everything that is wished for: each thing once, as important as it is to whoever wants it most, in the order in
    /// which it was stated.
    public struct Snapshot: Coalescing, Equatable {
        /// What, and how soon.
        public var wishes: [Wish] = []
        /// What was asked for, and the number of the asking. Another number is another wish for the same thing: the one
        /// before it was fulfilled or stopped, though no snapshot may have shown that.
        public var asked: [Wish.Subject: Int] = [:]
        /// What was asked for again while it stood: whoever has put it off should not wait any longer.
        public var renewed: Set<Wish.Subject> = []
        /// Whether all that was put off should not wait any longer.
        public var areAllRenewed = false
        /// What the user does not want now. It is not among the wishes; and whoever serves a wish for many things at once,
        /// for every picture of a gallery, is to leave these out.
        public var declined: Set<Wish.Subject> = []
        /// Whether nothing is to be begun. What is under way goes on if it is at least ``Importance/visible``; the rest is
        /// interrupted, and has its turn when this is over.
        public var isPaused = false

        /// The later one says it all, but what was renewed stays so.
        public mutating func merge(_ later: Snapshot) {
            wishes = later.wishes
            asked = later.asked
            renewed.formUnion(later.renewed)
            areAllRenewed = areAllRenewed || later.areAllRenewed
            declined = later.declined
            isPaused = later.isPaused
        }
    }
}
