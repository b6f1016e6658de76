/// A picture in progress, in linear light without an upper limit of brightness.
///
/// Positions are measured in units of the shorter side, from the top left corner: a landscape is 4/3 wide and 1 high,
/// a portrait 1 wide and 4/3 high, for any number of pixels. So a scene painted small looks the same.
struct Canvas: Sendable {
    let width: Int
    let height: Int

    /// The number of pixels per unit.
    let unit: Float

    /// The colours, row by row from the top.
    private(set) var pixels: [Vec3]

    init(_ format: PictureFormat) {
        width = format.width
        height = format.height
        unit = Float(min(width, height))
        pixels = [Vec3](repeating: .zero, count: width * height)
    }

    /// The lower right corner.
    var extent: Vec2 { Vec2(Float(width), Float(height)) / unit }

    /// Paints every pixel with the colour at its position, sampling more where neighbours differ.
    ///
    /// Most of a picture is smooth, so one sample per pixel is enough; along edges five or nine are averaged.
    ///
    /// - Parameter keeping: Returns true for positions that keep their colour.
    mutating func shade(keeping: (Vec2) -> Bool = { _ in false }, _ colour: (Vec2) -> Vec3) {
        let before = pixels
        var kept = [Bool](repeating: false, count: pixels.count)
        var index = 0
        for y in 0..<height {
            for x in 0..<width {
                let p = Vec2(Float(x) + 0.5, Float(y) + 0.5) / unit
                kept[index] = keeping(p)
                if !kept[index] { pixels[index] = colour(p) }
                index += 1
            }
        }
        let rough = roughPixels(amongChangedBut: kept)
        index = 0
        for y in 0..<height {
            for x in 0..<width {
                let count = rough[index]
                if count > 0 {
                    // Limits a single glint in a pixel, which would make stair-steps.
                    let brightest = Vec3(repeating: max(3, before[index].luminance))
                    var sum = pixels[index].clamped(lowerBound: .zero, upperBound: brightest)
                    for offset in Self.looks[..<count] {
                        let p = (Vec2(Float(x), Float(y)) + offset) / unit
                        let seen = keeping(p) ? before[index] : colour(p)
                        sum += seen.clamped(lowerBound: .zero, upperBound: brightest)
                    }
                    pixels[index] = sum / Float(count + 1)
                }
                index += 1
            }
        }
    }

    /// Blends paint with the pixels of a box. The closure returns a colour and its opacity.
    mutating func glaze(in box: Box = .everywhere, _ paint: (Vec2) -> (Vec3, Float)) {
        visit(box) { p, pixel in
            let (colour, cover) = paint(p)
            if cover > 0 { pixel = mix(pixel, colour, min(cover, 1)) }
        }
    }

    /// Adds light to the pixels of a box.
    mutating func lighten(in box: Box = .everywhere, _ light: (Vec2) -> Vec3) {
        visit(box) { p, pixel in pixel += light(p) }
    }

    /// Multiplies the pixels of a box, as shade and tinted glass do.
    mutating func filter(in box: Box = .everywhere, _ share: (Vec2) -> Vec3) {
        visit(box) { p, pixel in pixel *= share(p) }
    }

    /// Fills a shape given as a signed distance, negative inside, with an edge one pixel soft.
    mutating func fill(_ shape: (Vec2) -> Float, in box: Box = .everywhere, _ paint: (Vec2) -> Vec3) {
        let unit = unit
        visit(box) { p, pixel in
            let cover = 0.5 - shape(p) * unit
            if cover > 0 { pixel = mix(pixel, paint(p), min(cover, 1)) }
        }
    }

    /// Returns the colour at a position, interpolated from four pixels; the edge continues outside.
    func sample(_ p: Vec2) -> Vec3 {
        let x = clamp(p.x * unit - 0.5, 0, Float(width - 1))
        let y = clamp(p.y * unit - 0.5, 0, Float(height - 1))
        let left = Int(x)
        let top = Int(y)
        let right = min(left + 1, width - 1)
        let bottom = min(top + 1, height - 1)
        let fx = x - Float(left)
        let upper = mix(pixels[top * width + left], pixels[top * width + right], fx)
        let lower = mix(pixels[bottom * width + left], pixels[bottom * width + right], fx)
        return mix(upper, lower, y - Float(top))
    }

