/// Compresses bytes as in RFC 1951, with a hash table for repeats and the fixed Huffman code.
struct Deflater {
    private let bytes: [UInt8]
    private var output: [UInt8] = []
    private var pending: UInt64 = 0
    private var pendingCount: UInt64 = 0

    /// Returns a zlib stream (RFC 1950).
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var deflater = Deflater(bytes: bytes)
        var stream = ByteSink(.bigEndian)
        stream.append([0x78, 0x9C])
        stream.append(deflater.deflated())
        stream.append32(Checksum.adler32(bytes))
        return stream.bytes
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func deflated() -> [UInt8] {
        put(0b011, 3)
        // For each hash of three bytes its last position, and for each position the one before it.
        var heads = [Int](repeating: -1, count: 1 << 15)
        var earlier = [Int](repeating: -1, count: bytes.count)
        var at = 0
        while at < bytes.count {
            let match = longestMatch(at, heads, earlier)
            let step = match.length >= 3 ? match.length : 1
            if step > 1 {
                putMatch(match.length, match.distance)
            } else {
                putLiteral(Int(bytes[at]))
            }
            for place in at..<at + step where place + 2 < bytes.count {
                let hash = hash(place)
                earlier[place] = heads[hash]
                heads[hash] = place
            }
            at += step
        }
        putLiteral(256)
        put(0, 7)
        return output
    }

    private func longestMatch(_ at: Int, _ heads: [Int], _ earlier: [Int]) -> (length: Int, distance: Int) {
        guard at + 2 < bytes.count else { return (0, 0) }
        let limit = min(258, bytes.count - at)
        var best = (length: 0, distance: 0)
        var candidate = heads[hash(at)]
        var patience = 64
        while candidate >= 0, at - candidate <= 32768, patience > 0, best.length < limit {
            var length = 0
            while length < limit, bytes[candidate + length] == bytes[at + length] { length += 1 }
            if length > best.length { best = (length, at - candidate) }
            candidate = earlier[candidate]
            patience -= 1
        }
        return best
    }

    private func hash(_ at: Int) -> Int {
        (Int(bytes[at]) << 10 ^ Int(bytes[at + 1]) << 5 ^ Int(bytes[at + 2])) & 0x7FFF
    }

    /// Writes a symbol of the fixed literal and length code.
    private mutating func putLiteral(_ symbol: Int) {
        switch symbol {
        case ..<144: putCode(0x30 + symbol, 8)
        case ..<256: putCode(0x190 + symbol - 144, 9)
        case ..<280: putCode(symbol - 256, 7)
        default: putCode(0xC0 + symbol - 280, 8)
        }
    }

    private mutating func putMatch(_ length: Int, _ distance: Int) {
        // Lengths and distances have the same scheme: a few exact values, then ranges of doubling width with extra
        // bits. The length 258 has a symbol of its own.
        if length == 258 {
            putLiteral(285)
        } else {
            let (symbol, extra, rest) = Self.ranged(length - 3, perDoubling: 4)
            putLiteral(257 + symbol)
            put(rest, extra)
        }
        let (symbol, extra, rest) = Self.ranged(distance - 1, perDoubling: 2)
        putCode(symbol, 5)
        put(rest, extra)
    }

    private static func ranged(_ value: Int, perDoubling: Int) -> (symbol: Int, extra: Int, rest: Int) {
        guard value >= 2 * perDoubling else { return (value, 0, 0) }
        let shift = perDoubling == 4 ? 2 : 1
        let extra = Int.bitWidth - 1 - value.leadingZeroBitCount - shift
        let symbol = perDoubling * (extra + 1) + (value >> extra) - perDoubling
        return (symbol, extra, value & ((1 << extra) - 1))
    }

    /// Codes are written highest bit first, all else lowest bit first.
    private mutating func putCode(_ code: Int, _ count: Int) {
        var reversed = 0
        for bit in 0..<count where code >> bit & 1 == 1 {
            reversed |= 1 << (count - 1 - bit)
        }
        put(reversed, count)
    }

    private mutating func put(_ value: Int, _ count: Int) {
        pending |= UInt64(value) << pendingCount
        pendingCount += UInt64(count)
        while pendingCount >= 8 {
            output.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingCount -= 8
        }
    }
}
