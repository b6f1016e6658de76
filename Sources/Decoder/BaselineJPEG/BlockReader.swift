/// Reads blocks of DCT coefficients from a JPEG scan (T.81, F.2.2).
///
/// Each call gets the scan's 32-bit words as an argument, which avoids reference counting.
struct BlockReader {
    /// Bits that were read ahead. The next bit is the highest; unused low bits are 0.
    private var bits: UInt64 = 0
    /// The number of valid bits in `bits`.
    private var available: Int = 0
    /// The index of the next word.
    private var next: Int
    private let start: Int

    init(wordsFrom start: Int) {
        self.start = start
        next = start
    }

    /// Whether the reader has read an interval exactly to its end. Up to seven bits may remain, because encoders "pad
    /// the final bits" of a byte (T.81, F.1.2.3).
    func isAtEnd(of interval: ScanWords.Interval) -> Bool {
        let rest = interval.bits - (32 * (next - start) - available)
        return rest >= 0 && rest < 8
    }

    /// Reads a block's coefficients, and stores each one multiplied by its quantisation step. Before the call, all 64
    /// elements of `coefficients` must be 0.
    ///
    /// - Parameters:
    ///   - steps: for each coefficient in zigzag order, its index in the lowest six bits, and its quantisation step in
    ///     the other bits.
    ///   - prediction: the first coefficient of the component's previous block, in quantisation steps. After
    ///     the call, the first coefficient of this block.
    /// - Returns: a number with a bit for each stored coefficient, always including the first; 0 if the data are
    ///   damaged.
    mutating func read(
        _ words: [UInt32], _ first: HuffmanLookup, _ other: HuffmanLookup, _ steps: [UInt32],
        _ prediction: inout Int32, into coefficients: inout [Int32]
    ) -> UInt64 {
        guard let difference = readDifference(words, first) else { return 0 }
        prediction &+= difference
        coefficients[0] = prediction &* Int32(bitPattern: steps[0] &>> 6)

        // Local copies stay in registers.
        var (bits, available, next) = (bits, available, next)
        var present: UInt64 = 1
        var index = 1
        while index < 64 {
            if available < 32 {
                guard next < words.count else { return 0 }
                bits |= UInt64(words[next]) &<< UInt64(truncatingIfNeeded: 32 &- available)
                next &+= 1
                available &+= 32
            }
            var entry = other.entries[Int(truncatingIfNeeded: bits &>> 54)]
            if entry == 0 {
                entry = other.longEntry(bits)
                guard entry != 0 else { return 0 }
            }
            let length = entry & 31
            var value = Int32(bitPattern: entry) &>> 16
            if value == 0 {
                let size = entry &>> 5 & 15
                if size == 0 {
                    bits &<<= UInt64(length)
                    available &-= Int(length)
                    if entry &>> 9 & 15 == 0 { break }
                    // A run of 16 zeros; a coefficient must follow.
                    index &+= 16
                    guard index < 64 else { return 0 }
                    continue
                }
                value = Self.value(bits, length: length, size: size)
            }
            bits &<<= UInt64(length)
            available &-= Int(length)
            index &+= Int(entry &>> 9 & 15)
            guard index < 64 else { return 0 }
            let step = steps[index]
            let target = Int(step & 63)
            present |= 1 &<< UInt64(target)
            coefficients[target] = value &* Int32(bitPattern: step &>> 6)
            index &+= 1
        }
        (self.bits, self.available, self.next) = (bits, available, next)
        return present
    }

    /// Reads a block's first coefficient into `prediction`, and skips the others. The value is in quantisation steps.
    /// Returns false if the data are damaged.
    mutating func readFirst(
        _ words: [UInt32], _ first: HuffmanLookup, _ other: HuffmanLookup, _ prediction: inout Int32
    ) -> Bool {
        guard let difference = readDifference(words, first) else { return false }
        prediction &+= difference

        var (bits, available, next) = (bits, available, next)
        var index = 1
        while index < 64 {
            if available < 32 {
                guard next < words.count else { return false }
                bits |= UInt64(words[next]) &<< UInt64(truncatingIfNeeded: 32 &- available)
                next &+= 1
                available &+= 32
            }
            var entry = other.entries[Int(truncatingIfNeeded: bits &>> 54)]
            if entry == 0 {
                entry = other.longEntry(bits)
                guard entry != 0 else { return false }
            }
            let length = entry & 31
            bits &<<= UInt64(length)
            available &-= Int(length)
            let run = Int(entry &>> 9 & 15)
            if entry &>> 5 & 15 == 0 {
                if run == 0 { break }
                // A run of 16 zeros; a coefficient must follow.
                index &+= 16
                guard index < 64 else { return false }
                continue
            }
            index &+= run &+ 1
            guard index <= 64 else { return false }
        }
        (self.bits, self.available, self.next) = (bits, available, next)
        return true
    }

