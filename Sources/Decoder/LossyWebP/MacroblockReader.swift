/// Reads arithmetically coded bits (RFC 6386, 7).
///
/// Each call gets the words as an argument, which avoids reference counting. After the last word, the reader reads
/// zeros. The reader does not notice the end of its part, so call `isBeyond` after each row.
struct BooleanReader {
    /// Bits that were read ahead. The next bit is the highest; unused low bits are 0.
    private var value: UInt64 = 0
    /// The number of valid bits in `value`.
    private var available: UInt32 = 0
    /// The current range of the arithmetic code, minus 1: from 127 to 254.
    private var range: UInt32 = 254
    /// The index of the next word.
    private var next: UInt32

    init(_ part: CodedWords.Part) {
        next = UInt32(truncatingIfNeeded: part.words.lowerBound)
    }

    /// Whether the reader has used bits after the end of its part. To decode one bit, the reader looks at the next
    /// eight bits.
    func isBeyond(_ part: CodedWords.Part) -> Bool {
        32 * (Int(next) - part.words.lowerBound) - Int(available) + 8 > part.bits
    }

    /// Reads a bit that is 0 with a probability of `probability`/256.
    @inline(__always)
    mutating func flag(_ words: [UInt32], _ probability: UInt8) -> Bool {
        refill(words)
        return nextFlag(UInt32(probability))
    }

    /// Ensures that at least 32 bits are available, which suffice for four flags.
    @inline(__always)
    mutating func refill(_ words: [UInt32]) {
        guard available < 32 else { return }
        let index = Int(next)
        if index < words.count { value |= UInt64(words[index]) &<< UInt64(32 &- available) }
        next &+= 1
        available &+= 32
    }

    /// Reads one bit as `flag` does, but does not refill the buffer. At least eight bits must be available.
    @inline(__always)
    mutating func nextFlag(_ probability: UInt32) -> Bool {
        let split = (range &* probability) &>> 8
        let threshold = UInt64(split &+ 1) &<< 56
        let isSet: Bool
        // The hint makes the compiler use a branch. Without a branch, the next bit would have to wait for this one.
        if _fastPath(value < threshold) {
            range = split
            isSet = false
        } else {
            value &-= threshold
            range &-= split &+ 1
            isSet = true
        }
        let entry = NormalRanges.values[Int(range & 255)]
        range = UInt32(entry & 255)
        let shift = UInt32(entry &>> 8)
        value &<<= UInt64(shift)
        available &-= shift
        return isSet
    }

    /// Reads a sign without a branch, because the processor cannot predict signs. At least eight bits must be
    /// available. The probability is ½, and the range is below 255 after the first bit of a part. So the sign uses
    /// exactly one bit.
    @inline(__always)
    private mutating func nextSign() -> Int32 {
        let split = range &>> 1
        let threshold = UInt64(split &+ 1) &<< 56
        let mask: UInt64 = value >= threshold ? .max : 0
        value = (value &- threshold & mask) &<< 1
        range = (range &+ UInt32(truncatingIfNeeded: mask)) | 1
        available &-= 1
        return Int32(truncatingIfNeeded: mask)
    }

    /// Reads an unsigned number.
    mutating func number(_ words: [UInt32], bits: Int) -> Int {
        (0..<bits).reduce(0) { number, _ in number << 1 | (flag(words, 128) ? 1 : 0) }
    }

    /// Reads a flag, and if it is set, a number and its sign. Returns 0 if the flag is not set.
    mutating func optionalSignedNumber(_ words: [UInt32], bits: Int) -> Int {
        guard flag(words, 128) else { return 0 }
        let magnitude = number(words, bits: bits)
        return flag(words, 128) ? -magnitude : magnitude
    }

