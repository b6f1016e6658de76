/// What makes a new list of rows out of an old one.
///
/// To apply it: take out what was deleted and what moved, counted in the old list; put in what was inserted and what
/// moved, in ascending order, counted in the new list. What was updated is counted in the new list.
public struct RowDifference: Equatable, Sendable {
    /// A row that stands elsewhere now.
    public struct Move: Hashable, Sendable {
        /// Its place in the old list.
        public var from: Int
        /// Its place in the new list.
        public var to: Int
    }

    /// Places in the old list.
    public var deleted: [Int] = []
    /// Places in the new list.
    public var inserted: [Int] = []
    /// From the old list to the new one.
    public var moved: [Move] = []
    /// Places in the new list of rows that stayed in order and look different.
    public var updated: [Int] = []

    /// Whether the two lists are the same and look the same.
    public var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }

    /// The same difference between the two lists turned upside down.
    func reversed(oldCount: Int, newCount: Int) -> RowDifference {
        RowDifference(
            deleted: deleted.map { oldCount - 1 - $0 }.reversed(),
            inserted: inserted.map { newCount - 1 - $0 }.reversed(),
            moved: moved.map { Move(from: oldCount - 1 - $0.from, to: newCount - 1 - $0.to) }.reversed(),
            updated: updated.map { newCount - 1 - $0 }.reversed())
    }
}
