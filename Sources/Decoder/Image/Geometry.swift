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

/// A part of a picture, in fractions of the upright picture's sides: `UnitRect.whole` is all of it.
///
/// A rectangle is never empty, never reaches over the edges, and its numbers can be divided by.
public struct UnitRect: Hashable, Sendable {
    /// The left edge, 0…1.
    public let x: Double
    /// The upper edge, 0…1.
    public let y: Double
    /// The width, above 0.
    public let width: Double
    /// The height, above 0.
    public let height: Double

    /// The whole picture.
    public static let whole = UnitRect(clampedX: 0, y: 0, width: 1, height: 1)

    /// Fails for what is empty, not a number or outside. An overlap of a billionth, as sums of fractions leave it, is
    /// cut off.
    public init?(x: Double, y: Double, width: Double, height: Double) {
        guard x >= 0, y >= 0, width >= Self.smallestSide, height >= Self.smallestSide,
            x + width <= 1 + Self.slack, y + height <= 1 + Self.slack,
            x < 1, y < 1
        else { return nil }
        self.init(clampedX: x, y: y, width: width, height: height)
    }

    /// For rectangles that are inside but for what rounding adds.
    init(clampedX x: Double, y: Double, width: Double, height: Double) {
        self.x = max(0, x)
        self.y = max(0, y)
        self.width = min(width, 1 - self.x)
        self.height = min(height, 1 - self.y)
    }

    /// The same part in pixels of a picture of that size.
    public func scaled(to size: PixelSize) -> PixelRect {
        let horizontal = Double(size.width)
        let vertical = Double(size.height)
        return PixelRect(x: x * horizontal, y: y * vertical, width: width * horizontal, height: height * vertical)
    }

    private static let slack = 1e-9
    /// Far below a pixel of any picture, far above what dividing by it would make infinite.
    private static let smallestSide = 1e-12
}

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
