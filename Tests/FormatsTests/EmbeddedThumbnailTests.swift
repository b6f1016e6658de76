import Model
import TestSupport
import Testing

@testable import Formats

/// Thumbnails in the first bytes of photos.
@Suite struct EmbeddedThumbnailTests {
    /// A JPEG without an EXIF block. Its frame and scan are only headers.
    private static let thumbnail: [UInt8] =
        [0xFF, 0xD8] + segment(0xDB, Array(repeating: 1, count: 65)) + segment(0xC0, [8, 0, 16, 0, 16, 1, 1, 0x11, 0])
        + segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x12, 0x34, 0xFF, 0xD9]

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }

    /// A photo with an EXIF block, whose numbers a test may falsify.
    struct Photo {
        var isLittleEndian = false
        var orientation: Int?
        var time: String?
        var digitized: String?
        var thumbnail = EmbeddedThumbnailTests.thumbnail
        var thumbnailOffset: Int?
        var thumbnailLength: Int?
        var exifOffset: Int?
        var secondOffset: Int?
        var before: [UInt8] = []

        private func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return isLittleEndian ? bytes : bytes.reversed()
        }

        private func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            let value = type == 3 ? bytes(value, 2) + [0, 0] : bytes(value, 4)
            return bytes(tag, 2) + bytes(type, 2) + bytes(count, 4) + value
        }

        /// The main directory is at 8, the EXIF directory at 38, its texts at 68, and the thumbnail's directory at 108.
        var tiff: [UInt8] {
            var block: [UInt8] = (isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]) + bytes(42, 2) + bytes(8, 4)
            block += bytes(2, 2) + entry(0x0112, 3, 1, orientation ?? 0) + entry(0x8769, 4, 1, exifOffset ?? 38)
            block += bytes(secondOffset ?? 108, 4)
            block += bytes(2, 2) + entry(0x9003, 2, 20, 68) + entry(0x9004, 2, 20, 88) + bytes(0, 4)
            for text in [time, digitized] {
                block += (Array((text ?? "").utf8) + Array(repeating: 0, count: 20)).prefix(20)
            }
            block += bytes(2, 2) + entry(0x0201, 4, 1, thumbnailOffset ?? 138)
            block += entry(0x0202, 4, 1, thumbnailLength ?? thumbnail.count) + bytes(0, 4)
            return block + thumbnail
        }

        var bytes: [UInt8] {
            [0xFF, 0xD8] + before + segment(0xE1, Array("Exif\0\0".utf8) + tiff)
                + EmbeddedThumbnailTests.thumbnail.dropFirst(2)
        }
    }

    @Test("A thumbnail is found in either byte order, with orientation and time", arguments: [false, true])
    func found(isLittleEndian: Bool) throws {
        var photo = Photo(isLittleEndian: isLittleEndian, orientation: 1, time: "2006:07:30 07:47:17")
        photo.before =
            Self.segment(0xE0, Array("JFIF\0".utf8)) + [0xFF, 0xFF] + Self.segment(0xE1, Array("http://".utf8))
        let embedded = EmbeddedThumbnail(inPhoto: photo.bytes)
        #expect(embedded.picture == Self.thumbnail)
        #expect(embedded.orientation == 1 && embedded.takenAt == "2006-07-30T07:47:17")
    }

    @Test("The thumbnail of a turned photo gets the photo's orientation and loses its own", arguments: 2...8)
    func turned(orientation: Int) throws {
        var photo = Photo(orientation: orientation)
        photo.thumbnail.insert(
            contentsOf: Self.segment(0xE1, Array("Exif\0\0".utf8) + Photo(orientation: 1).tiff), at: 2)
        let embedded = EmbeddedThumbnail(inPhoto: photo.bytes)
        let picture = try #require(embedded.picture)
        #expect(embedded.orientation == orientation && EmbeddedThumbnail(inPhoto: picture).orientation == orientation)
        #expect(picture.dropFirst(2 + 36) == Self.thumbnail.dropFirst(2))
    }

    @Test("The thumbnail of a raw file is found in its second directory, or in the JPEG at its beginning")
    func raw() {
        let photo = Photo(isLittleEndian: true, orientation: 1, time: "2006:07:30 07:47:17")
        var olympus = photo.tiff
        olympus.replaceSubrange(0..<4, with: "IIRO".utf8)
        var fujifilm = Array("FUJIFILMCCD-RAW ".utf8) + [UInt8](repeating: 0, count: 68) + [0, 0, 0, 100]
        fujifilm += [UInt8](repeating: 0, count: 12) + photo.bytes
        for bytes in [photo.tiff, Photo(orientation: 1, time: photo.time).tiff, olympus, fujifilm] {
            let embedded = EmbeddedThumbnail(inPhoto: bytes)
            #expect(embedded.picture == Self.thumbnail && embedded.takenAt == "2006-07-30T07:47:17")
            for length in 0..<bytes.count {
                let cut = EmbeddedThumbnail(inPhoto: Array(bytes.prefix(length)))
                #expect(cut.picture == nil || cut.picture == Self.thumbnail)
            }
        }
        fujifilm.replaceSubrange(84..<88, with: [255, 255, 255, 255])
        #expect(EmbeddedThumbnail(inPhoto: fujifilm).picture == nil)
    }

    @Test("Impossible orientations and times are unknown")
    func impossible() {
        for orientation in [0, 9, 65_535] {
            #expect(EmbeddedThumbnail(inPhoto: Photo(orientation: orientation).bytes).orientation == 1)
        }
        for time in [
            "0000:00:00 00:00:00", "    :  :     :  :  ", "2006:13:30 07:47:17", "2006:07:30", "2006:07:30 07:47:1é",
        ] {
            #expect(EmbeddedThumbnail(inPhoto: Photo(time: time).bytes).takenAt == nil)
        }
        let scanned = Photo(time: "0000:00:00 00:00:00", digitized: "2006:07:30 07:47:17")
        #expect(EmbeddedThumbnail(inPhoto: scanned.bytes).takenAt == "2006-07-30T07:47:17")
    }

    @Test("Offsets and lengths outside the block yield no thumbnail")
    func hostileNumbers() {
        let size = Photo().tiff.count
        for number in [0, 1, size - 1, size, size + 1, 65_535, 65_536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] {
            for isLittleEndian in [false, true] {
                var photo = Photo(isLittleEndian: isLittleEndian, time: "2006:07:30 07:47:17")
                photo.thumbnailOffset = number
                #expect(EmbeddedThumbnail(inPhoto: photo.bytes).picture == nil)
                photo = Photo(isLittleEndian: isLittleEndian, thumbnailLength: number)
                #expect(EmbeddedThumbnail(inPhoto: photo.bytes).picture == nil)
                photo = Photo(isLittleEndian: isLittleEndian, time: "2006:07:30 07:47:17", secondOffset: number)
                #expect(EmbeddedThumbnail(inPhoto: photo.bytes).picture == nil)
                photo = Photo(isLittleEndian: isLittleEndian, time: "2006:07:30 07:47:17", exifOffset: number)
                let embedded = EmbeddedThumbnail(inPhoto: photo.bytes)
                #expect(embedded.takenAt == nil && embedded.picture == Self.thumbnail)
            }
        }
    }

    @Test("A directory that names itself as the next one ends the search")
    func loop() {
        for offset in [8, 38] { #expect(EmbeddedThumbnail(inPhoto: Photo(secondOffset: offset).bytes).picture == nil) }
    }

    @Test("A thumbnail that is no JPEG is ignored")
    func noJPEG() {
        for thumbnail in [[], [0xFF, 0xD8], Array(Self.thumbnail.dropLast(20)), Array("II*\0 no JPEG".utf8)] {
            #expect(EmbeddedThumbnail(inPhoto: Photo(thumbnail: thumbnail).bytes).picture == nil)
        }
        for photo in [[], [0xFF], [0xFF, 0xD8], Array("\u{89}PNG".utf8), Array("II,\0".utf8) + Photo().tiff] {
            #expect(EmbeddedThumbnail(inPhoto: photo) == EmbeddedThumbnail(inPhoto: []))
        }
    }

    @Test("A photo cut at any byte yields the thumbnail or none")
    func cut() {
        let photo = Photo(orientation: 6, time: "2006:07:30 07:47:17").bytes
        let whole = EmbeddedThumbnail(inPhoto: photo)
        let end = photo.count - Self.thumbnail.count + 2
        for count in 0...photo.count {
            let embedded = EmbeddedThumbnail(inPhoto: Array(photo.prefix(count)))
            #expect(embedded.picture == (count < end ? nil : whole.picture))
            #expect([nil, whole.takenAt].contains(embedded.takenAt) && [1, 6].contains(embedded.orientation))
        }
    }

    @Test("Bytes beyond the first 60 KB are ignored")
    func reach() {
        var photo = Photo()
        let room = EmbeddedThumbnail.reach - photo.bytes.count
        for (length, isFound) in [(room / 2 - 4, true), (room / 2 + photo.bytes.count, false)] {
            let filling = Self.segment(0xE2, Array(repeating: 0, count: length))
            photo.before = filling + filling
            #expect((EmbeddedThumbnail(inPhoto: photo.bytes).picture != nil) == isFound)
        }
    }

    @Test("Mutated photos yield small pictures or none")
    func mutations() {
        var random = SeededNumbers(seed: 7)
        let photos = [false, true].map { Photo(isLittleEndian: $0, orientation: 6, time: "2006:07:30 07:47:17").bytes }
        var found = 0
        for round in 0..<20_000 {
            var photo = photos[round % 2]
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let value = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(
                    using: &random)
                photo[Int.random(in: 0..<photo.count, using: &random)] = value ?? 0
            }
            let embedded = EmbeddedThumbnail(inPhoto: photo)
            #expect((1...8).contains(embedded.orientation))
            if let takenAt = embedded.takenAt { #expect(Timestamp(localTime: takenAt) != nil) }
            guard let picture = embedded.picture else { continue }
            found += 1
            #expect(picture.starts(with: [0xFF, 0xD8]) && picture.count <= photo.count + 36)
        }
        #expect((1_000..<20_000).contains(found))
    }
}
