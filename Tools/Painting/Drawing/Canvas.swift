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
