/// Scales a picture, row by row, to any size: each output pixel is the mean of the source area that it stands for, whose
/// borders may cut through pixels. (Borders rounded to whole pixels lose 10 dB.)
///
///     var filter = AreaFilter(source: size, region: PixelRect(whole: size), output: small)
///     for row in filter.sourceRows {
///         filter.add(row: pixels(ofRow: row), appendingOutputTo: &output)
///     }
///
/// Memory is a few numbers for each pixel of one output row. Sides are scaled independently, down or up; enlarged pixels
/// stay sharp squares.
public struct AreaFilter: Sendable {
    /// The source rows with a share in the output, to be added in this order, all of them.
    public let sourceRows: Range<Int>

    private let rows: AreaAxis
    private let columns: [AreaColumn]
    private let bytesPerSourceRow: Int

    /// The next row to be added.
    private var sourceRow: Int
    /// The output row being gathered.
    private var outputRow = 0
    /// How much of that row's weight `sums` holds; 0 means that `sums` is stale.
    private var gathered: UInt32 = 0
    /// One row reduced horizontally, in 256ths: at most 255 × 2⁸.
    private var reduced: [UInt16]
    /// The weighted sum of reduced rows. The weights of a row sum to 2¹⁶, so it is at most 255 × 2²⁴.
    private var sums: [UInt32]
    /// The output row in bytes, on its way out.
    private var finished: [UInt8]

    private static let wholeWeight: UInt32 = 1 << 16

    /// Prepares to scale `region` of a picture of size `source` to `output`. What reaches over the edges is cut off.
    public init(source: PixelSize, region: PixelRect, output: PixelSize) {
        let horizontal = AreaAxis(
            start: region.x, length: region.width, sourceCount: source.width, count: output.width)
        rows = AreaAxis(start: region.y, length: region.height, sourceCount: source.height, count: output.height)
        columns = (0..<output.width).map { AreaColumn($0, on: horizontal) }
        bytesPerSourceRow = source.width * PixelBuffer.bytesPerPixel
        sourceRows = rows.touched
        sourceRow = sourceRows.lowerBound
        reduced = Array(repeating: 0, count: output.width * PixelBuffer.bytesPerPixel)
        sums = Array(repeating: 0, count: output.width * PixelBuffer.bytesPerPixel)
        finished = Array(repeating: 0, count: output.width * PixelBuffer.bytesPerPixel)
    }

    /// Takes the next of `sourceRows`, RGB, and appends the output rows that it completes: none, one or several.
    public mutating func add(row: UnsafeBufferPointer<UInt8>, appendingOutputTo output: inout [UInt8]) {
        precondition(row.count >= bytesPerSourceRow, "a row too short")
        guard sourceRows.contains(sourceRow) else { return }
        reduce(row)
        let isLast = sourceRow + 1 == sourceRows.upperBound
        let lowerEdge = Double(sourceRow + 1)
        while outputRow < rows.count {
            gather(weightOfSourceRow())
            guard isLast || rows.boundary(outputRow + 1) <= lowerEdge else { break }
            emit(to: &output)
            outputRow += 1
            gathered = 0
        }
        sourceRow += 1
    }

    /// The source row's share in the output row: the difference of two rounded positions within the latter, which makes
    /// all the shares of an output row sum to exactly 2¹⁶.
    private func weightOfSourceRow() -> UInt32 {
        let (top, bottom) = (rows.boundary(outputRow), rows.boundary(outputRow + 1))
        let (from, to) = (Double(sourceRow), Double(sourceRow + 1))
        func position(_ place: Double) -> UInt32 {
            UInt32(((place - top) / (bottom - top) * Double(Self.wholeWeight)).rounded())
        }
        let isLast = sourceRow + 1 == sourceRows.upperBound
        let end = isLast || to >= bottom ? Self.wholeWeight : to <= top ? 0 : position(to)
        let start = from <= top ? 0 : from >= bottom ? Self.wholeWeight : position(from)
        return end > start ? end - start : 0
    }

    /// Scales one source row to the output's width.
    ///
    /// No bounds are checked per pixel: `AreaColumn` clamps its offsets to the row, whose length `add` has checked.
    private mutating func reduce(_ row: UnsafeBufferPointer<UInt8>) {
        guard let source = row.baseAddress else { return }
        columns.withUnsafeBufferPointer { columns in
            reduced.withUnsafeMutableBufferPointer { reduced in
                guard var target = reduced.baseAddress else { return }
                for column in columns {
                    let (first, last) = (source + column.first, source + column.last)
                    var (red, green, blue): (UInt32, UInt32, UInt32) = (0, 0, 0)
                    var pixel = first
                    for _ in 0..<column.between {
                        pixel += 3
                        red &+= UInt32(pixel[0])
                        green &+= UInt32(pixel[1])
                        blue &+= UInt32(pixel[2])
                    }
                    target[0] = Self.mix(first[0], red, last[0], column)
                    target[1] = Self.mix(first[1], green, last[1], column)
                    target[2] = Self.mix(first[2], blue, last[2], column)
                    target += 3
                }
            }
        }
    }

