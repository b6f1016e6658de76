/// For each row its sort key, by the row's number: two instructions to find one, eight bytes to keep one.
///
/// Rows are numbered from one upwards and seldom leave gaps, so the keys lie in pages, and only pages that are in use
/// take room. What is no row's number (``SchemaCheck/rows``) has no key here.
struct KeyTable: Sendable {
    private struct Page: Sendable {
        var keys = ContiguousArray<UInt64>(repeating: 0, count: pageSize)
        /// Which are in use, a bit each: zero is a sort key like any other.
        var used = ContiguousArray<UInt64>(repeating: 0, count: pageSize / 64)
    }

    private static let pageSize = 1_024
    private var pages: ContiguousArray<Page?> = []

    subscript(row: Int64) -> UInt64? {
        get {
            guard let (page, slot) = Self.place(of: row), page < pages.count, let found = pages[page],
                found.used[slot / 64] & 1 << UInt64(slot % 64) != 0
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
            let bit: UInt64 = 1 << UInt64(slot % 64)
            if newValue == nil { pages[page]?.used[slot / 64] &= ~bit } else { pages[page]?.used[slot / 64] |= bit }
        }
    }

    private static func place(of row: Int64) -> (page: Int, slot: Int)? {
        guard SchemaCheck.rows.contains(row) else { return nil }
        return (Int(row) / pageSize, Int(row) % pageSize)
    }
}
