import PictureTestSupport
import Pixels
import Testing

/// Pictures that end before their first row are refused; otherwise Vitrine would cache a blank one.
struct NothingThereTests {
    private static let refusal = DecodeFailure.damaged("it ends before its first row")

    /// There are rows, but too few for one row of the output. (libpng reads 8 KiB at once, or none.)
    @Test func pngOfTooFewRows() throws {
        let bytes = PNGFile(.noise(width: 64, height: 400)).bytes
        #expect(throws: Self.refusal) { try decode(Array(bytes.prefix(12_000)), .within(4)) }
        let most = try decode(Array(bytes.prefix(bytes.count / 2)), .within(4))
        #expect(!most.isComplete && most.pixels?.color(0, 0) != .black)
    }

    @Test func gifWithoutPixels() throws {
        var file = GIFFile(size: PixelSize(width: 6, height: 4), palette: [PixelColor(red: 255, green: 0, blue: 0)])
        file.frames = [GIFFile.Frame(size: file.size, filled: 0)]
        let bytes = file.bytes
        // The header, four colours, the extension, the frame's properties, the code size and a block's length.
        let start = 13 + 12 + 8 + 10 + 2
        #expect(throws: Self.refusal) { try decodeWhole(Array(bytes.prefix(start))) }
        #expect(try decodeWhole(Array(bytes.prefix(start + 6))).isComplete == false)
    }

    @Test func tiffOfBrokenStrips() throws {
        let bytes = try Tool.convert(
            PixelBuffer.scene(width: 200, height: 150).ppm, "ppm:-", "-compress", "Zip", "-define",
            "tiff:rows-per-strip=10", "tiff:-")
        let directory = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        try #require(bytes[0] == 0x49 && directory > 1000)
        func broken(from start: Int) -> [UInt8] {
            var broken = bytes
            for place in start..<directory { broken[place] = 0xFF }
            return broken
        }
        #expect(throws: Self.refusal) { try decodeWhole(broken(from: 8)) }
        #expect(try decodeWhole(broken(from: directory / 2)).isComplete == false)
    }
}
