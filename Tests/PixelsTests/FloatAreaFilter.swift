import Pixels

/// The textbook area filter: overlaps in floating point, no rounding.
struct FloatAreaFilter {
    private(set) var samples: [Double] = []

    init(_ picture: PixelBuffer, _ region: PixelRect, _ output: PixelSize) {
        let columns = Self.overlaps(region.x, region.width, picture.width, output.width)
        let rows = Self.overlaps(region.y, region.height, picture.height, output.height)
        for row in rows {
            for column in columns {
                for channel in 0..<3 {
                    var sum = 0.0
                    for (y, rowWeight) in row {
                        for (x, weight) in column {
                            sum += Double(picture.bytes[(y * picture.width + x) * 3 + channel]) * weight * rowWeight
                        }
                    }
                    samples.append(sum)
                }
            }
        }
    }

    /// For each output pixel, the source pixels it covers, with weights that sum to 1.
    private static func overlaps(
        _ start: Double, _ length: Double, _ sourceCount: Int, _ count: Int
    ) -> [[(index: Int, weight: Double)]] {
        let span = length / Double(count)
        return (0..<count).map { index in
            let (from, to) = (start + Double(index) * span, start + Double(index + 1) * span)
            let touched = Int(from)...min(sourceCount - 1, Int(to))
            return touched.map { ($0, max(0, min(to, Double($0 + 1)) - max(from, Double($0))) / span) }
        }
    }
}