    /// Reads the coefficients of a block that has at least one (RFC 6386, 13.2). Stores each, multiplied by its
    /// quantisation step, in the four words from `start` on. Before the call, these words must be 0.
    ///
    /// - Parameters:
    ///   - index: the index of the probabilities for the first coefficient.
    ///   - first: the position of the first coefficient, 0 or 1.
    /// - Returns: the position after the last coefficient.
    @inline(never)
    mutating func readBlock(
        _ words: [UInt32], _ probabilities: TokenProbabilities, _ index: Int, first: Int,
        _ steps: (first: Int32, other: Int32), into coefficients: inout [UInt64], at start: Int
    ) -> Int {
        // A local copy stays in registers.
        var reader = self
        defer { self = reader }
        var index = index
        var nodes = probabilities.common[index]
        var position = first
        while true {
            reader.refill(words)
            while !reader.nextFlag(Self.probability(nodes, 1)) {
                position &+= 1
                guard position < 16 else { return 16 }
                index = TokenProbabilities.next(index, 0)
                nodes = probabilities.common[index]
                reader.refill(words)
            }
            var value: Int32 = 1
            var context = 1
            if reader.nextFlag(Self.probability(nodes, 2)) {
                value = reader.readLargeValue(words, nodes, probabilities.rare, index)
                context = 2
            }
            let sign = reader.nextSign()
            value = (value ^ sign) &- sign
            // The products in hostile files may exceed 16 bits. Like other decoders, drop the higher bits.
            let product = value &* (position == 0 ? steps.first : steps.other)
            let place = Self.place(of: position)
            coefficients[start &+ place &>> 2] |=
                UInt64(UInt16(truncatingIfNeeded: product)) &<< UInt64(truncatingIfNeeded: 16 &* (place & 3))
            position &+= 1
            guard position < 16 else { return 16 }
            index = TokenProbabilities.next(index, context)
            nodes = probabilities.common[index]
            guard reader.nextFlag(Self.probability(nodes, 0)) else { return position }
        }
    }

    /// Reads a coefficient's magnitude of 2 or more. Afterwards, enough bits for a sign and a flag are available.
    private mutating func readLargeValue(
        _ words: [UInt32], _ nodes: UInt64, _ rare: [UInt64], _ index: Int
    ) -> Int32 {
        defer { refill(words) }
        refill(words)
        if !nextFlag(Self.probability(nodes, 3)) {
            guard nextFlag(Self.probability(nodes, 4)) else { return 2 }
            return nextFlag(Self.probability(nodes, 5)) ? 4 : 3
        }
        if !nextFlag(Self.probability(nodes, 6)) {
            guard nextFlag(Self.probability(nodes, 7)) else { return nextFlag(159) ? 6 : 5 }
            refill(words)
            return 7 &+ (nextFlag(165) ? 2 : 0) &+ (nextFlag(145) ? 1 : 0)
        }
        refill(words)
        let nodes = rare[index]
        let high = nextFlag(Self.probability(nodes, 0))
        let low = nextFlag(Self.probability(nodes, high ? 2 : 1))
        let (base, extra): (Int32, [UInt8]) =
            switch (high, low) {
            case (false, false): (11, Self.extraBits3)
            case (false, true): (19, Self.extraBits4)
            case (true, false): (35, Self.extraBits5)
            case (true, true): (67, Self.extraBits6)
            }
        var rest: Int32 = 0
        for probability in extra { rest = rest &<< 1 | (flag(words, probability) ? 1 : 0) }
        return base &+ rest
    }

    /// Reads a block's mode (RFC 6386, 11.2). `start` is the index of the first probability.
    @inline(__always)
    mutating func readBlockMode(_ words: [UInt32], _ start: Int) -> UInt8 {
        let probabilities = ModeProbabilities.ofBlocks
        if !flag(words, probabilities[start]) { return BlockPrediction.mean }
        if !flag(words, probabilities[start &+ 1]) { return BlockPrediction.gradient }
        if !flag(words, probabilities[start &+ 2]) { return BlockPrediction.vertical }
        if !flag(words, probabilities[start &+ 3]) {
            if !flag(words, probabilities[start &+ 4]) { return BlockPrediction.horizontal }
            return flag(words, probabilities[start &+ 5])
                ? BlockPrediction.verticalRight : BlockPrediction.rightDown
        }
        if !flag(words, probabilities[start &+ 6]) { return BlockPrediction.leftDown }
        if !flag(words, probabilities[start &+ 7]) { return BlockPrediction.verticalLeft }
        return flag(words, probabilities[start &+ 8])
            ? BlockPrediction.horizontalUp : BlockPrediction.horizontalDown
    }

    /// The probabilities of the extra bits that follow the token of a large coefficient.
    private static let extraBits3: [UInt8] = [173, 148, 140]
    private static let extraBits4: [UInt8] = [176, 155, 140, 135]
    private static let extraBits5: [UInt8] = [180, 157, 141, 134, 130]
    private static let extraBits6: [UInt8] = [254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129]

