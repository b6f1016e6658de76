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

    /// An EXIF block that contains only a time.
    private static func exif() -> [UInt8] {
        EmbeddedThumbnailTests.Photo(time: "2006:07:30 07:47:17", thumbnail: []).tiff
    }

    private static func file(_ type: String = "hvc1") -> HEIFFile {
        var file = HEIFFile(photo: .init(type, [UInt8](repeating: 0x70, count: 200)), thumbnail: .init(type, coded))
        file.photo.properties = [HEIFFile.box("hvcC", [1])]
        file.thumbnail?.properties = [HEIFFile.box("hvcC", [2, 2]), size, turn]
        file.exif = exif()
        return file
    }

    /// Reads the thumbnail as requests do: the first bytes, and then other parts.
    private func read(_ bytes: [UInt8], first: Int) -> (embedded: EmbeddedThumbnail, missing: [Range<Int>])? {
        guard var heif = HEIFThumbnail(inPhoto: Array(bytes.prefix(first))) else { return nil }
        var parts: [Range<Int>] = []
        while let missing = heif.missing {
            parts.append(missing.lowerBound.int..<missing.upperBound.int)
            let part = bytes[(parts.last ?? 0..<0).clamped(to: bytes.indices)]
            heif.add(Array(part), at: missing.lowerBound)
        }
        return (heif.embedded, parts)
    }

    @Test(
        "A thumbnail becomes a file of its own, with its rotation and the photo’s time", arguments: ["hvc1", "av01"],
        [false, true])
    func found(type: String, isLarge: Bool) throws {
        var file = Self.file(type)
        (file.isLarge, file.brand) = (isLarge, type == "hvc1" ? "heic" : "avif")
        let (embedded, missing) = try #require(read(file.bytes, first: file.bytes.count))
        #expect(missing.isEmpty && embedded.takenAt == "2006-07-30T07:47:17" && embedded.orientation == 1)
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
            #expect(missing == expected.map { [$0] } ?? [], "\(first)")
            #expect(embedded == whole.embedded)
        }
    }

    @Test("If thumbnail and EXIF block are far from each other, the thumbnail counts", arguments: [60_000, 70_000])
    func far(gap: Int) throws {
        var file = Self.file()
        (file.isPhotoFirst, file.gap) = (true, gap)
        let (embedded, missing) = try #require(read(file.bytes, first: 500))
        #expect(embedded.picture != nil)
        #expect(missing.map(\.count) == [gap > 65_536 ? Self.coded.count : gap + 9 + 4 + Self.exif().count])
        #expect(embedded.takenAt == (gap > 65_536 ? nil : "2006-07-30T07:47:17"))
    }

    @Test("The list of items may come after the photo", arguments: [100, 44_000, 60_000, 3_000_000])
    func listLast(gap: Int) throws {
        var file = Self.file()
        file.photo.bytes = [UInt8](repeating: 0x70, count: 100_000)
        (file.isListLast, file.isPhotoFirst, file.gap) = (true, true, gap)
        let bytes = file.bytes
        let (embedded, missing) = try #require(read(bytes, first: 61_440))
        let list = try #require(bytes.firstRange(of: "meta".utf8)).lowerBound - 4
        #expect(missing.first == list - 45_056..<list + 20_480)
        #expect(missing.count == (gap <= 44_000 ? 1 : 2) && missing.dropFirst().allSatisfy { $0.count <= 65_536 })
        #expect(embedded.picture?.suffix(Self.coded.count) == Self.coded[...])
        #expect(embedded.takenAt == "2006-07-30T07:47:17")
        var unlisted = try #require(HEIFThumbnail(inPhoto: Array(bytes.prefix(61_440))))
        for part in [[], Array(bytes.prefix(65_536))] {
            var heif = unlisted
            heif.add(part, at: try #require(heif.missing).lowerBound)
            #expect(heif.missing == nil && heif.embedded.picture == nil)
        }
        // A list that is not where the bytes of the photo end.
        unlisted.add(Array(bytes.suffix(65_536)), at: 7)
        #expect(unlisted.missing == nil)
    }

    @Test("A list behind the photo may be long", arguments: [15_000, 40_000, 70_000])
    func longList(size: Int) throws {
        var file = Self.file()
        file.photo.bytes = [UInt8](repeating: 0x70, count: 100_000)
        // The list contains the properties of the photo.
        file.photo.properties = [HEIFFile.box("hvcC", [UInt8](repeating: 1, count: size))]
        (file.isListLast, file.isPhotoFirst) = (true, true)
        let (embedded, missing) = try #require(read(file.bytes, first: 61_440))
        let list = try #require(file.bytes.firstRange(of: "meta".utf8)).lowerBound - 4
        #expect(missing.first == list - 45_056..<list + 20_480)
        #expect(missing.count == (size == 40_000 ? 2 : 1) && missing.allSatisfy { $0.count <= 65_536 })
        #expect((embedded.picture != nil) == (size <= 40_000))
    }

    @Test("A list at the beginning may be longer than the first bytes", arguments: [40_000, 65_000, 70_000])
    func longFirstList(size: Int) throws {
        var file = Self.file()
        file.photo.properties = [HEIFFile.box("hvcC", [UInt8](repeating: 1, count: size))]
        let found = read(file.bytes, first: HEIFThumbnail.reach)
        #expect((found != nil) == (size < 70_000))
        guard let (embedded, missing) = found else { return }
        #expect(missing == [0..<65_536])
        #expect(embedded.picture?.suffix(Self.coded.count) == Self.coded[...])
        #expect(embedded.takenAt == "2006-07-30T07:47:17")
    }

    @Test("A thumbnail whose transparency is an item of its own is ignored, and a long EXIF block is read in part")
    func partial() throws {
        var file = Self.file()
        file.exif = Self.exif() + [UInt8](repeating: 0, count: 200_000)
        let bytes = file.bytes
        let (embedded, missing) = try #require(read(bytes, first: 61_440))
        #expect(embedded.takenAt == "2006-07-30T07:47:17" && embedded.picture != nil && missing.count == 1)
        let place = try #require(bytes.firstRange(of: "cdsc".utf8))
        var transparent = bytes
        // The EXIF block becomes a mask of the thumbnail.
        transparent.replaceSubrange(place, with: "auxl".utf8)
        transparent[place.upperBound + 5] = 2
        #expect(HEIFThumbnail(inPhoto: transparent) == nil)
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
            for _ in 0..<3 {
                guard let missing = heif.missing else { break }
                #expect(missing.length <= 65_536 && !missing.isEmpty)
                heif.add([UInt8](repeating: 1, count: missing.length.int), at: missing.lowerBound)
            }
            #expect(heif.missing == nil)
            guard let picture = heif.embedded.picture else { continue }
            found += 1
            #expect(picture.count <= 65_536 + 20_000)
        }
        #expect((1_000..<20_000).contains(found), "\(found)")
    }
}
