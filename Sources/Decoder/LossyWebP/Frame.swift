/// A decoded frame: a plane of luma, and two planes of chroma at half resolution.
struct Frame {
    /// The pixels of all planes, four in a word, the leftmost in the lowest byte.
    var words: [UInt32]
    let luma: Plane
    let blueChroma: Plane
    let redChroma: Plane

    private let header: FrameHeader
    /// For each macroblock, the number of its segment plus two flags. The flag 4 means that each of its blocks has a
    /// prediction mode of its own. The flag 8 means that the loop filter smooths the edges inside the macroblock.
    private var flags: [UInt8]

    init(_ header: FrameHeader) {
        self.header = header
        let (columns, rows) = (header.columns, header.rows)
        luma = Plane(from: 0, columns: 4 * columns, rightBorder: 1, rows: 16 * rows, header.width, header.height)
        let (width, height) = ((header.width + 1) / 2, (header.height + 1) / 2)
        blueChroma = Plane(from: luma.end, columns: 2 * columns, rightBorder: 0, rows: 8 * rows, width, height)
        redChroma = Plane(from: blueChroma.end, columns: 2 * columns, rightBorder: 0, rows: 8 * rows, width, height)
        flags = [UInt8](repeating: 0, count: columns * rows)
        // Outside the picture, pixels above are 127 and those on the left 129 (RFC 6386, 12.2 and 12.3).
        words = [UInt32](repeating: FourPixels.repeated(127), count: redChroma.end)
        for plane in [luma, blueChroma, redChroma] {
            for line in 0..<4 * plane.blockRows { words[plane.word(-1, line)] = FourPixels.repeated(129) }
        }
    }

    /// Records the properties of a macroblock that the loop filter needs.
    mutating func record(_ block: Macroblock, _ column: Int, _ row: Int) {
        let filtersInnerEdges = block.isSplit || block.kinds != 0
        flags[row * header.columns + column] =
            UInt8(truncatingIfNeeded: block.segment) | (block.isSplit ? 4 : 0) | (filtersInnerEdges ? 8 : 0)
    }

    /// Returns RGB bytes at a reduced size. Each pixel is the mean of `side` × `side` pixels; `side` is 2, 4 or 8.
    func reducedPixels(side: Int) -> [UInt8] {
        let light = luma.means(words, side: side)
        let (blue, red) = (blueChroma.means(words, side: side / 2), redChroma.means(words, side: side / 2))
        let (width, height) = ((header.width + side - 1) / side, (header.height + side - 1) / side)
        var bytes = [UInt8](repeating: 0, count: 3 * width * height)
        for index in 0..<width * height {
            Self.writeRGB(Int32(light[index]), Int32(blue[index]), Int32(red[index]), in: &bytes, at: 3 &* index)
        }
        return bytes
    }

    /// Returns RGB bytes at full size, after the loop filter. Chroma is interpolated.
    func filteredPixels() -> [UInt8] {
        var (light, blue, red) = (luma.samples(words), blueChroma.samples(words), redChroma.samples(words))
        header.filter.apply(flags, columns: header.columns, to: &light, &blue, &red)
        let (width, height) = (header.width, header.height)
        let (lumaStride, stride) = (16 * header.columns, 8 * header.columns)
        var bytes = [UInt8](repeating: 0, count: 3 * width * height)
        for y in 0..<height {
            // A sample of chroma lies between two rows and two columns of pixels. The nearer row and
            // column weigh three times as much.
            let near = y / 2 * stride
            let far = max(0, min((y - 1) / 2 + y % 2, (height - 1) / 2)) * stride
            for x in 0..<width {
                let nearColumn = x &>> 1
                let farColumn = max(0, min((x &- 1) &>> 1 &+ x & 1, (width &- 1) &>> 1))
                func mixed(_ samples: [UInt8]) -> Int32 {
                    let sum =
                        9 &* Int32(samples[near &+ nearColumn]) &+ 3 &* Int32(samples[near &+ farColumn])
                        &+ 3 &* Int32(samples[far &+ nearColumn]) &+ Int32(samples[far &+ farColumn])
                    return (sum &+ 8) &>> 4
                }
                Self.writeRGB(
                    Int32(light[y &* lumaStride &+ x]), mixed(blue), mixed(red), in: &bytes,
                    at: 3 &* (y &* width &+ x))
            }
        }
        return bytes
    }

