import Model

/// A set of photos, with one bit per row number.
///
/// Row numbers start at one and have few gaps: a million photos take about 100 kB, and set operations are fast. Very
/// large numbers, as in a damaged database, are stored separately, so that they do not enlarge the bitmap.
public struct KeySet: Sendable {
    /// The first row number without a bit. All bits together take at most 16 MB.
    private static let limit: Int64 = 1 << 27
    /// The bitmap. Bit 0 of the first word stands for row 0.
    private(set) var words: ContiguousArray<UInt64> = []
    private var others: Set<Int64> = []
    /// The number of photos in the set.
    public private(set) var count = 0

    /// Creates an empty set.
    public init() {}

    /// Whether the set is empty.
    public var isEmpty: Bool { count == 0 }

    /// Adds a photo. Returns false if the set already contained it.
    @discardableResult
    public mutating func insert(_ key: PhotoKey) -> Bool { insert(key.rawValue) }

    /// Removes a photo. Returns false if the set did not contain it.
    @discardableResult
    public mutating func remove(_ key: PhotoKey) -> Bool { remove(key.rawValue) }

    /// Whether the set contains a photo.
    public func contains(_ key: PhotoKey) -> Bool { contains(key.rawValue) }

    /// Adds a row number. Returns false if the set already contained it.
    @discardableResult
    mutating func insert(_ key: Int64) -> Bool {
        guard (0..<Self.limit).contains(key) else {
            let isNew = others.insert(key).inserted
            if isNew { count += 1 }
            return isNew
        }
        let (word, bit) = Self.position(of: key)
        if word >= words.count { words += Array(repeating: 0, count: max(1_024, word + 1 - words.count)) }
        let isNew = words[word] & bit == 0
        if isNew {
            words[word] |= bit
            count += 1
        }
        return isNew
    }

    /// Removes a row number. Returns false if the set did not contain it.
    @discardableResult
    mutating func remove(_ key: Int64) -> Bool {
        guard contains(key) else { return false }
        count -= 1
        guard (0..<Self.limit).contains(key) else { return others.remove(key) != nil }
        let (word, bit) = Self.position(of: key)
        words[word] &= ~bit
        return true
    }

    func contains(_ key: Int64) -> Bool {
        guard (0..<Self.limit).contains(key) else { return others.contains(key) }
        let (word, bit) = Self.position(of: key)
        return word < words.count && words[word] & bit != 0
    }

    private static func position(of key: Int64) -> (word: Int, bit: UInt64) {
        (Int(key) >> 6, 1 << UInt64(key & 63))
    }
}

// MARK: - Set operations

extension KeySet {
    /// Adds all photos of another set.
    public mutating func formUnion(_ other: KeySet) {
        others.formUnion(other.others)
        combine(other, |)
    }

    /// Removes all photos of another set.
    public mutating func subtract(_ other: KeySet) {
        others.subtract(other.others)
        combine(other) { $0 & ~$1 }
    }

    /// Keeps only the photos that are in both sets.
    public mutating func formIntersection(_ other: KeySet) {
        others.formIntersection(other.others)
        words.removeLast(max(0, words.count - other.words.count))
        combine(other, &)
    }

    /// Keeps only the photos that are in exactly one of the two sets.
    public mutating func formSymmetricDifference(_ other: KeySet) {
        others.formSymmetricDifference(other.others)
        combine(other, ^)
    }

    /// Combines the words of both sets. Words beyond the other set's end stay unchanged.
    private mutating func combine(_ other: KeySet, _ operation: (UInt64, UInt64) -> UInt64) {
        words += Array(repeating: 0, count: max(0, other.words.count - words.count))
        for word in other.words.indices { words[word] = operation(words[word], other.words[word]) }
        count = words.reduce(others.count) { $0 + $1.nonzeroBitCount }
    }
}
