/// Reads blocks of coefficients from a scan's words (T.81, F.2.2).
///
/// The words are not its own, but are handed to it for each block: that spares the counting of references.
struct BlockReader {
    /// The next bits, the first of them on top, zeros below the last.
    private var bits: UInt64 = 0
    /// How many these are.
    private var available: Int = 0
    /// The next word to be taken.
    private var next: Int
    private let start: Int

    init(wordsFrom start: Int) {
        self.start = start
        next = start
    }

    /// Whether the interval has been read to its end, and not further: what is left are the ones that "pad the final
    /// bits" of a byte (F.1.2.3).
    func isAtEnd(of interval: ScanWords.Interval) -> Bool {
        let rest = interval.bits - (32 * (next - start) - available)
        return rest >= 0 && rest < 8
    }

    /// Reads a block, and puts its coefficients, times their steps, in their places among 64 zeros.
    ///
    /// - Parameters:
    ///   - steps: for each coefficient in zigzag order its step, and in the lowest six bits its place.
    ///   - prediction: the first coefficient of the component's block before, in steps.
    /// - Returns: a bit for each place with a coefficient, that of the first always. 0 if the data are damaged.
    mutating func read(
        _ words: [UInt32], _ first: HuffmanLookup, _ other: HuffmanLookup, _ steps: [UInt32],
        _ prediction: inout Int32, into coefficients: inout [Int32]
    ) -> UInt64 {
        guard let difference = readDifference(words, first) else { return 0 }
        prediction &+= difference
        coefficients[0] = prediction &* Int32(bitPattern: steps[0] &>> 6)

        // Copies, so that they stay in registers.
        var (bits, available, next) = (bits, available, next)
        var places: UInt64 = 1
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
                    // Sixteen zeros, and a coefficient has yet to come.
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
            let place = Int(step & 63)
            places |= 1 &<< UInt64(place)
            coefficients[place] = value &* Int32(bitPattern: step &>> 6)
            index &+= 1
        }
        (self.bits, self.available, self.next) = (bits, available, next)
        return places
    }

    /// Reads a block for its first coefficient alone, in steps; of the others only the lengths matter. `false` if the data
    /// are damaged.
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
                // Sixteen zeros, and a coefficient has yet to come.
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

    /// Reads how much a first coefficient differs from the one before (F.2.2.1).
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

    /// The value in the last `size` of the first `length` bits.
    @inline(__always)
    private static func value(_ bits: UInt64, length: UInt32, size: UInt32) -> Int32 {
        let raw = bits &>> UInt64(64 &- length) & ((1 &<< UInt64(size)) &- 1)
        return HuffmanLookup.extended(Int32(truncatingIfNeeded: raw), size: Int32(bitPattern: size))
    }
}
