/// Numbers of rows, a bit each. Rows are numbered from one upwards and seldom leave gaps, so a million of them take some
/// hundred kilobytes. Numbers beyond what many galleries of a million ever come to are kept apart: a set of a few that are
/// far apart, as a damaged database may have, takes no more than they.
struct KeySet: Sendable {
    /// Numbers below this have a bit, which together take at most sixteen megabytes.
    private static let limit: Int64 = 1 << 27
    private var words: ContiguousArray<UInt64> = []
    private var others: Set<Int64> = []
    /// How many there are.
    private(set) var count = 0

    /// Adds a number. Returns false if it was there.
    @discardableResult
    mutating func insert(_ key: Int64) -> Bool {
        guard (0..<Self.limit).contains(key) else {
            let isNew = others.insert(key).inserted
            if isNew { count += 1 }
            return isNew
        }
        let (word, bit) = Self.place(of: key)
        if word >= words.count { words += Array(repeating: 0, count: max(1_024, word + 1 - words.count)) }
        let isNew = words[word] & bit == 0
        if isNew {
            words[word] |= bit
            count += 1
        }
        return isNew
    }

    /// Keeps those alone that are in another set too.
    mutating func formIntersection(_ other: KeySet) {
        others.formIntersection(other.others)
        words.removeLast(max(0, words.count - other.words.count))
        count = others.count
        for word in words.indices {
            words[word] &= other.words[word]
            count += words[word].nonzeroBitCount
        }
    }

    func contains(_ key: Int64) -> Bool {
        guard (0..<Self.limit).contains(key) else { return others.contains(key) }
        let (word, bit) = Self.place(of: key)
        return word < words.count && words[word] & bit != 0
    }

    private static func place(of key: Int64) -> (word: Int, bit: UInt64) {
        (Int(key) >> 6, 1 << UInt64(key & 63))
    }
}