    /// Returns the probability of a node from a word of `TokenProbabilities`.
    @inline(__always)
    static func probability(_ nodes: UInt64, _ node: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: nodes &>> (8 &* node)) & 255
    }

    /// Returns a coefficient's place in its block, counted row by row. The constant is the zigzag order, with four bits
    /// for each coefficient.
    @inline(__always)
    private static func place(of position: Int) -> Int {
        Int(truncatingIfNeeded: 0xFEB7_ADC9_6325_8410 as UInt64 &>> UInt64(truncatingIfNeeded: 4 &* position) & 15)
    }
}

/// The prediction of a macroblock, and the kinds of its blocks.
struct Macroblock {
    /// Whether each block of luma has a mode of its own.
    var isSplit = false
    var luma = Prediction.mean
    var chroma = Prediction.mean
    /// The index of the macroblock's segment.
    var segment = 0
    /// Whether the macroblock has no coefficients.
    var isSkipped = false
    /// The kind of each block, in two bits. Kind 0 has no coefficients, and kind 1 only the first. Kind 2 has at most
    /// the first three in zigzag order, and kind 3 has more. The blocks are 16 of luma, four of blue-difference and
    /// four of red-difference chroma.
    private(set) var kinds: UInt64 = 0

    /// Records a block's kind. `count` is the position after the block's last coefficient, and `hasFirst` is false if
    /// the first one is 0.
    @inline(__always)
    mutating func recordKind(_ count: Int, _ hasFirst: Bool, at index: Int) {
        kinds |= (count > 3 ? 3 : count > 1 ? 2 : hasFirst ? 1 : 0) &<< UInt64(truncatingIfNeeded: 2 &* index)
    }
}

/// The ways to predict a macroblock (RFC 6386, 12.2).
enum Prediction: UInt8 {
    /// The mean of the pixels above and on the left.
    case mean
    /// The pixels above, continued downwards.
    case vertical
    /// The pixels on the left, continued to the right.
    case horizontal
    /// The pixel above plus the pixel on the left, minus the pixel in the corner.
    case gradient
}

/// The ways to predict a block of luma (RFC 6386, 12.3), in the order of the probabilities.
enum BlockPrediction {
    static let mean: UInt8 = 0
    static let gradient: UInt8 = 1
    static let vertical: UInt8 = 2
    static let horizontal: UInt8 = 3
    static let leftDown: UInt8 = 4
    static let rightDown: UInt8 = 5
    static let verticalRight: UInt8 = 6
    static let verticalLeft: UInt8 = 7
    static let horizontalDown: UInt8 = 8
    static let horizontalUp: UInt8 = 9
}

/// Reads macroblocks, row by row.
struct MacroblockReader {
    /// The coefficients of a macroblock's 25 blocks. The blocks are 16 of luma, four of blue-difference and four of
    /// red-difference chroma, and one with the first coefficients of luma. A word holds a row of four coefficients, the
    /// first in the lowest 16 bits. All are 0 between macroblocks.
    var coefficients = [UInt64](repeating: 0, count: 25 * 4)
    /// The modes of the current macroblock's blocks, if each has its own.
    private(set) var blockModes = [UInt8](repeating: 0, count: 16)

    private let header: FrameHeader
    private var modes: BooleanReader
    private var partitions: [BooleanReader]
    /// The reader of the current row's coefficients, one of `partitions`.
    private var tokens: BooleanReader
    /// The modes of the blocks above, four for each macroblock.
    private var modesAbove: [UInt8]
    /// The modes of the four blocks on the left.
    private var modesLeft = [UInt8](repeating: 0, count: 4)
    /// For each macroblock above, the bits that say which of its lowest blocks have coefficients. Four bits are for
    /// luma, two for each plane of chroma, and one for the block with luma's first coefficients.
    private var coefficientsAbove: [Int]
    /// The bits that say which blocks on the left have coefficients, in the order of `coefficientsAbove`.
    private var coefficientsLeft = 0
    /// The current row of macroblocks.
    private var row = 0

    init(_ header: FrameHeader) {
        self.header = header
        modes = header.modes
        partitions = header.partitions.map { BooleanReader($0) }
        tokens = partitions[0]
        modesAbove = [UInt8](repeating: BlockPrediction.mean, count: 4 * header.columns)
        coefficientsAbove = [Int](repeating: 0, count: header.columns)
    }

    /// Starts the next row.
    mutating func beginRow(_ row: Int) {
        partitions[self.row & (partitions.count - 1)] = tokens
        tokens = partitions[row & (partitions.count - 1)]
        self.row = row
        for place in 0..<4 { modesLeft[place] = BlockPrediction.mean }
        coefficientsLeft = 0
    }

