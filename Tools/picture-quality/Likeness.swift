import Cells
import Foundation
import Pixels

/// The similarity of two pictures of the same size.
struct Likeness {
    /// The signal-to-noise ratio of all three channels, in decibels.
    let psnr: Double
    /// The structural similarity of brightness, both blurred, because a cell is seen from further away than a pixel.
    let ssim: Double
    /// The signal-to-noise ratio of brightness, both blurred, after matching brightness and contrast by a factor and
    /// an addition: letters are never as bright as the picture.
    let matched: Double
    /// The signal-to-noise ratio of the same blurred brightness as it is, without matching.
    let brightness: Double
    /// The mean brightness divided by the original's: the smallest and the largest of all photos, and the mean.
    let exposure: (least: Double, mean: Double, most: Double)

    private static let blur = 2

    init(_ original: Picture, _ shown: Picture) {
        psnr = Self.decibels(zip(original.planes, shown.planes).map { Self.squares($0, $1) }.reduce(0, +) / 3)
        let (one, two) = (original.grey.blurred(Self.blur), shown.grey.blurred(Self.blur))
        ssim = Self.similarity(one, two)
        let (wide, wideShown) = (original.grey.blurred(2 * Self.blur), shown.grey.blurred(2 * Self.blur))
        matched = Self.decibels(Self.squares(wide.planes[0], Self.matched(wideShown.planes[0], to: wide.planes[0])))
        brightness = Self.decibels(Self.squares(wide.planes[0], wideShown.planes[0]))
        let ratio = Self.sum(shown.grey.planes[0]) / max(1, Self.sum(original.grey.planes[0]))
        exposure = (ratio, ratio, ratio)
    }

    /// The means of several results.
    init(meansOf several: [Likeness]) {
        let count = Double(several.count)
        psnr = several.map(\.psnr).reduce(0, +) / count
        ssim = several.map(\.ssim).reduce(0, +) / count
        matched = several.map(\.matched).reduce(0, +) / count
        brightness = several.map(\.brightness).reduce(0, +) / count
        exposure = (
            several.map(\.exposure.least).min() ?? 0, several.map(\.exposure.mean).reduce(0, +) / count,
            several.map(\.exposure.most).max() ?? 0
        )
    }

    private static func sum(_ plane: [Float]) -> Double { plane.reduce(0) { $0 + Double($1) } }

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

/// A picture in floating point: three planes, 0 to 255.
struct Picture {
    let width: Int
    let height: Int
    var planes: [[Float]]

    init(_ buffer: PixelBuffer) {
        (width, height) = (buffer.width, buffer.height)
        planes = (0..<3).map { channel in
            (0..<buffer.width * buffer.height).map { Float(buffer.bytes[3 * $0 + channel]) }
        }
    }

    /// Renders cells.
    init(_ rows: [[ShownCell]], _ masks: GlyphMasks) throws {
        width = (rows.first?.count ?? 0) * GlyphMasks.width
        height = rows.count * GlyphMasks.height
        planes = Array(repeating: Array(repeating: 0, count: width * height), count: 3)
        for (row, cells) in rows.enumerated() {
            for (column, cell) in cells.enumerated() {
                for (place, share) in try masks.mask(cell.character).enumerated() {
                    let (x, y) = (
                        column * GlyphMasks.width + place % GlyphMasks.width,
                        row * GlyphMasks.height + place / GlyphMasks.width
                    )
                    let colour = cell.background + (cell.foreground - cell.background) * share
                    for channel in 0..<3 { planes[channel][y * width + x] = colour[channel] }
                }
            }
        }
    }

    init(width: Int, height: Int, planes: [[Float]]) {
        self.width = width
        self.height = height
        self.planes = planes
    }

    /// The picture in whole steps.
    var pixels: PixelBuffer {
        PixelBuffer(
            size: PixelSize(width: width, height: height),
            rows: (0..<width * height).flatMap { place in
                planes.map { UInt8(min(255, max(0, $0[place].rounded()))) }
            }, background: .black)
    }

    /// Brightness only.
    var grey: Picture {
        let luma = zip(planes[0], zip(planes[1], planes[2])).map { 0.299 * $0 + 0.587 * $1.0 + 0.114 * $1.1 }
        return Picture(width: width, height: height, planes: [luma])
    }

    /// Blurs with three box filters, nearly a Gaussian, as if seen from further away.
    func blurred(_ radius: Int) -> Picture {
        var result = self
        for channel in planes.indices {
            for _ in 0..<3 {
                result.planes[channel] = Self.boxed(
                    Self.boxed(result.planes[channel], width, height, 1, width, radius), height, width, width, 1, radius
                )
            }
        }
        return result
    }

    private static func boxed(
        _ plane: [Float], _ length: Int, _ lines: Int, _ step: Int, _ lineStep: Int, _ radius: Int
    ) -> [Float] {
        var result = plane
        for line in 0..<lines {
            for place in 0..<length {
                let range = max(0, place - radius)...min(length - 1, place + radius)
                var sum: Float = 0
                for other in range { sum += plane[line * lineStep + other * step] }
                result[line * lineStep + place * step] = sum / Float(range.count)
            }
        }
        return result
    }
}