    @inline(__always)
    private static func mix(_ first: UInt8, _ between: UInt32, _ last: UInt8, _ column: AreaColumn) -> UInt16 {
        let sum =
            UInt32(first) &* column.firstWeight &+ between &* column.betweenWeight
            &+ UInt32(last) &* column.lastWeight
        return UInt16(truncatingIfNeeded: (sum &+ 0x8000) &>> 16)
    }

    /// Adds the reduced row to the output row with that weight.
    private mutating func gather(_ weight: UInt32) {
        guard weight > 0 else { return }
        let isFirst = gathered == 0
        gathered += weight
        reduced.withUnsafeBufferPointer { reduced in
            sums.withUnsafeMutableBufferPointer { sums in
                guard let source = reduced.baseAddress, let target = sums.baseAddress else { return }
                if isFirst {
                    for index in 0..<reduced.count { target[index] = UInt32(source[index]) &* weight }
                } else {
                    for index in 0..<reduced.count { target[index] &+= UInt32(source[index]) &* weight }
                }
            }
        }
    }

    private mutating func emit(to output: inout [UInt8]) {
        sums.withUnsafeBufferPointer { sums in
            finished.withUnsafeMutableBufferPointer { finished in
                guard let source = sums.baseAddress, let target = finished.baseAddress else { return }
                for index in 0..<sums.count {
                    target[index] = UInt8(truncatingIfNeeded: (source[index] &+ 0x80_0000) &>> 24)
                }
            }
        }
        output.append(contentsOf: finished)
    }
}

/// How one side of a picture is divided among output pixels: output pixel `i` stands for the stretch from
/// `boundary(i)` to `boundary(i + 1)` of the source, and the boundaries may cut through source pixels.
struct AreaAxis {
    /// Source pixels there are.
    let sourceCount: Int
    /// Output pixels wanted.
    let count: Int
    private let start: Double
    private let length: Double

    /// Clamps the stretch to the source, and to a length at which neighbouring boundaries still differ.
    init(start: Double, length: Double, sourceCount: Int, count: Int) {
        precondition(sourceCount > 0 && count > 0, "nothing to filter")
        let shortest = Double(count) * 1e-9
        let end = Double(sourceCount)
        self.start = max(0, min(start, end - shortest))
        self.length = max(shortest, min(length, end - self.start))
        self.sourceCount = sourceCount
        self.count = count
    }

    /// Where output pixel `index` begins and the one before it ends.
    func boundary(_ index: Int) -> Double {
        min(Double(sourceCount), index == count ? start + length : start + length * Double(index) / Double(count))
    }

    /// The source pixels with a share in the output.
    var touched: Range<Int> {
        let first = Int(start)
        return first..<max(first + 1, min(sourceCount, Int((start + length).rounded(.up))))
    }
}

/// What one output pixel takes from a row: a share of its first source pixel, all pixels between, a share of its last.
///
/// The weights are fractions of 2²⁴ and sum to it exactly, so that a flat row stays flat to the bit and the weighted sum
/// of bytes, at most 255 × 2²⁴, always fits 32 bits.
struct AreaColumn {
    /// Byte offset of the first source pixel.
    let first: Int
    /// Byte offset of the last one, which may be the first again, with no weight.
    let last: Int
    /// How many whole pixels lie between.
    let between: Int
    let firstWeight: UInt32
    let betweenWeight: UInt32
    let lastWeight: UInt32

    static let wholeWeight: UInt32 = 1 << 24

    init(_ index: Int, on axis: AreaAxis) {
        let (left, right) = (axis.boundary(index), axis.boundary(index + 1))
        let firstPixel = min(Int(left), axis.sourceCount - 1)
        let lastPixel = max(firstPixel, min(Int(right.rounded(.up)) - 1, axis.sourceCount - 1))
        first = firstPixel * PixelBuffer.bytesPerPixel
        last = lastPixel * PixelBuffer.bytesPerPixel
        between = max(0, lastPixel - firstPixel - 1)
        guard lastPixel > firstPixel else {
            (firstWeight, betweenWeight, lastWeight) = (Self.wholeWeight, 0, 0)
            return
        }
        // Rounded down, so that what rounding leaves over, at most one part in 2²⁴ a pixel, is the first pixel's gain.
        let perPixel = Double(Self.wholeWeight) / (right - left)
        betweenWeight = between > 0 ? UInt32(perPixel) : 0
        lastWeight = UInt32(min((right - Double(lastPixel)) * perPixel, Double(Self.wholeWeight)))
        firstWeight = Self.wholeWeight - UInt32(between) * betweenWeight - lastWeight
    }
}