    /// Whether the data ended before the current row's end.
    var isBeyondEnd: Bool {
        modes.isBeyond(header.modesPart) || tokens.isBeyond(header.partitions[row & (partitions.count - 1)])
    }

    /// Reads the next macroblock of the row.
    mutating func read(column: Int) -> Macroblock {
        let block = readModes(column)
        if block.isSkipped {
            // A split macroblock has no block with luma's first coefficients, so the bit for that block stays.
            let kept = block.isSplit ? 0x100 : 0
            coefficientsLeft &= kept
            coefficientsAbove[column] &= kept
            return block
        }
        return readCoefficients(block, column)
    }

    /// Reads a macroblock's segment and modes (RFC 6386, 10 and 11).
    private mutating func readModes(_ column: Int) -> Macroblock {
        let words = header.words
        // A local copy stays in registers.
        var reader = modes
        defer { modes = reader }
        var block = Macroblock()
        if header.hasSegmentMap {
            let high = reader.flag(words, header.segmentProbabilities[0])
            let low = reader.flag(words, header.segmentProbabilities[high ? 2 : 1])
            block.segment = (high ? 2 : 0) | (low ? 1 : 0)
        }
        if let probability = header.skipProbability { block.isSkipped = reader.flag(words, probability) }
        block.isSplit = !reader.flag(words, 145)
        if block.isSplit {
            for down in 0..<4 {
                var left = modesLeft[down]
                for place in 4 &* column..<4 &* column &+ 4 {
                    left = reader.readBlockMode(words, 9 &* (10 &* Int(modesAbove[place]) &+ Int(left)))
                    modesAbove[place] = left
                    blockModes[4 &* down &+ place & 3] = left
                }
                modesLeft[down] = left
            }
        } else {
            let implied: UInt8
            if reader.flag(words, 156) {
                let isGradient = reader.flag(words, 128)
                block.luma = isGradient ? .gradient : .horizontal
                implied = isGradient ? BlockPrediction.gradient : BlockPrediction.horizontal
            } else {
                let isVertical = reader.flag(words, 163)
                block.luma = isVertical ? .vertical : .mean
                implied = isVertical ? BlockPrediction.vertical : BlockPrediction.mean
            }
            for place in 0..<4 {
                modesAbove[4 &* column &+ place] = implied
                modesLeft[place] = implied
            }
        }
        if !reader.flag(words, 142) {
            block.chroma = .mean
        } else if !reader.flag(words, 114) {
            block.chroma = .vertical
        } else {
            block.chroma = reader.flag(words, 183) ? .gradient : .horizontal
        }
        return block
    }

    /// Reads all blocks of a macroblock (RFC 6386, 13.3), and records their kinds.
    private mutating func readCoefficients(_ modes: Macroblock, _ column: Int) -> Macroblock {
        var block = modes
        let steps = header.steps[block.segment]
        var above = coefficientsAbove[column]
        var left = coefficientsLeft
        if !block.isSplit {
            let count = readBlock(Self.lumaDCIndex, type: 1, first: 0, above &>> 8 &+ left &>> 8, steps.means)
            above = above & 0xFF | (count > 0 ? 0x100 : 0)
            left = left & 0xFF | (count > 0 ? 0x100 : 0)
            if count > 0 { distributeLumaDC() }
        }
        readBlocks(
            &block, 0, side: 4, type: block.isSplit ? 3 : 0, first: block.isSplit ? 0 : 1, steps.luma, &above, &left, 0)
        readBlocks(&block, 16, side: 2, type: 2, first: 0, steps.chroma, &above, &left, 4)
        readBlocks(&block, 20, side: 2, type: 2, first: 0, steps.chroma, &above, &left, 6)
        coefficientsAbove[column] = above
        coefficientsLeft = left
        return block
    }

