/// A part of a picture in its pixels; the edges may cut through pixels.
public struct PixelRect: Hashable, Sendable {
    /// The left edge.
    public var x: Double
    /// The upper edge.
    public var y: Double
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Takes the numbers as they are.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// All of a picture of that size.
    public init(whole size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    /// The same part of the picture enlarged by `factor`.
    public func scaled(by factor: Double) -> PixelRect {
        PixelRect(x: x * factor, y: y * factor, width: width * factor, height: height * factor)
    }

    /// The columns it touches, of `count` there are.
    public func columns(of count: Int) -> Range<Int> { Self.touched(from: x, length: width, of: count) }

    /// The rows it touches, of `count` there are.
    public func rows(of count: Int) -> Range<Int> { Self.touched(from: y, length: height, of: count) }

    private static func touched(from start: Double, length: Double, of count: Int) -> Range<Int> {
        let first = Int(max(0, min(start, Double(count - 1))))
        let end = Int(max(0, min(start + length, Double(count))).rounded(.up))
        return first..<max(first + 1, end)
    }
}
