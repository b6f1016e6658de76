/// For each row its sort key, by the row's number: a few instructions to find one, nine bytes to keep one.
///
/// Rows are numbered from one upwards and seldom leave gaps, so the keys lie in pages, and only pages that are in use
/// take room. The pages are small: the beginning of a list that is sorted by date has numbers from everywhere, and the first
/// frame waits for it. What is no row's number (``SchemaCheck/rows``) has no key here.
struct KeyTable: Sendable {
    private struct Page: Sendable {
        var keys = ContiguousArray<UInt64>(repeating: 0, count: pageSize)
        /// Which are in use, a bit each: zero is a sort key like any other.
        var used: UInt64 = 0
    }

    private static let pageSize = UInt64.bitWidth
    private var pages: ContiguousArray<Page?> = []

    subscript(row: Int64) -> UInt64? {
        get {
            guard let (page, slot) = Self.place(of: row), page < pages.count, let found = pages[page],
                found.used & 1 << UInt64(slot) != 0
            else { return nil }
            return found.keys[slot]
        }
        set {
            guard let (page, slot) = Self.place(of: row), newValue != nil || page < pages.count else { return }
            if page >= pages.count { pages += Array(repeating: nil, count: page + 1 - pages.count) }
            if pages[page] == nil {
                guard newValue != nil else { return }
                pages[page] = Page()
            }
            pages[page]?.keys[slot] = newValue ?? 0
            let bit: UInt64 = 1 << UInt64(slot)
            if newValue == nil { pages[page]?.used &= ~bit } else { pages[page]?.used |= bit }
        }
    }

    private static func place(of row: Int64) -> (page: Int, slot: Int)? {
        guard SchemaCheck.rows.contains(row) else { return nil }
        return (Int(row) / pageSize, Int(row) % pageSize)
    }
}
