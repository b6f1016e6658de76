/// Many photos of a list at once, without their order.
extension FetchedResults {
    /// The photos at these places. To be asked of a screen or two of them: it goes through all.
    public func keys(in places: Range<Int>) -> KeySet {
        rows.keys(in: ascending(places))
    }

    /// The photos at these places as they are now, however many. They are gone through off the main actor.
    public func allKeys(in places: Range<Int>) async -> KeySet {
        await Self.keys(rows, ascending(places))
    }

    @concurrent private nonisolated static func keys(_ rows: OrderedRows, _ places: Range<Int>) async -> KeySet {
        rows.keys(in: places)
    }

    /// Where the places of the list lie among the rows, which ascend.
    private func ascending(_ places: Range<Int>) -> Range<Int> {
        let places = places.clamped(to: 0..<rows.count)
        return order.ascending ? places : rows.count - places.upperBound..<rows.count - places.lowerBound
    }
}
