import Cells
import Pixels

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
