/// The entropy-coded bits of a scan without the bytes stuffed in between: words of 32 bits, the first bit in front, which
/// can be read without a look at what they hold.
struct ScanWords {
    /// A stretch that ends with a restart marker or with the image.
    struct Interval {
        /// Its first word.
        let start: Int
        /// How many bits it has, with those that fill up its last byte.
        let bits: Int
    }

    /// The words of all intervals. Each is followed by two of zeros, which a reader may take in advance.
    private(set) var words: [UInt32] = []
    private(set) var intervals: [Interval] = []
    /// Bits in the whole scan.
    var bits: Int { intervals.reduce(0) { $0 + $1.bits } }

    /// Gathers the scan that begins there and consists of so many restart intervals. `nil` if the markers are others than
    /// they should be: restart markers in their order, and after the last interval the end of the image.
    init?(_ bytes: [UInt8], from start: Int, intervals count: Int) {
        guard start <= bytes.count else { return nil }
        words.reserveCapacity((bytes.count - start) / 4 + 3)
        var position = start
        while intervals.count < count {
            position = gather(bytes, from: position)
            // "Any marker may optionally be preceded by any number of fill bytes" (B.1.1.2), which are FF like the first
            // byte of the marker.
            while position < bytes.count, bytes[position] == 0xFF { position += 1 }
            guard position < bytes.count else { return nil }
            // B.2.1: the markers between the intervals are RST0 to RST7, in turn; the last is EOI.
            let expected = intervals.count == count ? 0xD9 : 0xD0 + (intervals.count - 1) & 7
            guard bytes[position] == expected else { return nil }
            position += 1
        }
    }

    /// Adds the interval that begins there; gives the position of the marker that ends it, or of the end of the file.
    private mutating func gather(_ bytes: [UInt8], from start: Int) -> Int {
        let firstWord = words.count
        var position = start
        var stuffed = 0
        // The bytes that have not made a word yet, the last in the lowest eight bits, and the number of their bits.
        var pending: UInt64 = 0
        var pendingBits: UInt64 = 0
        while position < bytes.count {
            // Four bytes at once as long as there is no FF among them.
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
                // "If X’FF’ is generated, a zero byte is stuffed" (F.1.2.3); all else after FF is a marker.
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
