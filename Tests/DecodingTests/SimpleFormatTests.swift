import Decoding
import PictureTestSupport
import Pixels
import Testing

/// Formats that Vitrine decodes without a library: BMP, Netpbm and QOI. `CorpusTests` compares them with other programs.
struct SimpleFormatTests {
    private static let names = [
        "bmp-24-bit.bmp", "bmp-os2.bmp", "bmp-8-bit.bmp", "bmp-runs.bmp", "bmp-runs-of-halves.bmp", "bmp-565.bmp",
        "bmp-alpha.bmp", "netpbm.ppm", "netpbm.pbm", "netpbm-16-bit.ppm", "netpbm-text.ppm", "netpbm-text.pbm",
        "netpbm-alpha.pam", "qoi-plain.qoi", "qoi-alpha.qoi",
    ]

    @Test("Each cut of a simple picture gives a part or a failure", arguments: names)
    func cuts(name: String) throws {
        let whole = try PictureCorpus().bytes("pictures", name)
        #expect(try decode(whole, .within(30)).isComplete)
        for length in Array(0..<200) + Array(stride(from: 200, to: whole.count - 40, by: 1_009)) {
            do {
                let reply = try decode(Array(whole[..<length]), .within(30))
                #expect(!reply.isComplete && reply.pixels != nil)
            } catch {
                #expect(error is DecodeFailure)
            }
        }
    }

    @Test("A part of a picture is the same as that part of the whole", arguments: names)
    func regions(name: String) throws {
        let bytes = try PictureCorpus().bytes("pictures", name)
        let whole = try #require(try decodeWhole(bytes).pixels)
        var request = DecodeRequest.within(8192)
        let (x, y) = (50.0 / 203, 40.0 / 149)
        request.region = try #require(UnitRect(x: x, y: y, width: 100.0 / 203, height: 60.0 / 149))
        let part = try #require(try decode(bytes, request).pixels)
        #expect(part.size == PixelSize(width: 100, height: 60))
        #expect(part.psnr(whole.cropped(50..<150, 40..<100)) > 50)
    }

    @Test("Lossless pictures have exactly the pixels that other programs wrote")
    func exactPixels() throws {
        let corpus = try PictureCorpus()
        for name in [
            "bmp-24-bit.bmp", "bmp-top-down.bmp", "bmp-os2.bmp", "bmp-8-bit.bmp", "bmp-4-bit.bmp", "bmp-1-bit.bmp",
            "bmp-runs.bmp", "bmp-runs-of-halves.bmp", "netpbm.ppm", "netpbm.pgm", "netpbm.pbm", "netpbm-text.ppm",
            "netpbm-text.pbm", "netpbm-plain.pam", "netpbm-grey.pam", "qoi-plain.qoi", "qoi-soft.qoi", "qoi-grainy.qoi",
        ] {
            let pixels = try decodeWhole(try corpus.bytes("pictures", name)).pixels
            #expect(try pixels == corpus.expected(name + ".ppm"), "\(name)")
        }
    }

    @Test("Values above the largest one count as the largest")
    func excessiveValues() throws {
        let grey = try #require(try decodeWhole(Array("P2 3 1 10\n0 5 99\n".utf8)).pixels)
        #expect(grey.bytes == [0, 0, 0, 128, 128, 128, 255, 255, 255])
        let deep = try #require(try decodeWhole(Array("P5 2 1 1000\n".utf8) + [0x03, 0xE8, 0xFF, 0xFF]).pixels)
        #expect(deep.bytes == [255, 255, 255, 255, 255, 255])
    }

    @Test("A bitmap's run lengths cannot leave the picture")
    func runs() throws {
        let header: [UInt8] =
            Array("BM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 62, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 8, 0]
            + [1, 0, 0, 0] + [UInt8](repeating: 0, count: 12) + [2, 0, 0, 0, 0, 0, 0, 0]
        let palette: [UInt8] = [0, 0, 0, 0, 0, 0, 255, 0]
        func pixels(_ runs: [UInt8]) throws -> [UInt8]? { try decodeWhole(header + palette + runs).pixels?.bytes }
        let (black, red): ([UInt8], [UInt8]) = ([0, 0, 0], [255, 0, 0])
        #expect(try pixels([2, 1, 0, 0, 1, 0, 1, 1, 0, 1]) == black + red + red + red)
        #expect(try pixels([255, 1, 0, 0, 255, 0, 0, 1]) == black + black + red + red)
        #expect(try pixels([0, 2, 1, 1, 1, 1, 0, 1]) == black + red + black + black)
        #expect(try pixels([0, 2, 255, 255, 9, 1, 0, 1]) == black + black + black + black)
        #expect(try pixels([0, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1]) == black + black + red + red)
        #expect(try pixels([1, 200, 0, 1]) == black + black + black + black)
    }
}
