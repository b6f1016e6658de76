import Decoding
import Formats
import PictureTestSupport
import Pixels
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
}