    /// Converts a pixel to RGB, and stores it. As in BT.601, luma is from 16 to 235, and chroma from 16 to 240. The
    /// factors are in units of 1/16384; each product drops 8 of these 14 bits.
    @inline(__always)
    private static func writeRGB(
        _ luma: Int32, _ blueChroma: Int32, _ redChroma: Int32, in bytes: inout [UInt8], at place: Int
    ) {
        let light = (luma &* 19077) &>> 8
        bytes[place] = limited(light &+ (redChroma &* 26149) &>> 8 &- 14234)
        bytes[place &+ 1] = limited(light &- (blueChroma &* 6419) &>> 8 &- (redChroma &* 13320) &>> 8 &+ 8708)
        bytes[place &+ 2] = limited(light &+ (blueChroma &* 33050) &>> 8 &- 17685)
    }

    @inline(__always)
    private static func limited(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min(255, value &>> 6)))
    }
}

/// The position of a plane in a frame's words. A row of words above the plane and a column on its left hold pixels
/// outside the picture. Luma also has a column on the right.
struct Plane {
    /// The number of words between rows.
    let stride: Int
    /// The number of rows of 4 × 4 blocks, rounded up to whole macroblocks.
    let blockRows: Int
    /// The index after the plane's last word.
    let end: Int

    /// The index of the first word in the picture.
    private let origin: Int
    /// The number of words in a row, rounded up to whole macroblocks.
    private let columns: Int
    /// The number of visible pixels in a row.
    private let width: Int
    /// The number of visible rows.
    private let height: Int

    init(from start: Int, columns: Int, rightBorder: Int, rows: Int, _ width: Int, _ height: Int) {
        stride = 1 + columns + rightBorder
        origin = start + stride + 1
        end = start + stride * (rows + 1)
        blockRows = rows / 4
        self.columns = columns
        self.width = width
        self.height = height
    }

    /// Returns the index of a word.
    @inline(__always)
    func word(_ column: Int, _ line: Int) -> Int { origin &+ line &* stride &+ column }

    /// Copies a row's last pixel into the word on the row's right. The last macroblock below reads that word as its
    /// pixels above right.
    func continueRight(in words: inout [UInt32], row: Int) {
        words[word(columns, row)] = FourPixels.repeated(words[word(columns - 1, row)] >> 24)
    }

    /// Returns all samples, row by row. Each row has the width of whole macroblocks.
    func samples(_ words: [UInt32]) -> [UInt8] {
        var samples = [UInt8](repeating: 0, count: 4 * columns * 4 * blockRows)
        var target = 0
        for line in 0..<4 * blockRows {
            for column in 0..<columns {
                let word = words[word(column, line)]
                samples[target] = UInt8(truncatingIfNeeded: word)
                samples[target &+ 1] = UInt8(truncatingIfNeeded: word &>> 8)
                samples[target &+ 2] = UInt8(truncatingIfNeeded: word &>> 16)
                samples[target &+ 3] = UInt8(truncatingIfNeeded: word &>> 24)
                target &+= 4
            }
        }
        return samples
    }

    /// Returns the mean of each square of `side` × `side` pixels. `side` is 1, 2, 4 or 8. In a square that extends
    /// beyond the picture, the picture's last pixels are repeated.
    func means(_ words: [UInt32], side: Int) -> [UInt8] {
        let across = (width + side - 1) / side
        let down = (height + side - 1) / side
        let rounding = UInt32(side * side / 2)
        let shift = UInt32(2 * side.trailingZeroBitCount)
        // Selects every second pixel, so that each sum has 16 bits.
        let pairs: UInt32 = 0x00FF_00FF
        var means = [UInt8](repeating: 0, count: across * down)
        for y in 0..<down {
            // The number of squares that the fast loops below handle.
            let simple = (y + 1) * side > height ? 0 : side == 4 ? width / 4 : side == 2 ? width / 4 * 2 : 0
            let (start, target) = (word(0, side * y), across * y)
            if side == 4 {
                for x in 0..<simple {
                    let place = start &+ x
                    let (word0, word1) = (words[place], words[place &+ stride])
                    let (word2, word3) = (words[place &+ 2 &* stride], words[place &+ 3 &* stride])
                    let even = word0 & pairs &+ word1 & pairs &+ word2 & pairs &+ word3 & pairs
                    let odd = word0 &>> 8 & pairs &+ word1 &>> 8 & pairs &+ word2 &>> 8 & pairs &+ word3 &>> 8 & pairs
                    let sums = even &+ odd
                    means[target &+ x] = UInt8(truncatingIfNeeded: (sums & 0xFFFF &+ sums &>> 16 &+ 8) &>> 4)
                }
            } else {
                for x in 0..<simple &>> 1 {
                    let (word0, word1) = (words[start &+ x], words[start &+ x &+ stride])
                    let sums = word0 & pairs &+ word1 & pairs &+ word0 &>> 8 & pairs &+ word1 &>> 8 & pairs
                    means[target &+ 2 &* x] = UInt8(truncatingIfNeeded: (sums & 0xFFFF &+ 2) &>> 2)
                    means[target &+ 2 &* x &+ 1] = UInt8(truncatingIfNeeded: (sums &>> 16 &+ 2) &>> 2)
                }
            }
            for x in simple..<across {
                var sum: UInt32 = 0
                for line in side &* y..<side &* (y &+ 1) {
                    for column in side &* x..<side &* (x &+ 1) {
                        let pixel = min(column, width &- 1)
                        let word = words[word(pixel &>> 2, min(line, height &- 1))]
                        sum &+= word &>> UInt32(truncatingIfNeeded: 8 &* (pixel & 3)) & 255
                    }
                }
                means[y &* across &+ x] = UInt8(truncatingIfNeeded: (sum &+ rounding) &>> shift)
            }
        }
        return means
    }
}

