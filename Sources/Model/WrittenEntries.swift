/// Entries of a gallery's list as they were written, which can be told from others without being taken apart.
///
/// Most lists that come have come before, and most of their entries mean what they meant then. A digest says so at a
/// fraction of what it takes to find out what they mean.
public protocol WrittenEntries {
    /// How many there are.
    var count: Int { get }

    /// A digest of everything that decides what an entry means. Two that agree mean the same, and break no rule.
    ///
    /// Nil where there is none: what the entry means is then found out each time.
    func digest(at index: Int) -> Int64?

    /// Finds out what an entry means. Returns false, and notes why, if it breaks a rule and is left out.
    mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool
}

/// Entries that have been taken apart.
extension Array: WrittenEntries where Element == GalleryEntry {
    /// None.
    public func digest(at index: Int) -> Int64? { nil }

    /// Takes it over.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        entry.set(self[index], digest: nil)
        return true
    }
}
