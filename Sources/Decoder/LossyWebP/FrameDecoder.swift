/// Decodes a frame's macroblocks to pixels (RFC 6386, 12 to 14). Each pixel is a prediction plus a residue, which the
/// coefficients encode. The loop filter is not applied yet.
///
/// If a calculation overflows, the number wraps. No encoder produces such large coefficients, and malicious
/// coefficients give only wrong pixels.
struct FrameDecoder {
    private let header: FrameHeader
    private var reader: MacroblockReader
    private var frame: Frame

    init(_ header: FrameHeader) {
        self.header = header
        reader = MacroblockReader(header)
        frame = Frame(header)
    }

    /// Decodes the frame. Returns nil if its data end too early.
    mutating func decode() -> Frame? {
        for row in 0..<header.rows {
            reader.beginRow(row)
            for column in 0..<header.columns {
                let block = reader.read(column: column)
                frame.record(block, column, row)
                if block.isSplit {
                    predictBlocks(block, column, row)
                } else {
                    predict(block.luma, frame.luma, side: 4, column, row)
                    addResidues(block.kinds, frame.luma, side: 4, first: 0, column, row)
                }
                predict(block.chroma, frame.blueChroma, side: 2, column, row)
                predict(block.chroma, frame.redChroma, side: 2, column, row)
                addResidues(block.kinds, frame.blueChroma, side: 2, first: 16, column, row)
                addResidues(block.kinds, frame.redChroma, side: 2, first: 20, column, row)
            }
            guard !reader.isBeyondEnd else { return nil }
            frame.luma.continueRight(in: &frame.words, row: 16 * row + 15)
        }
        return frame
    }

    // MARK: - Macroblocks

    /// Predicts a macroblock in one plane (RFC 6386, 12.2). `side` is the macroblock's width in words and height in
    /// blocks.
    private mutating func predict(_ prediction: Prediction, _ plane: Plane, side: Int, _ column: Int, _ row: Int) {
        let stride = plane.stride
        let start = plane.word(side &* column, 4 &* side &* row)
        switch prediction {
        case .mean:
            let value = mean(plane, side, start, hasAbove: row > 0, hasLeft: column > 0)
            for line in 0..<4 &* side {
                for across in 0..<side { frame.words[start &+ line &* stride &+ across] = value }
            }
        case .vertical:
            for across in 0..<side {
                let above = frame.words[start &- stride &+ across]
                for line in 0..<4 &* side { frame.words[start &+ line &* stride &+ across] = above }
            }
        case .horizontal:
            for line in 0..<4 &* side {
                let place = start &+ line &* stride
                let value = FourPixels.repeated(frame.words[place &- 1] &>> 24)
                for across in 0..<side { frame.words[place &+ across] = value }
            }
        case .gradient:
            let corner = Int32(frame.words[start &- stride &- 1] &>> 24)
            for line in 0..<4 &* side {
                let place = start &+ line &* stride
                let slope = Int32(frame.words[place &- 1] &>> 24) &- corner
                for across in 0..<side {
                    let above = frame.words[start &- stride &+ across]
                    frame.words[place &+ across] = FourPixels.sum(above, slope)
                }
            }
        }
    }

    /// Returns four equal pixels: the mean of the pixels above and on the left.
    private func mean(_ plane: Plane, _ side: Int, _ start: Int, hasAbove: Bool, hasLeft: Bool) -> UInt32 {
        guard hasAbove || hasLeft else { return FourPixels.repeated(128) }
        var sum: UInt32 = 0
        if hasAbove {
            for across in 0..<side { sum &+= FourPixels.total(frame.words[start &- plane.stride &+ across]) }
        }
        if hasLeft {
            for line in 0..<4 &* side { sum &+= frame.words[start &+ line &* plane.stride &- 1] &>> 24 }
        }
        // 8 or 16 pixels on each side.
        let bits: UInt32 = (side == 4 ? 4 : 3) &+ (hasAbove && hasLeft ? 1 : 0)
        return FourPixels.repeated((sum &+ 1 &<< (bits &- 1)) &>> bits)
    }

