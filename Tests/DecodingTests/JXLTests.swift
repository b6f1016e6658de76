import Decoding
import PictureTestSupport
import Pixels
import Testing

/// JPEG XL. `CorpusTests` compares the pixels with other programs.
struct JXLTests {
    private static func file(_ name: String) throws -> [UInt8] {
        try PictureCorpus().bytes("pictures", "jxl-\(name).jxl")
    }

    @Test("The EXIF block is read, compressed or not")
    func metadata() throws {
        var request = DecodeRequest.within(80)
        request.product = .facts
        let reply = try decode(try Self.file("described"), request)
        #expect(reply.format == "JPEG XL" && reply.sourceSize == PixelSize(width: 203, height: 149))
        #expect(reply.metadata.camera == "A maker A model" && reply.metadata.takenAt == "2024-05-06T07:08:09")
        #expect(reply.metadata.latitude == 52.5 && reply.pixels == nil)
    }

    @Test("Turned pictures are upright, and stay so with the EXIF block's orientation", arguments: [3, 6, 8])
    func orientation(number: Int) throws {
        let reply = try decode(try Self.file("orientation-\(number)"), .within(80))
        #expect(reply.sourceSize == PixelSize(width: 203, height: 149) && reply.orientation == .upright)
    }

    @Test("A preview is like the picture")
    func preview() throws {
        let file = try Self.file("large")
        let whole = try decode(file, .within(60))
        var request = DecodeRequest.within(60)
        request.haste = .soon
        let soon = try decode(file, request)
        let pixels = try #require(whole.pixels)
        #expect(soon.isCoarse && !whole.isCoarse && soon.psnr(pixels) > 28, "\(soon.psnr(pixels))")
    }

    @Test("An animation shows its first frame")
    func animation() throws {
        let reply = try decode(try Self.file("animation"), .within(80))
        #expect(reply.frameCount == 1 && reply.isComplete)
    }

    @Test(
        "Each cut gives a picture or a failure", arguments: ["lossy", "lossless", "progressive", "described", "jpeg"])
    func cuts(name: String) throws {
        let whole = try Self.file(name)
        for length in Array(2..<120) + Array(stride(from: 120, to: whole.count - 1, by: 197)) {
            do {
                _ = try decode(Array(whole[..<length]), .within(30))
            } catch {
                #expect(error is DecodeFailure)
            }
        }
    }
}
