/// One component's waves rounded to steps, in file order, with a tally of the symbols they will be written as.
struct JPEGSymbols: Sendable {
    /// How often each size of a change in a block's mean occurs.
    private(set) var steadyCounts = [Int](repeating: 0, count: 256)

    /// How often each pair of a run of zeros and a size occurs.
    private(set) var varyingCounts = [Int](repeating: 0, count: 256)

    /// Sixty-four levels a block, zigzagged; the first is the change from the block written before.
    private var levels: [Int16]

    init(_ plane: FrequencyPlane, quantisedBy steps: [Int]) {
        levels = [Int16](repeating: 0, count: plane.waves.count)
        let zigzag = JPEGTables.zigzag
        let shares = steps.map { 1 / Float($0) }
        for start in stride(from: 0, to: levels.count, by: 64) {
            for index in 0..<64 {
                let place = zigzag[index]
                let level = plane.waves[start + place] * shares[place]
                // A little dead zone about zero saves many bytes and shows nowhere but in the grain.
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

    /// Replaces each block's mean by its change since the block that comes before it in the file.
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

    /// Goes through a block's symbols in order, each with the level it stands before.
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

    /// How many bits a level's magnitude takes.
    private static func size(_ level: Int) -> Int {
        Int.bitWidth - abs(level).leadingZeroBitCount
    }

    /// The bits that follow a symbol: negative levels are written one less, so that the first bit tells the sign.
    private static func tail(_ level: Int, _ size: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: level < 0 ? level - 1 : level) & ((1 << UInt32(size)) - 1)
    }
}
