import LossyWebP
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Files left to other decoders, and unusual ones that are not.
@Suite(.ownThread) struct DecliningTests {
    private let frame: [UInt8]

    init() throws {
        frame = WebPWriter.frame(try WebPWriter.compress(.scene(width: 20, height: 18)))
    }

    private func isDecoded(_ file: [UInt8]) -> Bool { LossyPicture(file)?.decoded(eighths: 8) != nil }

    @Test func declinesOtherKinds() throws {
        let scene = PixelBuffer.scene(width: 20, height: 18)
        #expect(isDecoded(try WebPWriter.compress(scene)))
        #expect(!isDecoded(try WebPWriter.compress(scene, "-lossless")))
        let clear = try Tool.convert(
            scene.ppm, "ppm:-", "-alpha", "set", "-channel", "A", "-evaluate", "set", "50%", "webp:-")
        #expect(!isDecoded(clear))
        for bytes in [[], [0x52], Array("RIFF".utf8), Array("GIF89a".utf8), [0xFF, 0xD8, 0xFF, 0xD9]] as [[UInt8]] {
            #expect(LossyPicture(bytes) == nil)
        }
    }

    /// Flags for an animation, an orientation, transparency and a profile.
    @Test(arguments: [0x02, 0x08, 0x10, 0x20] as [UInt8]) func declinesExtensions(flags: UInt8) {
        var writer = WebPWriter(before: [WebPWriter.extended(flags: flags, width: 20, height: 18)])
        #expect(!isDecoded(writer.file(frame)))
        writer.before = [WebPWriter.extended(flags: 0x04, width: 20, height: 18)]
        #expect(isDecoded(writer.file(frame)))
        writer.before = [WebPWriter.extended(flags: 0, width: 20, height: 19)]
        #expect(!isDecoded(writer.file(frame)))
    }

    @Test(arguments: ["EXIF", "ICCP", "ALPH", "ANIM", "ANMF", "VP8L", "VP8 "]) func declinesChunks(type: String) {
        let chunk = WebPWriter.chunk(type, [1, 2, 3])
        #expect(!isDecoded(WebPWriter(before: [chunk]).file(frame)))
        #expect(!isDecoded(WebPWriter(after: [chunk]).file(frame)))
    }

    @Test func acceptsMeaninglessChunks() {
        let chunks = [WebPWriter.chunk("XMP ", [1, 2, 3]), WebPWriter.chunk("abcd", [])]
        #expect(isDecoded(WebPWriter(before: chunks, after: chunks).file(frame)))
        #expect(isDecoded(WebPWriter().file(frame) + [1, 2, 3]))
    }

    @Test func declinesFramesOfVideos() {
        // Not a key frame, an unknown version, not shown, a false signature.
        for (place, bits) in [(0, 0x01), (0, 0x08), (0, 0x10), (3, 0x01)] as [(Int, UInt8)] {
            var other = frame
            other[place] = bits == 8 ? other[place] | 0x08 : other[place] ^ bits
            #expect(!isDecoded(WebPWriter().file(other)))
        }
    }

    /// A few bytes cannot cost the time or memory of four million pixels.
    @Test func declinesFilesTooShortForTheirPixels() {
        for (width, height) in [(4096, 1024), (1024, 4096), (0, 18), (20, 0), (4097, 1), (16383, 16383)] {
            var other = frame
            other[6...9] = [
                UInt8(width & 255), UInt8(width >> 8), UInt8(height & 255), UInt8(height >> 8),
            ]
            #expect(LossyPicture(WebPWriter().file(other)) == nil)
        }
    }

    @Test(arguments: [0, 3, 5, 6, 7, 9, 16, -1, Int.min, Int.max]) func declinesOtherScales(eighths: Int) throws {
        let picture = try #require(LossyPicture(WebPWriter().file(frame)))
        #expect(picture.width == 20 && picture.height == 18)
        #expect(picture.decoded(eighths: eighths) == nil)
    }
}