    /// Adds the residues of a macroblock in one plane. `first` is the index of its first block.
    private mutating func addResidues(
        _ kinds: UInt64, _ plane: Plane, side: Int, first: Int, _ column: Int, _ row: Int
    ) {
        var kinds = kinds &>> UInt64(truncatingIfNeeded: 2 &* first)
        let start = plane.word(side &* column, 4 &* side &* row)
        for down in 0..<side {
            for across in 0..<side {
                if kinds & 3 != 0 {
                    addResidue(
                        kinds & 3, 4 &* (first &+ side &* down &+ across),
                        at: start &+ 4 &* down &* plane.stride &+ across, plane.stride)
                }
                kinds &>>= 2
            }
        }
    }

    // MARK: - Blocks

    /// Predicts each block of luma from its neighbours, and adds its residue (RFC 6386, 12.3). The next block's
    /// prediction needs the result.
    private mutating func predictBlocks(_ block: Macroblock, _ column: Int, _ row: Int) {
        let stride = frame.luma.stride
        let start = frame.luma.word(4 &* column, 16 &* row)
        // For all four blocks in the last column, the pixels above right are those above the next macroblock.
        let aboveNext = frame.words[start &- stride &+ 4]
        for index in 0..<16 {
            let (across, down) = (index & 3, index &>> 2)
            let place = start &+ 4 &* down &* stride &+ across
            let edges = Edges(
                left: (
                    frame.words[place &- 1] &>> 24, frame.words[place &+ stride &- 1] &>> 24,
                    frame.words[place &+ 2 &* stride &- 1] &>> 24, frame.words[place &+ 3 &* stride &- 1] &>> 24
                ),
                corner: frame.words[place &- stride &- 1] &>> 24, above: frame.words[place &- stride],
                aboveRight: across == 3 ? aboveNext : frame.words[place &- stride &+ 1])
            let rows = edges.predicted(reader.blockModes[index])
            frame.words[place] = rows.0
            frame.words[place &+ stride] = rows.1
            frame.words[place &+ 2 &* stride] = rows.2
            frame.words[place &+ 3 &* stride] = rows.3
            let kind = block.kinds &>> UInt64(truncatingIfNeeded: 2 &* index) & 3
            if kind != 0 { addResidue(kind, 4 &* index, at: place, stride) }
        }
    }

    /// Adds a block's residue to its pixels, and clears its coefficients. The residue is the inverse transform of the
    /// coefficients (RFC 6386, 14.4). `kind` is the block's kind in `Macroblock.kinds`.
    private mutating func addResidue(_ kind: UInt64, _ first: Int, at place: Int, _ stride: Int) {
        let row0 = reader.coefficients[first]
        reader.coefficients[first] = 0
        let mean = FourCoefficients.value(row0, 0)
        guard kind > 1 else {
            let value = (mean &+ 4) &>> 3
            for line in 0..<4 {
                let word = frame.words[place &+ line &* stride]
                frame.words[place &+ line &* stride] = FourPixels.sum(word, value)
            }
            return
        }
        let row1 = reader.coefficients[first &+ 1]
        reader.coefficients[first &+ 1] = 0
        guard kind > 2 else {
            let row = transformed(0, FourCoefficients.value(row0, 1), 0, 0)
            let column = transformed(mean &+ 4, FourCoefficients.value(row1, 0), 0, 0)
            addRow(row, column.0, at: place)
            addRow(row, column.1, at: place &+ stride)
            addRow(row, column.2, at: place &+ 2 &* stride)
            addRow(row, column.3, at: place &+ 3 &* stride)
            return
        }
        let (row2, row3) = (reader.coefficients[first &+ 2], reader.coefficients[first &+ 3])
        reader.coefficients[first &+ 2] = 0
        reader.coefficients[first &+ 3] = 0
        func transformedColumn(_ column: Int) -> (Int32, Int32, Int32, Int32) {
            transformed(
                FourCoefficients.value(row0, column), FourCoefficients.value(row1, column),
                FourCoefficients.value(row2, column), FourCoefficients.value(row3, column))
        }
        let (column0, column1) = (transformedColumn(0), transformedColumn(1))
        let (column2, column3) = (transformedColumn(2), transformedColumn(3))
        addRow(transformed(column0.0 &+ 4, column1.0, column2.0, column3.0), 0, at: place)
        addRow(transformed(column0.1 &+ 4, column1.1, column2.1, column3.1), 0, at: place &+ stride)
        addRow(transformed(column0.2 &+ 4, column1.2, column2.2, column3.2), 0, at: place &+ 2 &* stride)
        addRow(transformed(column0.3 &+ 4, column1.3, column2.3, column3.3), 0, at: place &+ 3 &* stride)
    }

