import Glibc

/// The sort keys of rows, by row number.
///
/// A key takes five bytes per row if it is a date in whole seconds or a small number, such as the number of a folder.
/// Other keys take nine bytes.
///
/// Row numbers start at one and have few gaps. So the table consists of pages, which exist only for rows with keys, in
/// chapters of 4,096 rows. Pages are small, because the first rows of a list sorted by date may have any numbers, and
/// the first frame waits for their pages. Without chapters, a single row with the largest number would take half a
/// gigabyte. Row numbers outside of ``SchemaCheck/rows`` have no key.
struct KeyTable: Sendable {
    /// The keys of 64 neighbouring rows.
    struct Page: Sendable {
        /// The meaning of the numbers in `short`; nil if `long` holds the keys.
        private var scale: Scale?
        private var short: ContiguousArray<UInt32> = []
        private var long: ContiguousArray<UInt64> = []
        /// One bit for each key that is set, because zero is a valid key.
        private var used: UInt64 = 0

        fileprivate subscript(slot: Int) -> UInt64? {
            get {
                guard used & 1 << UInt64(slot) != 0 else { return nil }
                return scale.map { $0.key(short[slot]) } ?? long[slot]
            }
            set {
                let bit: UInt64 = 1 << UInt64(slot)
                guard let key = newValue else { return used &= ~bit }
                if used == 0 { begin(with: key) }
                used |= bit
                if let number = scale?.number(of: key) {
                    short[slot] = number
                } else {
                    lengthen()
                    long[slot] = key
                }
            }
        }

        /// Chooses the form of the page's keys by the first key.
        private mutating func begin(with key: UInt64) {
            scale = Scale.allCases.first { $0.number(of: key) != nil }
            short = scale == nil ? [] : ContiguousArray(repeating: 0, count: pageSize)
            long = scale == nil ? ContiguousArray(repeating: 0, count: pageSize) : []
        }

        private mutating func lengthen() {
            guard let scale else { return }
            long = ContiguousArray(short.map(scale.key))
            short = []
            self.scale = nil
        }
    }

    /// A rule that stores certain keys in 32 bits.
    private enum Scale: CaseIterable {
        /// The numbers count the seconds since 1930, for dates until 2066.
        case dates
        /// The numbers are the keys.
        case units

        /// The key of the first second of 1930. Like all keys of dates in ``OrderedRows``, it is the number of
        /// milliseconds since 1970, plus 2⁶³.
        private static let firstDate = 1 << 63 - 1_262_304_000_000 as UInt64

        /// Returns the number for a key. Returns nil if 32 bits cannot represent the key.
        func number(of key: UInt64) -> UInt32? {
            guard self == .dates else { return UInt32(exactly: key) }
            let (seconds, rest) = (key &- Self.firstDate).quotientAndRemainder(dividingBy: 1_000)
            return rest == 0 ? UInt32(exactly: seconds) : nil
        }

        func key(_ number: UInt32) -> UInt64 {
            self == .dates ? Self.firstDate + UInt64(number) * 1_000 : UInt64(number)
        }
    }

    private static let pageSize = UInt64.bitWidth
    private static let pagesPerChapter = 64
    /// The pages. A chapter without pages is empty.
    private(set) var chapters: ContiguousArray<ContiguousArray<Page?>> = []

    subscript(row: Int64) -> UInt64? {
        get {
            guard let (chapter, page, slot) = Self.position(of: row), chapter < chapters.count,
                !chapters[chapter].isEmpty
            else { return nil }
            return chapters[chapter][page]?[slot]
        }
        set {
            // Removing a missing key creates no page.
            guard let (chapter, page, slot) = Self.position(of: row), newValue != nil || self[row] != nil else {
                return
            }
            makePage(page, in: chapter)
            chapters[chapter][page]?[slot] = newValue
        }
    }

    private mutating func makePage(_ page: Int, in chapter: Int) {
        if chapter >= chapters.count { chapters += Array(repeating: [], count: chapter + 1 - chapters.count) }
        if chapters[chapter].isEmpty {
            chapters[chapter] = ContiguousArray(repeating: nil, count: Self.pagesPerChapter)
        }
        if chapters[chapter][page] == nil { chapters[chapter][page] = Page() }
    }

    private static func position(of row: Int64) -> (chapter: Int, page: Int, slot: Int)? {
        guard SchemaCheck.rows.contains(row) else { return nil }
        let (chapter, rest) = Int(row).quotientAndRemainder(dividingBy: pagesPerChapter * pageSize)
        return (chapter, rest / pageSize, rest % pageSize)
    }
}

/// The bytes of many text keys in one block of memory.
///
/// A reference packs a key's offset and length into 64 bits, so that it fits a ``KeyTable``.
struct KeyArena: Sendable {
    private var bytes: ContiguousArray<UInt8> = []
    /// The number of bytes that belong to discarded keys.
    private var waste = 0

    private static let lengthBits: UInt64 = 12

    private static let longest = 1 << Int(lengthBits) - 1

    var isEmpty: Bool { bytes.isEmpty }

    /// Whether a copy without the discarded keys would be much smaller.
    var isMostlyWaste: Bool { waste > 65_536 && waste > bytes.count / 2 }

    /// Adds a key and returns a reference to it. Shortens the key to 4,095 bytes.
    mutating func append(_ key: some Collection<UInt8>) -> UInt64 {
        let kept = key.prefix(Self.longest)
        let reference = UInt64(bytes.count) << Self.lengthBits | UInt64(kept.count)
        bytes.append(contentsOf: kept)
        return reference
    }

    mutating func discard(_ reference: UInt64) {
        waste += range(of: reference).count
    }

    func bytes(at reference: UInt64) -> ContiguousArray<UInt8>.SubSequence {
        bytes[range(of: reference)]
    }

    func holds(_ key: [UInt8], at reference: UInt64) -> Bool {
        bytes(at: reference).elementsEqual(key.prefix(Self.longest))
    }

    /// Compares two keys like `memcmp`. A key comes before a longer key that begins with it.
    func compare(_ left: UInt64, _ right: UInt64) -> Int {
        let (leftRange, rightRange) = (range(of: left), range(of: right))
        return bytes.withUnsafeBufferPointer { bytes in
            let common = min(leftRange.count, rightRange.count)
            guard common > 0, let base = bytes.baseAddress else { return leftRange.count - rightRange.count }
            let order = memcmp(base + leftRange.lowerBound, base + rightRange.lowerBound, common)
            return order != 0 ? Int(order) : leftRange.count - rightRange.count
        }
    }

    private func range(of reference: UInt64) -> Range<Int> {
        let start = Int(reference >> Self.lengthBits)
        return start..<start + Int(reference & (1 << Self.lengthBits - 1))
    }
}
