/// A Huffman code as a file defines it: how many codes there are of each length, and what they stand for (T.81, C.2).
struct HuffmanCode: Sendable {
    /// How many codes have 1, 2, ... 16 bits.
    let counts: [Int]
    /// What the codes stand for, from the shortest on.
    let symbols: [UInt8]

    /// `nil` if there are more codes than their lengths have room for.
    ///
    /// Codes may be left unused. Those of ones alone, which C.2 forbids, are not looked for: no harm comes of them.
    init?(counts: [Int], symbols: [UInt8]) {
        guard counts.count == 16, counts.reduce(0, +) == symbols.count else { return nil }
        var next = 0
        for (index, count) in counts.enumerated() {
            next = next * 2 + count
            guard next <= 2 << index else { return nil }
        }
        self.counts = counts
        self.symbols = symbols
    }
}
