/// A JPEG file of the plainest kind, decoded by code that cannot reach another picture's memory: every index is checked,
/// and no pointer is ever formed.
///
///     guard let picture = BaselinePicture(bytes), let small = picture.decoded(eighths: 2) else {
///         return // Not for this decoder: unusual or damaged. Ask one that is confined to this picture.
///     }
///
/// Plain means: baseline, 8 bits, grey or YCbCr in one scan, chroma whole or halved in either direction. Everything else
/// is declined: progressive files, CMYK, metadata that could turn the picture or give it a profile. So is all damage; there
/// is no such thing as half a picture here.
public struct BaselinePicture: Sendable {
    /// The picture's width in pixels, before scaling.
    public let width: Int
    /// The picture's height in pixels, before scaling.
    public let height: Int

    /// The file.
    private let bytes: [UInt8]
    private let header: Header

    /// Reads the header, up to where the scan begins. `nil` for everything that is not for this decoder.
    ///
    /// The scan is not looked at, so a picture that starts well may still be declined by `decoded`.
    public init?(_ bytes: [UInt8]) {
        var reader = HeaderReader(bytes)
        guard let header = reader.header() else { return nil }
        self.bytes = bytes
        self.header = header
        width = header.width
        height = header.height
    }

    /// Decodes at `eighths`/8 of the size, rounded up; `eighths` is 1, 2, 4 or 8. `nil` if the file is damaged in any way.
    ///
    /// Each pixel of a smaller picture is the mean of those that it stands for. Bytes after the end of the image are
    /// ignored.
    public func decoded(eighths: Int) -> BaselinePixels? {
        guard eighths == 1 || eighths == 2 || eighths == 4 || eighths == 8 else { return nil }
        guard let scan = ScanWords(bytes, from: header.scanStart, intervals: header.intervals) else { return nil }
        // A block takes two bits at least, one for the first coefficient and one for the end. So nobody gets the memory
        // for a large picture for a few bytes.
        guard scan.bits / 2 >= header.blocks else { return nil }
        return ScanDecoder(header, eighths: eighths).decode(scan)
    }
}

/// A decoded picture.
///
///     let top = pixels.bytes[..<(3 * pixels.width)]  // the first row: red, green, blue, red, ...
public struct BaselinePixels: Sendable {
    /// Pixels in a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// RGB, three bytes a pixel, the rows from the top without padding.
    public let bytes: [UInt8]
}
