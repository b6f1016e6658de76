/// A Huffman code of T.81, annex K.3.
struct StandardCode {
    let counts: [UInt8]
    let symbols: [UInt8]
    /// The bits of each symbol, and their number.
    private(set) var codes: [UInt8: (bits: UInt32, length: Int)] = [:]

    static let firstOfLuma = StandardCode([0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], Array(0...11))
    static let firstOfChroma = StandardCode([0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], Array(0...11))
    static let otherOfLuma = StandardCode(
        [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125],
        [
            0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
            0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72,
            0x82,
        ])
    static let otherOfChroma = StandardCode(
        [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119],
        [
            0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
            0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0, 0x15, 0x62, 0x72, 0xD1,
            0x0A, 0x16, 0x24, 0x34, 0xE1, 0x25, 0xF1,
        ])

    /// The tables of the other coefficients end with all remaining runs and sizes in ascending order.
    private init(_ counts: [UInt8], _ beginning: [UInt8]) {
        self.counts = counts
        var symbols = beginning
        if beginning.count > 12 {
            for run in 0...15 {
                for size in 1...10 {
                    let symbol = UInt8(run << 4 | size)
                    if !beginning.contains(symbol) { symbols.append(symbol) }
                }
            }
        }
        self.symbols = symbols
        var rest = symbols[...]
        var next: UInt32 = 0
        for (index, count) in counts.enumerated() {
            next *= 2
            for symbol in rest.prefix(Int(count)) {
                codes[symbol] = (next, index + 1)
                next += 1
            }
            rest = rest.dropFirst(Int(count))
        }
    }
}
