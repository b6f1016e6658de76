/// Writes baseline JPEG files (ITU-T T.81) with optimal Huffman tables.
///
/// The costly cosine transform runs once in `init`; the picture can then be written at several qualities until one
/// fits.
struct JPEGWriter: Sendable {
    /// The resolution of colour relative to brightness.
    enum Sampling: Sendable {
        /// Brightness only: a file of one component.
        case grey
        /// Colour for every pixel (4:4:4).
        case full
        /// Colour for every two by two pixels (4:2:0).
        case halved
    }

    private let width: Int
    private let height: Int
    private let sampling: Sampling
    private let planes: [FrequencyPlane]

    init(_ raster: Raster, sampling: Sampling = .halved) {
        width = raster.width
        height = raster.height
        self.sampling = sampling
        planes = FrequencyPlane.planes(of: raster, sampling: sampling)
    }

    /// Returns the file at the highest quality up to `best` that fits `budget` bytes.
    ///
    /// If even a quality of 30 needs more, that file is returned.
    func file(within budget: Int, best: Int = 90, exif: [UInt8]? = nil) -> [UInt8] {
        var low = 30
        var high = best
        var fitting = file(quality: high, exif: exif)
        if fitting.count <= budget { return fitting }
        fitting = file(quality: low, exif: exif)
        while high - low > 1 {
            let middle = (low + high) / 2
            let attempt = file(quality: middle, exif: exif)
            if attempt.count <= budget {
                low = middle
                fitting = attempt
            } else {
                high = middle
            }
        }
        return fitting
    }

    /// Returns the file at a quality from 1 to 100, on libjpeg's scale.
    func file(quality: Int, exif: [UInt8]? = nil) -> [UInt8] {
        let tables = [JPEGTables.luminance(quality: quality), JPEGTables.chrominance(quality: quality)]
        let symbols = planes.enumerated().map { index, plane in
            JPEGSymbols(plane, quantisedBy: tables[min(index, 1)])
        }
        let classes = sampling == .grey ? 1 : 2
        let codes = (0..<classes).map { which in
            let members = symbols.indices.filter { min($0, 1) == which }
            return (
                steady: HuffmanCode(counts: Self.sum(members.map { symbols[$0].steadyCounts })),
                varying: HuffmanCode(counts: Self.sum(members.map { symbols[$0].varyingCounts }))
            )
        }

        var file = ByteSink(.bigEndian)
        file.append([0xFF, 0xD8])
        if let exif {
            segment(0xE1, exif, to: &file)
        } else {
            segment(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0], to: &file)
        }
        for which in 0..<classes {
            let zigzagged = JPEGTables.zigzag.map { UInt8(tables[which][$0]) }
            segment(0xDB, [UInt8(which)] + zigzagged, to: &file)
        }
        segment(0xC0, frameHeader(), to: &file)
        for which in 0..<classes {
            segment(0xC4, [UInt8(which)] + codes[which].steady.specification, to: &file)
            segment(0xC4, [0x10 | UInt8(which)] + codes[which].varying.specification, to: &file)
        }
        segment(0xDA, scanHeader(), to: &file)

        var bits = JPEGBits()
        for (plane, block) in blockOrder() {
            let which = min(plane, 1)
            symbols[plane].write(block: block, codes[which].steady, codes[which].varying, to: &bits)
        }
        file.append(bits.finished())
        file.append([0xFF, 0xD9])
        return file.bytes
    }

    /// The planes and blocks in the interleaved order of a scan.
    private func blockOrder() -> [(plane: Int, block: Int)] {
        var order: [(plane: Int, block: Int)] = []
        let coarsest = planes[planes.count - 1]
        for row in 0..<coarsest.rows {
            for column in 0..<coarsest.columns {
                for (index, plane) in planes.enumerated() {
                    for y in 0..<plane.factor {
                        for x in 0..<plane.factor {
                            let block = (row * plane.factor + y) * plane.columns + column * plane.factor + x
                            order.append((index, block))
                        }
                    }
                }
            }
        }
        return order
    }

    private func frameHeader() -> [UInt8] {
        var header = ByteSink(.bigEndian)
        header.append([8])
        header.append16(UInt16(height))
        header.append16(UInt16(width))
        header.append([UInt8(planes.count)])
        for (index, plane) in planes.enumerated() {
            header.append([UInt8(index + 1), UInt8(plane.factor << 4 | plane.factor), UInt8(min(index, 1))])
        }
        return header.bytes
    }

    private func scanHeader() -> [UInt8] {
        var header: [UInt8] = [UInt8(planes.count)]
        for index in planes.indices {
            header += [UInt8(index + 1), index == 0 ? 0x00 : 0x11]
        }
        return header + [0, 63, 0]
    }

    private func segment(_ marker: UInt8, _ content: [UInt8], to file: inout ByteSink) {
        file.append([0xFF, marker])
        file.append16(UInt16(content.count + 2))
        file.append(content)
    }

    private static func sum(_ counts: [[Int]]) -> [Int] {
        counts.reduce([Int](repeating: 0, count: 256)) { zip($0, $1).map(+) }
    }
}

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

/// JPEG's fixed tables: the zigzag order and the quantisation steps of annex K.
enum JPEGTables {
    /// For each position in the file, the coefficient's index in the block.
    static let zigzag: [Int] = {
        // Diagonals, alternately upwards and downwards.
        (0..<15).flatMap { diagonal in
            let rows = (max(0, diagonal - 7)...min(7, diagonal))
            let cells = rows.map { row in row * 8 + diagonal - row }
            return diagonal.isMultiple(of: 2) ? cells.reversed() : cells
        }
    }()

    /// The steps for brightness, row by row.
    static func luminance(quality: Int) -> [Int] {
        scaled(
            [
                16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55,
                14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
                18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
                49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
            ], quality)
    }

    /// The steps for colour, row by row.
    static func chrominance(quality: Int) -> [Int] {
        var steps = [Int](repeating: 99, count: 64)
        for (place, step) in [(0, 17), (1, 18), (2, 24), (3, 47), (8, 18), (9, 21), (10, 26), (11, 66)] {
            steps[place] = step
        }
        for (place, step) in [(16, 24), (17, 26), (18, 56), (24, 47), (25, 66)] {
            steps[place] = step
        }
        return scaled(steps, quality)
    }

    private static func scaled(_ steps: [Int], _ quality: Int) -> [Int] {
        let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
        return steps.map { min(max(($0 * percent + 50) / 100, 1), 255) }
    }
}

/// Collects bits, highest first, and inserts a zero byte after each byte of all ones as JPEG requires.
struct JPEGBits: Sendable {
    private var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var pendingCount = 0

    /// Appends the `count` lowest bits of a value.
    mutating func append(_ value: UInt32, count: Int) {
        pending = pending << UInt64(count) | UInt64(value)
        pendingCount += count
        while pendingCount >= 8 {
            pendingCount -= 8
            let byte = UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount))
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
        }
    }

    /// Returns all bytes, the last one filled with ones.
    consuming func finished() -> [UInt8] {
        if pendingCount > 0 {
            let fill = 8 - pendingCount
            append((1 << UInt32(fill)) - 1, count: fill)
        }
        return bytes
    }
}
