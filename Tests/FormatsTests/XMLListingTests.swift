import Model
import Testing

@testable import Formats

@Suite struct XMLListingTests {
    private func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try ListingPiece(bytes, XMLListingParser())
    }

    private func parse(_ text: String) throws -> ListingPiece { try parse(Array(text.utf8)) }

    /// A list in nginx's form. The ü of the last name is in ISO 8859-1.
    private let list =
        Array(
            """
            <?xml version="1.0"?>\r
            <list>\r
            <directory mtime="2022-06-12T02:13:20Z">2024 #1 &amp; 50%+Ü</directory>\r
            <file mtime="2021-02-12T03:03:03Z" size="294">%41.jpg</file>\r
            <file mtime="2021-06-18T12:12:12Z" size="298">&lt;b&gt;bold.jpg</file>\r
            <file mtime="2021-05-21T10:10:10Z" size="299">double&quot;quote.jpg</file>\r
            <file mtime="2021-06-04T11:11:11Z" size="299">fish&amp;amp;chips.jpg</file>\r
            <file mtime="2021-04-23T08:08:08Z" size="294">line
            break.jpg</file>\r
            <file mtime="2021-01-01T00:00:00Z" size="291"> two  spaces.jpg</file>\r
            <file mtime="2021-10-08T20:20:20Z" size="1">notes.txt</file>\r
            <other mtime="2021-10-08T20:20:20Z">socket.jpg</other>\r
            <file mtime="2021-11-19T23:23:23Z" size="306">😀.jpg</file>\r
            <file mtime="2021-08-13T16:16:16Z" size="298">latin
            """.utf8) + [0xFC, 0x01] + Array(".jpg</file>\r\n</list>\r\n".utf8)

    @Test("A list of nginx is read, with names that are not UTF-8") func nginx() throws {
        let piece = try parse(list)
        #expect(piece.folders == [ListedSubfolder(name: Array("2024 #1 & 50%+Ü".utf8))] && piece.etag == nil)
        #expect(
            piece.files.map(\.name) == [
                "%41.jpg", "<b>bold.jpg", "double\"quote.jpg", "fish&amp;chips.jpg", "line\nbreak.jpg",
                " two  spaces.jpg", "😀.jpg",
            ].map { Array($0.utf8) } + [Array("latin".utf8) + [0xFC, 0x01] + Array(".jpg".utf8)])
        #expect(piece.files.first?.date == Timestamp(iso8601: "2021-02-12T03:03:03Z"))
        #expect(piece.files.first?.revision == "294-2021-02-12T03:03:03Z")
    }

    @Test("A list may be cut anywhere") func cuts() throws {
        try expectSameForEachCut(list) { XMLListingParser() }
        try expectSameForEachCut([0xEF, 0xBB, 0xBF] + "<list><file size='1'>ü.jpg</file></list>".utf8) {
            XMLListingParser()
        }
    }

    @Test("The declared encoding does not change the bytes of names", arguments: ["ISO-8859-1", "UTF-8", "koi8-r"])
    func encodings(name: String) throws {
        let piece = try parse("<?xml version='1.0' encoding='\(name)'?><list><file>Ü.jpg</file></list>")
        #expect(piece.files == [ListedFile(name: Array("Ü.jpg".utf8))])
    }

    @Test("Names that are not those of a file in the folder are skipped")
    func unsound() throws {
        for name in ["", "/a.jpg", "../a.jpg", "..", ".", ".a.jpg", "a", String(repeating: "x", count: 1_100) + ".jpg"]
        {
            #expect(try parse("<list><file>\(name)</file></list>") == ListingPiece(), "\(name)")
        }
        for name in ["", "/", "a/b", "..", ".", ".a", "@eaDir"] {
            #expect(try parse("<list><directory>\(name)</directory></list>") == ListingPiece(), "\(name)")
        }
        #expect(try parse("<list><file>a<file>b</file>.jpg</file></list>").names == ["a.jpg"])
        // Only direct members of the list count.
        #expect(try parse("<list><x><file>a.jpg</file></x><file><b>a.jpg</b></file></list>") == ListingPiece())
    }

    @Test("Other documents and excess are rejected") func rejected() throws {
        #expect(throws: FormatError.notAGallery("another kind of XML document")) { try parse("<album></album>") }
        #expect(throws: FormatError.notAGallery("a web page")) { try parse("<!DOCTYPE html><html>") }
        #expect(throws: FormatError.empty) { try parse("") }
        #expect(throws: FormatError.self) { try parse("<list><file>a.jpg</file>") }
        #expect(throws: FormatError.documentType) {
            try parse("<!DOCTYPE list [<!ENTITY a 'aaaa'>]><list><file>&a;.jpg</file></list>")
        }
        #expect(throws: FormatError.tooDeep) { try parse("<list>" + String(repeating: "<file>", count: 200)) }
        let long = String(repeating: "x", count: 70_000)
        #expect(throws: FormatError.tooLong(line: 1)) { try parse("<list><file>\(long)</file></list>") }
        #expect(throws: FormatError.tooLong(line: 1)) { try parse("<list><file size='\(long)'/></list>") }
        let attributes = (0..<1_000).map { " a\($0)=''" }.joined()
        #expect(throws: FormatError.tooManyAttributes(line: 1)) { try parse("<list><file\(attributes)/></list>") }
        // A date of absurd length is no date.
        let number = String(repeating: "1", count: 100)
        #expect(try parse("<list><file size='\(number)'>a.jpg</file></list>").files.first?.revision == "")
    }

    @Test("Mangled lists do not crash the parser") func mangled() {
        expectNoCrash(list, seed: 2) { XMLListingParser() }
    }

    @Test("Every byte survives libxml2", arguments: [1, 2, 3, 1_000]) func bytes(pieces: Int) {
        let all = (0...UInt8.max).map { $0 } + [0xEF, 0xBB, 0xBF, 0xEF, 0x9C, 0x80, 0xEF]
        for document in [all, [0xEF, 0xBB, 0x00], [0xEF]] {
            var escaping = ByteEscaping()
            var text: [UInt8] = []
            for start in stride(from: 0, to: document.count, by: pieces) {
                text += escaping.escape(document[start..<min(document.count, start + pieces)])
            }
            #expect(String(validating: text, as: UTF8.self) != nil)
            if document != [0xEF] { #expect(ByteEscaping.restore(text) == document) }
        }
    }

    @Test("A list is recognised by its first element") func recognised() {
        #expect(XMLListingParser.recognises(list))
        for other in ["<html>", "<album>", "list", "<lists>", ""] {
            #expect(!XMLListingParser.recognises(Array(other.utf8)))
        }
    }
}