    /// Calls the closure for pixels with their centre in the box.
    private mutating func visit(_ box: Box, _ change: (Vec2, inout Vec3) -> Void) {
        let left = max(Int((max(box.low.x, 0) * unit).rounded(.down)), 0)
        let top = max(Int((max(box.low.y, 0) * unit).rounded(.down)), 0)
        let right = min(Int((max(box.high.x, -1) * unit).rounded(.up)), width)
        let bottom = min(Int((max(box.high.y, -1) * unit).rounded(.up)), height)
        guard left < right, top < bottom else { return }
        for y in top..<bottom {
            for x in left..<right {
                change(Vec2(Float(x) + 0.5, Float(y) + 0.5) / unit, &pixels[y * width + x])
            }
        }
    }

    /// Returns the number of additional samples for each pixel, by its difference from its neighbours.
    ///
    /// Where two pixels both kept their colour, no sample is needed.
    private func roughPixels(amongChangedBut kept: [Bool]) -> [Int] {
        // Square roots approximate how the eye sees light, well enough to find edges.
        let seen = pixels.map { pixel in
            pixel.clamped(lowerBound: .zero, upperBound: Vec3(repeating: 1.5)).squareRoot()
        }
        var rough = [Int](repeating: 0, count: seen.count)
        func compare(_ a: Int, _ b: Int) {
            if kept[a] && kept[b] { return }
            let difference = seen[a] - seen[b]
            let size = dot(difference, difference)
            if size > 0.0025 {
                let count = size > 0.03 ? Self.looks.count : Self.looks.count / 2
                rough[a] = max(rough[a], count)
                rough[b] = max(rough[b], count)
            }
        }
        for y in 0..<height {
            for x in 0..<width {
                let index = y * width + x
                if x + 1 < width { compare(index, index + 1) }
                if y + 1 < height { compare(index, index + width) }
                if x + 1 < width, y + 1 < height { compare(index, index + width + 1) }
            }
        }
        return rough
    }

    /// The positions of the additional samples in a pixel: eight, no two in one row or column, the first four spread
    /// as evenly as possible.
    private static let looks: [Vec2] = [
        Vec2(0.1875, 0.3125), Vec2(0.6875, 0.1875), Vec2(0.3125, 0.8125), Vec2(0.8125, 0.6875),
        Vec2(0.4375, 0.0625), Vec2(0.0625, 0.5625), Vec2(0.9375, 0.4375), Vec2(0.5625, 0.9375),
    ]
}

/// A rectangle with upright sides, in canvas units.
struct Box: Sendable {
    var low: Vec2
    var high: Vec2

    init(_ left: Float, _ top: Float, _ right: Float, _ bottom: Float) {
        low = Vec2(left, top)
        high = Vec2(right, bottom)
    }

    /// Creates the square around a circle.
    init(around centre: Vec2, radius: Float) {
        low = centre - radius
        high = centre + radius
    }

    /// Everything, on any canvas.
    static let everywhere = Box(-1000, -1000, 1000, 1000)
}

extension Canvas {
    /// Draws a straight stroke with round ends, optionally tapering.
    mutating func stroke(
        from a: Vec2, to b: Vec2, width: Float, tapering endWidth: Float? = nil, _ colour: Vec3,
        opacity: Float = 1
    ) {
        let last = endWidth ?? width
        let unit = unit
        glaze(in: Self.box(a, b, max(width, last) / 2 + 1.5 / unit)) { p in
            (colour, opacity * Self.cover(p, a, b, width * unit, last * unit, unit))
        }
    }

    /// Adds the light of a glowing stroke, optionally tapering.
    mutating func streak(
        from a: Vec2, to b: Vec2, width: Float, tapering endWidth: Float? = nil, _ light: Vec3
    ) {
        let last = endWidth ?? width
        let unit = unit
        lighten(in: Self.box(a, b, max(width, last) / 2 + 1.5 / unit)) { p in
            light * Self.cover(p, a, b, width * unit, last * unit, unit)
        }
    }

    /// Paints a round spot.
    mutating func disc(_ centre: Vec2, radius: Float, _ colour: Vec3, opacity: Float = 1) {
        let unit = unit
        glaze(in: Box(around: centre, radius: radius + 1 / unit)) { p in
            (colour, opacity * clamp(0.5 - ((p - centre).length - radius) * unit))
        }
    }

