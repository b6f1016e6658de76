import Cells
import Pixels
import Testing
import Text

@testable import Pictures

/// The expected colours come from the reference implementation of ThumbHash, in JavaScript.
@Suite struct BlurredPictureTests {
    private static let portrait = "1QcSHQRnh493V4dIh4eXh1h4kJUI"
    private static let landscape = "3PcNNYSFeXh/d3eld0iHZoZgVwh2"
    private static let transparent = "2IqDBQQnxnj0JoLYdM3P8ahpuDeHiHdwZw=="

    private func colour(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> [UInt8] {
        let offset = (y * pixels.width + x) * 3
        return Array(pixels.bytes[offset..<offset + 3])
    }

    private func areNear(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        zip(first, second).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
    }

    @Test(
        "The colours are those of the reference implementation",
        arguments: [
            (
                portrait, PixelSize(width: 23, height: 32),
                [(0, 0, [64, 77, 113]), (22, 0, [84, 109, 139]), (11, 16, [140, 109, 88]), (0, 31, [0, 12, 42])]
            ),
            (
                landscape, PixelSize(width: 32, height: 23),
                [
                    (0, 0, [47, 82, 154]), (31, 0, [100, 113, 147]), (16, 11, [110, 114, 115]), (31, 22, [76, 57, 10]),
                ]
            ),
        ] as [(String, PixelSize, [(Int, Int, [UInt8])])])
    func colours(hash: String, size: PixelSize, expected: [(Int, Int, [UInt8])]) throws {
        let picture = try #require(BlurredPicture(thumbhash: hash))
        let pixels = picture.pixels(size, width: 1, height: 1, over: PixelColor(red: 0, green: 0, blue: 0))
        for (x, y, wanted) in expected {
            #expect(areNear(colour(pixels, x, y), wanted), "\(x), \(y): \(colour(pixels, x, y))")
        }
    }

    @Test("The background shows through transparent parts")
    func transparency() throws {
        let picture = try #require(BlurredPicture(thumbhash: Self.transparent))
        let (size, white) = (PixelSize(width: 32, height: 32), PixelColor(red: 255, green: 255, blue: 255))
        let pixels = picture.pixels(size, width: 1, height: 1, over: white)
        // The reference has the colour 241, 14, 35 with the opacity 20 there, and nothing in the middle.
        let expected = [241, 14, 35].map { UInt8(($0 * 20 + 255 * 235) / 255) }
        #expect(areNear(colour(pixels, 0, 0), expected), "\(colour(pixels, 0, 0))")
        #expect(colour(pixels, 16, 16) == [255, 255, 255])
    }

    @Test("The middle of the picture fills the cells without distortion")
    func filling() throws {
        let picture = try #require(BlurredPicture(thumbhash: Self.portrait))
        let style = DrawingStyle(symbols: .sextant, colours: .full, cellAspect: 0.5)
        // Half blocks show 14 by 14 pixels, a square. The picture is 5 wide and 7 high.
        let block = picture.filling(Size(columns: 14, rows: 7), style)
        #expect(block.size == Size(columns: 14, rows: 7))
        let visible = picture.pixels(
            PixelSize(width: 14, height: 14), width: 1, height: 5 / 7, over: PixelColor(red: 0, green: 0, blue: 0))
        let corner = colour(visible, 13, 12)
        #expect(block[13, 6].style.foreground == .rgb(corner[0], corner[1], corner[2]))
        #expect(block.cells.allSatisfy { $0.text == "▀" || $0.text == " " })
    }

    @Test("A terminal without colours shows letters")
    func letters() throws {
        let picture = try #require(BlurredPicture(thumbhash: Self.landscape))
        let style = DrawingStyle(symbols: .ascii, colours: .none, cellAspect: 0.5)
        let block = picture.filling(Size(columns: 8, rows: 3), style)
        #expect(block.cells.allSatisfy { $0.text.utf8.count == 1 && $0.style.foreground == .terminal })
        #expect(Set(block.cells.map(\.text)).count > 3)
    }

    @Test("Other texts are no pictures, and any bytes are safe to draw")
    func hostile() {
        let hashes = ["", "AAAA", "AAAAAAA=", "1QcSHQ==", "1QcSHQRnh493V4dIh4eXh1h4kJU", "not a hash!", "€€€€"]
        for text in hashes + [String(repeating: "A", count: 52)] {
            #expect(BlurredPicture(thumbhash: text) == nil, "\(text)")
        }
        var generator = SystemRandomNumberGenerator()
        let style = DrawingStyle(symbols: .half, colours: .full, cellAspect: 0.5)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...36)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = String(decoding: Base64.encode(bytes), as: UTF8.self)
            let size = Size(columns: .random(in: 0...12), rows: .random(in: 0...5))
            guard let picture = BlurredPicture(thumbhash: text) else { continue }
            #expect(picture.filling(size, style).cells.count == size.columns * size.rows)
        }
    }
}