    /// Adds `row` and `common` to four pixels. Both are in units of ⅛.
    @inline(__always)
    private mutating func addRow(_ row: (Int32, Int32, Int32, Int32), _ common: Int32, at place: Int) {
        frame.words[place] = FourPixels.sum(
            frame.words[place], (row.0 &+ common) &>> 3, (row.1 &+ common) &>> 3, (row.2 &+ common) &>> 3,
            (row.3 &+ common) &>> 3)
    }

    /// Transforms four numbers (RFC 6386, 14.4). The factors are √2 cos(π/8) − 1 and √2 sin(π/8), in units of 1/65536.
    @inline(__always)
    private func transformed(_ x0: Int32, _ x1: Int32, _ x2: Int32, _ x3: Int32) -> (Int32, Int32, Int32, Int32) {
        let sum = x0 &+ x2
        let difference = x0 &- x2
        let outer = x1 &+ (x1 &* 20091) &>> 16 &+ (x3 &* 35468) &>> 16
        let inner = (x1 &* 35468) &>> 16 &- x3 &- (x3 &* 20091) &>> 16
        return (sum &+ outer, difference &+ inner, difference &- inner, sum &- outer)
    }
}

/// Four pixels beside each other in a word, the leftmost in the lowest byte.
enum FourPixels {
    /// Returns a word that contains a pixel four times.
    @inline(__always)
    static func repeated(_ pixel: UInt32) -> UInt32 { pixel &* 0x0101_0101 }

    /// Returns the sum of four pixels.
    @inline(__always)
    static func total(_ word: UInt32) -> UInt32 {
        let pairs = word & 0x00FF_00FF &+ word &>> 8 & 0x00FF_00FF
        return pairs & 0xFFFF &+ pairs &>> 16
    }

    /// Returns a word of four pixels.
    @inline(__always)
    static func word(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) -> UInt32 {
        first | second &<< 8 | third &<< 16 | fourth &<< 24
    }

    /// Adds one number to all four pixels. Limits the results to the range from 0 to 255.
    @inline(__always)
    static func sum(_ word: UInt32, _ number: Int32) -> UInt32 {
        // Here, each pixel has 16 bits. Bit 8 of a sum is set if the sum exceeds 255. Bit 8 of a difference is set if
        // the difference is not negative.
        let ones: UInt64 = 0x0001_0001_0001_0001
        let pairs = (UInt64(word) | UInt64(word) &<< 16) & 0x0000_FFFF_0000_FFFF
        let pixels = (pairs | pairs &<< 8) & (ones &* 255)
        let limited: UInt64
        if number >= 0 {
            let sums = pixels &+ ones &* UInt64(truncatingIfNeeded: min(255, number))
            let excess = sums &>> 8 & ones
            limited = (sums | excess &* 255) & (ones &* 255)
        } else {
            let differences = (pixels | ones &<< 8) &- ones &* UInt64(truncatingIfNeeded: min(255, 0 &- number))
            limited = differences & ((differences &>> 8 & ones) &* 255)
        }
        let packed = (limited | limited &>> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: packed | packed &>> 16)
    }

