/// For each row its sort key, by the row's number: two instructions to find one, eight bytes to keep one.
///
/// Rows are numbered from one upwards and seldom leave gaps, so the keys lie in pages, and only pages that are in use
/// take room.
struct KeyTable {
    private static let pageSize = 1_024
    private var pages: [ContiguousArray<UInt64>?] = []
    /// Which slots of a page are in use: zero is a sort key like any other.
    private var used: [ContiguousArray<Bool>?] = []

    subscript(row: Int64) -> UInt64? {
        get {
            let (page, slot) = Self.place(of: row)
            guard page < pages.count, let keys = pages[page], let isUsed = used[page], isUsed[slot] else { return nil }
            return keys[slot]
        }
        set {
            let (page, slot) = Self.place(of: row)
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

    private static func place(of row: Int64) -> (page: Int, slot: Int) {
        (Int(row) / pageSize, Int(row) % pageSize)
    }
}
