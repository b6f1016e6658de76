/// For each row its sort key, by the row's number: two instructions to find one, eight bytes to keep one.
///
/// Rows are numbered from one upwards and seldom leave gaps, so the keys lie in pages, and only pages that are in use
/// take room. What is no row's number (``SchemaCheck/rows``) has no key here.
struct KeyTable {
    private static let pageSize = 1_024
    private var pages: [ContiguousArray<UInt64>?] = []
    /// Which slots of a page are in use: zero is a sort key like any other.
    private var used: [ContiguousArray<Bool>?] = []

    subscript(row: Int64) -> UInt64? {
        get {
            guard let (page, slot) = Self.place(of: row), page < pages.count, let keys = pages[page],
                let isUsed = used[page], isUsed[slot]
            else { return nil }
            return keys[slot]
        }
        set {
            guard let (page, slot) = Self.place(of: row) else { return }
            if page >= pages.count {
                guard newValue != nil else { return }
                pages += Array(repeating: nil, count: page + 1 - pages.count)
                used += Array(repeating: nil, count: page + 1 - used.count)
            }
            if pages[page] == nil {
                guard newValue != nil else { return }
                pages[page] = ContiguousArray(repeating: 0, count: Self.pageSize)
                used[page] = ContiguousArray(repeating: false, count: Self.pageSize)
            }
            pages[page]?[slot] = newValue ?? 0
            used[page]?[slot] = newValue != nil
        }
    }

    private static func place(of row: Int64) -> (page: Int, slot: Int)? {
        guard SchemaCheck.rows.contains(row) else { return nil }
        return (Int(row) / pageSize, Int(row) % pageSize)
    }
}
