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
