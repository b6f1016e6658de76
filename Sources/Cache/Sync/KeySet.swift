import Model

/// Photos, by the numbers of their rows, a bit each. Rows are numbered from one upwards and seldom leave gaps, so a million of
/// them take some hundred kilobytes, and what is done with two such sets takes some ten thousand steps. Numbers beyond what
/// many galleries of a million ever come to are kept apart: a set of a few that are far apart, as a damaged database may have,
/// takes no more than they.
public struct KeySet: Sendable {
    /// Numbers below this have a bit, which together take at most sixteen megabytes.
    private static let limit: Int64 = 1 << 27
    private(set) var words: ContiguousArray<UInt64> = []
    private var others: Set<Int64> = []
    /// How many there are.
    public private(set) var count = 0

    /// No photos.
    public init() {}

    /// Whether there are none.
    public var isEmpty: Bool { count == 0 }

    /// Adds a photo. Returns false if it was there.
    @discardableResult
    public mutating func insert(_ key: PhotoKey) -> Bool { insert(key.rawValue) }

    /// Takes a photo out. Returns false if it was not there.
    @discardableResult
    public mutating func remove(_ key: PhotoKey) -> Bool { remove(key.rawValue) }

    /// Whether a photo is among them.
    public func contains(_ key: PhotoKey) -> Bool { contains(key.rawValue) }

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

    /// Takes a number out. Returns false if it was not there.
    @discardableResult
    mutating func remove(_ key: Int64) -> Bool {
        guard contains(key) else { return false }
        count -= 1
        guard (0..<Self.limit).contains(key) else { return others.remove(key) != nil }
        let (word, bit) = Self.place(of: key)
        words[word] &= ~bit
        return true
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

// MARK: - Two sets

extension KeySet {
    /// Adds those of another set.
    public mutating func formUnion(_ other: KeySet) {
        others.formUnion(other.others)
        combine(other, |)
    }

    /// Takes those of another set out.
    public mutating func subtract(_ other: KeySet) {
        others.subtract(other.others)
        combine(other) { $0 & ~$1 }
    }

    /// Keeps those alone that are in another set too.
    public mutating func formIntersection(_ other: KeySet) {
        others.formIntersection(other.others)
        words.removeLast(max(0, words.count - other.words.count))
        combine(other, &)
    }

    /// Keeps those that are in one of two sets and not in the other.
    public mutating func formSymmetricDifference(_ other: KeySet) {
        others.formSymmetricDifference(other.others)
        combine(other, ^)
    }

    /// What stands behind the other set's last word is as it was, or gone already.
    private mutating func combine(_ other: KeySet, _ operation: (UInt64, UInt64) -> UInt64) {
        words += Array(repeating: 0, count: max(0, other.words.count - words.count))
        for word in other.words.indices { words[word] = operation(words[word], other.words[word]) }
        count = words.reduce(others.count) { $0 + $1.nonzeroBitCount }
    }
}