    /// Adds a different number to each pixel. Limits the results to the range from 0 to 255.
    @inline(__always)
    static func sum(_ word: UInt32, _ first: Int32, _ second: Int32, _ third: Int32, _ fourth: Int32) -> UInt32 {
        let (sum0, sum1) = (Int32(bitPattern: word & 255) &+ first, Int32(bitPattern: word &>> 8 & 255) &+ second)
        let (sum2, sum3) = (Int32(bitPattern: word &>> 16 & 255) &+ third, Int32(bitPattern: word &>> 24) &+ fourth)
        // Nearly all sums are within the limits.
        guard (sum0 | sum1 | sum2 | sum3) & ~255 != 0 else {
            return Self.word(
                UInt32(bitPattern: sum0), UInt32(bitPattern: sum1), UInt32(bitPattern: sum2), UInt32(bitPattern: sum3))
        }
        return Self.word(limited(sum0), limited(sum1), limited(sum2), limited(sum3))
    }

    private static func limited(_ value: Int32) -> UInt32 {
        UInt32(bitPattern: max(0, min(255, value)))
    }
}

/// The pixels around a block of 4 × 4 pixels.
struct Edges {
    /// The pixels on the left of the block, from the top.
    let left: (UInt32, UInt32, UInt32, UInt32)
    /// The pixel at the upper left, outside the block.
    let corner: UInt32
    /// The four pixels above the block.
    let above: UInt32
    /// The four pixels to the right of `above`.
    let aboveRight: UInt32

    /// Returns one of the eight pixels of `above` and `aboveRight`.
    @inline(__always)
    private func above(_ index: UInt32) -> UInt32 {
        index < 4 ? above &>> (8 &* index) & 255 : aboveRight &>> (8 &* index &- 32) & 255
    }

    @inline(__always)
    private func mean(_ first: UInt32, _ second: UInt32) -> UInt32 { (first &+ second &+ 1) &>> 1 }

    /// Returns the mean of three pixels, the one in the middle with double weight.
    @inline(__always)
    private func mean(_ first: UInt32, _ middle: UInt32, _ last: UInt32) -> UInt32 {
        (first &+ 2 &* middle &+ last &+ 2) &>> 2
    }

    /// Returns the four rows of the block, predicted by a mode of `BlockPrediction`.
    func predicted(_ mode: UInt8) -> (UInt32, UInt32, UInt32, UInt32) {
        switch mode {
        case BlockPrediction.gradient: gradient()
        case BlockPrediction.vertical: vertical()
        case BlockPrediction.horizontal: horizontal()
        case BlockPrediction.leftDown: leftDown()
        case BlockPrediction.rightDown: rightDown()
        case BlockPrediction.verticalRight: verticalRight()
        case BlockPrediction.verticalLeft: verticalLeft()
        case BlockPrediction.horizontalDown: horizontalDown()
        case BlockPrediction.horizontalUp: horizontalUp()
        default: flat()
        }
    }

    private func flat() -> (UInt32, UInt32, UInt32, UInt32) {
        let sum = FourPixels.total(above) &+ left.0 &+ left.1 &+ left.2 &+ left.3
        let row = FourPixels.repeated((sum &+ 4) &>> 3)
        return (row, row, row, row)
    }

    private func gradient() -> (UInt32, UInt32, UInt32, UInt32) {
        func row(_ left: UInt32) -> UInt32 {
            let slope = Int32(bitPattern: left &- corner)
            return FourPixels.sum(above, slope)
        }
        return (row(left.0), row(left.1), row(left.2), row(left.3))
    }

    private func vertical() -> (UInt32, UInt32, UInt32, UInt32) {
        let row = FourPixels.word(
            mean(corner, above(0), above(1)), mean(above(0), above(1), above(2)), mean(above(1), above(2), above(3)),
            mean(above(2), above(3), above(4)))
        return (row, row, row, row)
    }

    private func horizontal() -> (UInt32, UInt32, UInt32, UInt32) {
        (
            FourPixels.repeated(mean(corner, left.0, left.1)), FourPixels.repeated(mean(left.0, left.1, left.2)),
            FourPixels.repeated(mean(left.1, left.2, left.3)), FourPixels.repeated(mean(left.2, left.3, left.3))
        )
    }

