import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

struct PNGTests {
    private static let size = PixelSize(width: 37, height: 29)

    struct Kind: Sendable, CustomTestStringConvertible {
        var kind: PNGFile.Kind
        var depth: Int
        var isInterlaced: Bool
        var testDescription: String { "\(kind) \(depth) \(isInterlaced ? "interlaced" : "plain")" }
    }

    static let kinds: [Kind] = [
        (.grey, 1), (.grey, 2), (.grey, 4), (.grey, 8), (.grey, 16), (.rgb, 8), (.rgb, 16), (.palette, 1),
        (.palette, 2),
        (.palette, 4), (.palette, 8), (.greyAlpha, 8), (.greyAlpha, 16), (.rgbAlpha, 8), (.rgbAlpha, 16),
    ].flatMap { (kind: PNGFile.Kind, depth: Int) in
        [false, true].map { Kind(kind: kind, depth: depth, isInterlaced: $0) }
    }

    @Test(arguments: kinds)
    func decodesEveryKind(kind: Kind) throws {
        var file = PNGFile(kind.kind, depth: kind.depth, size: Self.size) { x, y in
            Self.samples(x, y, count: kind.kind.channels, most: (1 << kind.depth) - 1)
        }
        file.isInterlaced = kind.isInterlaced
        let palette: [UInt8] = (0..<(1 << min(kind.depth, 8))).flatMap { (entry: Int) -> [UInt8] in
            [UInt8(entry), UInt8(255 - entry), UInt8(entry * 7 & 255)]
        }
        if kind.kind == .palette { file.chunks.append(("PLTE", palette)) }
        let background = PixelColor(red: 10, green: 20, blue: 200)
        let expected = PixelBuffer(width: Self.size.width, height: Self.size.height) { x, y in
            let samples = file.samples(x, y)
            let bytes = samples.map { UInt8((Double($0) * 255 / Double((1 << kind.depth) - 1)).rounded()) }
            switch kind.kind {
            case .grey: return PixelColor(red: bytes[0], green: bytes[0], blue: bytes[0])
            case .rgb: return PixelColor(red: bytes[0], green: bytes[1], blue: bytes[2])
            case .palette:
                let entry = samples[0] * 3
                return PixelColor(red: palette[entry], green: palette[entry + 1], blue: palette[entry + 2])
            case .greyAlpha: return Self.over(background, (bytes[0], bytes[0], bytes[0]), bytes[1])
            case .rgbAlpha: return Self.over(background, (bytes[0], bytes[1], bytes[2]), bytes[3])
            }
        }
        var request = DecodeRequest.within(8192)
        request.background = background
        let reply = try decode(file.bytes, request)
        let pixels = try #require(reply.pixels)
        #expect(reply.format == "PNG" && reply.isComplete && reply.sourceSize == Self.size)
        #expect(pixels.largestDifference(expected) <= 1)
        request.box = PixelSize(width: 9, height: 9)
        let small = try #require(try decode(file.bytes, request).pixels)
        #expect(small.largestDifference(expected.scaled(to: small.size)) <= 2)
    }

    @Test func blendsTransparentColoursWithTheBackground() throws {
        var palette = PNGFile(.palette, depth: 8, size: PixelSize(width: 2, height: 1)) { x, _ in [x] }
        palette.chunks = [("PLTE", [200, 100, 0, 1, 2, 3]), ("tRNS", [128])]
        var request = DecodeRequest.within(10)
        request.background = PixelColor(red: 0, green: 0, blue: 255)
        #expect(try decode(palette.bytes, request).pixels?.bytes == [100, 50, 127, 1, 2, 3])

        var key = PNGFile(.rgb, depth: 8, size: PixelSize(width: 2, height: 1)) { x, _ in [9, 9, 9 + x] }
        key.chunks = [("tRNS", [0, 9, 0, 9, 0, 9])]
        #expect(try decode(key.bytes, request).pixels?.bytes == [0, 0, 255, 9, 9, 10])
    }

