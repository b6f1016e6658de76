import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Decoding

/// Profiles with tables, judged by ImageMagick with Little CMS.
struct ColourTableTests {
    private let folder = TestFolder()
    private let scene = PixelBuffer(width: 96, height: 64) { x, y in
        PixelColor(red: UInt8(x * 255 / 95), green: UInt8(y * 255 / 63), blue: UInt8((x + y) * 255 / 158))
    }

    private static let profiles = TableProfile.Kind.allCases.flatMap { kind in
        ["RGB ", "CMYK"].flatMap { space in
            // The format has no XYZ in tables of bytes.
            (kind == .bytes ? ["Lab "] : ["Lab ", "XYZ "]).map { TableProfile(kind, space, $0) }
        }
    }

    /// Returns a JPEG that contains the profile, and the picture that ImageMagick makes of it.
    private func judged(_ profile: TableProfile) throws -> (jpeg: [UInt8], expected: PixelBuffer) {
        let target = folder.write("sRGB.icc", ICCFile.sRGB.bytes)
        let space = profile.description.contains("CMYK") ? "CMYK" : "sRGB"
        let plain = try Tool.convert(
            scene.ppm, "ppm:-", "-colorspace", space, "-quality", "100", "-sampling-factor", "1x1", "jpeg:-")
        let jpeg = ExifFile.jpeg(plain, inserting: ICCFile.segments(profile.bytes, partsOf: 60_000))
        let ppm = try Tool.convert(
            jpeg, "jpeg:-", "-intent", "Relative", "-black-point-compensation", "-profile", target, "-depth", "8",
            "ppm:-")
        return (jpeg, try #require(try decodeWhole(ppm).pixels))
    }

    @Test("Pictures with a table in their profile look as Little CMS shows them", arguments: profiles)
    func tables(profile: TableProfile) throws {
        let (jpeg, expected) = try judged(profile)
        let psnr = try decodeWhole(jpeg).psnr(expected)
        #expect(psnr > 36, "\(profile): \(psnr)")
    }

    @Test("Cut and damaged tables crash nothing", arguments: profiles)
    func damage(profile: TableProfile) {
        var random = SeededNumbers(seed: 7)
        let bytes = profile.bytes
        let channels = profile.description.contains("CMYK") ? 4 : 3
        func table(_ bytes: [UInt8]) {
            _ = bytes.withUnsafeBytes { bytes in ICCProfile(bytes).flatMap { ColourTable($0, channels: channels) } }
        }
        for length in stride(from: 128, to: min(bytes.count, 1200), by: 1) { table(Array(bytes[..<length])) }
        for _ in 0..<4 {
            var damaged = bytes
            for _ in 0..<4 {
                damaged[.random(in: 128..<min(bytes.count, 400), using: &random)] = .random(in: 0...255, using: &random)
            }
            table(damaged)
        }
    }
}
