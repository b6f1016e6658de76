import Model
import Numbers
import TestSupport
import Testing

@testable import Formats

/// Thumbnails of HEIC and AVIF photos.
@Suite struct HEIFThumbnailTests {
    private static let coded = Array("thumbnail".utf8)
    private static let size = HEIFFile.box("ispe", [0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 16])
    private static let turn = HEIFFile.box("irot", [3])

    /// An EXIF block that contains only a time, and perhaps a thumbnail.
    private static func exif(_ thumbnail: [UInt8] = []) -> [UInt8] {
        EmbeddedThumbnailTests.Photo(time: "2006:07:30 07:47:17", thumbnail: thumbnail).tiff
    }

    private static func file(_ type: String = "hvc1") -> HEIFFile {
        var file = HEIFFile(photo: .init(type, [UInt8](repeating: 0x70, count: 200)), thumbnail: .init(type, coded))
        file.photo.properties = [HEIFFile.box("hvcC", [1])]
        file.thumbnail?.properties = [HEIFFile.box("hvcC", [2, 2]), size, turn]
        file.exif = exif()
        return file
    }

    /// Reads the thumbnail as requests do: the first bytes, and then one other part.
    private func read(_ bytes: [UInt8], first: Int) -> (embedded: EmbeddedThumbnail, missing: Range<ByteCount>?)? {
        guard var heif = HEIFThumbnail(inPhoto: Array(bytes.prefix(first))) else { return nil }
        let missing = heif.missing
        if let missing {
            heif.add(Array(bytes[missing.lowerBound.int..<missing.upperBound.int]), at: missing.lowerBound)
        }
        return (heif.embedded, missing)
    }

