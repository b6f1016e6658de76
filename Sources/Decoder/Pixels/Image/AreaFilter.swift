/// Scales a picture row by row. Each output pixel is the mean of the source area that it covers.
///
/// An area may end inside a source pixel. If the filter rounded the borders to whole pixels, the result would be 10 dB
/// less accurate.
///
///     var filter = AreaFilter(source: size, region: PixelRect(whole: size), output: small)
///     for row in filter.sourceRows {
///         filter.add(row: pixels(ofRow: row), appendingOutputTo: &output)
///     }
///
/// The filter holds only a few numbers per pixel of one output row. It scales width and height independently, down or
/// up. Enlarged pixels become sharp rectangles.
public struct AreaFilter: Sendable {
    /// The source rows that the caller must add, all of them and in this order.
    public let sourceRows: Range<Int>

    private let rows: AreaAxis
    private let columns: [AreaColumn]
    private let bytesPerSourceRow: Int

    /// The index of the next source row to add.
    private var sourceRow: Int
    /// The index of the output row in progress.
    private var outputRow = 0
    /// The total weight of the rows added to `sums`; 0 means that `sums` is stale.
    private var gathered: UInt32 = 0
    /// One source row, scaled horizontally, in units of 1/256. Each number is at most 255 × 2⁸.
    private var reduced: [UInt16]
    /// The weighted sum of `reduced` rows. The weights of an output row sum to 2¹⁶, so a sum is at most 255 × 2²⁴.
    private var sums: [UInt32]
    /// The finished output row in bytes.
    private var finished: [UInt8]

    private static let wholeWeight: UInt32 = 1 << 16

    /// Creates a filter that scales `region` of a source to `output`. Limits the region to the source.
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

    /// Adds the next source row, in RGB. Appends the output rows that are now complete: none, one or several.
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

    /// Returns the source row's weight in the output row. The weight is a difference of two rounded positions, so the
    /// weights of an output row sum to exactly 2¹⁶.
    private func weightOfSourceRow() -> UInt32 {
        let (top, bottom) = (rows.boundary(outputRow), rows.boundary(outputRow + 1))
        let (from, to) = (Double(sourceRow), Double(sourceRow + 1))
        func position(_ boundary: Double) -> UInt32 {
            UInt32(((boundary - top) / (bottom - top) * Double(Self.wholeWeight)).rounded())
        }
        let isLast = sourceRow + 1 == sourceRows.upperBound
        let end = isLast || to >= bottom ? Self.wholeWeight : to <= top ? 0 : position(to)
        let start = from <= top ? 0 : from >= bottom ? Self.wholeWeight : position(from)
        return end > start ? end - start : 0
    }

    /// Scales one source row horizontally into `reduced`.
    ///
    /// The code does not check bounds per pixel: `AreaColumn` limits its offsets to the row, and `add` has checked the
    /// row's length.
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

    /// Adds the row in `reduced` to the output row with a weight.
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

/// The division of one side of the source among output pixels.
///
/// Output pixel `i` covers the source from `boundary(i)` to `boundary(i + 1)`. Boundaries may lie inside source
/// pixels.
package struct AreaAxis {
    /// The number of source pixels.
    package let sourceCount: Int
    /// The number of output pixels.
    package let count: Int
    private let start: Double
    private let length: Double

    /// Creates a division. Limits the range to the source, and ensures that neighbouring boundaries differ.
    package init(start: Double, length: Double, sourceCount: Int, count: Int) {
        precondition(sourceCount > 0 && count > 0, "nothing to filter")
        let shortest = Double(count) * 1e-9
        let end = Double(sourceCount)
        self.start = max(0, min(start, end - shortest))
        self.length = max(shortest, min(length, end - self.start))
        self.sourceCount = sourceCount
        self.count = count
    }

    /// Returns the start of the output pixel at `index`. The previous pixel ends there.
    package func boundary(_ index: Int) -> Double {
        min(Double(sourceCount), index == count ? start + length : start + length * Double(index) / Double(count))
    }

    /// The source pixels that contribute to the output.
    var touched: Range<Int> {
        let first = Int(start)
        return first..<max(first + 1, min(sourceCount, Int((start + length).rounded(.up))))
    }
}

/// The weights of source pixels in one output pixel. The first and the last source pixel have weights of their own. All
/// pixels between them have the same weight.
///
/// The weights are fractions of 2²⁴ and sum to exactly 2²⁴. So a row of one colour keeps exactly that colour, and the
/// weighted sum of bytes, at most 255 × 2²⁴, fits 32 bits.
struct AreaColumn {
    /// The byte offset of the first source pixel.
    let first: Int
    /// The byte offset of the last source pixel. If that pixel's weight is 0, the offset may equal that of the first
    /// pixel.
    let last: Int
    /// The number of whole pixels between the first and the last.
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
        // The weights are rounded down. The first pixel gets the remainder, at most one part in 2²⁴ per pixel.
        let perPixel = Double(Self.wholeWeight) / (right - left)
        betweenWeight = between > 0 ? UInt32(perPixel) : 0
        lastWeight = UInt32(min((right - Double(lastPixel)) * perPixel, Double(Self.wholeWeight)))
        firstWeight = Self.wholeWeight - UInt32(between) * betweenWeight - lastWeight
    }
}
