import Model
import Testing

@testable import Formats

/// Unparsed photos: their digests, and both ways to parse them.
@Suite struct WrittenPhotosTests {
    private let base: Address

    init() throws { base = try Address("http://example.org/album/index.xml") }

    private func photos(_ text: String, base: Address? = nil) throws -> WrittenPhotos {
        let parser = GalleryXMLParser(base: base ?? self.base)
        let photos = try parser.parse(Array("<album>\(text)</album>".utf8))
        _ = try parser.finish()
        return photos
    }

    private func photo(
        id: String = "1", name: String = "One", date: String = "2006-07-30T07:47:17Z",
        images: [(kind: String, reference: String)] = [("image", "a.jpg"), ("thumbnail", "t.jpg")]
    ) -> String {
        let images = images.map { #"<image kind="\#($0.kind)" srcURL="\#($0.reference)"/>"# }.joined()
        return #"<photo id="\#(id)" name="\#(name)" date="\#(date)">\#(images)</photo>"#
    }

    private func digest(_ text: String, base: Address? = nil) throws -> Int64? {
        try photos(text, base: base).digest(at: 0)
    }

    @Test("The digest changes with every relevant part of an entry") func digests() throws {
        let plain = try #require(try digest(photo()))
        #expect(try digest("  \n" + photo()) == plain)
        let other = #"""
            <photo date='2006-07-30T07:47:17Z' stars="5" name="&#79;ne" id='1'><note/>
            <image srcURL='a.jpg' kind='image' width="7"/><image kind="poster" srcURL="p"/>
            <image kind='thumbnail' srcURL='t.jpg'/></photo>
            """#
        #expect(try digest(other) == plain)
        var all: Set<Int64?> = [plain]
        for text in [
            photo(id: "2"), photo(name: "Two"), photo(date: "2006-07-30T07:47:18Z"), photo(id: "1O", name: "ne"),
            photo(images: [("image", "b.jpg"), ("thumbnail", "t.jpg")]),
            photo(images: [("image", "a.jpg"), ("thumbnail", "u.jpg")]), photo(images: [("image", "a.jpg")]),
            photo(images: [("thumbnail", "a.jpg"), ("image", "t.jpg")]), photo(name: "One&amp;"),
            photo(name: "O\u{301}ne"), photo().replacing("<photo ", with: #"<photo rating="5" "#),
            photo().replacing("<photo ", with: #"<photo rating="4" "#),
            photo().replacing("<photo ", with: #"<photo tags="a" "#),
        ] {
            #expect(all.insert(try digest(text)).inserted, "\(text)")
        }
        #expect(all.insert(try digest(photo(), base: Address("http://example.org/other/index.xml"))).inserted)
    }

    @Test("The name of the root element is the name of the gallery")
    func title() throws {
        func title(_ text: String) throws -> String? {
            let parser = GalleryXMLParser(base: base)
            return try parser.parse(Array(text.utf8)).galleryName ?? parser.finish().galleryName
        }
        #expect(try title(#"<album name="Tom &amp;&#10; Anna"><photo name="x"/></album>"#) == "Tom & Anna")
        #expect(try title(#"<album name=" "><album name="x"/></album>"#) == nil)
        #expect(try title(#"<album name="\#(String(repeating: "é", count: 9_000))"/>"#)?.utf8.count == 250)
    }

    @Test("A photo has a comment, an author, a rating and tags, however it is parsed", arguments: [2, 20])
    func annotations(images count: Int) throws {
        let images = [("image", "a.jpg")] + Array(repeating: ("thumbnail", "t.jpg"), count: count - 1)
        var photos = try photos(
            photo(images: images).replacing(
                "<photo ", with: #"<photo comment="Now &amp; then" author="Zoë" rating="4" tags="lake, blue sky,"  "#)
                + photo(id: "2") + photo(id: "3").replacing("<photo ", with: #"<photo rating="99999999999999999999" "#)
                + photo(id: "4").replacing("<photo ", with: #"<photo rating="-2" comment="" "#))
        var entry = EntryBytes()
        var found: [PhotoAnnotations] = []
        for index in 0..<photos.count where photos.read(index, into: &entry) {
            found.append(PhotoAnnotations(text: entry.text(.annotations)))
            #expect(entry.text(.thumbnail) == "http://example.org/album/t.jpg" && entry.text(.revision).isEmpty)
        }
        var expected = PhotoAnnotations()
        (expected.description, expected.author, expected.rating) = ("Now & then", "Zoë", 4)
        expected.tags = ["lake", "blue sky"]
        var best = PhotoAnnotations()
        best.rating = 5
        #expect(found == [expected, PhotoAnnotations(), best, PhotoAnnotations()])
    }

    @Test("A photo with remarks has no digest") func remarks() throws {
        var photos = try photos(
            photo(images: [("image", "a.jpg"), ("thumbnail", "file:///x")])
                + photo(id: "2", name: String(repeating: "x", count: 5_000)) + photo(id: "3"))
        var entry = EntryBytes()
        for (index, isKept) in [(0, false), (1, false), (2, true)] {
            let isRead = photos.read(index, into: &entry)
            #expect(isRead && (entry.digest != nil) == isKept)
        }
        #expect(photos.remarks.count == 2 && photos.skipped.isEmpty)
        // Reading it again repeats the remark.
        let isRead = photos.read(0, into: &entry)
        #expect(isRead && photos.remarks.count == 3)
    }

    /// Not all images are kept, and still the last of a kind counts.
    @Test("A photo with very many images is read in bounded memory") func endlessPhotos() throws {
        let many = (0..<2_000).map { ($0 % 3 == 0 ? "image" : $0 % 3 == 1 ? "thumbnail" : "other", "\($0).jpg") }
        for pieces in [3, 1_000, 1 << 20] {
            let parser = GalleryXMLParser(base: base)
            let bytes = Array("<album>\(photo(images: many))\(photo(id: "2"))</album>".utf8)
            var entries: [GalleryEntry] = []
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                entries += try GalleryBatch(parser.parse(bytes[start..<min(bytes.count, start + pieces)])).entries
            }
            entries += try GalleryBatch(parser.finish()).entries
            #expect(entries.map(\.id) == ["1", "2"])
            #expect(entries.map { $0.photo.path.split(separator: "/").last } == ["1998.jpg", "a.jpg"])
            #expect(entries.map { $0.thumbnail?.path.split(separator: "/").last } == ["1999.jpg", "t.jpg"])
        }
        // The inner photo is separate, long or not.
        let nested =
            "<photo id='o'>" + String(repeating: "<image kind='image' srcURL='x'/>", count: 20) + photo() + "</photo>"
        let batch = try GalleryBatch(photos(nested))
        #expect(batch.entries.map { $0.photo.path.split(separator: "/").last } == ["a.jpg"])
        #expect(batch.skipped.map(\.reason) == ["it contains another photo"])
    }

    /// Most references take the fast path; it must give the same address as the full parser.
    @Test("The fast and the full parser agree") func bothParsers() throws {
        let references = [
            "a.jpg", "images/a.JPG", "a_b-c/d.e/f", "a b.jpg", "a%20b.jpg", "./a.jpg", "../a.jpg", "a/../b.jpg",
            "/a.jpg",
            "//other.org/a.jpg", "http://other.org/a.jpg", "a?b=c", "a#b", "é.jpg", "a//b", "a/.b", ".a", "a.", "a/",
        ]
        for base in [base, try Address("file:///tmp/a%20b/index.xml"), try Address("https://example.org:8080/")] {
            for reference in references {
                let batch = try GalleryBatch(photos(photo(images: [("image", reference)]), base: base))
                let address = try? base.resolving(reference)
                let expected = address.flatMap { base.mayName($0) ? $0 : nil }.map { [$0] } ?? []
                #expect(batch.entries.map(\.photo) == expected, "\(reference)")
            }
        }
    }
}
