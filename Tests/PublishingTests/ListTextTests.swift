import Formats
import Model
import TestSupport
import Testing

@testable import Publishing

@Suite(.ownThread) struct ListTextTests {
    /// Names with all kinds of characters, read by the gallery parser.
    @Test("The gallery parser reads a list with unusual names") func roundTrip() throws {
        let names = ["Plain", "& < > \" ' ]]>", "Bär 🐻", "--> <!-- ", "&amp; &#38;", "a\u{301}\u{302}", "␛[2J"]
        let stamp = FileStamp(size: 1, seconds: 2, nanoseconds: 3)
        var text = ListText.beginning
        for (number, name) in names.enumerated() {
            let photo = PublishedPhoto(
                name: name, date: Timestamp(milliseconds: Int64(number) * 1_001), revision: 0, isCutShort: false,
                thumbnail: ThumbnailName(of: "\(number)", stamp), thumbnailSize: 1)
            text += ListText.text(of: photo, at: PhotoPath("a folder/\(number) #.jpg").reference)
        }
        text += ListText.end
        let parser = GalleryXMLParser(base: try Address("http://example.org/x/gallery.xml"))
        var photos = try parser.parse(Array(text.utf8))
        #expect(try parser.finish().count == 0 && photos.count == names.count)
        var entry = EntryBytes()
        for (number, name) in names.enumerated() {
            #expect(photos.read(number, into: &entry))
            #expect(entry.text(.name) == name && entry.date.milliseconds == Int64(number) * 1_001)
            #expect(entry.text(.id) == "a%20folder/\(number)%20%23.jpg")
            #expect(entry.text(.photo) == "http://example.org/x/a%20folder/\(number)%20%23.jpg")
            let thumbnail = ThumbnailName(of: "\(number)", stamp).text
            #expect(entry.text(.thumbnail) == "http://example.org/x/thumbnails/" + thumbnail)
        }
        #expect(photos.skipped.isEmpty && photos.remarks.isEmpty)
    }
}
