/// Writes PNG files (ISO/IEC 15948) with eight bits per sample.
struct PNGWriter: Sendable {
    /// The meaning of a pixel's bytes.
    enum Kind: UInt8, Sendable {
        case grey = 0
        case colour = 2
        case palette = 3
        case greyWithAlpha = 4
        case colourWithAlpha = 6

        /// Bytes per pixel.
        var bytesPerPixel: Int {
            switch self {
            case .grey, .palette: 1
            case .greyWithAlpha: 2
            case .colour: 3
            case .colourWithAlpha: 4
            }
        }
    }

    var width: Int
    var height: Int
    var kind: Kind
    /// The pixels row by row, without padding.
    var pixels: [UInt8]
    /// Three bytes per colour, for `Kind.palette`.
    var palette: [UInt8] = []
    /// Whether to use the seven passes of Adam7 interlacing.
    var interlaced = false

    /// The whole file.
    var file: [UInt8] {
        var header = ByteSink(.bigEndian)
        header.append32(UInt32(width))
        header.append32(UInt32(height))
        header.append([8, kind.rawValue, 0, 0, interlaced ? 1 : 0])

        var result: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        result += Self.chunk("IHDR", header.bytes)
        if kind == .palette { result += Self.chunk("PLTE", palette) }
        result += Self.chunk("IDAT", Deflater.zlib(scanlines()))
        return result + Self.chunk("IEND", [])
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        var chunk = ByteSink(.bigEndian)
        let named = Array(name.utf8) + content
        chunk.append32(UInt32(content.count))
        chunk.append(named)
        chunk.append32(Checksum.crc32(named))
        return chunk.bytes
    }

    private func scanlines() -> [UInt8] {
        guard interlaced else { return pass(x: 0, y: 0, stepX: 1, stepY: 1) }
        let passes = [
            (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
        ]
        return passes.flatMap { pass(x: $0.0, y: $0.1, stepX: $0.2, stepY: $0.3) }
    }

    /// The filtered rows of every `stepX`th pixel of every `stepY`th row.
    private func pass(x: Int, y: Int, stepX: Int, stepY: Int) -> [UInt8] {
        let size = kind.bytesPerPixel
        guard x < width else { return [] }
        var above = [UInt8](repeating: 0, count: (width - x + stepX - 1) / stepX * size)
        var result: [UInt8] = []
        for row in stride(from: y, to: height, by: stepY) {
            let line = stride(from: x, to: width, by: stepX).flatMap { column in
                let at = (row * width + column) * size
                return pixels[at..<at + size]
            }
            result += PNGFilter.best(line, above: above, bytesPerPixel: size, allowed: kind != .palette)
            above = line
        }
        return result
    }
}

/// The five PNG filters, which predict a byte from its neighbours.
enum PNGFilter: UInt8, CaseIterable {
    case plain = 0
    case left = 1
    case above = 2
    case mean = 3
    case paeth = 4

    /// Returns a filtered row, preceded by its filter's number.
    ///
    /// Chooses the filter with the smallest differences, or none if filters are not `allowed`: palette indices do not
    /// predict each other.
    static func best(_ line: [UInt8], above: [UInt8], bytesPerPixel: Int, allowed: Bool) -> [UInt8] {
        guard allowed else { return [plain.rawValue] + line }
        var best: [UInt8] = []
        var least = Int.max
        for filter in allCases {
            let left = filter.apply(line, above, bytesPerPixel)
            let cost = left.reduce(0) { $0 + Int(min($1, 255 - $1)) }
            if cost < least {
                least = cost
                best = [filter.rawValue] + left
            }
        }
        return best
    }

    private func apply(_ line: [UInt8], _ above: [UInt8], _ step: Int) -> [UInt8] {
        line.indices.map { index in
            let a = index >= step ? Int(line[index - step]) : 0
            let b = Int(above[index])
            let c = index >= step ? Int(above[index - step]) : 0
            let foretold =
                switch self {
                case .plain: 0
                case .left: a
                case .above: b
                case .mean: (a + b) / 2
                case .paeth: Self.nearest(a, b, c)
                }
            return line[index] &- UInt8(foretold)
        }
    }

    /// Returns the one of three neighbours that is nearest to a linear prediction.
    private static func nearest(_ a: Int, _ b: Int, _ c: Int) -> Int {
        let guess = a + b - c
        let (toA, toB, toC) = (abs(guess - a), abs(guess - b), abs(guess - c))
        if toA <= toB && toA <= toC { return a }
        return toB <= toC ? b : c
    }
}
