import Glibc

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

/// Text keys of many rows, end to end in one block. A key is referred to by where it lies and how long it is, packed into
/// the eight bytes that a number would take.
struct KeyArena: Sendable {
    private var bytes: ContiguousArray<UInt8> = []
    /// Bytes that nothing refers to any more.
    private var waste = 0

    private static let lengthBits: UInt64 = 12

    private static let longest = 1 << Int(lengthBits) - 1

    var isEmpty: Bool { bytes.isEmpty }

    /// Whether copying what is still in use into a new arena would free most of this one.
    var isMostlyWaste: Bool { waste > 65_536 && waste > bytes.count / 2 }

    /// Adds a key; one longer than 4,095 bytes is cut there.
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

    /// Negative, zero or positive, as `memcmp`; of two keys that are equal as far as they go, the shorter comes first.
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
