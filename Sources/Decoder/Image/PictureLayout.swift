/// What a request comes to for a picture of one size: how many pixels come out, and which part of the picture they show.
///
/// Both sides of the wire compute it from the same two values, so the helper cannot lie about it.
public struct PictureLayout: Hashable, Sendable {
    /// The output's sides, at least 1 each and at most the box's.
    public let output: PixelSize
    /// The part of the picture that it shows, as it is seen: the request's region, or a centred part of it.
    public let region: UnitRect

    /// Lays out an upright picture of `source` pixels, both sides above 0, which the request may have turned.
    ///
    /// A request that does not enlarge stops where every source pixel is shown in full: with square pixels at one
    /// output pixel for each source pixel; with others, at that on the finer side, while the coarser side already
    /// repeats pixels.
    public init(of source: PixelSize, for request: DecodeRequest) {
        let region = request.region.scaled(to: request.turns.isMultiple(of: 2) ? source : source.turned)
        let box = request.box
        let aspect = request.pixelAspect
        // Lengths on the screen, in heights of an output pixel.
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

    /// The middle of a region: those fractions of its sides.
    private static func centred(_ region: UnitRect, horizontally: Double, vertically: Double) -> UnitRect {
        UnitRect(
            clampedX: region.x + region.width * (1 - horizontally) / 2,
            y: region.y + region.height * (1 - vertically) / 2,
            width: region.width * horizontally,
            height: region.height * vertically)
    }
}
