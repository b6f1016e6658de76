import Glibc
import Pixels

/// Spreads a picture's tones over all that there is to show: a foggy morning drawn with letters would else be one letter.
struct ToneLevels {
    /// By a pixel's brightness: 0 for the darkest, 1 for the brightest.
    private let levels: [Float]
    /// The same for letters.
    private let tones: [Float]

    /// Leaves out the darkest and the brightest hundredth, so that a single lamp does not keep the rest dark.
    init(_ picture: PixelBuffer) {
        var histogram = [Int](repeating: 0, count: 256)
        for pixel in 0..<picture.width * picture.height { histogram[Self.brightness(pixel, picture)] += 1 }
        let outliers = picture.width * picture.height / 100
        let low = Self.level(histogram, passing: outliers, from: Array(0...255))
        let high = Self.level(histogram, passing: outliers, from: (0...255).reversed())
        // Not more than fourfold: noise in a white wall is not a picture.
        let spread = max(64, high - low)
        let darkest = max(0, min(low, 255 - spread))
        levels = (0...255).map { min(1, max(0, Float($0 - darkest) / Float(spread))) }
        tones = levels.map { pow($0, 1.4) }
    }

    /// 0 for the darkest, 1 for the brightest.
    func brightness(at pixel: Int, of picture: PixelBuffer) -> Float { levels[Self.brightness(pixel, picture)] }

    /// The same for letters, which fill little of their cells: middle tones are kept low, or the bright ones would have
    /// nothing to stand out from.
    func tone(at pixel: Int, of picture: PixelBuffer) -> Float { tones[Self.brightness(pixel, picture)] }

    /// In sRGB's own steps, which are about as even to the eye as letters are.
    private static func brightness(_ pixel: Int, _ picture: PixelBuffer) -> Int {
        picture.bytes.withUnsafeBufferPointer { bytes in
            (299 * Int(bytes[3 * pixel]) + 587 * Int(bytes[3 * pixel + 1]) + 114 * Int(bytes[3 * pixel + 2]) + 500)
                / 1_000
        }
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
