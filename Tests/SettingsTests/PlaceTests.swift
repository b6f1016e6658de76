import Glibc
import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct PlaceTests {
    @Test(
        "BEHAVIOURS 6.3: a place is read as it was written",
        arguments: ["12345", "two\nlines", "open=photo", "日本語\u{301}", "\u{0}\u{1B}[2J", "=", " "])
    func roundTrip(id: String) throws {
        let gallery = try Address("http://example.org/a.xml?b=c")
        for isPhotoOpen in [false, true] {
            let place = Place(gallery: gallery, photo: id, isPhotoOpen: isPhotoOpen)
            #expect(Place(text: place.line) == place)
        }
    }

    @Test func nowhere() {
        #expect(Place().line.isEmpty)
        #expect(Place(text: "") == Place())
        let folder = Place(gallery: Address(filePath: "/a folder"))
        #expect(Place(text: folder.line) == folder)
    }

    @Test(arguments: [
        "gallery=ftp://example.org/", "gallery=", "gallery", "photo=6", "photo=6g", "photo=", "photo=ff",
        "photo=+1", "open=yes", "\u{FFFD}\u{0}=\n\n===", "size=3",
    ]) func invalidTextIsIgnored(text: String) throws {
        #expect(Place(text: text) == Place())
        // Valid lines still count.
        let place = Place(gallery: try Address("http://example.org/"), photo: "1", isPhotoOpen: true)
        #expect(Place(text: text + "\n" + place.line) == place)
    }

    @Test("The file of a photo or a video, or a link to one, names the photo in the gallery of its folder")
    func photoFiles() throws {
        let folder = TestFolder()
        let album = Address(filePath: folder.path("album"))
        for name in ["a b.jpg", "c.MP4"] {
            let expected = Place(gallery: album, photo: name, isPhotoOpen: true)
            #expect(try Place(photoFile: Address(filePath: folder.write("album/\(name)", "x"))) == expected)
            #expect(symlink("album/\(name)", folder.path("latest " + name)) == 0)
            #expect(try Place(photoFile: Address(filePath: folder.path("latest " + name))) == expected)
        }
        folder.write("album.jpg/list.xml", "x")
        folder.write(".hidden.jpg", "x")
        for name in ["album", "album.jpg", "album.jpg/list.xml", ".hidden.jpg", "missing.jpg"] {
            #expect(try Place(photoFile: Address(filePath: folder.path(name))) == nil)
        }
        #expect(try Place(photoFile: Address("http://example.org/a.jpg")) == nil)
    }

    @Test func passwordsAreNotWritten() throws {
        #expect(!Place(gallery: try Address("http://me:secret@example.org/")).line.contains("secret"))
    }
}
