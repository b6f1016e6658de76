/// Signal flags in eight flat colours, which suit a palette.
struct FlagPicture: Sendable {
    private let width = 360
    private let height = 240

    /// The picture.
    var png: PNGWriter {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels.append(level(x, y)) }
        }
        let palette: [UInt8] = [
            0x0E, 0x2A, 0x4E, 0xF6, 0xF2, 0xE6, 0xD0, 0x2A, 0x2C, 0xF6, 0xC4, 0x2A, 0x1C, 0x5C, 0xB0, 0x12,
            0x12, 0x16,
            0x2C, 0x8A, 0x58, 0x8A, 0x9A, 0xA8,
        ]
        return PNGWriter(width: width, height: height, kind: .palette, pixels: pixels, palette: palette)
    }

    /// Returns a pixel's palette index.
    private func level(_ x: Int, _ y: Int) -> UInt8 {
        let (column, row) = (x / 90, y / 120)
        let (u, v) = (x % 90 - 8, y % 120 - 14)
        guard (0..<74).contains(u), (0..<92).contains(v) else { return 0 }
        switch row * 4 + column {
        case 0: return u < 37 ? 1 : 4
        case 1: return (u / 19 + v / 23).isMultiple(of: 2) ? 1 : 4
        case 2: return (u - 37) * (u - 37) + (v - 46) * (v - 46) < 600 ? 2 : 1
        case 3: return u + v * 74 / 92 < 74 ? 3 : 2
        case 4: return abs(u - 37) < 9 || abs(v - 46) < 9 ? 2 : 1
        case 5: return v / 31 == 1 ? 3 : 4
        case 6: return min(u, 73 - u, v, 91 - v) < 14 ? 6 : (min(u, 73 - u, v, 91 - v) < 26 ? 1 : 2)
        default: return (u + v) / 18 % 2 == 0 ? 5 : 3
        }
    }
}
