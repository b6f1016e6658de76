import Foundation
import Pixels
import TestSupport

extension PixelBuffer {
    /// Creates a picture from a function of column and row.
    public init(width: Int, height: Int, _ color: (Int, Int) -> PixelColor) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let color = color(x, y)
                bytes += [color.red, color.green, color.blue]
            }
        }
        self.init(size: PixelSize(width: width, height: height), rows: bytes, background: .black)
    }

    /// An asymmetrical picture with contents in every corner: gradients, a disc, a bar.
    public static func scene(width: Int, height: Int) -> PixelBuffer {
        PixelBuffer(width: width, height: height) { x, y in
            let (u, v) = (Double(x) / Double(width), Double(y) / Double(height))
            if (u - 0.3) * (u - 0.3) + (v - 0.4) * (v - 0.4) < 0.03 { return PixelColor(red: 220, green: 60, blue: 40) }
            if u > 0.7, v > 0.2, v < 0.35 { return PixelColor(red: 30, green: 190, blue: 90) }
            let wave = 40 * sin(u * 9) * cos(v * 7)
            return PixelColor(
                red: UInt8(40 + 150 * u), green: UInt8(90 + wave), blue: UInt8(200 - 150 * v))
        }
    }

    /// A picture whose pixels all differ from their neighbours.
    public static func noise(width: Int, height: Int, seed: UInt64 = 1) -> PixelBuffer {
        var random = SeededNumbers(seed: seed)
        return PixelBuffer(width: width, height: height) { _, _ in
            let bits = random.next()
            return PixelColor(
                red: UInt8(truncatingIfNeeded: bits), green: UInt8(truncatingIfNeeded: bits >> 8),
                blue: UInt8(truncatingIfNeeded: bits >> 16))
        }
    }

    /// Returns one pixel.
    public func color(_ x: Int, _ y: Int) -> PixelColor {
        let start = (y * width + x) * 3
        return PixelColor(red: bytes[start], green: bytes[start + 1], blue: bytes[start + 2])
    }

    /// Returns the pixels of some columns and rows.
    public func cropped(_ columns: Range<Int>, _ rows: Range<Int>) -> PixelBuffer {
        PixelBuffer(width: columns.count, height: rows.count) {
            color($0 + columns.lowerBound, $1 + rows.lowerBound)
        }
    }

    /// Returns the peak signal-to-noise ratio in decibels; infinite for equal pictures.
    public func psnr(_ other: PixelBuffer) -> Double {
        guard size == other.size else { return -.infinity }
        var sum = 0
        for (one, two) in zip(bytes, other.bytes) {
            let difference = Int(one) - Int(two)
            sum += difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(bytes.count) / Double(sum))
    }

    /// Returns the largest difference of two bytes.
    public func largestDifference(_ other: PixelBuffer) -> Int {
        guard size == other.size else { return .max }
        return zip(bytes, other.bytes).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    /// The picture as binary PPM.
    public var ppm: [UInt8] { Array("P6\n\(width) \(height)\n255\n".utf8) + bytes }
}
