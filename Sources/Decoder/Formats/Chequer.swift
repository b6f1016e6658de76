import Pixels

/// The board of two greys that shows through where a picture is transparent.
///
/// Its squares are of the output, not of the picture, which may be scaled to any size afterwards. So a picture is laid over
/// each grey alone, both are scaled, and the board chooses between the two: what lies over a colour and what is scaled can
/// be exchanged, because both are weighted sums.
struct Chequer {
    /// One thing over each grey.
    struct Pair<Value: Sendable>: Sendable {
        var light: Value
        var dark: Value
    }

    /// The rows that came of a picture.
    typealias Rows = Pair<[UInt8]>

    /// The greys: between black and white, so that neither hides before them.
    static let colors = Pair(
        light: PixelColor(red: 153, green: 153, blue: 153), dark: PixelColor(red: 102, green: 102, blue: 102))

    /// A square's sides in output pixels.
    private let width: Int
    private let height = 8

    /// Makes a board whose squares look square on the screen.
    init(pixelAspect: Double) {
        width = max(1, Int((Double(height) / pixelAspect).rounded()))
    }

    /// The picture over the board, of the picture over each of its greys.
    func joined(_ pictures: Pair<PixelBuffer>) -> PixelBuffer {
        var bytes = pictures.light.bytes
        let size = pictures.light.size
        for y in 0..<size.height {
            for x in 0..<size.width where (x / width + y / height) % 2 == 1 {
                let start = (y * size.width + x) * PixelBuffer.bytesPerPixel
                for byte in start..<start + PixelBuffer.bytesPerPixel { bytes[byte] = pictures.dark.bytes[byte] }
            }
        }
        return PixelBuffer(size: size, rows: bytes, background: .black)
    }
}
