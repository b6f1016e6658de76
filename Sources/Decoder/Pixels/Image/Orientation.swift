/// The turn or reflection that makes a stored picture upright. The numbers are those of EXIF's tag 0x0112.
///
/// "6 = The 0th row is the visual right-hand side of the image, and the 0th column is the visual top" (EXIF 2.32, 4.6.4
/// A): such a picture must be turned clockwise by a quarter.
public enum Orientation: UInt8, Hashable, Sendable, CaseIterable {
    /// The picture is stored upright.
    case upright = 1
    /// Left and right are exchanged.
    case mirrored = 2
    /// The picture is turned by 180°.
    case turnedHalf = 3
    /// Top and bottom are exchanged.
    case flipped = 4
    /// The picture is mirrored along the diagonal from the upper left.
    case transposed = 5
    /// The picture needs a quarter turn clockwise.
    case turnedRight = 6
    /// The picture is mirrored along the diagonal from the lower left.
    case transversed = 7
    /// The picture needs a quarter turn anticlockwise.
    case turnedLeft = 8

    /// Reads the number of an EXIF orientation. Values that EXIF does not define (0, 9 and above) mean upright.
    public init(exif number: Int) {
        self = UInt8(exactly: number).flatMap(Orientation.init(rawValue:)) ?? .upright
    }

    /// Whether turning the picture upright exchanges width and height.
    public var exchangesSides: Bool { rawValue >= Self.transposed.rawValue }

    /// Returns this orientation followed by clockwise quarter turns.
    public func turned(by quarters: Int) -> Orientation {
        // In each circle, a clockwise quarter turn of an element gives the next element.
        let circles: [[Orientation]] = [
            [.upright, .turnedRight, .turnedHalf, .turnedLeft], [.mirrored, .transversed, .flipped, .transposed],
        ]
        for circle in circles {
            if let index = circle.firstIndex(of: self) { return circle[(index + quarters) & 3] }
        }
        return self
    }

    /// Converts the size of a stored picture to the upright size, or the reverse.
    public func turned(_ size: PixelSize) -> PixelSize { exchangesSides ? size.turned : size }

    /// Converts a part of the upright picture to a part of the stored picture.
    public func stored(_ upright: UnitRect) -> UnitRect {
        let (x, y) = (upright.x, upright.y)
        let (width, height) = (upright.width, upright.height)
        let (fromRight, fromBottom) = (1 - x - width, 1 - y - height)
        return switch self {
        case .upright: upright
        case .mirrored: UnitRect(clampedX: fromRight, y: y, width: width, height: height)
        case .turnedHalf: UnitRect(clampedX: fromRight, y: fromBottom, width: width, height: height)
        case .flipped: UnitRect(clampedX: x, y: fromBottom, width: width, height: height)
        case .transposed: UnitRect(clampedX: y, y: x, width: height, height: width)
        case .turnedRight: UnitRect(clampedX: y, y: fromRight, width: height, height: width)
        case .transversed: UnitRect(clampedX: fromBottom, y: fromRight, width: height, height: width)
        case .turnedLeft: UnitRect(clampedX: fromBottom, y: x, width: height, height: width)
        }
    }

    /// Turns a stored picture upright.
    public func turned(_ stored: PixelBuffer) -> PixelBuffer {
        guard self != .upright else { return stored }
        let size = turned(stored.size)
        let steps = steps(through: stored.size)
        let bytes = [UInt8](unsafeUninitializedCapacity: stored.bytes.count) { target, count in
            stored.bytes.withUnsafeBufferPointer { source in
                for row in 0..<size.height {
                    var pixel = (steps.start + row * steps.down) * PixelBuffer.bytesPerPixel
                    for _ in 0..<size.width {
                        target[count] = source[pixel]
                        target[count + 1] = source[pixel + 1]
                        target[count + 2] = source[pixel + 2]
                        count += PixelBuffer.bytesPerPixel
                        pixel += steps.right * PixelBuffer.bytesPerPixel
                    }
                }
            }
        }
        return PixelBuffer(size: size, rows: bytes, background: .black)
    }

    /// Returns the upright picture's order of stored pixels. `start` is the index of its first pixel. To get the index
    /// of a right or lower neighbour in the upright picture, add `right` or `down` to a pixel's index.
    private func steps(through stored: PixelSize) -> (start: Int, right: Int, down: Int) {
        let (width, height) = (stored.width, stored.height)
        let (lastColumn, lastRow) = (width - 1, (height - 1) * width)
        return switch self {
        case .upright: (0, 1, width)
        case .mirrored: (lastColumn, -1, width)
        case .turnedHalf: (lastRow + lastColumn, -1, -width)
        case .flipped: (lastRow, 1, -width)
        case .transposed: (0, width, 1)
        case .turnedRight: (lastRow, -width, 1)
        case .transversed: (lastRow + lastColumn, -width, -1)
        case .turnedLeft: (lastColumn, width, -1)
        }
    }
}
