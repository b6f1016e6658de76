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
