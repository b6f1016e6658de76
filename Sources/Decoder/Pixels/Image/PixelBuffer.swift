/// A picture in memory. The pixels are opaque sRGB, 8 bits per channel, in RGB order, in rows from the top without
/// padding.
///
///     let red = PixelBuffer(size: PixelSize(width: 2, height: 1), bytes: [255, 0, 0, 255, 0, 0])
public struct PixelBuffer: Hashable, Sendable {
    /// The number of bytes per pixel.
    public static let bytesPerPixel = 3

    /// The picture's size, both sides above 0.
    public let size: PixelSize
    /// The pixels: `3 × width × height` bytes.
    public let bytes: [UInt8]

    /// The width in pixels.
    public var width: Int { size.width }
    /// The height in pixels.
    public var height: Int { size.height }

    /// Creates a picture. Returns nil if the number of bytes does not match the size.
    public init?(size: PixelSize, bytes: [UInt8]) {
        guard size.width > 0, size.height > 0, Self.byteCount(of: size) == bytes.count else { return nil }
        self.size = size
        self.bytes = bytes
    }

    /// Creates a picture from rows. Missing rows at the bottom get the background colour.
    public init(size: PixelSize, rows: [UInt8], background: PixelColor) {
        precondition(size.width > 0 && size.height > 0, "a picture must have pixels")
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

    /// Returns the number of bytes for a size. Returns nil if the number overflows, which an untrusted size can cause.
    public static func byteCount(of size: PixelSize) -> Int? {
        let (pixels, tooMany) = size.width.multipliedReportingOverflow(by: size.height)
        let (bytes, tooLong) = pixels.multipliedReportingOverflow(by: bytesPerPixel)
        return tooMany || tooLong || bytes < 0 ? nil : bytes
    }
}

extension PixelBuffer {
    /// Scales a part of the picture. Each pixel of the result is the mean of the pixels that it covers.
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

/// A colour in sRGB.
public struct PixelColor: Hashable, Sendable {
    /// The red value, from 0 to 255.
    public var red: UInt8
    /// The green value, from 0 to 255.
    public var green: UInt8
    /// The blue value, from 0 to 255.
    public var blue: UInt8

    /// Creates a colour.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Black, the usual background of terminals.
    public static let black = PixelColor(red: 0, green: 0, blue: 0)
}
