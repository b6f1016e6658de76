import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Decoding

struct JPEGTests {
    private static let scene = PixelBuffer.scene(width: 203, height: 149)

    @Test(arguments: [
        ["-sample", "1x1"], ["-sample", "2x1"], ["-sample", "2x2"], ["-sample", "1x2"], ["-sample", "4x1"], ["-rgb"],
        ["-progressive"], ["-progressive", "-sample", "1x1"], ["-arithmetic"], ["-arithmetic", "-progressive"],
        ["-restart", "2"], ["-optimize", "-sample", "4x2"],
    ])
    func decodesEveryKind(options: [String]) throws {
        let bytes = try Tool.run("/usr/bin/cjpeg", ["-quality", "96"] + options, input: Self.scene.ppm)
        let whole = try decodeWhole(bytes)
        #expect(whole.sourceSize == Self.scene.size)
        #expect(whole.format == "JPEG" && whole.isComplete && whole.orientation == .upright)
        #expect(whole.psnr(Self.scene) > 31)
        for side in [200, 110, 77, 40, 19, 5, 1] {
            let small = try decode(bytes, .within(side))
            let size = try #require(small.pixels?.size)
            #expect(max(size.width, size.height) == side && small.isComplete)
            // Chroma reduced on one side only is not enlarged within the inverse DCT: its detail is halved.
            let isLopsided = ["1x2", "4x1", "4x2"].contains(options.last)
            #expect(small.psnr(Self.scene.scaled(to: size)) > (isLopsided ? 26 : 33), "\(side)")
        }
    }

