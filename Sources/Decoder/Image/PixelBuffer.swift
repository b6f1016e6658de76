/// A picture in memory: sRGB, 8 bits a channel, red first, rows from the top, opaque, without padding.
///
///     let red = PixelBuffer(size: PixelSize(width: 2, height: 1), bytes: [255, 0, 0, 255, 0, 0])
public struct PixelBuffer: Hashable, Sendable {
    /// Bytes a pixel.
    public static let bytesPerPixel = 3

    /// The picture's sides, both above 0.
    public let size: PixelSize
    /// `3 × width × height` bytes.
    public let bytes: [UInt8]

    /// Pixels in a row.
    public var width: Int { size.width }
    /// Rows.
    public var height: Int { size.height }

    /// Fails when the bytes are not as many as the size says.
    public init?(size: PixelSize, bytes: [UInt8]) {
        guard size.width > 0, size.height > 0, Self.byteCount(of: size) == bytes.count else { return nil }
        self.size = size
        self.bytes = bytes
    }

    /// Takes the rows that came, as far as they go, and fills what is missing at the bottom with `background`.
    public init(size: PixelSize, rows: [UInt8], background: PixelColor) {
        precondition(size.width > 0 && size.height > 0, "a picture has pixels")
        let wanted = size.width * size.height * Self.bytesPerPixel
        precondition(rows.count <= wanted && rows.count % Self.bytesPerPixel == 0, "more rows than the picture has")
        self.size = size
        var bytes = rows
        if rows.count < wanted {
            bytes.reserveCapacity(wanted)
            while bytes.count < wanted {
                bytes.append(background.red)
                bytes.append(background.green)
                bytes.append(background.blue)
            }
        }
        self.bytes = bytes
    }

    /// The bytes a picture of that size takes, or nothing where that is no number: sizes come from outside.
    public static func byteCount(of size: PixelSize) -> Int? {
        let (pixels, tooMany) = size.width.multipliedReportingOverflow(by: size.height)
        let (bytes, tooLong) = pixels.multipliedReportingOverflow(by: bytesPerPixel)
        return tooMany || tooLong || bytes < 0 ? nil : bytes
    }
}

extension PixelBuffer {
    /// A part of the picture at another size: each pixel is the mean of those that it stands for.
    public func scaled(_ part: PixelRect, to size: PixelSize) -> PixelBuffer {
        var filter = AreaFilter(source: self.size, region: part, output: size)
        var rows: [UInt8] = []
        rows.reserveCapacity(Self.byteCount(of: size) ?? 0)
        let length = width * Self.bytesPerPixel
        bytes.withUnsafeBufferPointer { bytes in
            for row in filter.sourceRows {
                filter.add(
                    row: UnsafeBufferPointer(rebasing: bytes[row * length..<(row + 1) * length]),
                    appendingOutputTo: &rows)
            }
        }
        return PixelBuffer(size: size, rows: rows, background: .black)
    }
}

/// One colour in sRGB.
public struct PixelColor: Hashable, Sendable {
    /// Red, 0…255.
    public var red: UInt8
    /// Green, 0…255.
    public var green: UInt8
    /// Blue, 0…255.
    public var blue: UInt8

    /// Makes a colour of its three parts.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// What a terminal shows behind everything unless told otherwise.
    public static let black = PixelColor(red: 0, green: 0, blue: 0)
}