    @Test(
        "A thumbnail becomes a file of its own, with its rotation and the photo’s time", arguments: ["hvc1", "av01"],
        [false, true])
    func found(type: String, isLarge: Bool) throws {
        var file = Self.file(type)
        (file.isLarge, file.brand) = (isLarge, type == "hvc1" ? "heic" : "avif")
        let (embedded, missing) = try #require(read(file.bytes, first: file.bytes.count))
        #expect(missing == nil && embedded.takenAt == "2006-07-30T07:47:17" && embedded.orientation == 1)
        let picture = try #require(embedded.picture)
        let (properties, start) = (file.thumbnail?.properties ?? [], try #require(picture.firstRange(of: "ipco".utf8)))
        #expect(picture[start.upperBound...].starts(with: properties.flatMap { $0 }))
        #expect(picture.suffix(8 + Self.coded.count) == HEIFFile.box("mdat", Self.coded)[...])
        #expect(picture.starts(with: file.bytes.prefix(24)))
    }

    @Test("A part of the file is missing if thumbnail or EXIF block come after the first bytes")
    func missing() throws {
        var file = Self.file()
        file.isPhotoFirst = true
        let bytes = file.bytes
        let whole = try #require(read(bytes, first: bytes.count))
        let end = bytes.count
        let (thumbnail, block) = (end - Self.coded.count, end - Self.coded.count - 4 - Self.exif().count)
        let cases = [
            (end, nil), (end - 1, thumbnail..<end), (thumbnail, thumbnail..<end), (thumbnail - 1, block..<end),
            (block - 100, block..<end),
        ]
        for (first, expected) in cases {
            let (embedded, missing) = try #require(read(bytes, first: first))
            #expect(missing == expected.map { ByteCount($0.lowerBound)..<ByteCount($0.upperBound) }, "\(first)")
            #expect(embedded == whole.embedded)
        }
    }

    @Test("If thumbnail and EXIF block are far from each other, the thumbnail counts", arguments: [60_000, 70_000])
    func far(gap: Int) throws {
        var file = Self.file()
        (file.isPhotoFirst, file.gap) = (true, gap)
        let (embedded, missing) = try #require(read(file.bytes, first: 500))
        #expect(embedded.picture != nil)
        #expect(try #require(missing).length.int == (gap > 65_536 ? Self.coded.count : gap + 9 + 4 + Self.exif().count))
        #expect(embedded.takenAt == (gap > 65_536 ? nil : "2006-07-30T07:47:17"))
    }

    @Test("A photo without a thumbnail among its items may have one in its EXIF block")
    func inBlock() throws {
        var file = Self.file()
        file.thumbnail = nil
        #expect(try #require(read(file.bytes, first: 9_999)).embedded.picture == nil)
        file.exif = EmbeddedThumbnailTests.Photo(orientation: 6, time: "2006:07:30 07:47:17").tiff
        let embedded = try #require(read(file.bytes, first: 9_999)).embedded
        #expect(embedded.picture?.starts(with: [0xFF, 0xD8]) == true && embedded.orientation == 6)
        file.exif = nil
        #expect(HEIFThumbnail(inPhoto: file.bytes) == nil)
    }

    @Test("Thumbnails that are too long, composed, or without properties are ignored")
    func unusable() {
        var files = [Self.file(), Self.file(), Self.file(), Self.file(), Self.file()]
        files[0].thumbnailLength = 65_537
        files[1].thumbnailLength = 0
        files[2].thumbnail?.type = "grid"
        files[3].thumbnail?.properties = []
        files[4].thumbnail?.properties = [HEIFFile.box("colr", [UInt8](repeating: 0, count: 20_000))]
        for file in files {
            let heif = HEIFThumbnail(inPhoto: file.bytes)
            #expect(heif?.embedded.picture == nil && heif?.missing == nil && heif?.embedded.takenAt != nil)
        }
    }

    @Test("Other formats have no such thumbnail")
    func others() {
        for bytes in [[], Array("\0\0\0\u{10}ftyp".utf8), EmbeddedThumbnailTests.Photo().bytes] {
            #expect(HEIFThumbnail(inPhoto: bytes) == nil)
        }
    }

    @Test("Offsets at the ends of their ranges lead nowhere")
    func hostileNumbers() {
        for isLarge in [false, true] {
            for number in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 53, Int.max, -1] {
                var file = Self.file()
                file.isLarge = isLarge
                file.thumbnailOffset = number
                if let missing = HEIFThumbnail(inPhoto: file.bytes)?.missing {
                    #expect(missing.length == ByteCount(Self.coded.count))
                }
                (file.thumbnailOffset, file.thumbnailLength) = (nil, number)
                if let missing = HEIFThumbnail(inPhoto: file.bytes)?.missing { #expect(missing.length <= 65_536) }
            }
        }
    }

    @Test("A photo cut at any byte yields the thumbnail or none")
    func cut() throws {
        for isLarge in [false, true] {
            var file = Self.file()
            (file.isLarge, file.isPhotoFirst) = (isLarge, true)
            let whole = try #require(read(file.bytes, first: file.bytes.count)).embedded
            for count in 0..<file.bytes.count {
                guard let (embedded, _) = read(file.bytes, first: count) else { continue }
                #expect(embedded == whole)
            }
            for count in 0..<file.bytes.count {
                let embedded = HEIFThumbnail(inPhoto: Array(file.bytes.prefix(count)))?.embedded
                #expect([nil, whole.picture].contains(embedded?.picture))
            }
        }
    }

    @Test("Mutated photos yield small pictures or none")
    func mutations() {
        var random = SeededNumbers(seed: 7)
        var (small, large) = (Self.file(), Self.file("av01"))
        small.isPhotoFirst = true
        large.isLarge = true
        let files = [small.bytes, large.bytes]
        var found = 0
        for round in 0..<20_000 {
            var bytes = files[round % 2]
            // The coded bytes mean nothing here.
            let end = bytes.firstRange(of: "mdat".utf8)?.lowerBound ?? bytes.count
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let value = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(
                    using: &random)
                bytes[Int.random(in: 0..<end, using: &random)] = value ?? 0
            }
            guard var heif = HEIFThumbnail(inPhoto: bytes) else { continue }
            if let missing = heif.missing {
                #expect(missing.length <= 65_536 && !missing.isEmpty)
                heif.add([UInt8](repeating: 1, count: missing.length.int), at: missing.lowerBound)
            }
            guard let picture = heif.embedded.picture else { continue }
            found += 1
            #expect(picture.count <= 65_536 + 20_000)
        }
        #expect((1_000..<20_000).contains(found), "\(found)")
    }
}
