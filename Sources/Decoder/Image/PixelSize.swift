/// The number of pixels along a picture's two sides.
public struct PixelSize: Hashable, Sendable {
    /// Pixels in a row.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Takes the sides as they are; who reads them from outside checks them.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The same picture after a quarter turn.
    public var turned: PixelSize { PixelSize(width: height, height: width) }
}
