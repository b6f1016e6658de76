/// A rectangle in a picture, in pixels. The edges of the rectangle may be inside pixels.
public struct PixelRect: Hashable, Sendable {
    /// The left edge.
    public var x: Double
    /// The upper edge.
    public var y: Double
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Creates a rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates a rectangle that covers a whole picture.
    public init(whole size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    /// Returns the rectangle with all numbers multiplied by `factor`.
    public func scaled(by factor: Double) -> PixelRect {
        PixelRect(x: x * factor, y: y * factor, width: width * factor, height: height * factor)
    }

    /// Returns the columns that the rectangle touches, out of `count`.
    public func columns(of count: Int) -> Range<Int> { Self.touched(from: x, length: width, of: count) }

    /// Returns the rows that the rectangle touches, out of `count`.
    public func rows(of count: Int) -> Range<Int> { Self.touched(from: y, length: height, of: count) }

    private static func touched(from start: Double, length: Double, of count: Int) -> Range<Int> {
        let first = Int(max(0, min(start, Double(count - 1))))
        let end = Int(max(0, min(start + length, Double(count))).rounded(.up))
        return first..<max(first + 1, end)
    }
}

/// A rectangle in the upright picture, in fractions of the picture's sides.
///
/// The rectangle is never empty and never extends beyond the picture. Its sides are large enough to divide by.
public struct UnitRect: Hashable, Sendable {
    /// The left edge, from 0 to 1.
    public let x: Double
    /// The upper edge, from 0 to 1.
    public let y: Double
    /// The width, above 0.
    public let width: Double
    /// The height, above 0.
    public let height: Double

    /// The whole picture.
    public static let whole = UnitRect(clampedX: 0, y: 0, width: 1, height: 1)

    /// Creates a rectangle. Returns nil if it is empty, has a NaN or extends beyond the picture. Rounding may cause an
    /// excess of up to a billionth, which this initialiser cuts off.
    public init?(x: Double, y: Double, width: Double, height: Double) {
        guard x >= 0, y >= 0, width >= Self.smallestSide, height >= Self.smallestSide,
            x + width <= 1 + Self.slack, y + height <= 1 + Self.slack,
            x < 1, y < 1
        else { return nil }
        self.init(clampedX: x, y: y, width: width, height: height)
    }

    /// Creates a rectangle, and limits it to the picture. The numbers may exceed the picture only by rounding errors.
    init(clampedX x: Double, y: Double, width: Double, height: Double) {
        self.x = max(0, x)
        self.y = max(0, y)
        self.width = min(width, 1 - self.x)
        self.height = min(height, 1 - self.y)
    }

    /// Returns the rectangle in pixels, for a picture of that size.
    public func scaled(to size: PixelSize) -> PixelRect {
        let horizontal = Double(size.width)
        let vertical = Double(size.height)
        return PixelRect(x: x * horizontal, y: y * vertical, width: width * horizontal, height: height * vertical)
    }

    private static let slack = 1e-9
    /// The smallest width and height: far below a pixel, but large enough to divide by.
    private static let smallestSide = 1e-12
}

/// A picture's width and height in pixels.
public struct PixelSize: Hashable, Sendable {
    /// The width.
    public var width: Int
    /// The height.
    public var height: Int

    /// Creates a size without checking it. Callers must check untrusted numbers.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size after a quarter turn.
    public var turned: PixelSize { PixelSize(width: height, height: width) }
}

/// The output size and visible part of a picture for one request.
///
/// The client and the decoder both compute the layout from the same values, so the decoder cannot lie about it.
public struct PictureLayout: Hashable, Sendable {
    /// The output's size, from 1 × 1 pixels to the size of the request's box.
    public let output: PixelSize
    /// The visible part of the turned picture. This is the request's region, or the middle of that region.
    public let region: UnitRect

    /// Creates the layout for an upright picture of `source` pixels, both sides above 0.
    ///
    /// If the request forbids enlarging, the scale is at most the one at which every source pixel is visible. For
    /// square output pixels, that is one output pixel per source pixel. Otherwise, there is one output pixel per source
    /// pixel along the longer side of the output pixels, and more along their shorter side.
    public init(of source: PixelSize, for request: DecodeRequest) {
        let region = request.region.scaled(to: request.turns.isMultiple(of: 2) ? source : source.turned)
        let box = request.box
        let aspect = request.pixelAspect
        // Lengths on the screen, in units of an output pixel's height.
        let widest = Double(box.width) * aspect
        let highest = Double(box.height)
        let ratios = (widest / region.width, highest / region.height)
        let wanted = request.fitting == .inside ? min(ratios.0, ratios.1) : max(ratios.0, ratios.1)
        let scale = request.enlarges ? wanted : min(wanted, max(1, aspect))

        output = PixelSize(
            width: Self.pixels(region.width * scale / aspect, atMost: box.width),
            height: Self.pixels(region.height * scale, atMost: box.height))
        self.region = Self.centred(
            request.region,
            horizontally: min(1, widest / (region.width * scale)),
            vertically: min(1, highest / (region.height * scale)))
    }

    private static func pixels(_ length: Double, atMost limit: Int) -> Int {
        max(1, Int(min(length, Double(limit)).rounded()))
    }

    /// Returns the middle of a region, with these fractions of its width and height.
    private static func centred(_ region: UnitRect, horizontally: Double, vertically: Double) -> UnitRect {
        UnitRect(
            clampedX: region.x + region.width * (1 - horizontally) / 2,
            y: region.y + region.height * (1 - vertically) / 2,
            width: region.width * horizontally,
            height: region.height * vertically)
    }
}
