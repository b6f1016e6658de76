/// A simple JPEG file, decoded by memory-safe code that can reach no other picture's memory.
///
/// Every index is checked and no pointer is used.
///
///     guard let picture = BaselinePicture(bytes), let small = picture.decoded(eighths: 2) else {
///         return // Unusual or damaged: use a decoder confined to this picture.
///     }
///
/// It decodes baseline JPEGs with 8 bits, grey or YCbCr in one scan, with chroma at full or half resolution. It
/// declines all others: progressive files, CMYK, metadata that may contain an orientation or a profile, and any
/// damage.
public struct BaselinePicture: Sendable {
    /// The picture's width in pixels, before scaling.
    public let width: Int
    /// The picture's height in pixels, before scaling.
    public let height: Int

    /// The file.
    private let bytes: [UInt8]
    private let header: Header

    /// Reads the header, up to the start of the scan. `nil` if this decoder declines the file.
    ///
    /// The scan is not read here, so `decoded` may still decline the picture.
    public init?(_ bytes: [UInt8]) {
        var reader = HeaderReader(bytes)
        guard let header = reader.header() else { return nil }
        self.bytes = bytes
        self.header = header
        width = header.width
        height = header.height
    }

    /// Decodes at `eighths`/8 of the size, rounded up; `eighths` is 1, 2, 4 or 8. `nil` if the file is damaged.
    ///
    /// Each pixel of a smaller picture is the mean of those it covers. Bytes after the end of the image are ignored.
    public func decoded(eighths: Int) -> BaselinePixels? {
        guard eighths == 1 || eighths == 2 || eighths == 4 || eighths == 8 else { return nil }
        guard let scan = ScanWords(bytes, from: header.scanStart, intervals: header.intervals) else { return nil }
        // A block takes at least two bits: its first coefficient and its end. So a few bytes cannot claim the memory
        // of a large picture.
        guard scan.bits / 2 >= header.blocks else { return nil }
        return ScanDecoder(header, eighths: eighths).decode(scan)
    }
}

/// A decoded picture.
///
///     let top = pixels.bytes[..<(3 * pixels.width)]  // the first row: red, green, blue, red, ...
public struct BaselinePixels: Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// RGB, three bytes per pixel, rows from the top without padding.
    public let bytes: [UInt8]
}
