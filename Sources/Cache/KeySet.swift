/// Numbers of rows, a bit each. Rows are numbered from one upwards and seldom leave gaps, so a million of them take some
/// hundred kilobytes; numbers far apart, as a damaged database may have, take no more than a page each.
struct KeySet: Sendable {
    private static let pageBits: Int64 = 1 << 15
    private var pages: [Int64: [UInt64]] = [:]
    /// How many there are.
    private(set) var count = 0

    /// Adds a number. Returns false if it was there.
    @discardableResult
    mutating func insert(_ key: Int64) -> Bool {
        let (page, word, bit) = Self.place(of: key)
        let isNew = pages[page, default: Self.emptyPage][word] & bit == 0
        if isNew {
            pages[page, default: Self.emptyPage][word] |= bit
            count += 1
        }
        return isNew
    }

    /// Keeps those alone that are in another set too.
    mutating func formIntersection(_ other: KeySet) {
        count = 0
        for (number, page) in pages {
            guard let others = other.pages[number] else {
                pages[number] = nil
                continue
            }
            let common = zip(page, others).map { $0 & $1 }
            count += common.reduce(0) { $0 + $1.nonzeroBitCount }
            pages[number] = common
        }
    }

    func contains(_ key: Int64) -> Bool {
        let (page, word, bit) = Self.place(of: key)
        return pages[page].map { $0[word] & bit != 0 } ?? false
    }

    private static let emptyPage = [UInt64](repeating: 0, count: Int(pageBits) / 64)

    private static func place(of key: Int64) -> (page: Int64, word: Int, bit: UInt64) {
        let offset = Int(key & (pageBits - 1))
        return (key >> 15, offset >> 6, 1 << UInt64(offset & 63))
    }
}