/// The filter that smooths the edges of blocks (RFC 6386, 9.4 and 15).
struct LoopFilter: Sendable {
    /// The filter's level for the whole frame; 0 means no filter.
    let level: Int

    /// Whether the filter changes luma only, and only the pixels at the edge.
    private let isSimple: Bool
    private let sharpness: Int
    /// The adjustment of the level in key frames.
    private let difference: Int
    /// The additional adjustment for macroblocks whose blocks have modes of their own.
    private let splitDifference: Int
    /// The levels of the four segments.
    private var levels = [0, 0, 0, 0]

    /// The thresholds at one level.
    private struct Strength {
        /// The largest step across an inner edge that the filter smooths.
        let edge: Int32
        /// The largest step between neighbouring pixels on one side of such an edge.
        let interior: Int32
        /// The largest step beside the edge that does not count as detail. Near details, the filter changes fewer
        /// pixels.
        let detail: Int32
    }

    /// Reads the filter's values (RFC 6386, 9.4).
    init(_ reader: inout BooleanReader, _ words: [UInt32]) {
        isSimple = reader.flag(words, 128)
        level = reader.number(words, bits: 6)
        sharpness = reader.number(words, bits: 3)
        var differences = [Int](repeating: 0, count: 8)
        // Four adjustments by reference frame, the first for key frames; then four by mode, the first for macroblocks
        // whose blocks have modes of their own.
        if reader.flag(words, 128), reader.flag(words, 128) {
            for index in 0..<8 { differences[index] = reader.optionalSignedNumber(words, bits: 6) }
        }
        difference = differences[0]
        splitDifference = differences[4]
    }

    /// Sets the levels of the four segments.
    mutating func setLevels(_ levels: [Int]) {
        self.levels = levels
    }

    /// Filters the planes, macroblock by macroblock. `notes` is the array `flags` of a `Frame`.
    func apply(
        _ notes: [UInt8], columns: Int, to luma: inout [UInt8], _ blueChroma: inout [UInt8], _ redChroma: inout [UInt8]
    ) {
        guard level > 0 else { return }
        let strengths = (0..<8).map { strength(segment: $0 & 3, isSplit: $0 & 4 != 0) }
        for (index, note) in notes.enumerated() {
            guard let strength = strengths[Int(note & 7)] else { continue }
            let (column, row) = (index % columns, index / columns)
            let filtersInnerEdges = note & 8 != 0
            smooth(&luma, 16, 16 * columns, column, row, filtersInnerEdges, strength)
            guard !isSimple else { continue }
            smooth(&blueChroma, 8, 8 * columns, column, row, filtersInnerEdges, strength)
            smooth(&redChroma, 8, 8 * columns, column, row, filtersInnerEdges, strength)
        }
    }

    /// Returns the thresholds for a kind of macroblock; nil if such macroblocks are not filtered.
    private func strength(segment: Int, isSplit: Bool) -> Strength? {
        let level = max(0, min(63, levels[segment] + difference + (isSplit ? splitDifference : 0)))
        guard level > 0 else { return nil }
        var interior = level
        if sharpness > 0 {
            interior >>= sharpness > 4 ? 2 : 1
            interior = min(interior, 9 - sharpness)
        }
        interior = max(1, interior)
        return Strength(
            edge: Int32(2 * level + interior), interior: Int32(interior), detail: level >= 40 ? 2 : level >= 15 ? 1 : 0)
    }