    /// Adds a soft round light that fades to nothing at `radius`.
    mutating func glow(_ centre: Vec2, radius: Float, _ light: Vec3) {
        // A light smaller than a pixel keeps its strength but is spread over the pixel.
        let wide = max(radius, 1.2 / unit)
        let strength = (radius / wide) * (radius / wide)
        lighten(in: Box(around: centre, radius: wide)) { p in
            let near = clamp(1 - (p - centre).length / wide)
            return light * (near * near * strength)
        }
    }

    /// Fills a polygon, with an edge one pixel soft.
    mutating func polygon(_ corners: [Vec2], _ paint: (Vec2) -> Vec3) {
        guard let first = corners.first else { return }
        var box = Box(first.x, first.y, first.x, first.y)
        for corner in corners {
            box.low = pointwiseMin(box.low, corner - 1 / unit)
            box.high = pointwiseMax(box.high, corner + 1 / unit)
        }
        fill({ p in Outline.polygon(p, corners) }, in: box, paint)
    }

    /// Returns how much of the pixel around `p` a tapering stroke covers; strokes thinner than a pixel become faint.
    private static func cover(
        _ p: Vec2, _ a: Vec2, _ b: Vec2, _ width: Float, _ endWidth: Float, _ unit: Float
    ) -> Float {
        let along = Outline.share(of: p, from: a, to: b)
        let local = mix(width, endWidth, along)
        let distance = (p - mix(a, b, along)).length * unit
        return clamp(0.5 + max(local, 1) / 2 - distance) * min(local, 1)
    }

    private static func box(_ a: Vec2, _ b: Vec2, _ margin: Float) -> Box {
        let low = pointwiseMin(a, b) - margin
        let high = pointwiseMax(a, b) + margin
        return Box(low.x, low.y, high.x, high.y)
    }
}

extension Canvas {
    /// Draws a fir: a jagged cone of drooping branches, lit from the left.
    ///
    /// - Parameters:
    ///   - foot: The point where the trunk meets the ground.
    ///   - dark: The colour of the shaded side.
    ///   - light: The colour of the lit side.
    ///   - snow: The fraction of each branch that is covered with snow.
    mutating func fir(foot: Vec2, height: Float, _ dark: Vec3, light: Vec3, snow: Float = 0) {
        let grain = Noise(UInt32(truncatingIfNeeded: Int(foot.x * 4096)) &+ 17)
        let tiers = max(5, min(11, height * 40)).rounded()
        func half(_ p: Vec2) -> (width: Float, tier: Float) {
            let t = (p.y - foot.y + height) / height
            guard t > 0, t < 0.93 else { return (t >= 0.93 && t < 1 ? 0.022 * height : -1, 1) }
            let side = p.x < foot.x ? Float(3) : 8
            let droop = abs(p.x - foot.x) / height * 1.1
            let place = (t - droop * 0.35) * tiers + 0.22 * grain.at(Vec2(t * tiers * 0.8, side))
            let within = fract(place)
            let reach = 0.20 * pow(t, 0.85) + 0.012
            let ragged = 0.035 * grain.at(Vec2(p.x, p.y) * (26 / height)) * t
            return ((reach * (0.62 + 0.42 * within) + ragged) * height, within)
        }
        let box = Box(foot.x - height * 0.3, foot.y - height * 1.02, foot.x + height * 0.3, foot.y)
        fill({ p in abs(p.x - foot.x) - half(p).width }, in: box) { p in
            let (width, within) = half(p)
            let across = (p.x - foot.x) / max(width, 1e-5)
            let needles = 0.5 + 0.5 * grain.at(Vec2(p.x, p.y) * (60 / height))
            let shade = mix(light, dark, clamp(0.5 + 0.6 * across + 0.4 * (0.5 - needles)))
            let green = shade * (1.15 - 0.65 * within)
            guard snow > 0 else { return green }
            let cover = smoothstep(snow + 0.12, snow - 0.12, within + 0.25 * (needles - 0.5))
            let white = mix(colour(0xFFFDF8), colour(0xA9BEDC), clamp(0.35 + 0.65 * across))
            return mix(green, white, cover)
        }
    }
}
