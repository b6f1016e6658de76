import PictureTestSupport
import Pixels
import TestSupport
import Testing

struct ExifTests {
    private static let picture = PixelBuffer.scene(width: 24, height: 16)

    private static var full: ExifFile {
        var exif = ExifFile(orientation: 1)
        exif.main += [
            (0x010E, .text("Evening at the lake")), (0x010F, .text("FUJIFILM")), (0x0110, .text("X-T4")),
        ]
        exif.exif = [
            (0x829A, .rationals([(1, 250)])), (0x829D, .rationals([(28, 10)])), (0x8827, .short(400)),
            (0x9003, .text("2006:07:30 07:47:17")), (0x920A, .rationals([(35, 1)])),
            (0xA434, .text("XF35mmF1.4 R")),
        ]
        exif.gps = [
            (1, .text("S")), (2, .rationals([(33, 1), (51, 1), (36, 1)])), (3, .text("E")),
            (4, .rationals([(151, 1), (12, 1), (0, 1)])),
        ]
        return exif
    }

    @Test func readsACamerasEntries() throws {
        let jpeg = ExifFile.jpeg(try Tool.cjpeg(Self.picture.ppm), inserting: Self.full.segment)
        var png = PNGFile(Self.picture)
        png.chunks = [("eXIf", Self.full.tiff)]
        for bytes in [jpeg, png.bytes] {
            let metadata = try decodeWhole(bytes).metadata
            #expect(metadata.camera == "FUJIFILM X-T4")
            #expect(metadata.lens == "XF35mmF1.4 R")
            #expect(metadata.takenAt == "2006-07-30T07:47:17")
            #expect(metadata.exposureSeconds == 0.004)
            #expect(metadata.aperture == 2.8)
            #expect(metadata.iso == 400)
            #expect(metadata.focalLength == 35)
            #expect(metadata.latitude.map { abs($0 + 33.86) < 1e-9 } == true)
            #expect(metadata.longitude == 151.2)
            #expect(metadata.description == "Evening at the lake")
            #expect(metadata.fields.contains(MetadataField(name: "Exposure Time", value: "1/250 sec.")))
            #expect(metadata.fields.contains(MetadataField(name: "Manufacturer", value: "FUJIFILM")))
            #expect(metadata == metadata.bounded)
        }
    }

