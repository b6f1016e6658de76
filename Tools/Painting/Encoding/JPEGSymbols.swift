/// One component's quantised coefficients in file order, with a tally of their symbols.
struct JPEGSymbols: Sendable {
    /// How often each size of a DC difference occurs.
    private(set) var steadyCounts = [Int](repeating: 0, count: 256)

    /// How often each pair of zero run and size occurs.
    private(set) var varyingCounts = [Int](repeating: 0, count: 256)

    /// Sixty-four levels per block in zigzag order; the first is the difference from the block written before.
    private var levels: [Int16]

    init(_ plane: FrequencyPlane, quantisedBy steps: [Int]) {
        levels = [Int16](repeating: 0, count: plane.waves.count)
        let zigzag = JPEGTables.zigzag
        let shares = steps.map { 1 / Float($0) }
        for start in stride(from: 0, to: levels.count, by: 64) {
            for index in 0..<64 {
                let place = zigzag[index]
                let level = plane.waves[start + place] * shares[place]
                // A small dead zone around zero saves many bytes and is visible only in the grain.
                let rounding: Float = index == 0 ? 0.5 : 0.45
                levels[start + index] = Int16(level < 0 ? level - rounding : level + rounding)
            }
        }
        chainMeans(plane)
        tally()
    }

    /// Writes a block.
    func write(block: Int, _ steady: HuffmanCode, _ varying: HuffmanCode, to bits: inout JPEGBits) {
        visit(block * 64) { isSteady, symbol, level in
            (isSteady ? steady : varying).write(symbol, to: &bits)
            let size = symbol & 15
            if size > 0 { bits.append(Self.tail(level, size), count: size) }
        }
    }

    /// Replaces each block's DC value by its difference from the previous block in the file.
    private mutating func chainMeans(_ plane: FrequencyPlane) {
        var previous: Int16 = 0
        let factor = plane.factor
        for row in stride(from: 0, to: plane.rows, by: factor) {
            for column in stride(from: 0, to: plane.columns, by: factor) {
                for inner in 0..<factor * factor {
                    let at = ((row + inner / factor) * plane.columns + column + inner % factor) * 64
                    let mean = levels[at]
                    levels[at] = mean - previous
                    previous = mean
                }
            }
        }
    }

    private mutating func tally() {
        var steady = steadyCounts
        var varying = varyingCounts
        for start in stride(from: 0, to: levels.count, by: 64) {
            visit(start) { isSteady, symbol, _ in
                if isSteady { steady[symbol] += 1 } else { varying[symbol] += 1 }
            }
        }
        steadyCounts = steady
        varyingCounts = varying
    }

    /// Visits a block's symbols in order, each with the level that follows it.
    private func visit(_ start: Int, _ each: (_ isSteady: Bool, _ symbol: Int, _ level: Int) -> Void) {
        let mean = Int(levels[start])
        each(true, Self.size(mean), mean)
        var zeros = 0
        for index in 1..<64 {
            let level = Int(levels[start + index])
            if level == 0 {
                zeros += 1
                continue
            }
            while zeros > 15 {
                each(false, 0xF0, 0)
                zeros -= 16
            }
            each(false, zeros << 4 | Self.size(level), level)
            zeros = 0
        }
        if zeros > 0 { each(false, 0, 0) }
    }

    /// Returns the number of bits of a level's magnitude.
    private static func size(_ level: Int) -> Int {
        Int.bitWidth - abs(level).leadingZeroBitCount
    }

    /// Returns the bits after a symbol: negative levels minus one, so that the first bit tells the sign.
    private static func tail(_ level: Int, _ size: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: level < 0 ? level - 1 : level) & ((1 << UInt32(size)) - 1)
    }
}
