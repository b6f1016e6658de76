/// A Huffman code made ready for reading: what the next bits mean, by their first ten.
///
/// An entry tells of one symbol all that there is to know:
///
///     bits 0–4     how many bits the code and the value after it take together, at most 27
///     bits 5–8     how many of these are the value's
///     bits 9–12    how many zero coefficients precede the value
///     bits 16–31   the value itself, if it lies within the ten bits; else 0, which no value is
///
/// An entry of 0 is a code that is longer than ten bits, or none at all; `longEntry` tells.
struct HuffmanLookup {
    /// Which symbols a code may have (T.81, F.1.2.1 and F.1.2.2).
    enum Kind {
        /// Of the first coefficients: the number of bits of a difference, at most 11.
        case first
        /// Of the others: a run of zeros, and the number of bits of a value, 1 to 10. Without bits a run of 15 stands for
        /// sixteen zeros, and one of 0 for the end of the block.
        case other
    }

    static let indexBits = 10

    /// 2¹⁰ entries.
    let entries: [UInt32]

    /// For each length, the end of its codes, filled up to 16 bits.
    private let ends: [UInt32]
    /// For each length, what to add to a code to find its symbol.
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

    /// The entry, without a value, for bits that `entries` has none for. 0 if no code begins like this, or one that no
    /// block may have.
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

    /// The entry without a value; 0 for a symbol that there cannot be.
    private static func entry(_ symbol: UInt8, _ length: Int, _ kind: Kind) -> UInt32 {
        let (run, size) = (UInt32(symbol >> 4), UInt32(symbol & 15))
        switch kind {
        case .first: guard symbol <= 11 else { return 0 }
        case .other: guard size <= 10, size > 0 || run == 0 || run == 15 else { return 0 }
        }
        return (UInt32(length) + size) | size << 5 | run << 9
    }

    /// Appends what a code of that length begins: an entry for each value, or for each way to go on.
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

    /// The value that so many bits stand for: those that begin with 0 are negative (T.81, F.2.2.1, EXTEND).
    @inline(__always)
    static func extended(_ bits: Int32, size: Int32) -> Int32 {
        bits &- ((bits &>> (size &- 1)) == 0 ? (1 &<< size) &- 1 : 0)
    }
}
