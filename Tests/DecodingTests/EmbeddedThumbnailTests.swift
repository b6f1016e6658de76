import Decoding
import Formats
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Thumbnails that were cut out of photos, as the decoder sees them.
@Suite struct EmbeddedThumbnailTests {
    @Test("The decoder shows a thumbnail upright without its photo", arguments: Orientation.allCases)
    func upright(orientation: Orientation) throws {
        let picture = PixelBuffer.scene(width: 96, height: 64)
        var exif = ExifFile(orientation: UInt16(orientation.rawValue))
        exif.exif = [(0x9003, .text("2006:07:30 07:47:17"))]
        exif.thumbnail = try Tool.cjpeg(picture.stored(for: orientation).ppm, "-quality", "95")
        let large = PixelBuffer.scene(width: 960, height: 640).stored(for: orientation)
        let photo = ExifFile.jpeg(try Tool.cjpeg(large.ppm), inserting: exif.segment)
        let embedded = EmbeddedThumbnail(inPhoto: photo)
        let reply = try decodeWhole(try #require(embedded.picture))
        #expect(reply.orientation == orientation && reply.psnr(picture) > 25)
        #expect(try embedded.takenAt == decodeWhole(photo).metadata.takenAt && embedded.takenAt != nil)
    }

    /// A coded picture with the properties that it needs.
    private func coded(_ picture: PixelBuffer, as format: (name: String, type: String, settings: String)) throws
        -> HEIFFile.Picture
    {
        let file = try Tool.convert(picture.ppm, "ppm:-", "-quality", "95", "\(format.name):-")
        func box(_ type: String) throws -> ArraySlice<UInt8> {
            let place = try #require(file.firstRange(of: type.utf8)).lowerBound - 4
            let length = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            return file[place..<place + length]
        }
        var coded = HEIFFile.Picture(format.type, Array(try box("mdat").dropFirst(8)))
        coded.properties = [Array(try box(format.settings)), Array(try box("ispe"))]
        return coded
    }

    @Test(
        "libheif shows the thumbnail of a HEIC or AVIF photo upright without its photo",
        arguments: [("heic", "hvc1", "hvcC"), ("avif", "av01", "av1C")],
        [Orientation.upright, .turnedLeft, .turnedHalf, .turnedRight])
    func heif(format: (name: String, type: String, settings: String), orientation: Orientation) throws {
        let (large, small) = (PixelBuffer.scene(width: 320, height: 192), PixelBuffer.scene(width: 192, height: 128))
        var file = HEIFFile(
            photo: try coded(large.stored(for: orientation), as: format),
            thumbnail: try coded(small.stored(for: orientation), as: format))
        file.brand = format.name
        // Quarters of a turn to the left.
        let turns: [Orientation: UInt8] = [.turnedLeft: 1, .turnedHalf: 2, .turnedRight: 3]
        let rotation = HEIFFile.box("irot", [turns[orientation] ?? 0])
        file.photo.properties.append(rotation)
        file.thumbnail?.properties.append(rotation)
        #expect(try decodeWhole(file.bytes).psnr(large) > 25, "the file is sound")
        let thumbnail = try #require(HEIFThumbnail(inPhoto: file.bytes)?.embedded.picture)
        #expect(try decodeWhole(thumbnail).psnr(small) > 25)
    }

    /// The thumbnail is a different picture, to see which one was decoded.
    @Test("A HEIC photo's thumbnail serves if it is twice as large as wanted, and otherwise only as a preview")
    func largeEnough() throws {
        let (photo, other) = (PixelBuffer.scene(width: 480, height: 320), PixelBuffer.scene(width: 240, height: 160))
        let thumbnail = Orientation.turnedHalf.turned(other)
        let format = (name: "heic", type: "hvc1", settings: "hvcC")
        let file = HEIFFile(photo: try coded(photo, as: format), thumbnail: try coded(thumbnail, as: format))
        for haste in DecodeRequest.Haste.allCases {
            var request = DecodeRequest.within(120)
            request.haste = haste
            let small = try decode(file.bytes, request)
            #expect(!small.isCoarse && small.psnr(thumbnail.scaled(to: PixelSize(width: 120, height: 80))) > 25)
            request.box = PixelSize(width: 210, height: 210)
            let large = try decode(file.bytes, request)
            #expect(large.isCoarse == (haste == .soon))
            let shown = haste == .soon ? thumbnail : photo
            #expect(large.psnr(shown.scaled(to: PixelSize(width: 210, height: 140))) > 25)
        }
    }

    @Test("Of a thumbnail that is larger than its header states, the stated part is shown")
    func largerThanStated() throws {
        let picture = PixelBuffer.scene(width: 192, height: 128)
        var file = HEIFFile(photo: try coded(picture, as: ("heic", "hvc1", "hvcC")))
        let size: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 192, 0, 0, 0, 100]
        file.photo.properties[1] = HEIFFile.box("ispe", size)
        let stated = PixelRect(x: 0, y: 0, width: 192, height: 100)
        let expected = picture.scaled(to: PixelSize(width: 192, height: 100), region: stated)
        #expect(try decodeWhole(file.bytes).psnr(expected) > 25)
        file.photo.properties[1][19] = 200
        #expect(throws: DecodeFailure.self) { try decodeWhole(file.bytes) }
    }

    @Test("heif-enc’s thumbnails are found and shown")
    func heifEnc() throws {
        let picture = PixelBuffer.scene(width: 800, height: 600)
        var exif = ExifFile(orientation: 1)
        exif.exif = [(0x9003, .text("2006:07:30 07:47:17"))]
        let photo = ExifFile.jpeg(try Tool.cjpeg(picture.ppm, "-quality", "95"), inserting: exif.segment)
        let script = """
            folder=$(mktemp -d) && cat > "$folder/in.jpg" \
                && heif-enc -q 95 -t 160 -o "$folder/out.heic" "$folder/in.jpg" > /dev/null && cat "$folder/out.heic"
            rm -r "$folder"
            """
        let file = try Tool.run("/bin/sh", ["-c", script], input: photo)
        var heif = try #require(HEIFThumbnail(inPhoto: Array(file.prefix(EmbeddedThumbnail.reach))))
        let missing = try #require(heif.missing)
        heif.add(Array(file[missing.lowerBound.int..<missing.upperBound.int]), at: missing.lowerBound)
        let embedded = heif.embedded
        let reply = try decodeWhole(try #require(embedded.picture))
        #expect(reply.psnr(picture.scaled(to: PixelSize(width: 160, height: 120))) > 22)
        #expect(embedded.takenAt == "2006-07-30T07:47:17")
    }
}
