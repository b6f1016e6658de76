import Foundation

/// The similarity of two pictures of the same size.
struct Likeness {
    /// The signal-to-noise ratio of all three channels, in decibels.
    let psnr: Double
    /// The structural similarity of brightness, both blurred, because a cell is seen from further away than a pixel.
    let ssim: Double
    /// The signal-to-noise ratio of brightness, both blurred, after matching brightness and contrast by a factor and
    /// an addition: letters are never as bright as the picture.
    let matched: Double

    private static let blur = 2

    init(_ original: Picture, _ shown: Picture) {
        psnr = Self.decibels(zip(original.planes, shown.planes).map { Self.squares($0, $1) }.reduce(0, +) / 3)
        let (one, two) = (original.grey.blurred(Self.blur), shown.grey.blurred(Self.blur))
        ssim = Self.similarity(one, two)
        let (wide, wideShown) = (original.grey.blurred(2 * Self.blur), shown.grey.blurred(2 * Self.blur))
        matched = Self.decibels(Self.squares(wide.planes[0], Self.matched(wideShown.planes[0], to: wide.planes[0])))
    }

    /// The means of several results.
    init(meansOf several: [Likeness]) {
        let count = Double(several.count)
        psnr = several.map(\.psnr).reduce(0, +) / count
        ssim = several.map(\.ssim).reduce(0, +) / count
        matched = several.map(\.matched).reduce(0, +) / count
    }

    private static func decibels(_ square: Double) -> Double { 10 * log10(255 * 255 / max(square, 1e-9)) }

    private static func squares(_ one: [Float], _ two: [Float]) -> Double {
        zip(one, two).reduce(0) { $0 + Double(($1.0 - $1.1) * ($1.0 - $1.1)) } / Double(one.count)
    }

    private static func matched(_ shown: [Float], to original: [Float]) -> [Float] {
        let count = Double(shown.count)
        let (x, y) = (shown.reduce(0) { $0 + Double($1) } / count, original.reduce(0) { $0 + Double($1) } / count)
        let products = zip(shown, original).reduce(0) { $0 + (Double($1.0) - x) * (Double($1.1) - y) }
        let squares = shown.reduce(0) { $0 + (Double($1) - x) * (Double($1) - x) }
        let factor = squares > 0 ? products / squares : 0
        return shown.map { Float(y + factor * (Double($0) - x)) }
    }

    /// The mean over windows of 8 by 8 pixels, every four pixels.
    private static func similarity(_ one: Picture, _ two: Picture) -> Double {
        var (sum, count) = (0.0, 0.0)
        for top in stride(from: 0, through: one.height - 8, by: 4) {
            for left in stride(from: 0, through: one.width - 8, by: 4) {
                var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
                for y in top..<top + 8 {
                    for x in left..<left + 8 {
                        let (u, v) = (
                            Double(one.planes[0][y * one.width + x]), Double(two.planes[0][y * one.width + x])
                        )
                        (a, b, aa, bb, ab) = (a + u, b + v, aa + u * u, bb + v * v, ab + u * v)
                    }
                }
                (a, b, aa, bb, ab) = (a / 64, b / 64, aa / 64, bb / 64, ab / 64)
                let (c1, c2) = (6.5025, 58.5225)
                sum +=
                    (2 * a * b + c1) * (2 * (ab - a * b) + c2)
                    / ((a * a + b * b + c1) * (aa - a * a + bb - b * b + c2))
                count += 1
            }
        }
        return sum / count
    }
}