    private func leftDown() -> (UInt32, UInt32, UInt32, UInt32) {
        let (m0, m1) = (mean(above(0), above(1), above(2)), mean(above(1), above(2), above(3)))
        let (m2, m3) = (mean(above(2), above(3), above(4)), mean(above(3), above(4), above(5)))
        let (m4, m5) = (mean(above(4), above(5), above(6)), mean(above(5), above(6), above(7)))
        let m6 = mean(above(6), above(7), above(7))
        return (
            FourPixels.word(m0, m1, m2, m3), FourPixels.word(m1, m2, m3, m4), FourPixels.word(m2, m3, m4, m5),
            FourPixels.word(m3, m4, m5, m6)
        )
    }

    private func rightDown() -> (UInt32, UInt32, UInt32, UInt32) {
        let (m0, m1) = (mean(left.3, left.2, left.1), mean(left.2, left.1, left.0))
        let (m2, m3) = (mean(left.1, left.0, corner), mean(left.0, corner, above(0)))
        let (m4, m5) = (mean(corner, above(0), above(1)), mean(above(0), above(1), above(2)))
        let m6 = mean(above(1), above(2), above(3))
        return (
            FourPixels.word(m3, m4, m5, m6), FourPixels.word(m2, m3, m4, m5), FourPixels.word(m1, m2, m3, m4),
            FourPixels.word(m0, m1, m2, m3)
        )
    }

    private func verticalRight() -> (UInt32, UInt32, UInt32, UInt32) {
        let (pair0, pair1) = (mean(corner, above(0)), mean(above(0), above(1)))
        let (pair2, pair3) = (mean(above(1), above(2)), mean(above(2), above(3)))
        let (m0, m1) = (mean(left.0, corner, above(0)), mean(corner, above(0), above(1)))
        let (m2, m3) = (mean(above(0), above(1), above(2)), mean(above(1), above(2), above(3)))
        return (
            FourPixels.word(pair0, pair1, pair2, pair3), FourPixels.word(m0, m1, m2, m3),
            FourPixels.word(mean(left.1, left.0, corner), pair0, pair1, pair2),
            FourPixels.word(mean(left.2, left.1, left.0), m0, m1, m2)
        )
    }

    private func verticalLeft() -> (UInt32, UInt32, UInt32, UInt32) {
        let (pair0, pair1) = (mean(above(0), above(1)), mean(above(1), above(2)))
        let (pair2, pair3) = (mean(above(2), above(3)), mean(above(3), above(4)))
        let (m0, m1) = (mean(above(0), above(1), above(2)), mean(above(1), above(2), above(3)))
        let (m2, m3) = (mean(above(2), above(3), above(4)), mean(above(3), above(4), above(5)))
        return (
            FourPixels.word(pair0, pair1, pair2, pair3), FourPixels.word(m0, m1, m2, m3),
            FourPixels.word(pair1, pair2, pair3, mean(above(4), above(5), above(6))),
            FourPixels.word(m1, m2, m3, mean(above(5), above(6), above(7)))
        )
    }

    private func horizontalDown() -> (UInt32, UInt32, UInt32, UInt32) {
        let (pair0, pair1) = (mean(corner, left.0), mean(left.0, left.1))
        let (pair2, pair3) = (mean(left.1, left.2), mean(left.2, left.3))
        let (m0, m1) = (mean(left.0, corner, above(0)), mean(left.1, left.0, corner))
        let (m2, m3) = (mean(left.2, left.1, left.0), mean(left.3, left.2, left.1))
        return (
            FourPixels.word(pair0, m0, mean(corner, above(0), above(1)), mean(above(0), above(1), above(2))),
            FourPixels.word(pair1, m1, pair0, m0), FourPixels.word(pair2, m2, pair1, m1),
            FourPixels.word(pair3, m3, pair2, m2)
        )
    }

    private func horizontalUp() -> (UInt32, UInt32, UInt32, UInt32) {
        let (pair0, pair1) = (mean(left.0, left.1), mean(left.1, left.2))
        let pair2 = mean(left.2, left.3)
        let (m0, m1) = (mean(left.0, left.1, left.2), mean(left.1, left.2, left.3))
        let m2 = mean(left.2, left.3, left.3)
        return (
            FourPixels.word(pair0, m0, pair1, m1), FourPixels.word(pair1, m1, pair2, m2),
            FourPixels.word(pair2, m2, left.3, left.3), FourPixels.repeated(left.3)
        )
    }
}
