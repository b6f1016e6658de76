import Files
import Foundation
import FoundationXML
import Logging
import Model
import TestSupport
import Testing

@testable import Cache
@testable import Export

/// Ratings written beside real files.
@Suite struct RatingSidecarsTests {
    private let folder = TestFolder()
    private let cache: GalleryCache

    init() throws {
        cache = try CacheFolder(path: folder.path("cache"), log: Log()).open(
            Address("file://\(folder.path("photos"))/"))
        folder.write("photos/a.jpg", "a")
    }

    private func key(_ id: String, _ photo: String, _ rating: Rating?) async throws -> PhotoKey {
        let draft = try cache.beginSync()
        try draft.add([
            GalleryEntry(
                id: id, name: id, date: Timestamp(milliseconds: 1), photo: try Address(photo), thumbnail: nil)
        ])
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        let key = try #require(try cache.read { try $0.photo(galleryID: id) }).key
        try await cache.writer.rate([key], rating)
        return key
    }

    private func write(_ rating: Rating?, over old: String? = nil) async throws -> RatingSidecars.Report {
        if let old { folder.write("photos/a.jpg.xmp", old) }
        let key = try await key("a.jpg", "file://\(folder.path("photos"))/a.jpg", rating)
        return try await RatingSidecars(of: cache, mask: CreationMask(0o022)).write([key])
    }

    private var text: String {
        get throws { try String(contentsOfFile: folder.path("photos/a.jpg.xmp"), encoding: .utf8) }
    }

    @Test("A new file is well-formed XML with the rating, and other files of the folder stay", arguments: [-1, 1, 5])
    func new(stars: Int) async throws {
        #expect(try await write(Rating(stars)).written == 1)
        #expect(folder.entries("photos") == ["a.jpg", "a.jpg.xmp"])
        let document = try XMLReading(try text)
        #expect(document.attributes["xmp:Rating"] == "\(stars)")
        #expect(document.attributes["xmlns:xmp"] == "http://ns.adobe.com/xap/1.0/")
        #expect(try await write(Rating(stars)).unchanged == 1)
    }

    @Test("A photo without a rating gets no file")
    func unrated() async throws {
        let report = try await write(nil)
        #expect(report.unchanged == 1 && report.written + report.failed == 0)
        #expect(folder.entries("photos") == ["a.jpg"])
    }

    @Test(
        "The rating of another program stays if the user has not rated the photo, and goes if the user gives no stars")
    func otherProgramsRating() async throws {
        let old = #"<r><rdf:Description xmp:Rating="4"/></r>"#
        #expect(try await write(nil, over: old).unchanged == 1)
        #expect(try text == old)
        #expect(try await write(Rating(0)).written == 1)
        #expect(try text == #"<r><rdf:Description xmp:Rating="0"/></r>"#)
    }

