import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Decoding

struct ColourTests {
    private static func converted(_ profile: ICCFile, _ color: [UInt8]) -> [UInt8]? {
        converted(profile.bytes, color)
    }

    private static func converted(_ profile: [UInt8], _ color: [UInt8]) -> [UInt8]? {
        var color = color
        guard let conversion = ColourConversion(profile: profile) else { return nil }
        color.withUnsafeMutableBufferPointer { conversion.convert($0, channels: 3) }
        return color
    }

    @Test func sRGBNeedsNoConversion() {
        #expect(ColourConversion(profile: ICCFile.sRGB.bytes) == nil)
        var nearly = ICCFile.sRGB
        nearly.curve = .table((0...1023).map { UInt16(65_535 * light(Double($0) / 1023)) })
        #expect(ColourConversion(profile: nearly.bytes) == nil)
    }

    /// P3's red lies outside sRGB, other colours get more saturated values, and greys stay.
    @Test func displayP3GetsMoreSaturated() throws {
        let grey = try #require(Self.converted(.displayP3, [128, 128, 128]))
        #expect(grey.allSatisfy { abs(Int($0) - 128) <= 1 })
        #expect(Self.converted(.displayP3, [255, 0, 0]) == [255, 0, 0])
        // Computed independently: linear light, P3 to XYZ, XYZ to sRGB.
        let rose = try #require(Self.converted(.displayP3, [200, 100, 120]))
        for (one, other) in zip(rose, [215, 93, 119] as [UInt8]) { #expect(abs(Int(one) - Int(other)) <= 1) }
    }

    @Test func readsEveryKindOfCurve() throws {
        for (curve, expected) in [
            (.gamma(1.0), 188), (.table([0, 65_535]), 188), (.gamma(1.8), 146), (.formula, 128),
        ] as [(ICCFile.Curve, Int)] {
            // With P3's green, even sRGB's own curve needs a conversion.
            var profile = ICCFile.displayP3
            profile.curve = curve
            let grey = try #require(Self.converted(profile, [128, 128, 128]))
            for channel in grey { #expect(abs(Int(channel) - expected) <= 1, "\(curve): \(grey)") }
        }
    }

    @Test func greyProfilesKeepGreys() {
        var profile = ICCFile(primaries: [])
        profile.space = "GRAY"
        profile.curve = .gamma(1.0)
        #expect(Self.converted(profile, [128, 128, 128]) == [188, 188, 188])
    }

    @Test func unsupportedProfilesMeanSRGB() {
        for space in ["CMYK", "Lab ", "XYZ "] {
            var profile = ICCFile.displayP3
            profile.space = space
            #expect(ColourConversion(profile: profile.bytes) == nil)
        }
        var lab = ICCFile.displayP3
        lab.connection = "Lab "
        #expect(ColourConversion(profile: lab.bytes) == nil)
        // White would not stay white.
        let dark = ICCFile(primaries: [[0.1, 0.1, 0.1], [0.1, 0.1, 0.1], [0.1, 0.1, 0.1]])
        #expect(ColourConversion(profile: dark.bytes) == nil)
        #expect(ColourConversion(profile: []) == nil)
        #expect(ColourConversion(profile: [UInt8](repeating: 0xFF, count: 5000)) == nil)
    }

    @Test func survivesEveryCutAndDamage() {
        var file = ICCFile.displayP3
        file.curve = .table([0, 1000, 30_000, 65_535])
        var random = SeededNumbers(seed: 61)
        for bytes in [ICCFile.displayP3.bytes, file.bytes] {
            for length in 0..<bytes.count { _ = Self.converted(Array(bytes[..<length]), [1, 2, 3]) }
            for _ in 0..<3000 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    damaged[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                _ = Self.converted(damaged, [0, 128, 255])
            }
        }
    }

    /// A profile may have many parts in any order. A missing or duplicate part makes it invalid.
    @Test func joinsTheProfilesParts() throws {
        let picture = PixelBuffer(width: 16, height: 16) { _, _ in PixelColor(red: 200, green: 100, blue: 120) }
        let jpeg = try Tool.cjpeg(picture.ppm, "-quality", "100", "-sample", "1x1")
        let plain = try #require(try decodeWhole(jpeg).pixels)
        func pixels(_ segments: [UInt8]) throws -> PixelBuffer? {
            try decodeWhole(ExifFile.jpeg(jpeg, inserting: segments)).pixels
        }
        let whole = try pixels(ICCFile.displayP3.segments())
        #expect(whole != plain)
        let parts = ICCFile.displayP3.segments(partsOf: 100)
        #expect(try pixels(parts) == whole)
        // Each of the first parts has 100 bytes, after 14 bytes of its own header and 4 of the segment's.
        let first = Array(parts[..<118])
        #expect(try pixels(Array(parts[118...]) + first) == whole)
        #expect(try pixels(Array(parts[118...])) == plain)
        #expect(try pixels(first + parts) == plain)
    }

    @Test("A camera's Adobe RGB photo without a profile looks like the same photo with the profile")
    func camerasAdobeRGB() throws {
        let picture = PixelBuffer.scene(width: 48, height: 32)
        let jpeg = try Tool.cjpeg(picture.ppm, "-quality", "100", "-sample", "1x1")
        let plain = try #require(try decodeWhole(jpeg).pixels)
        func pixels(_ space: UInt16, _ index: String? = nil, profile: [UInt8] = []) throws -> PixelBuffer {
            var exif = ExifFile()
            exif.exif = [(0xA001, .short(space))]
            if let index { exif.interoperability = [(0x0001, .text(index))] }
            return try #require(try decodeWhole(ExifFile.jpeg(jpeg, inserting: exif.segment + profile)).pixels)
        }
        var adobe = ICCFile(
            primaries: [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]])
        adobe.curve = .gamma(563.0 / 256)
        let expected = try #require(try decodeWhole(ExifFile.jpeg(jpeg, inserting: adobe.segments())).pixels)
        #expect(expected.largestDifference(plain) > 20)
        #expect(try pixels(0xFFFF, "R03").largestDifference(expected) <= 1)
        #expect(try pixels(2).largestDifference(expected) <= 1)
        for (space, index) in [(1, "R98"), (1, "R03"), (0xFFFF, "R98"), (0xFFFF, nil)] as [(UInt16, String?)] {
            #expect(try pixels(space, index) == plain, "\(space)")
        }
        // A profile takes priority.
        #expect(try pixels(0xFFFF, "R03", profile: ICCFile.sRGB.segments()) == plain)
    }

    /// Opaque and transparent pictures give the same colours, and the background stays.
    @Test func convertsBeforeBlendingWithTheBackground() throws {
        let chunk = (type: "iCCP", content: Array("p\0\0".utf8) + stored(ICCFile.displayP3.bytes))
        var file = PNGFile(.rgbAlpha, depth: 8, size: PixelSize(width: 3, height: 1)) { x, _ in
            [200, 100, 120, [255, 0, 128][x]]
        }
        file.chunks = [chunk]
        var request = DecodeRequest.within(10)
        request.background = PixelColor(red: 0, green: 200, blue: 10)
        let pixels = try #require(try decode(file.bytes, request).pixels)
        var opaque = PNGFile(PixelBuffer(width: 1, height: 1) { _, _ in PixelColor(red: 200, green: 100, blue: 120) })
        opaque.chunks = [chunk]
        let color = try #require(try decodeWhole(opaque.bytes).pixels).color(0, 0)
        #expect(color != PixelColor(red: 200, green: 100, blue: 120))
        #expect(pixels.color(0, 0) == color)
        #expect(pixels.color(1, 0) == request.background)
        #expect(abs(Int(pixels.color(2, 0).red) - Int(color.red) / 2) <= 1)
    }

    private func light(_ value: Double) -> Double { ToneCurve.sRGB.light(value) ?? 0 }

    /// A zlib stream of one stored block.
    private func stored(_ bytes: [UInt8]) -> [UInt8] {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        let length = UInt16(bytes.count)
        let lengths = [length, ~length].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        return [0x78, 0x01, 1] + lengths + bytes + PNGFile.bigEndian(b << 16 | a)
    }
}