    /// A thumbnail longer than the wire allows is not encoded.
    @Test func refusesTooLongThumbnails() throws {
        let noise = PixelBuffer.noise(width: 90, height: 70)
        let length = try JPEGEncoder.encode(noise).count
        #expect(try JPEGEncoder.encode(noise, longest: length + 1).count == length)
        for longest in [1, 100, length - 1] {
            #expect(throws: DecodeFailure.tooLarge(width: 90, height: 70)) {
                try JPEGEncoder.encode(noise, longest: longest)
            }
        }
    }

    @Test func makesThumbnails() throws {
        let bytes = try Tool.run("/usr/bin/cjpeg", ["-quality", "96"], input: Self.scene.ppm)
        var request = DecodeRequest(box: PixelSize(width: 80, height: 80))
        request.product = .thumbnail
        let reply = try decode(bytes, request)
        let thumbnail = try #require(reply.thumbnail)
        #expect(reply.pixels == nil && thumbnail.starts(with: [0xFF, 0xD8, 0xFF]) && thumbnail.count < 8_000)
        let small = try decodeWhole(thumbnail)
        #expect(small.sourceSize == PixelSize(width: 80, height: 59))
        #expect(small.psnr(Self.scene.scaled(to: small.sourceSize)) > 30)
    }

    @Test func decodesGrey() throws {
        let grey = PixelBuffer(width: 203, height: 149) { x, y in
            let value = Self.scene.color(x, y).green
            return PixelColor(red: value, green: value, blue: value)
        }
        for options in [[], ["-progressive"], ["-arithmetic"]] {
            let arguments = ["-quality", "96", "-grayscale"] + options
            let bytes = try Tool.run("/usr/bin/cjpeg", arguments, input: grey.ppm)
            #expect(try decodeWhole(bytes).psnr(grey) > 38)
            let size = PixelSize(width: 50, height: 37)
            #expect(try decode(bytes, DecodeRequest(box: size)).psnr(grey.scaled(to: size)) > 38)
        }
    }

    /// ImageMagick writes CMYK as Adobe does: inverted, and converted to YCCK.
    @Test func decodesCMYK() throws {
        let bytes = try Tool.convert(Self.scene.ppm, "ppm:-", "-colorspace", "CMYK", "-quality", "96", "jpeg:-")
        #expect(bytes[try adobeMarker(of: bytes).upperBound - 1] == 2)
        #expect(try decodeWhole(bytes).psnr(Self.scene) > 31)
        let size = PixelSize(width: 60, height: 44)
        #expect(try decode(bytes, DecodeRequest(box: size)).psnr(Self.scene.scaled(to: size)) > 33)
    }

    @Test func decodesAdobesCMYKWithoutYCCK() throws {
        var bytes = try inks(storing: Self.mutedScene, black: 255)
        bytes[try adobeMarker(of: bytes).upperBound - 1] = 0
        #expect(try decodeWhole(bytes).psnr(Self.mutedScene) > 36)
    }

    @Test func decodesCMYKThatIsNotInverted() throws {
        var bytes = try inks(storing: Self.mutedScene, black: 0)
        bytes.removeSubrange(try adobeMarker(of: bytes))
        let negative = PixelBuffer(width: Self.scene.width, height: Self.scene.height) { x, y in
            let color = Self.mutedScene.color(x, y)
            return PixelColor(red: 255 - color.red, green: 255 - color.green, blue: 255 - color.blue)
        }
        #expect(try decodeWhole(bytes).psnr(negative) > 36)
    }

    /// A picture so pale that ImageMagick's conversion to YCCK can be inverted beforehand.
    private static let mutedScene = PixelBuffer(width: scene.width, height: scene.height) { x, y in
        let color = scene.color(x, y)
        return PixelColor(red: 102 + color.red / 5, green: 102 + color.green / 5, blue: 102 + color.blue / 5)
    }

    /// A JPEG whose four components contain a picture's red, green and blue, and a number.
    private func inks(storing picture: PixelBuffer, black: UInt8) throws -> [UInt8] {
        var planes: [UInt8] = []
        for y in 0..<picture.height {
            for x in 0..<picture.width {
                let color = picture.color(x, y)
                let (luma, blue, red) = (Double(color.red), Double(color.green) - 128, Double(color.blue) - 128)
                planes += [
                    UInt8(luma + 1.402 * red), UInt8(luma - 0.344136 * blue - 0.714136 * red),
                    UInt8(luma + 1.772 * blue), 255 - black,
                ]
            }
        }
        return try Tool.convert(
            planes, "-size", "\(picture.width)x\(picture.height)", "-depth", "8", "cmyk:-", "-quality", "96",
            "-sampling-factor", "1x1", "jpeg:-")
    }

    private func adobeMarker(of bytes: [UInt8]) throws -> Range<Int> {
        let start = try #require(bytes.firstRange(of: [0xFF, 0xEE, 0x00, 0x0E] + Array("Adobe".utf8))).lowerBound
        return start..<start + 16
    }

    @Test(arguments: [
        ["-sample", "2x2"], ["-sample", "1x1"], ["-sample", "4x1"], ["-grayscale"], ["-progressive"], ["-arithmetic"],
        ["-rgb"],
    ])
    func partsEqualThoseOfTheWhole(options: [String]) throws {
        let bytes = try Tool.run("/usr/bin/cjpeg", ["-quality", "90"] + options, input: Self.scene.ppm)
        let whole = try #require(try decodeWhole(bytes).pixels)
        for (columns, rows) in [(0..<203, 0..<149), (37..<100, 50..<70), (190..<203, 140..<149), (0..<9, 0..<7)] {
            let crop = whole.cropped(columns, rows)
            var request = DecodeRequest(box: crop.size)
            request.region = try part(columns, rows, of: whole.size)
            let reply = try decode(bytes, request)
            #expect(reply.psnr(crop) > 35, "\(columns) \(rows)")
            #expect(reply.region == request.region)
            for divisor in [2, 3, 5, 8] {
                let size = PixelSize(width: max(1, columns.count / divisor), height: max(1, rows.count / divisor))
                request.box = size
                request.fitting = .cover
                let small = try decode(bytes, request)
                let covered = small.region.scaled(to: whole.size)
                let limit = options == ["-sample", "4x1"] ? 26.0 : 35
                #expect(
                    small.psnr(whole.scaled(to: size, region: covered)) > limit, "\(columns) \(rows) / \(divisor)")
            }
        }
    }

    @Test(arguments: Orientation.allCases)
    func turnsPicturesUpright(orientation: Orientation) throws {
        let stored = Self.scene.stored(for: orientation)
        let segment = ExifFile(orientation: UInt16(orientation.rawValue)).segment
        let bytes = ExifFile.jpeg(try Tool.cjpeg(stored.ppm, "-quality", "96"), inserting: segment)
        let whole = try decodeWhole(bytes)
        #expect(whole.sourceSize == Self.scene.size && whole.orientation == orientation)
        #expect(whole.psnr(Self.scene) > 31)
        var request = DecodeRequest(box: PixelSize(width: 31, height: 31))
        request.region = try part(20..<120, 30..<80, of: Self.scene.size)
        let crop = Self.scene.cropped(20..<120, 30..<80)
        #expect(try decode(bytes, request).psnr(crop.scaled(to: PixelSize(width: 31, height: 16))) > 31)
    }

    @Test func showsTruncatedPicturesPartially() throws {
        let bytes = try Tool.cjpeg(Self.scene.ppm, "-quality", "96")
        for request in [DecodeRequest.within(8192), .within(100), .within(20)] {
            let whole = try #require(try decode(bytes, request).pixels)
            let reply = try decode(Array(bytes[..<(bytes.count * 2 / 3)]), request)
            let pixels = try #require(reply.pixels)
            #expect(!reply.isComplete && pixels.size == whole.size)
            let top = 0..<whole.height * 2 / 5
            #expect(pixels.cropped(0..<whole.width, top).psnr(whole.cropped(0..<whole.width, top)) > 40)
        }
    }

    @Test func showsTheScansOfATruncatedProgressivePicture() throws {
        let bytes = try Tool.cjpeg(Self.scene.ppm, "-quality", "96", "-progressive")
        let reply = try decode(Array(bytes[..<(bytes.count / 2)]), .within(8192))
        #expect(!reply.isComplete)
        #expect(reply.psnr(Self.scene) > 22)
    }

    /// By this grey, Vitrine recognises the part that it fills from the thumbnail.
    @Test("Missing parts are grey, with any profile and in any colours")
    func missingPartsAreGrey() throws {
        let plain = try Tool.cjpeg(Self.scene.ppm, "-quality", "96")
        var profile = ICCFile.displayP3
        profile.curve = .gamma(1.8)
        let ink = try inks(storing: Self.mutedScene, black: 255)
        var cmyk = ink
        cmyk[try adobeMarker(of: ink).upperBound - 1] = 0
        var uninverted = try inks(storing: Self.mutedScene, black: 0)
        uninverted.removeSubrange(try adobeMarker(of: uninverted))
        let table = ICCFile.segments(TableProfile(.bytes, "CMYK", "Lab ").bytes, partsOf: 60_000)
        let files = [
            plain, ExifFile.jpeg(plain, inserting: profile.segments()), ink, cmyk, uninverted,
            ExifFile.jpeg(ink, inserting: table), ExifFile.jpeg(cmyk, inserting: table),
        ]
        let grey = PixelColor(red: 128, green: 128, blue: 128)
        for (index, file) in files.enumerated() {
            for side in [8192, 40] {
                let reply = try decode(Array(file.dropLast(file.count / 4)), .within(side))
                let pixels = try #require(reply.pixels)
                #expect(!reply.isComplete && pixels.color(pixels.width - 1, pixels.height - 1) == grey, "\(index)")
                #expect(pixels.color(1, 1) != grey, "\(index)")
            }
        }
    }

    @Test func survivesTruncationAnywhere() throws {
        let bytes = try Tool.cjpeg(PixelBuffer.scene(width: 40, height: 30).ppm, "-quality", "90", "-restart", "1")
        for length in 3..<bytes.count - 2 {
            let reply = try? decode(Array(bytes[..<length]), .within(20))
            #expect(reply?.isComplete != true)
        }
    }

    @Test(arguments: [[], ["-progressive"], ["-arithmetic"], ["-sample", "1x1", "-restart", "1"]])
    func survivesDamage(options: [String]) throws {
        let picture = PixelBuffer.scene(width: 40, height: 30).ppm
        let bytes = try Tool.run("/usr/bin/cjpeg", ["-quality", "90"] + options, input: picture)
        var random = SeededNumbers(seed: 21)
        for _ in 0..<400 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[.random(in: 2..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            var request = DecodeRequest.within(.random(in: 1...64, using: &random))
            request.region =
                UnitRect(x: 0.2, y: .random(in: 0...0.8, using: &random), width: 0.5, height: 0.2) ?? .whole
            do {
                _ = try decode(damaged, request)
            } catch is DecodeFailure {
                // The other correct result.
            }
        }
    }

    /// The last scan of a small picture, repeated 5,000 times.
    @Test func stopsAtTheLimitOfScans() throws {
        let bytes = try Tool.cjpeg(PixelBuffer.scene(width: 64, height: 64).ppm, "-progressive")
        let lastScan = try #require(bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        let scan = Array(bytes[lastScan..<bytes.count - 2])
        var bomb = Array(bytes[..<(bytes.count - 2)])
        for _ in 0..<5000 { bomb += scan }
        let reply = try decode(bomb + [0xFF, 0xD9], .within(64))
        #expect(!reply.isComplete)
        let expected = try #require(try decode(bytes, .within(64)).pixels)
        #expect(reply.psnr(expected) > 20)
    }

    @Test func refusesHugeClaims() throws {
        let small = try Tool.cjpeg(PixelBuffer.scene(width: 16, height: 16).ppm)
        let progressive = try Tool.cjpeg(PixelBuffer.scene(width: 16, height: 16).ppm, "-progressive")
        func claiming(_ width: Int, _ height: Int, in bytes: [UInt8], frame: UInt8) throws -> [UInt8] {
            var bytes = bytes
            let place = try #require(bytes.firstRange(of: [0xFF, frame, 0x00, 0x11])).upperBound + 1
            let sides = [height >> 8, height & 255, width >> 8, width & 255]
            bytes.replaceSubrange(place..<place + 4, with: sides.map { UInt8($0) })
            return bytes
        }
        for (bytes, frame, width, height) in [
            (small, 0xC0 as UInt8, 65_500, 65_500), (small, 0xC0, 65_535, 65_535), (small, 0xC0, 65_501, 1),
            (small, 0xC0, 20_000, 20_000), (progressive, 0xC2, 20_000, 10_000),
        ] {
            #expect(throws: DecodeFailure.tooLarge(width: width, height: height)) {
                try decode(try claiming(width, height, in: bytes, frame: frame), .within(80))
            }
        }
        for (width, height) in [(0, 16), (16, 0), (0, 0)] {
            #expect { try decode(try claiming(width, height, in: small, frame: 0xC0), .within(80)) } throws: { error in
                if case .damaged = error as? DecodeFailure { true } else { false }
            }
        }
    }

    @Test func namesUnsupportedKinds() throws {
        var bytes = try Tool.cjpeg(PixelBuffer.scene(width: 16, height: 16).ppm)
        let frame = try #require(bytes.firstRange(of: [0xFF, 0xC0, 0x00, 0x11])).lowerBound
        // Lossless coding, SOF3.
        bytes[frame + 1] = 0xC3
        #expect { try decode(bytes, .within(80)) } throws: { error in
            if case .unsupportedFormat(let name) = error as? DecodeFailure { name.hasPrefix("JPEG (") } else { false }
        }
    }
}

/// A part of a picture by its pixels.
func part(_ columns: Range<Int>, _ rows: Range<Int>, of size: PixelSize) throws -> UnitRect {
    let (width, height) = (Double(size.width), Double(size.height))
    return try #require(
        UnitRect(
            x: Double(columns.lowerBound) / width, y: Double(rows.lowerBound) / height,
            width: Double(columns.count) / width, height: Double(rows.count) / height))
}