    /// Smooths a macroblock's edges: left, inner vertical, upper, and inner horizontal ones.
    private func smooth(
        _ samples: inout [UInt8], _ side: Int, _ stride: Int, _ column: Int, _ row: Int, _ filtersInnerEdges: Bool,
        _ strength: Strength
    ) {
        let start = side * (row * stride + column)
        if column > 0 { smooth(&samples, start, across: 1, along: stride, side, true, strength) }
        if filtersInnerEdges {
            for place in Swift.stride(from: 4, to: side, by: 4) {
                smooth(&samples, start + place, across: 1, along: stride, side, false, strength)
            }
        }
        if row > 0 { smooth(&samples, start, across: stride, along: 1, side, true, strength) }
        if filtersInnerEdges {
            for place in Swift.stride(from: 4, to: side, by: 4) {
                smooth(&samples, start + place * stride, across: stride, along: 1, side, false, strength)
            }
        }
    }

    /// Smooths an edge of `count` pixels. `isOuter` says whether the edge lies between macroblocks.
    private func smooth(
        _ samples: inout [UInt8], _ start: Int, across: Int, along: Int, _ count: Int, _ isOuter: Bool,
        _ strength: Strength
    ) {
        let most = 2 &* (strength.edge &+ (isOuter ? 4 : 0)) &+ 1
        for index in 0..<count {
            let place = start &+ index &* along
            let (p0, p1) = (Int32(samples[place &- across]), Int32(samples[place &- 2 &* across]))
            let (q0, q1) = (Int32(samples[place]), Int32(samples[place &+ across]))
            guard 4 &* abs(p0 &- q0) &+ abs(p1 &- q1) <= most else { continue }
            if isSimple {
                let step = Self.signed(Self.signed(p1 &- q1) &+ 3 &* (q0 &- p0))
                samples[place &- across] = Self.limited(p0 &+ Self.signed(step &+ 3) &>> 3)
                samples[place] = Self.limited(q0 &- Self.signed(step &+ 4) &>> 3)
                continue
            }
            let (p2, p3) = (Int32(samples[place &- 3 &* across]), Int32(samples[place &- 4 &* across]))
            let (q2, q3) = (Int32(samples[place &+ 2 &* across]), Int32(samples[place &+ 3 &* across]))
            let interior = strength.interior
            guard abs(p3 &- p2) <= interior, abs(p2 &- p1) <= interior, abs(p1 &- p0) <= interior,
                abs(q1 &- q0) <= interior, abs(q2 &- q1) <= interior, abs(q3 &- q2) <= interior
            else { continue }
            let hasDetail = abs(p1 &- p0) > strength.detail || abs(q1 &- q0) > strength.detail
            if hasDetail || isOuter {
                let step = Self.signed(Self.signed(p1 &- q1) &+ 3 &* (q0 &- p0))
                if hasDetail {
                    samples[place &- across] = Self.limited(p0 &+ Self.signed(step &+ 3) &>> 3)
                    samples[place] = Self.limited(q0 &- Self.signed(step &+ 4) &>> 3)
                } else {
                    let (large, middle) = ((27 &* step &+ 63) &>> 7, (18 &* step &+ 63) &>> 7)
                    let small = (9 &* step &+ 63) &>> 7
                    samples[place &- 3 &* across] = Self.limited(p2 &+ small)
                    samples[place &- 2 &* across] = Self.limited(p1 &+ middle)
                    samples[place &- across] = Self.limited(p0 &+ large)
                    samples[place] = Self.limited(q0 &- large)
                    samples[place &+ across] = Self.limited(q1 &- middle)
                    samples[place &+ 2 &* across] = Self.limited(q2 &- small)
                }
            } else {
                let step = Self.signed(3 &* (q0 &- p0))
                let large = Self.signed(step &+ 4) &>> 3
                let small = (large &+ 1) &>> 1
                samples[place &- 2 &* across] = Self.limited(p1 &+ small)
                samples[place &- across] = Self.limited(p0 &+ Self.signed(step &+ 3) &>> 3)
                samples[place] = Self.limited(q0 &- large)
                samples[place &+ across] = Self.limited(q1 &- small)
            }
        }
    }

    /// Limits a number to the range of a signed byte.
    @inline(__always)
    private static func signed(_ value: Int32) -> Int32 { max(-128, min(127, value)) }

    @inline(__always)
    private static func limited(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min(255, value)))
    }
}