    /// Reads the difference between this block's first coefficient and the previous block's (T.81, F.2.2.1).
    @inline(__always)
    private mutating func readDifference(_ words: [UInt32], _ first: HuffmanLookup) -> Int32? {
        if available < 32 {
            guard next < words.count else { return nil }
            bits |= UInt64(words[next]) &<< UInt64(truncatingIfNeeded: 32 &- available)
            next &+= 1
            available &+= 32
        }
        var entry = first.entries[Int(truncatingIfNeeded: bits &>> 54)]
        if entry == 0 {
            entry = first.longEntry(bits)
            guard entry != 0 else { return nil }
        }
        let length = entry & 31
        let size = entry &>> 5 & 15
        var value = Int32(bitPattern: entry) &>> 16
        if value == 0, size > 0 { value = Self.value(bits, length: length, size: size) }
        bits &<<= UInt64(length)
        available &-= Int(length)
        return value
    }

    /// Decodes a value: the last `size` bits of the highest `length` bits of `bits`.
    @inline(__always)
    private static func value(_ bits: UInt64, length: UInt32, size: UInt32) -> Int32 {
        let raw = bits &>> UInt64(64 &- length) & ((1 &<< UInt64(size)) &- 1)
        return HuffmanLookup.extended(Int32(truncatingIfNeeded: raw), size: Int32(bitPattern: size))
    }
}

/// A scan's entropy-coded bits in 32-bit words, without stuffed bytes. In each word, the first bit is the highest.
struct ScanWords {
    /// A part of the scan that ends with a restart marker or with the image.
    struct Interval {
        /// The index of the interval's first word.
        let start: Int
        /// The number of bits in the interval, including the padding of its last byte.
        let bits: Int
    }

    /// The words of all intervals. Two zero words follow each interval, because a reader may read ahead.
    private(set) var words: [UInt32] = []
    private(set) var intervals: [Interval] = []
    /// The number of bits in the whole scan.
    var bits: Int { intervals.reduce(0) { $0 + $1.bits } }

    /// Splits a scan at its restart markers. Returns nil if the markers are not in order, or the image does not end
    /// after the last interval.
    init?(_ bytes: [UInt8], from start: Int, intervals count: Int) {
        guard start <= bytes.count else { return nil }
        words.reserveCapacity((bytes.count - start) / 4 + 3)
        var position = start
        while intervals.count < count {
            position = gather(bytes, from: position)
            // "Any marker may optionally be preceded by any number of fill bytes" (B.1.1.2), which are FF like the
            // first byte of the marker.
            while position < bytes.count, bytes[position] == 0xFF { position += 1 }
            guard position < bytes.count else { return nil }
            // B.2.1: the markers between the intervals are RST0 to RST7, in turn; the last is EOI.
            let expected = intervals.count == count ? 0xD9 : 0xD0 + (intervals.count - 1) & 7
            guard bytes[position] == expected else { return nil }
            position += 1
        }
    }

    /// Adds the interval at `start`. Returns the position of the marker that ends it, or of the end of the file.
    private mutating func gather(_ bytes: [UInt8], from start: Int) -> Int {
        let firstWord = words.count
        var position = start
        var stuffed = 0
        // The bytes that do not fill a word yet, the last in the lowest eight bits, and the number of their bits.
        var pending: UInt64 = 0
        var pendingBits: UInt64 = 0
        while position < bytes.count {
            // Four bytes at once while none of them is FF.
            while position < bytes.count &- 4 {
                let four =
                    UInt32(bytes[position]) << 24 | UInt32(bytes[position &+ 1]) << 16
                    | UInt32(bytes[position &+ 2]) << 8 | UInt32(bytes[position &+ 3])
                guard (~four &- 0x0101_0101) & four & 0x8080_8080 == 0 else { break }
                pending = pending &<< 32 | UInt64(four)
                words.append(UInt32(truncatingIfNeeded: pending &>> pendingBits))
                position &+= 4
            }
            let byte = bytes[position]
            if byte == 0xFF {
                // "If X’FF’ is generated, a zero byte is stuffed" (F.1.2.3); any other byte after FF makes a marker.
                guard position &+ 1 < bytes.count, bytes[position &+ 1] == 0 else { break }
                position &+= 1
                stuffed &+= 1
            }
            position &+= 1
            pending = pending &<< 8 | UInt64(byte)
            pendingBits &+= 8
            if pendingBits == 32 {
                words.append(UInt32(truncatingIfNeeded: pending))
                pendingBits = 0
            }
        }
        if pendingBits > 0 { words.append(UInt32(truncatingIfNeeded: pending &<< (32 &- pendingBits))) }
        words.append(0)
        words.append(0)
        intervals.append(Interval(start: firstWord, bits: 8 * (position - start - stuffed)))
        return position
    }
}