    /// libexif reads only comments in ASCII, and describes others in its own words.
    @Test("A comment without another description is shown, in each code that is readable")
    func comments() throws {
        let text = "Abend am See – 夕方 🌅"
        let units = Array(text.utf16)
        let (big, little) = (
            units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }, units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        )
        let (ascii, unicode) = (Array("ASCII\0\0\0".utf8), Array("UNICODE\0".utf8))
        let zeros = [UInt8](repeating: 0, count: 8)
        let comments: [(bytes: [UInt8], shown: String?)] = [
            (ascii + Array("Evening  ".utf8), "Evening"), (ascii + Array("\(text)\0more".utf8), text),
            (zeros + Array("\(text)\0more".utf8), text), (Array("\(text)\0\0".utf8), text),
            // The block is big-endian.
            (unicode + big, text), (unicode + big + [0, 0, 0, 65], text), (unicode + big + [0], text),
            (unicode + [0xFE, 0xFF] + big, text), (unicode + [0xFF, 0xFE] + little, text),
            (zeros, nil), (zeros + zeros, nil), (ascii, nil), (ascii + Array("   ".utf8), nil), (unicode, nil),
            (unicode + [0], nil), (unicode + [0, 32, 0, 0], nil), ([], nil), ([65], "A"),
            (Array("Sunset".utf8), "Sunset"), (Array("Evening\0".utf8), "Evening"), ([0, 0, 65], nil), ([0], nil),
            ([7], nil),
            (Array("JIS\0\0\0\0\0".utf8) + [0x24, 0x22, 0x24, 0x24], nil),
            ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], nil), ([65, 66, 67, 0, 0, 0, 7, 8, 9, 65], nil),
            (zeros + [0xC3, 0x28, 0xFF], nil), (ascii + [1, 65, 66], nil),
        ]
        for (bytes, shown) in comments {
            var exif = ExifFile(orientation: 1)
            exif.exif = [(0x9286, .undefined(bytes))]
            let metadata = try metadata(exif)
            #expect(metadata.description == shown, "\(bytes)")
            #expect(metadata.fields.first { $0.name == "User Comment" }?.value == shown, "\(bytes)")
        }
    }

    @Test("Bytes are no text, except those of Windows’ own properties")
    func bytesAreNoText() throws {
        var exif = ExifFile(orientation: 1)
        exif.main += [
            (0x010E, .undefined(Array("a description".utf8))), (0x010F, .undefined(Array("a maker".utf8))),
            (0x0110, .short(7)), (0x9C9B, .undefined(Self.windows("A title 🌅"))),
            (0x9C9E, .undefined(Self.windows("夕方;🌅"))),
        ]
        exif.exif = [(0xA434, .undefined(Array("a lens".utf8)))]
        let metadata = try metadata(exif)
        #expect(metadata.description == nil && metadata.camera == nil && metadata.lens == nil)
        #expect(metadata.title == "A title 🌅")
        #expect(Set(metadata.fields.map(\.value)).isSuperset(of: ["A title 🌅", "夕方;🌅"]))
    }

    /// Returns a text as Windows stores it, whatever the order of the block's bytes.
    private static func windows(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } + [0, 0]
    }

    /// libexif reads 64 KiB, but the directories follow a text of 70,000 letters.
    @Test func readsDirectoriesBeyond64KiB() throws {
        var exif = Self.full
        exif.main.append((0x013B, .text(String(repeating: "x", count: 70_000))))
        let metadata = try metadata(exif)
        #expect(metadata.camera == "FUJIFILM X-T4" && metadata.lens == "XF35mmF1.4 R" && metadata.iso == 400)
        #expect(metadata.takenAt == "2006-07-30T07:47:17" && metadata.longitude == 151.2)
        #expect(metadata.description == "Evening at the lake")
        #expect(!metadata.fields.contains { $0.name == "Artist" })
    }

    /// libexif does not read 64-bit offsets.
    @Test func readsBigTIFF() throws {
        var png = PNGFile(Self.picture)
        for length in [1, 70_000] {
            var exif = Self.full
            exif.main.append((0x013B, .text(String(repeating: "x", count: length))))
            png.chunks = [("eXIf", exif.bigTIFF)]
            let metadata = try decodeWhole(png.bytes).metadata
            #expect(metadata.camera == "FUJIFILM X-T4" && metadata.lens == "XF35mmF1.4 R" && metadata.iso == 400)
            #expect(metadata.takenAt == "2006-07-30T07:47:17" && metadata.longitude == 151.2)
            #expect(metadata.description == "Evening at the lake")
            #expect(metadata.fields.contains { $0.name == "Artist" } == (length == 1))
        }
    }

    /// libtiff puts the directory behind the pixels.
    @Test(arguments: ["LSB", "MSB"], ["tiff", "tiff64"])
    func readsATIFFsOwnDirectory(order: String, kind: String) throws {
        let picture = PixelBuffer.scene(width: 240, height: 160)
        let bytes = try Tool.convert(
            picture.ppm, "ppm:-", "-set", "comment", "Evening at the lake", "-compress", "None", "-endian", order,
            "\(kind):-")
        #expect(bytes.count > 0xFFFE)
        var request = DecodeRequest.within(8)
        request.product = .facts
        #expect(try decode(bytes, request).metadata.description == "Evening at the lake")
    }

    @Test(arguments: [false, true]) func survivesDamageBeyond64KiB(isBig: Bool) throws {
        var exif = Self.full
        exif.main.append((0x013B, .text(String(repeating: "x", count: 70_000))))
        let tiff = isBig ? exif.bigTIFF : exif.tiff
        var random = SeededNumbers(seed: 43)
        var request = DecodeRequest.within(8)
        request.product = .facts
        // The main directory, and those behind its long value.
        let places = Array(0..<200) + Array(70_000..<tiff.count)
        for _ in 0..<300 {
            var damaged = tiff
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                damaged[places.randomElement(using: &random) ?? 0] = .random(in: 0...255, using: &random)
            }
            var png = PNGFile(.scene(width: 4, height: 4))
            png.chunks = [("eXIf", damaged)]
            let reply = try decode(png.bytes, request)
            #expect(reply.metadata == reply.metadata.bounded)
        }
    }

    @Test func readsMetadataWithoutPixels() throws {
        var request = DecodeRequest.within(80)
        request.product = .facts
        let bytes = ExifFile.jpeg(try Tool.cjpeg(Self.picture.ppm), inserting: Self.full.segment)
        let reply = try decode(bytes, request)
        #expect(reply.pixels == nil && reply.sourceSize == Self.picture.size)
        #expect(reply.metadata.camera == "FUJIFILM X-T4")
    }

    @Test("A number without a meaning is shown as a number")
    func unknownNumbers() throws {
        var exif = ExifFile(orientation: 1)
        // The unit of the resolution, the metering mode and the source of the file.
        exif.main.append((0x0128, .short(1)))
        exif.exif = [(0x9207, .short(99)), (0xA300, .undefined([77]))]
        let fields = try metadata(exif).fields
        #expect(Set(fields.map(\.value)).isSuperset(of: ["1", "99", "77"]))
        #expect(!fields.contains { $0.value.contains("Internal error") })
    }

    @Test func doesNotRepeatTheMaker() throws {
        var exif = ExifFile()
        exif.main = [(0x010F, .text("Canon")), (0x0110, .text("Canon EOS 5D"))]
        #expect(try metadata(exif).camera == "Canon EOS 5D")
        exif.main = [(0x0110, .text("  EOS 5D  "))]
        #expect(try metadata(exif).camera == "EOS 5D")
        exif.main = [(0x010F, .text(" ")), (0x0110, .text(""))]
        #expect(try metadata(exif).camera == nil)
    }

    @Test func omitsInvalidValues() throws {
        var exif = ExifFile(orientation: 9)
        exif.exif = [
            (0x829A, .rationals([(1, 0)])), (0x829D, .rationals([(0, 0)])), (0x8827, .short(0)),
            (0x9003, .text("    :  :     :  :  ")), (0xA434, .short(7)),
        ]
        exif.gps = [(1, .text("N")), (2, .rationals([(100, 1), (0, 1), (0, 1)])), (4, .rationals([(1, 0), (2, 1)]))]
        let reply = try decodeWhole(
            ExifFile.jpeg(try Tool.cjpeg(Self.picture.ppm), inserting: exif.segment))
        let metadata = reply.metadata
        #expect(reply.orientation == .upright)
        #expect(metadata.exposureSeconds == nil && metadata.aperture == nil && metadata.iso == nil)
        #expect(metadata.takenAt == nil && metadata.latitude == nil && metadata.longitude == nil)
    }

    @Test(
        "If the time of the photo is invalid, the time when it was digitized counts",
        arguments: ["0000:00:00 00:00:00", "    :  :     :  :  ", "2006:13:30 07:47:17"])
    func timeDigitized(text: String) throws {
        var exif = ExifFile(orientation: 1)
        exif.exif = [(0x9003, .text(text)), (0x9004, .text("2006:07:30 07:47:17"))]
        #expect(try metadata(exif).takenAt == "2006-07-30T07:47:17")
    }

    @Test("A camera without a fix states no place")
    func withoutFix() throws {
        var exif = ExifFile(orientation: 1)
        let zero = ExifFile.Value.rationals([(0, 1), (0, 1), (0, 1)])
        exif.gps = [(1, .text("N")), (2, zero), (3, .text("E")), (4, zero)]
        let metadata = try metadata(exif)
        #expect(metadata.latitude == nil && metadata.longitude == nil)
    }

    @Test func textsAreAlwaysUTF8() throws {
        var tiff = Self.full.tiff
        let place = try #require(tiff.firstRange(of: Array("Evening".utf8)))
        tiff.replaceSubrange(place, with: [0xE9, 0xFF, 0x1B, 0x5B, 0x80, 0xC3, 0x28])
        let bytes = ExifFile.jpeg(try Tool.cjpeg(Self.picture.ppm), inserting: ExifFile.segment(tiff))
        let description = try #require(try decodeWhole(bytes).metadata.description)
        #expect(description.hasSuffix(" at the lake") && description.unicodeScalars.contains("\u{FFFD}"))
    }

    @Test func loopsAndBadOffsetsDoNotAffectThePicture() throws {
        let jpeg = try Tool.cjpeg(Self.picture.ppm)
        let expected = try decodeWhole(jpeg).pixels
        var loop = ExifFile()
        loop.main = [(0x8769, .long(8)), (0xA005, .long(8))]
        var offsets = ExifFile()
        offsets.main = [(0x8769, .long(.max)), (0x8825, .long(0x7FFF_FFFF))]
        let blocks = [
            loop.tiff, offsets.tiff, [], Array("MM".utf8), Array("II*\0\0\0\0\0".utf8),
            [UInt8](repeating: 0xFF, count: 3000),
            [UInt8](repeating: 0, count: 60_000),
        ]
        for block in blocks {
            let reply = try decodeWhole(ExifFile.jpeg(jpeg, inserting: ExifFile.segment(block)))
            #expect(reply.pixels == expected && reply.isComplete)
        }
    }

    @Test func survivesDamage() throws {
        let tiff = Self.full.tiff
        let jpeg = try Tool.cjpeg(Self.picture.ppm)
        var random = SeededNumbers(seed: 41)
        var request = DecodeRequest.within(8)
        request.product = .facts
        for _ in 0..<3000 {
            var damaged = tiff
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                damaged[.random(in: 0..<tiff.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let reply = try decode(ExifFile.jpeg(jpeg, inserting: ExifFile.segment(damaged)), request)
            #expect(reply.metadata == reply.metadata.bounded)
        }
    }

    /// A directory of 5,000 entries.
    @Test func limitsTheNumberOfFields() throws {
        var exif = ExifFile()
        exif.main = (0..<5000).map { _ in (0x010E, .text("again and again")) }
        #expect(try metadata(exif).fields.count <= PictureMetadata.mostFields)
    }

    private func metadata(_ exif: ExifFile) throws -> PictureMetadata {
        var png = PNGFile(Self.picture)
        png.chunks = [("eXIf", exif.tiff)]
        return try decodeWhole(png.bytes).metadata
    }
}
