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
