import PictureTestSupport
import Pixels
import TestSupport
import Testing

struct HasteTests {
    private static let scene = PixelBuffer.scene(width: 480, height: 320)
    /// A different picture as thumbnail, to see which one was decoded.
    private static let other = Orientation.turnedHalf.turned(.scene(width: 96, height: 64))

    private static func soon(_ side: Int) -> DecodeRequest {
        var request = DecodeRequest.within(side)
        request.haste = .soon
        return request
    }

    @Test(arguments: [["-progressive"], ["-progressive", "-sample", "1x1"], ["-arithmetic", "-progressive"]])
    func previewsUseTheFirstScans(options: [String]) throws {
        let bytes = try Tool.run("/usr/bin/cjpeg", ["-quality", "96"] + options, input: Self.scene.ppm)
        for side in [480, 200, 60] {
            let reply = try decode(bytes, Self.soon(side))
            let size = try #require(reply.pixels?.size)
            #expect(reply.isCoarse && reply.isComplete && max(size.width, size.height) == side)
            #expect(reply.psnr(Self.scene.scaled(to: size)) > 24, "\(side)")
            let whole = try decode(bytes, .within(side))
            #expect(!whole.isCoarse && whole.psnr(Self.scene.scaled(to: size)) > 31)
        }
    }

    /// The preview is in colour even if each component has its own scan.
    @Test func previewsContainEveryComponent() throws {
        let folder = TestFolder()
        let script = folder.write(
            "scans",
            (["0-0", "1-63"].flatMap { range in (0..<3).map { "\($0): \(range), 0, 0;" } }).joined(separator: "\n"))
        let bytes = try Tool.cjpeg(Self.scene.ppm, "-quality", "96", "-scans", script)
        let reply = try decode(bytes, Self.soon(60))
        let size = try #require(reply.pixels?.size)
        #expect(reply.isCoarse && reply.psnr(Self.scene.scaled(to: size)) > 30)
    }

    @Test func decodesPicturesWithoutPreviewInFull() throws {
        for bytes in [try Tool.cjpeg(Self.scene.ppm, "-quality", "96"), PNGFile(Self.scene).bytes] {
            let reply = try decode(bytes, Self.soon(100))
            #expect(!reply.isCoarse && reply.isComplete)
            #expect(try decode(bytes, .within(100)).pixels == reply.pixels)
        }
    }

    /// The thumbnail claims as many pixels as the picture, which is allowed more because its rows are not held.
    /// Arithmetic coding reads zeros after the end of its data, so both are complete.
    @Test func thumbnailsHaveTheSameSizeLimits() throws {
        func claiming(_ options: String...) throws -> [UInt8] {
            let scene = PixelBuffer.scene(width: 16, height: 16)
            var bytes = try Tool.run(
                "/usr/bin/cjpeg", ["-arithmetic", "-grayscale"] + options, input: scene.ppm)
            let markers: [[UInt8]] = [[0xFF, 0xC9, 0x00, 0x0B], [0xFF, 0xCA, 0x00, 0x0B]]
            let frame = try #require(markers.lazy.compactMap { bytes.firstRange(of: $0) }.first)
            // 10,240 × 10,240.
            bytes.replaceSubrange(frame.upperBound + 1..<frame.upperBound + 5, with: [0x28, 0, 0x28, 0])
            return bytes
        }
        var exif = ExifFile()
        exif.thumbnail = try claiming("-progressive")
        let bytes = ExifFile.jpeg(try claiming(), inserting: exif.segment)
        #expect(throws: DecodeFailure.tooLarge(width: 10_240, height: 10_240)) {
            try decode(exif.thumbnail, Self.soon(8))
        }
        #expect(try decode(bytes, Self.soon(1280)).isCoarse == false)
    }

    @Test(arguments: Orientation.allCases)
    func previewsUseTheThumbnail(orientation: Orientation) throws {
        let bytes = try Self.picture(with: Self.other, orientation: orientation)
        let size = orientation.turned(PixelSize(width: 48, height: 32))
        let reply = try decode(bytes, Self.soon(48))
        #expect(reply.isCoarse && reply.isComplete && reply.sourceSize == orientation.turned(Self.scene.size))
        #expect(reply.psnr(orientation.turned(Self.other).scaled(to: size)) > 28)
        let whole = try decode(bytes, .within(48))
        #expect(!whole.isCoarse && whole.psnr(orientation.turned(Self.scene).scaled(to: size)) > 30)
    }

    @Test func previewsUseAPartOfTheThumbnail() throws {
        let bytes = try Self.picture(with: Self.scene.scaled(to: PixelSize(width: 120, height: 80)))
        var request = Self.soon(60)
        request.region = try part(120..<360, 80..<240, of: Self.scene.size)
        let reply = try decode(bytes, request)
        let expected = Self.scene.cropped(120..<360, 80..<240)
        #expect(reply.isCoarse && reply.psnr(expected.scaled(to: PixelSize(width: 60, height: 40))) > 25)
    }

    /// Cameras add black bars if the picture's proportions differ from those of their thumbnails.
    @Test func ignoresThumbnailsOfOtherProportions() throws {
        for size in [
            PixelSize(width: 160, height: 120), PixelSize(width: 64, height: 96), PixelSize(width: 6, height: 4),
        ] {
            let bytes = try Self.picture(with: .noise(width: size.width, height: size.height))
            let reply = try decode(bytes, Self.soon(100))
            let shown = try #require(reply.pixels)
            #expect(!reply.isCoarse && shown.psnr(Self.scene.scaled(to: shown.size)) > 30)
        }
    }

    @Test func survivesDamagedThumbnails() throws {
        var random = SeededNumbers(seed: 71)
        let bytes = try Self.picture(with: Self.other)
        let end = try #require(bytes.firstRange(of: [0xFF, 0xDB])).upperBound + 3000
        for _ in 0..<500 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[.random(in: 4..<end, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? decode(damaged, Self.soon(40))
        }
        let noThumbnail = try Self.picture(with: nil)
        #expect(try !decode(noThumbnail, Self.soon(40)).isCoarse)
    }

    /// The scene with a thumbnail in its EXIF block.
    private static func picture(
        with thumbnail: PixelBuffer?, orientation: Orientation = .upright
    ) throws -> [UInt8] {
        var exif = ExifFile(orientation: UInt16(orientation.rawValue))
        exif.thumbnail = try thumbnail.map { try Tool.cjpeg($0.ppm, "-quality", "80") } ?? Array("no JPEG".utf8)
        return ExifFile.jpeg(try Tool.cjpeg(scene.ppm, "-quality", "96"), inserting: exif.segment)
    }
}
