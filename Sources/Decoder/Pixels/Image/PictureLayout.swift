/// The output size and visible part of a picture for one request.
///
/// The client and the decoder both compute the layout from the same values, so the decoder cannot lie about it.
public struct PictureLayout: Hashable, Sendable {
    /// The output's size, from 1 × 1 pixels to the size of the request's box.
    public let output: PixelSize
    /// The visible part of the turned picture. This is the request's region, or the middle of that region.
    public let region: UnitRect

    /// Creates the layout for an upright picture of `source` pixels, both sides above 0.
    ///
    /// Without enlarging, the scale stops where every source pixel is visible. For square pixels that is one output
    /// pixel per source pixel. For others, this applies to the side with finer pixels; the other side then repeats
    /// pixels.
    public init(of source: PixelSize, for request: DecodeRequest) {
        let region = request.region.scaled(to: request.turns.isMultiple(of: 2) ? source : source.turned)
        let box = request.box
        let aspect = request.pixelAspect
        // Lengths on the screen, in units of an output pixel's height.
        let widest = Double(box.width) * aspect
        let highest = Double(box.height)
        let ratios = (widest / region.width, highest / region.height)
        let wanted = request.fitting == .inside ? min(ratios.0, ratios.1) : max(ratios.0, ratios.1)
        let scale = request.enlarges ? wanted : min(wanted, max(1, aspect))

        output = PixelSize(
            width: Self.pixels(region.width * scale / aspect, atMost: box.width),
            height: Self.pixels(region.height * scale, atMost: box.height))
        self.region = Self.centred(
            request.region,
            horizontally: min(1, widest / (region.width * scale)),
            vertically: min(1, highest / (region.height * scale)))
    }

    private static func pixels(_ length: Double, atMost limit: Int) -> Int {
        max(1, Int(min(length, Double(limit)).rounded()))
    }

    /// Returns the middle of a region, reduced to these fractions of its sides.
    private static func centred(_ region: UnitRect, horizontally: Double, vertically: Double) -> UnitRect {
        UnitRect(
            clampedX: region.x + region.width * (1 - horizontally) / 2,
            y: region.y + region.height * (1 - vertically) / 2,
            width: region.width * horizontally,
            height: region.height * vertically)
    }
}
