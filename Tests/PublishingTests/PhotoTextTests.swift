import Model
import TestSupport
import Testing

@testable import Publishing

/// A photo's id, name and date.
@Suite(.ownThread) struct PhotoTextTests {
    @Test(
        "A path becomes an escaped reference that resolves to the file",
        arguments: [
            ("a.jpg", "a.jpg"), ("summer 2019/Bär.jpg", "summer%202019/B%C3%A4r.jpg"), ("50%.jpg", "50%25.jpg"),
            ("a#b?c&d<e>\"'.jpg", "a%23b%3Fc%26d%3Ce%3E%22%27.jpg"), ("a:b.jpg", "a%3Ab.jpg"), ("a\nb", "a%0Ab"),
            ("%2e%2E/x", "%252e%252E/x"),
        ]) func references(path: String, reference: String) throws
    {
        #expect(PhotoPath(path).reference == reference)
        // It resolves to the file, both from a folder and from a server.
        let list = Address(filePath: "/srv/gallery.xml")
        #expect(try list.resolving(reference).filePath == "/srv/" + path)
        #expect(try Address("http://example.org/gallery.xml").resolving(reference).path == "/" + reference)
    }

    /// File systems differ in how they store accents.
    @Test("Precomposed and decomposed accents are two photos") func accents() {
        let (composed, decomposed) = (PhotoPath("B\u{E4}r.jpg"), PhotoPath("Ba\u{308}r.jpg"))
        #expect(composed.text == decomposed.text && composed.reference != decomposed.reference)
    }

    @Test(
        "A photo's name comes from its title or its file",
        arguments: [
            (nil, "a/IMG_1.JPG", "IMG_1"), (nil, "archive.tar.jpg", "archive.tar"), (nil, "none", "none"),
            ("A title", "a.jpg", "A title"), ("", "a.jpg", "a"), (" \n ", "a.jpg", "a"), ("a\nb\tc", "x", "a b c"),
            ("\u{1B}[2J\u{9B}1m\u{7F}", "x", "␛[2J\u{FFFD}1m␡"), ("\u{FFFF}", "x", "\u{FFFD}"), (nil, " .jpg", ".jpg"),
            (nil, " ", "%20"), ("👨‍👩‍👧 & <b>", "x", "👨‍👩‍👧 & <b>"),
        ]) func names(title: String?, path: String, name: String)
    {
        #expect(PhotoName.text(title: title, path: PhotoPath(path)) == name)
    }

    @Test("A photo's date comes from the camera or the file, plus its revision") func dates() throws {
        let modified = FileStamp(size: 1, seconds: 1_154_245_637, nanoseconds: 250_000_000)
        func date(_ takenAt: String?, _ stamp: FileStamp? = nil, _ revision: Int = 0) -> String {
            PhotoDate.moment(takenAt: takenAt, modified: stamp ?? modified, revision: revision).iso8601
        }
        // The camera's time is taken in this machine's time zone.
        let zone = try #require(Timestamp(iso8601: "2012-01-02T12:00:00Z"))
        let taken = PhotoDate.moment(takenAt: "2012-01-02T12:00:00", modified: modified, revision: 0)
        #expect(abs(taken.milliseconds - zone.milliseconds) <= 14 * 3_600_000)
        #expect(date("2012-01-02T12:00:00Z") == "2012-01-02T12:00:00Z")
        #expect(date(nil) == "2006-07-30T07:47:17Z")
        #expect(date("2012-02-31T12:00:00") == "2006-07-30T07:47:17Z")
        #expect(date(nil, nil, 3) == "2006-07-30T07:47:17.003Z")
        let far = FileStamp(size: 1, seconds: .max, nanoseconds: 0)
        #expect(Timestamp(iso8601: date(nil, far)) != nil)
        #expect(Timestamp(iso8601: date(nil, FileStamp(size: 1, seconds: .min, nanoseconds: 0))) != nil)
        #expect(Timestamp(iso8601: date("0001-01-01T00:00:00")) != nil)
    }
}