/// A lookup table for a Huffman code, indexed by the next ten bits.
///
/// Each entry describes one symbol:
///
///     bits 0–4     the length of the code and the following value together, at most 27 bits
///     bits 5–8     the length of the value
///     bits 9–12    the number of zero coefficients before the value
///     bits 16–31   the value itself, if it lies within the ten bits; otherwise 0 (no value is 0)
///
/// An entry of 0 means that the code is longer than ten bits or invalid. `longEntry` then finds the symbol, if there is
/// one.
struct HuffmanLookup {
    /// The symbols that a code may contain (T.81, F.1.2.1 and F.1.2.2).
    enum Kind {
        /// A symbol for a first coefficient. The symbol is the length of a difference, at most 11 bits.
        case first
        /// A symbol for a coefficient after the first. The symbol consists of a run of zeros and the length of a value,
        /// 1 to 10 bits. With length 0, a run of 15 means sixteen zeros and a run of 0 means the end of the block.
        case other
    }

    static let indexBits = 10

    /// The 1,024 entries, one for each value of the next ten bits.
    let entries: [UInt32]

    /// For each code length, a limit for the next 16 bits. If they are smaller, their code has at most that length.
    private let ends: [UInt32]
    /// For each code length, the difference between a symbol's index and its code.
    private let offsets: [Int]
    private let symbols: [UInt8]
    private let kind: Kind

    init(_ code: HuffmanCode, _ kind: Kind) {
        var entries: [UInt32] = []
        entries.reserveCapacity(1 << Self.indexBits)
        var ends: [UInt32] = [0]
        var offsets = [0]
        var next = 0
        var symbol = 0
        for length in 1...16 {
            next *= 2
            offsets.append(symbol - next)
            next += code.counts[length - 1]
            ends.append(UInt32(next << (16 - length)))
            let following = symbol + code.counts[length - 1]
            if length <= Self.indexBits {
                for symbol in code.symbols[symbol..<following] {
                    Self.append(Self.entry(symbol, length, kind), length, to: &entries)
                }
            }
            symbol = following
        }
        while entries.count < 1 << Self.indexBits { entries.append(0) }
        self.entries = entries
        self.ends = ends
        self.offsets = offsets
        self.symbols = code.symbols
        self.kind = kind
    }

    /// Returns the entry for a code longer than ten bits. The bits of its value are 0. Returns 0 if `bits` do not begin
    /// with a valid code.
    @inline(never)
    func longEntry(_ bits: UInt64) -> UInt32 {
        let first = UInt32(truncatingIfNeeded: bits &>> 48)
        for length in 1...16 where first < ends[length] {
            let index = Int(first &>> UInt32(16 &- length)) &+ offsets[length]
            guard index >= 0, index < symbols.count else { return 0 }
            return Self.entry(symbols[index], length, kind)
        }
        return 0
    }

    /// Returns the entry for a symbol. The bits of its value are 0. Returns 0 for an invalid symbol.
    private static func entry(_ symbol: UInt8, _ length: Int, _ kind: Kind) -> UInt32 {
        let (run, size) = (UInt32(symbol >> 4), UInt32(symbol & 15))
        switch kind {
        case .first: guard symbol <= 11 else { return 0 }
        case .other: guard size <= 10, size > 0 || run == 0 || run == 15 else { return 0 }
        }
        return (UInt32(length) + size) | size << 5 | run << 9
    }

    /// Appends the entries for all groups of ten bits that begin with the next code. The code has `length` bits.
    private static func append(_ entry: UInt32, _ length: Int, to entries: inout [UInt32]) {
        let free = indexBits - length
        let size = Int(entry >> 5 & 15)
        guard size > 0, size <= free else {
            entries.append(contentsOf: repeatElement(entry, count: 1 << free))
            return
        }
        for bits in 0..<Int32(1) << Int32(size) {
            let value = extended(bits, size: Int32(size))
            entries.append(
                contentsOf: repeatElement(
                    entry | UInt32(bitPattern: value) << 16, count: 1 << (free - size)))
        }
    }

    /// Decodes a value of `size` bits. Values that begin with a 0 bit are negative (T.81, F.2.2.1, EXTEND).
    @inline(__always)
    static func extended(_ bits: Int32, size: Int32) -> Int32 {
        bits &- ((bits &>> (size &- 1)) == 0 ? (1 &<< size) &- 1 : 0)
    }
}