    @Test func decodesParts() throws {
        let picture = PixelBuffer.noise(width: 61, height: 47)
        for isInterlaced in [false, true] {
            var file = PNGFile(picture)
            file.isInterlaced = isInterlaced
            for (columns, rows) in [(0..<61, 0..<47), (10..<30, 20..<47), (60..<61, 0..<1), (3..<40, 11..<12)] {
                var request = DecodeRequest(box: PixelSize(width: columns.count, height: rows.count))
                request.region = try part(columns, rows, of: picture.size)
                let pixels = try #require(try decode(file.bytes, request).pixels)
                #expect(pixels.largestDifference(picture.cropped(columns, rows)) <= 1)
            }
        }
    }

    @Test(arguments: Orientation.allCases)
    func turnsPicturesUpright(orientation: Orientation) throws {
        let picture = PixelBuffer.noise(width: 40, height: 24)
        for isBehind in [false, true] {
            var file = PNGFile(picture.stored(for: orientation))
            let chunk = (type: "eXIf", content: ExifFile(orientation: UInt16(orientation.rawValue)).tiff)
            if isBehind { file.chunksBehind = [chunk] } else { file.chunks = [chunk] }
            let whole = try decodeWhole(file.bytes)
            #expect(whole.pixels == picture && whole.orientation == orientation)
            var request = DecodeRequest(box: PixelSize(width: 10, height: 12))
            request.region = try part(5..<25, 6..<20, of: picture.size)
            request.pixelAspect = 1.5
            let small = try #require(try decode(file.bytes, request).pixels)
            let expected = try #require(try decode(PNGFile(picture).bytes, request).pixels)
            #expect(small.largestDifference(expected) <= 1)
        }
    }

    /// The user's turns follow the file's orientation, and regions refer to the turned picture.
    @Test(arguments: Orientation.allCases, 0..<4)
    func appliesTheUsersTurns(orientation: Orientation, quarters: Int) throws {
        let picture = PixelBuffer.noise(width: 40, height: 24)
        var file = PNGFile(picture.stored(for: orientation))
        file.chunks = [("eXIf", ExifFile(orientation: UInt16(orientation.rawValue)).tiff)]
        let seen = Orientation.upright.turned(by: quarters).turned(picture)
        var request = DecodeRequest(box: PixelSize(width: 100, height: 100))
        request.turns = quarters
        let whole = try decode(file.bytes, request)
        #expect(whole.pixels == seen)
        // The reported properties stay the same.
        #expect(whole.sourceSize == picture.size && whole.orientation == orientation)
        request = DecodeRequest(box: PixelSize(width: 10, height: 12))
        request.region = try part(5..<20, 6..<18, of: seen.size)
        request.pixelAspect = 1.5
        let expected = try #require(try decode(PNGFile(seen).bytes, request).pixels)
        request.turns = quarters
        let small = try #require(try decode(file.bytes, request).pixels)
        #expect(small.largestDifference(expected) <= 1)
    }