    @Test(
        "In a file of another program, only the rating changes",
        arguments: [
            (
                #"<r><rdf:Description a="1" xmp:Rating="2" b='3'/></r>"#,
                #"<r><rdf:Description a="1" xmp:Rating="4" b='3'/></r>"#
            ),
            (#"<r><rdf:Description xmp:Rating='-1'/></r>"#, #"<r><rdf:Description xmp:Rating='4'/></r>"#),
            (#"<r><rdf:Description xap:Rating = "3"/></r>"#, #"<r><rdf:Description xap:Rating = "4"/></r>"#),
            ("<r><xmp:Rating>0</xmp:Rating><x/></r>\r\n", "<r><xmp:Rating>4</xmp:Rating><x/></r>\r\n"),
            (
                #"<r><rdf:Description xmlns:xmp="u"/></r>"#, #"<r><rdf:Description xmp:Rating="4" xmlns:xmp="u"/></r>"#
            ),
            (
                "<r><rdf:Description/></r>",
                #"<r><rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></r>"#
            ),
        ])
    func changed(old: String, new: String) async throws {
        #expect(try await write(Rating(4), over: old).written == 1)
        #expect(try text == new)
    }

    @Test(
        "Text that looks like a rating, in a caption or a comment, stays as it is",
        arguments: [
            #"<r><!-- xmp:Rating="1" --><d>xmp:Rating="2"</d><rdf:Description xmp:Rating="3"/></r>"#,
            #"<r><d><![CDATA[<xmp:Rating>2</xmp:Rating>]]></d><rdf:Description a="xmp:Rating='3'" xmp:Rating="3"/></r>"#,
        ])
    func lookalikes(old: String) async throws {
        #expect(try await write(Rating(4), over: old).written == 1)
        #expect(try text == old.replacing(#" xmp:Rating="3""#, with: #" xmp:Rating="4""#))
    }

    @Test(
        "A damaged file stays as it is",
        arguments: [
            #"<r>xmp:Rating="<rdf:Description xmp:Rating="/></r>"#, "<rdf:Description xmp:Rating=3/>",
            "<rdf:Description><xmp:Rating>3</rdf:Description>", "<rdf:Description a=\"1\"", "<!-- <rdf:Description/>",
        ])
    func damaged(old: String) async throws {
        #expect(try await write(Rating(4), over: old).failed == 1)
        #expect(try text == old)
    }

    @Test("A file with several descriptions stays well-formed")
    func severalDescriptions() async throws {
        let old =
            "<rdf:RDF xmlns:rdf=\"r\"><rdf:Description xmlns:dc=\"d\"/><rdf:Description xmlns:xmp=\"x\" xmp:Tool=\"t\"/></rdf:RDF>"
        #expect(try await write(Rating(4), over: old).written == 1)
        let document = try XMLReading(try text)
        #expect(document.attributes["xmp:Rating"] == "4" && document.attributes["xmp:Tool"] == "t")
    }

    @Test("Links, pipes and files in another encoding stay as they are")
    func special() async throws {
        let path = folder.path("photos/a.jpg.xmp")
        symlink(folder.write("elsewhere.xmp", "<rdf:Description/>"), path)
        #expect(try await write(Rating(4)).failure?.description.contains("it is a link") == true)
        unlink(path)
        mkfifo(path, 0o600)
        #expect(try await write(Rating(4)).failed == 1)
        unlink(path)
        let latin = Array("<rdf:Description dc:title=\"".utf8) + [0xE9] + Array("\"/>".utf8)
        folder.write("photos/a.jpg.xmp", latin)
        #expect(try await write(Rating(4)).failed == 1)
        #expect(FileManager.default.contents(atPath: path) == Data(latin))
    }

    @Test("Nothing is written beside a file outside the gallery's folder")
    func outside() async throws {
        folder.write("other/b.jpg", "b")
        let key = try await key("b", "file://\(folder.path("other"))/b.jpg", Rating(3))
        #expect(try await RatingSidecars(of: cache, mask: .ownerOnly).write([key]).elsewhere == 1)
        #expect(folder.entries("other") == ["b.jpg"])
    }

    @Test("A rating in a folder of the gallery is written beside its photo, and not through a link")
    func subfolders() async throws {
        folder.write("photos/b/c.jpg", "c")
        let key = try await key("b/c.jpg", "file://\(folder.path("photos"))/b/c.jpg", Rating(3))
        #expect(try await RatingSidecars(of: cache, mask: .ownerOnly).write([key]).written == 1)
        #expect(folder.entries("photos/b") == ["c.jpg", "c.jpg.xmp"])
        folder.write("other/d.jpg", "d")
        symlink(folder.path("other"), folder.path("photos/other"))
        symlink("b", folder.path("photos/inside"))
        for name in ["other/d.jpg", "inside/c.jpg"] {
            let photo = try Address("file://\(folder.path("photos"))/\(name)")
            #expect(throws: SystemError.self) { try cache.files.openFolder(ofOriginal: photo) }
        }
    }

    @Test("A file that is no XMP stays as it is, and the report says so")
    func foreign() async throws {
        let report = try await write(Rating(4), over: "my notes")
        #expect(report.failed == 1 && report.failure?.description.contains("it is not an XMP file in UTF-8") == true)
        #expect(try text == "my notes")
    }

    @Test("A changed file keeps its permissions")
    func permissions() async throws {
        folder.write("photos/a.jpg.xmp", "<rdf:Description/>")
        chmod(folder.path("photos/a.jpg.xmp"), 0o640)
        _ = try await write(Rating(4))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("photos/a.jpg.xmp"))
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test("Photos of servers get no file")
    func remote() async throws {
        let key = try await key("b", "http://example.org/b.jpg", Rating(3))
        #expect(try await RatingSidecars(of: cache, mask: .ownerOnly).write([key]).elsewhere == 1)
    }
}

/// All attributes of a document, read by Foundation's parser.
private final class XMLReading: NSObject, XMLParserDelegate {
    private(set) var attributes: [String: String] = [:]

    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.shouldReportNamespacePrefixes = true
        parser.delegate = self
        try #require(parser.parse())
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        self.attributes.merge(attributes) { $1 }
    }
}
