/// A simple JPEG file and a memory-safe decoder for it.
///
/// The code checks every index and uses no pointer, so a damaged file cannot reach the memory of another picture.
///
///     guard let picture = BaselinePicture(bytes), let small = picture.decoded(eighths: 2) else {
///         return // Unusual or damaged: use a decoder confined to this picture.
///     }
///
/// The decoder supports baseline JPEGs with 8 bits, grey or YCbCr in one scan, with chroma at full or half resolution.
/// It declines all other files: progressive files, CMYK, files whose metadata may contain an orientation or a profile,
/// and damaged files.
public struct BaselinePicture: Sendable {
    /// The picture's width in pixels, before scaling.
    public let width: Int
    /// The picture's height in pixels, before scaling.
    public let height: Int

    /// The bytes of the whole file.
    private let bytes: [UInt8]
    private let header: Header

    /// Reads the file's header, up to the start of the scan. Returns nil if this decoder does not support the file.
    ///
    /// This initialiser does not read the scan, so `decoded` may still decline the picture.
    public init?(_ bytes: [UInt8]) {
        var reader = HeaderReader(bytes)
        guard let header = reader.header() else { return nil }
        self.bytes = bytes
        self.header = header
        width = header.width
        height = header.height
    }

    /// Decodes at `eighths`/8 of the size, rounded up; `eighths` is 1, 2, 4 or 8. Returns nil if the file is damaged.
    ///
    /// Each pixel of a smaller picture is the mean of the pixels that it covers. The decoder ignores bytes after the
    /// end of the image.
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
    /// The RGB bytes, three per pixel, in rows from the top without padding.
    public let bytes: [UInt8]
}
