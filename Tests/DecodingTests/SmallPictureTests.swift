import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Decoding

/// Compares decoding without and with the libraries.
@Suite(.ownThread) struct SmallPictureTests {
    private func requests() -> [DecodeRequest] {
        let boxes = [(40, 30), (20, 10), (160, 120), (320, 240), (33, 77), (1, 1)]
        return boxes.flatMap { width, height in
            var plain = DecodeRequest(box: PixelSize(width: width, height: height))
            plain.pixelAspect = 0.75
            var part = plain
            part.region = UnitRect(x: 0.2, y: 0.1, width: 0.4, height: 0.5) ?? .whole
            part.turns = 1
            var cover = plain
            cover.fitting = .cover
            cover.enlarges = true
            return [plain, part, cover]
        }
    }

    @Test(arguments: ["1x1", "2x1", "2x2", "1x2"]) func matchesTheLibrary(sampling: String) throws {
        let scene = PixelBuffer.scene(width: 317, height: 239)
        let bytes = try Tool.cjpeg(scene.ppm, "-sample", sampling, "-quality", "85")
        for request in requests() {
            let small = try #require(Decoder.decodeSmall(bytes, request))
            let reply = try bytes.withUnsafeBytes { try Decoder.decode($0, request) }
            let (pixels, expected) = (try #require(small.pixels), try #require(reply.pixels))
            #expect(pixels.size == expected.size && small.region == reply.region)
            #expect(small.sourceSize == reply.sourceSize && small.format == reply.format)
            #expect(small.orientation == reply.orientation && small.metadata == reply.metadata)
            #expect(small.isComplete && !small.isCoarse && small.frameCount == 1)
            #expect(pixels.psnr(expected) > 30, "\(sampling), \(request): \(pixels.psnr(expected))")
        }
    }

    @Test func greyMatchesTheLibrary() throws {
        let bytes = try Tool.cjpeg(PixelBuffer.scene(width: 101, height: 67).ppm, "-grayscale")
        let request = DecodeRequest(box: PixelSize(width: 40, height: 40))
        let reply = try bytes.withUnsafeBytes { try Decoder.decode($0, request) }
        let pixels = try #require(Decoder.decodeSmall(bytes, request)?.pixels)
        #expect(try pixels.psnr(#require(reply.pixels)) > 40)
    }

    /// Files with metadata and unusual or damaged ones are left to libjpeg.
    @Test func declinesUnsuitableFiles() throws {
        let scene = PixelBuffer.scene(width: 64, height: 48)
        let good = try Tool.cjpeg(scene.ppm)
        let request = DecodeRequest(box: PixelSize(width: 16, height: 12))
        #expect(Decoder.decodeSmall(good, request) != nil)
        for options in [["-progressive"], ["-arithmetic"], ["-rgb"]] {
            #expect(
                Decoder.decodeSmall(try Tool.run("/usr/bin/cjpeg", options, input: scene.ppm), request) == nil,
                "\(options)")
        }
        // An EXIF block, a profile.
        for marker in [0xE1, 0xE2] as [UInt8] {
            let other = Array(good.prefix(2)) + [0xFF, marker, 0, 4, 0x45, 0x78] + good.dropFirst(2)
            #expect(Decoder.decodeSmall(other, request) == nil)
        }
        for length in stride(from: 0, to: good.count - 1, by: 7) {
            #expect(Decoder.decodeSmall(Array(good.prefix(length)), request) == nil, "\(length)")
        }
        #expect(Decoder.decodeSmall(PNGFile(scene).bytes, request) == nil)
    }

    private static let options = [
        ["-q", "0"], ["-q", "30", "-segments", "1", "-nostrong"], ["-q", "60", "-f", "100", "-sharpness", "7"],
        ["-q", "80"], ["-q", "80", "-nostrong", "-f", "100", "-sharpness", "3"], ["-q", "90", "-f", "0", "-m", "0"],
        ["-q", "95", "-sns", "100", "-partition_limit", "100"], ["-q", "100", "-jpeg_like"],
    ]

    private static func webp(_ scene: PixelBuffer, _ options: [String]) throws -> [UInt8] {
        try Tool.run("/usr/bin/cwebp", ["-quiet"] + options + ["-o", "-", "--", "-"], input: scene.ppm)
    }

    /// At full size every pixel is the same, after the loop filter and the interpolation of chroma.
    @Test(arguments: options) func lossyWebPsEqualTheLibrarys(options: [String]) throws {
        let sizes = [(1, 1), (2, 3), (8, 8), (15, 17), (16, 16), (33, 64), (101, 67), (160, 121)]
        for (width, height) in sizes {
            for scene in [PixelBuffer.scene(width: width, height: height), .noise(width: width, height: height)] {
                let bytes = try Self.webp(scene, options)
                guard bytes.count <= SmallPictureService.longestPicture else { continue }
                let request = DecodeRequest(box: scene.size)
                let small = try #require(Decoder.decodeSmall(bytes, request))
                let reply = try bytes.withUnsafeBytes { try Decoder.decode($0, request) }
                #expect(small == reply, "\(width) × \(height)")
            }
        }
    }

    /// Rows of macroblocks in several partitions.
    @Test(arguments: 0...3) func partitionsEqualTheLibrarys(partitions: Int) throws {
        let scene = PixelBuffer.scene(width: 90, height: 230)
        let bytes = try Tool.convert(
            scene.ppm, "ppm:-", "-define", "webp:partitions=\(partitions)", "-define", "webp:method=1", "webp:-")
        let request = DecodeRequest(box: scene.size)
        let reply = try bytes.withUnsafeBytes { try Decoder.decode($0, request) }
        #expect(try #require(Decoder.decodeSmall(bytes, request)) == reply)
    }

    @Test(arguments: options) func reducedWebPsMatchTheLibrary(options: [String]) throws {
        let bytes = try Self.webp(.scene(width: 317, height: 239), options)
        for request in requests() {
            let small = try #require(Decoder.decodeSmall(bytes, request))
            let reply = try bytes.withUnsafeBytes { try Decoder.decode($0, request) }
            let (pixels, expected) = (try #require(small.pixels), try #require(reply.pixels))
            #expect(pixels.size == expected.size && small.region == reply.region)
            #expect(small.sourceSize == reply.sourceSize && small.format == reply.format)
            #expect(small.orientation == reply.orientation && small.metadata == reply.metadata)
            #expect(small.isComplete && !small.isCoarse && small.frameCount == 1)
            #expect(pixels.psnr(expected) > 38, "\(options), \(request): \(pixels.psnr(expected))")
        }
    }
}