    /// Reads the blocks of a plane.
    ///
    /// - Parameters:
    ///   - start: the index of the first block.
    ///   - side: the number of blocks in a row, and the number of rows.
    ///   - above: the bits of the blocks above, from the bit `place` on. The call replaces them by the bits of this
    ///     macroblock's lowest blocks.
    ///   - left: the bits of the blocks on the left. The call replaces them by the bits of this macroblock's right
    ///     column.
    @inline(__always)
    private mutating func readBlocks(
        _ block: inout Macroblock, _ start: Int, side: Int, type: Int, first: Int,
        _ steps: (first: Int32, other: Int32),
        _ above: inout Int, _ left: inout Int, _ place: Int
    ) {
        let mask = 1 &<< side &- 1
        var aboveBits = above &>> place & mask
        var leftBits = left &>> place & mask
        var index = start
        for _ in 0..<side {
            var bit = leftBits & 1
            for _ in 0..<side {
                let count = readBlock(index, type: type, first: first, aboveBits & 1 &+ bit, steps)
                block.recordKind(count, coefficients[4 &* index] & 0xFFFF != 0, at: index)
                bit = count > first ? 1 : 0
                aboveBits = aboveBits &>> 1 | bit &<< (side &- 1)
                index &+= 1
            }
            leftBits = leftBits &>> 1 | bit &<< (side &- 1)
        }
        above = above & ~(mask &<< place) | aboveBits &<< place
        left = left & ~(mask &<< place) | leftBits &<< place
    }

    /// Reads one block. Returns the position after its last coefficient; `first` if there is none.
    @inline(__always)
    private mutating func readBlock(
        _ index: Int, type: Int, first: Int, _ context: Int, _ steps: (first: Int32, other: Int32)
    ) -> Int {
        let node = TokenProbabilities.index(type, first, context)
        tokens.refill(header.words)
        guard tokens.nextFlag(BooleanReader.probability(header.tokens.common[node], 0)) else { return first }
        return tokens.readBlock(
            header.words, header.tokens, node, first: first, steps, into: &coefficients, at: 4 &* index)
    }

    /// The index of the block that contains the first coefficients of luma.
    private static let lumaDCIndex = 24

    /// Computes the first coefficients of the luma blocks (RFC 6386, 14.3). They come from a separate block, which this
    /// method clears.
    private mutating func distributeLumaDC() {
        let start = 4 * Self.lumaDCIndex
        let rows = (coefficients[start], coefficients[start + 1], coefficients[start + 2], coefficients[start + 3])
        for row in start..<start + 4 { coefficients[row] = 0 }
        func transformedColumn(_ column: Int) -> (Int32, Int32, Int32, Int32) {
            Self.transformed(
                FourCoefficients.value(rows.0, column), FourCoefficients.value(rows.1, column),
                FourCoefficients.value(rows.2, column), FourCoefficients.value(rows.3, column))
        }
        let (column0, column1) = (transformedColumn(0), transformedColumn(1))
        let (column2, column3) = (transformedColumn(2), transformedColumn(3))
        spread(Self.transformed(column0.0 &+ 3, column1.0, column2.0, column3.0), to: 0)
        spread(Self.transformed(column0.1 &+ 3, column1.1, column2.1, column3.1), to: 4)
        spread(Self.transformed(column0.2 &+ 3, column1.2, column2.2, column3.2), to: 8)
        spread(Self.transformed(column0.3 &+ 3, column1.3, column2.3, column3.3), to: 12)
    }

    /// Stores the first coefficients of four blocks.
    @inline(__always)
    private mutating func spread(_ means: (Int32, Int32, Int32, Int32), to block: Int) {
        coefficients[4 &* block] = FourCoefficients.word(means.0 &>> 3)
        coefficients[4 &* block &+ 4] = FourCoefficients.word(means.1 &>> 3)
        coefficients[4 &* block &+ 8] = FourCoefficients.word(means.2 &>> 3)
        coefficients[4 &* block &+ 12] = FourCoefficients.word(means.3 &>> 3)
    }

    /// Transforms four numbers (Walsh–Hadamard).
    @inline(__always)
    private static func transformed(_ x0: Int32, _ x1: Int32, _ x2: Int32, _ x3: Int32) -> (Int32, Int32, Int32, Int32)
    {
        let (outer, inner) = (x0 &+ x3, x1 &+ x2)
        let (outerSlope, innerSlope) = (x0 &- x3, x1 &- x2)
        return (outer &+ inner, outerSlope &+ innerSlope, outer &- inner, outerSlope &- innerSlope)
    }
}

/// Four coefficients in a word, the first in the lowest 16 bits.
enum FourCoefficients {
    /// Returns the coefficient at an index from 0 to 3.
    @inline(__always)
    static func value(_ word: UInt64, _ index: Int) -> Int32 {
        Int32(Int16(truncatingIfNeeded: word &>> UInt64(truncatingIfNeeded: 16 &* index)))
    }

    /// Returns a word with a first coefficient only.
    @inline(__always)
    static func word(_ first: Int32) -> UInt64 { UInt64(UInt16(truncatingIfNeeded: first)) }
}
