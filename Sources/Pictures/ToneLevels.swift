import Glibc
import Pixels

/// Spreads a picture's tones over all that there is to show: a foggy morning drawn with letters would else be one letter.
struct ToneLevels {
    private let darkest: Double
    private let range: Double

    /// Leaves out the darkest and the brightest hundredth, so that a single lamp does not keep the rest dark.
    init(_ picture: PixelBuffer) {
        var histogram = [Int](repeating: 0, count: 256)
        for pixel in 0..<picture.width * picture.height {
            let place = 3 * pixel
            let colour = (picture.bytes[place], picture.bytes[place + 1], picture.bytes[place + 2])
            histogram[Int(Self.brightness(colour))] += 1
        }
        let outliers = picture.width * picture.height / 100
        let low = Self.level(histogram, passing: outliers, from: Array(0...255))
        let high = Self.level(histogram, passing: outliers, from: (0...255).reversed())
        // Not more than fourfold: noise in a white wall is not a picture.
        let spread = max(64, high - low)
        darkest = Double(max(0, min(low, 255 - spread)))
        range = Double(spread)
    }

    /// 0 for the darkest, 1 for the brightest. Letters fill little of their cells, so middle tones are kept low, or the
    /// bright ones would have nothing to stand out from.
    func tone(of colour: (UInt8, UInt8, UInt8)) -> Float {
        Float(pow(min(1, max(0, (Self.brightness(colour) - darkest) / range)), 1.4))
    }

    /// In sRGB's own steps, which are about as even to the eye as letters are.
    private static func brightness(_ colour: (UInt8, UInt8, UInt8)) -> Double {
        0.299 * Double(colour.0) + 0.587 * Double(colour.1) + 0.114 * Double(colour.2)
    }

    private static func level(_ histogram: [Int], passing count: Int, from levels: [Int]) -> Int {
        var passed = 0
        for level in levels {
            passed += histogram[level]
            if passed > count { return level }
        }
        return levels[levels.count - 1]
    }
}
