/// A finished picture: eight bits per channel in sRGB, row by row from the top.
struct Raster: Sendable, Equatable {
    let width: Int
    let height: Int
    var bytes: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 0, count: width * height * 3)
    }

    /// Returns the sRGB value of a linear one, both from 0 to 1.
    static func encoded(_ v: Float) -> Float {
        v <= 0.003_130_8 ? v * 12.92 : 1.055 * pow(min(v, 1), 1 / 2.4) - 0.055
    }

    /// Returns a smaller picture of the same proportions, averaging light.
    func reduced(longerSide: Int) -> Raster {
        let longest = max(width, height)
        guard longest > longerSide else { return self }
        let newWidth = max((width * longerSide + longest / 2) / longest, 1)
        let newHeight = max((height * longerSide + longest / 2) / longest, 1)
        let table = (0..<256).map { level in
            let v = Float(level) / 255
            return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
        }
        let columns = Self.spans(from: width, to: newWidth)
        let rows = Self.spans(from: height, to: newHeight)
        var small = Raster(width: newWidth, height: newHeight)
        for y in 0..<newHeight {
            for x in 0..<newWidth {
                var sum = Vec3.zero
                var total: Float = 0
                for (row, rowShare) in rows[y] {
                    for (column, columnShare) in columns[x] {
                        let at = (row * width + column) * 3
                        let light = Vec3(
                            table[Int(bytes[at])], table[Int(bytes[at + 1])], table[Int(bytes[at + 2])])
                        sum += light * (rowShare * columnShare)
                        total += rowShare * columnShare
                    }
                }
                let at = (y * newWidth + x) * 3
                for channel in 0..<3 {
                    small.bytes[at + channel] = UInt8(Self.encoded(sum[channel] / total) * 255 + 0.5)
                }
            }
        }
        return small
    }

    /// For each new pixel of a row, the old pixels it covers and their weights.
    private static func spans(from old: Int, to new: Int) -> [[(Int, Float)]] {
        (0..<new).map { index in
            // Integer arithmetic avoids rounding: old pixels are `new` wide and new ones `old` wide.
            let start = index * old
            let end = start + old
            return (start / new...(end - 1) / new).map { pixel in
                let overlap = min(end, (pixel + 1) * new) - max(start, pixel * new)
                return (pixel, Float(overlap) / Float(new))
            }
        }
    }
}

/// How stored pixels must be turned to be upright, numbered as in EXIF.
enum Orientation: UInt16, Sendable, CaseIterable {
    case upright = 1
    case mirrored = 2
    case halfTurned = 3
    case flipped = 4
    case transposed = 5
    case quarterTurnedLeft = 6
    case transversed = 7
    case quarterTurnedRight = 8

    /// Whether the stored picture's width is the upright one's height.
    var swapsSides: Bool { rawValue >= 5 }

    /// Returns the pixels to store so that a viewer shows `seen`.
    func stored(_ seen: Raster) -> Raster {
        guard self != .upright else { return seen }
        var result = Raster(
            width: swapsSides ? seen.height : seen.width, height: swapsSides ? seen.width : seen.height)
        for y in 0..<result.height {
            for x in 0..<result.width {
                let (seenX, seenY) = place(x, y, result.width - 1, result.height - 1)
                let from = (seenY * seen.width + seenX) * 3
                let to = (y * result.width + x) * 3
                for channel in 0..<3 {
                    result.bytes[to + channel] = seen.bytes[from + channel]
                }
            }
        }
        return result
    }

    /// Returns the upright position of the stored pixel (x, y), given the last stored column and row.
    private func place(_ x: Int, _ y: Int, _ lastX: Int, _ lastY: Int) -> (Int, Int) {
        switch self {
        case .upright: (x, y)
        case .mirrored: (lastX - x, y)
        case .halfTurned: (lastX - x, lastY - y)
        case .flipped: (x, lastY - y)
        case .transposed: (y, x)
        case .quarterTurnedLeft: (lastY - y, x)
        case .transversed: (lastY - y, lastX - x)
        case .quarterTurnedRight: (y, lastX - x)
        }
    }
}