    @Test func brightensLinearLight() throws {
        var file = PNGFile(.grey, depth: 16, size: PixelSize(width: 1, height: 1)) { _, _ in [0x8000] }
        func value() throws -> UInt8? { try decodeWhole(file.bytes).pixels?.bytes.first }
        #expect(try value() == 128)
        file.chunks = [("gAMA", PNGFile.bigEndian(45_455))]
        #expect(try value() == 128)
        file.chunks = [("gAMA", PNGFile.bigEndian(100_000))]
        #expect(try #require(try value()) > 180)
        // sRGB has priority, and impossible gammas are ignored.
        file.chunks = [("sRGB", [0]), ("gAMA", PNGFile.bigEndian(100_000))]
        #expect(try value() == 128)
        for gamma: UInt32 in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            file.chunks = [("gAMA", PNGFile.bigEndian(gamma))]
            #expect(try value() == 128)
        }
    }

    @Test func showsTruncatedPicturesPartially() throws {
        let picture = PixelBuffer.scene(width: 60, height: 60)
        var file = PNGFile(picture)
        let bytes = file.bytes
        var request = DecodeRequest.within(8192)
        request.background = PixelColor(red: 1, green: 2, blue: 3)
        let reply = try decode(Array(bytes[..<(bytes.count / 2)]), request)
        let pixels = try #require(reply.pixels)
        #expect(!reply.isComplete)
        #expect(pixels.cropped(0..<60, 0..<22) == picture.cropped(0..<60, 0..<22))
        #expect(pixels.color(30, 59) == request.background)

        file.isInterlaced = true
        let coarse = try decode(Array(file.bytes[..<(bytes.count / 2)]), request)
        #expect(!coarse.isComplete && coarse.psnr(picture) > 18)
    }

    @Test func survivesTruncationAndDamage() throws {
        var file = PNGFile(.rgbAlpha, depth: 8, size: PixelSize(width: 9, height: 9)) { x, y in [x, y, 9, 100 + x] }
        var random = SeededNumbers(seed: 31)
        for isInterlaced in [false, true] {
            file.isInterlaced = isInterlaced
            let bytes = file.bytes
            for length in 8..<bytes.count - 16 {
                #expect((try? decodeWhole(Array(bytes[..<length])))?.isComplete != true)
            }
            for _ in 0..<500 {
                var damaged = bytes
                damaged[.random(in: 8..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                _ = try? decode(damaged, .within(5))
            }
        }
    }

    @Test(arguments: [
        (65_501, 1), (1, 65_501), (20_000, 20_000), (Int(Int32.max), Int(Int32.max)), (Int(UInt32.max), 1),
    ])
    func refusesHugeClaims(width: Int, height: Int) {
        let size = PixelSize(width: width, height: height)
        let bytes = PNGChunksForTests.file(size, isInterlaced: false)
        #expect(throws: DecodeFailure.tooLarge(width: width, height: height)) { try decode(bytes, .within(80)) }
    }

    @Test func limitsInterlacedPicturesMore() {
        let size = PixelSize(width: 20_000, height: 10_000)
        #expect(throws: DecodeFailure.tooLarge(width: 20_000, height: 10_000)) {
            try decode(PNGChunksForTests.file(size, isInterlaced: true), .within(80))
        }
    }

    @Test(arguments: [(0, 0), (0, 5), (5, 0)])
    func refusesPicturesWithoutPixels(width: Int, height: Int) {
        let bytes = PNGChunksForTests.file(PixelSize(width: width, height: height), isInterlaced: false)
        #expect(throws: DecodeFailure.damaged("it has no pixels")) { try decode(bytes, .within(80)) }
    }

    /// Texts, profiles and unknown chunks of a megabyte each are neither unpacked nor kept.
    @Test func skipsOtherChunks() throws {
        let picture = PixelBuffer.noise(width: 5, height: 5)
        var file = PNGFile(picture)
        let much = [UInt8](repeating: 65, count: 1 << 20)
        file.chunks = [("tEXt", much), ("zTXt", much), ("iTXt", much), ("iCCP", much), ("abCd", much), ("sPLT", much)]
        file.chunks += Array(repeating: ("vpAg", [1]), count: 2000)
        #expect(try decodeWhole(file.bytes).pixels == picture)
    }

    private static func samples(_ x: Int, _ y: Int, count: Int, most: Int) -> [Int] {
        (0..<count).map { channel in (x * 31 + y * 57 + channel * 101 + x * y * 3) * (most / 255 + 1) % (most + 1) }
    }

    private static func over(_ below: PixelColor, _ color: (UInt8, UInt8, UInt8), _ opacity: UInt8) -> PixelColor {
        func mix(_ above: UInt8, _ below: UInt8) -> UInt8 {
            let share = Double(opacity) / 255
            return UInt8((Double(above) * share + Double(below) * (1 - share)).rounded())
        }
        return PixelColor(
            red: mix(color.0, below.red), green: mix(color.1, below.green), blue: mix(color.2, below.blue))
    }
}

/// Files that consist of a header only.
enum PNGChunksForTests {
    static func file(_ size: PixelSize, isInterlaced: Bool) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + PNGFile.chunk("IHDR", PNGFile.header(size, 8, 2, isInterlaced: isInterlaced))
    }
}
