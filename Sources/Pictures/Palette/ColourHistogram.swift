import Pixels

/// How often each colour occurs in a picture, of 32 steps a channel.
struct ColourHistogram {
    /// Colours that are one to us: how many pixels there are of them, and the sums of those.
    struct Bin {
        var count: Int32 = 0
        var sum = PartColour.zero
    }

    /// Which of `bins` a colour is in.
    static let binCount = 1 << 15
    /// More pixels than this are not looked at: they would change nothing.
    private static let mostLookedAt = 1 << 18

    /// By the colours' numbers.
    private(set) var bins = [Bin](repeating: Bin(), count: Self.binCount)

    init(_ picture: PixelBuffer) {
        let pixels = picture.width * picture.height
        // Odd, so that it is not the same columns in every row.
        let step = max(1, pixels / Self.mostLookedAt) | 1
        picture.bytes.withUnsafeBufferPointer { bytes in
            bins.withUnsafeMutableBufferPointer { bins in
                for pixel in stride(from: 0, to: pixels, by: step) {
                    let (red, green, blue) = (bytes[3 * pixel], bytes[3 * pixel + 1], bytes[3 * pixel + 2])
                    let bin = Self.bin(red, green, blue)
                    bins[bin].count &+= 1
                    bins[bin].sum =
                        bins[bin].sum + PartColour(red: Int32(red), green: Int32(green), blue: Int32(blue))
                }
            }
        }
    }

    /// The number of a colour.
    @inline(__always)
    static func bin(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        Int(red >> 3) << 10 | Int(green >> 3) << 5 | Int(blue >> 3)
    }
}
