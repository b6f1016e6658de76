import Model
import Testing

@testable import Formats

@Suite struct GalleryXMLParserTests {
    private let base: Address

    init() throws { base = try Address("http://example.org/album/index.xml") }

    /// Parses a document in pieces of a given size.
    func parse(_ bytes: [UInt8], pieces: Int = 1 << 20) throws -> GalleryBatch {
        let parser = GalleryXMLParser(base: base)
        var all = GalleryBatch()
        func add(_ photos: WrittenPhotos) throws {
            let batch = try GalleryBatch(photos)
            all.entries += batch.entries
            all.skipped += batch.skipped
            all.remarks += batch.remarks
        }
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            try add(try parser.parse(bytes[start..<min(bytes.count, start + pieces)]))
        }
        try add(try parser.finish())
        return all
    }

    func parse(_ text: String, pieces: Int = 1 << 20) throws -> GalleryBatch {
        try parse(Array(text.utf8), pieces: pieces)
    }

    static let image = #"<image kind="image" srcURL="a.jpg"/>"#

    private func photo(_ attributes: String, _ content: String = image) -> String {
        "<album><photo \(attributes)>\(content)</photo></album>"
    }

    static let good = #"id="1" name="One" date="2006-07-30T07:47:17Z""#

    @Test("BEHAVIOURS 1: The sample element is read")
    func sample() throws {
        let text = """
            <album>
              <photo name="Kids In A Box" date="2006-07-30T07:47:17Z" id="12345">
                <image kind="image"     srcURL="images/IMG_1282.JPG"/>
                <image kind="thumbnail" srcURL="thumbnails/IMG_1282.jpg"/>
              </photo>
            </album>
            """
        for pieces in [1, 2, 3, 7, 1000] {
            let batch = try parse(text, pieces: pieces)
            #expect(
                try batch.entries == [
                    GalleryEntry(
                        id: "12345", name: "Kids In A Box", date: Timestamp(milliseconds: 1_154_245_637_000),
                        photo: Address("http://example.org/album/images/IMG_1282.JPG"),
                        thumbnail: Address("http://example.org/album/thumbnails/IMG_1282.jpg"))
                ])
            #expect(batch.skipped.isEmpty)
        }
    }

    @Test("BEHAVIOURS 1: Photos are read below any root and at any depth")
    func anywhere() throws {
        let text = """
            <?xml version="1.0"?><?xml-stylesheet href="x.xsl"?>
            <!-- a comment --><feed xmlns="urn:x" xmlns:xi="http://www.w3.org/2001/XInclude">
            <xi:include href="file:///etc/passwd"/><unknown><photo/></unknown>
            <a><b><c>text &amp; more<photo \(Self.good)><note>?</note>\(Self.image)<![CDATA[<photo>]]></photo></c></b></a>
            </feed>
            """
        let batch = try parse(text)
        #expect(batch.entries.map(\.id) == ["1"])
        #expect(batch.skipped.map(\.reason) == ["no id"])
    }

    @Test("BEHAVIOURS 1.1, 1.2: Attributes are decoded as XML", arguments: [1, 1000])
    func references(pieces: Int) throws {
        let written = "a &amp; b &#38; c &#x26; &lt;&gt;&quot;&apos;&#233; &amp;#38; &amp;amp; &amp;&amp;"
        let batch = try parse(
            photo(
                #"id="&amp;1" name="\#(written)" date="2006-07-30T07:47:17Z""#,
                #"<image kind="image" srcURL="show?id=1&amp;size=2"/>"#), pieces: pieces)
        #expect(batch.entries.map(\.name) == [#"a & b & c & <>"'é &#38; &amp; &&"#])
        #expect(batch.entries.map(\.id) == ["&1"])
        #expect(try batch.entries.map(\.photo) == [Address("http://example.org/album/show?id=1&size=2")])
    }

    @Test(
        "BEHAVIOURS 1.1: A photo needs an id, a name, a date and an image",
        arguments: [
            (#"name="One" date="2006-07-30T07:47:17Z""#, "no id"),
            (#"id="" name="One" date="2006-07-30T07:47:17Z""#, "no id"),
            (#"id="1" date="2006-07-30T07:47:17Z""#, "no name"),
            (#"id="1" name="" date="2006-07-30T07:47:17Z""#, "no name"),
            (#"id="1" name="One""#, "no date"),
            (#"id="1" name="One" date="""#, "no date"),
            (#"id="1" name="One" date="yesterday""#, "“yesterday” is not a date like 2006-07-30T07:47:17Z"),
            (
                #"id="1" name="One" date="2006-07-30T07:47:17Zjunk""#,
                "“2006-07-30T07:47:17Zjunk” is not a date like 2006-07-30T07:47:17Z"
            ),
            (#"x:id="1" xmlns:x="urn:x" name="One" date="2006-07-30T07:47:17Z""#, "no id"),
        ])
    func needed(attributes: String, reason: String) throws {
        let batch = try parse(photo(attributes))
        #expect(batch.entries.isEmpty && batch.skipped.map(\.reason) == [reason])
    }

    @Test(
        "BEHAVIOURS 1.1: The date is UTC, with optional fraction and offset",
        arguments: [
            ("2006-07-30T07:47:17Z", Int64(1_154_245_637_000)), ("2006-07-30T07:47:17.25Z", 1_154_245_637_250),
            ("2006-07-30T09:47:17+02:00", 1_154_245_637_000),
        ])
    func dates(date: String, milliseconds: Int64) throws {
        let batch = try parse(photo(#"id="1" name="One" date="\#(date)""#))
        #expect(batch.entries.map(\.date.milliseconds) == [milliseconds])
    }

    @Test(
        "BEHAVIOURS 1.2: An image needs a permitted address",
        arguments: [
            ("", "no image of kind “image”"),
            (#"<image kind="image"/>"#, "no srcURL"),
            (#"<image kind="image" srcURL=""/>"#, "no srcURL"),
            (#"<image srcURL="a.jpg"/>"#, "no image of kind “image”"),
            (#"<image kind="poster" srcURL="a.jpg"/>"#, "no image of kind “image”"),
            (#"<image kind="thumbnail" srcURL="a.jpg"/>"#, "no image of kind “image”"),
            (
                #"<image kind="image" srcURL="javascript:x"/>"#,
                "javascript: addresses are not supported; use http, https, file or a path."
            ),
            (
                #"<image kind="image" srcURL="file:///etc/passwd"/>"#,
                "this gallery may not refer to file:///etc/passwd"
            ),
            (#"<image kind="image" srcURL="a&#10;b.jpg"/>"#, "The address contains a control character."),
        ])
    func images(content: String, reason: String) throws {
        let batch = try parse(photo(Self.good, content))
        #expect(batch.entries.isEmpty && batch.skipped.map(\.reason) == [reason])
    }

    @Test("BEHAVIOURS 1.2: A photo needs no thumbnail, and the last of a repeated kind wins")
    func thumbnails() throws {
        let none = try parse(photo(Self.good))
        #expect(none.entries.count == 1 && none.entries[0].thumbnail == nil)
        let refused = try parse(photo(Self.good, Self.image + #"<image kind="thumbnail" srcURL="file:///x"/>"#))
        #expect(refused.entries.count == 1 && refused.entries[0].thumbnail == nil)
        #expect(
            refused.remarks.map(\.reason) == ["thumbnail left out: this gallery may not refer to file:///x"])
        let repeated = try parse(
            photo(Self.good, Self.image + #"<image kind="image" srcURL="b.jpg"/><image kind="odd" srcURL="c.jpg"/>"#))
        #expect(repeated.entries.map { $0.photo.path.split(separator: "/").last } == ["b.jpg"])
    }

    @Test("BEHAVIOURS 1.3: Only the photo that breaks a rule is skipped, with its line")
    func alone() throws {
        let text = """
            <album>
            <photo \(Self.good)>\(Self.image)</photo>
            <photo id="2" name="" date="x">
            \(Self.image)</photo>
            <photo id="3" name="Three" date="2006-07-30T07:47:17Z">\(Self.image)</photo>
            </album>
            """
        let batch = try parse(text)
        #expect(batch.entries.map(\.id) == ["1", "3"])
        #expect(batch.skipped == [WrittenPhotos.Remark(line: 3, reason: "no name")])
    }

    @Test("BEHAVIOURS 1.4: Of nested photos, only the inner one is kept")
    func nested() throws {
        let inner = #"<photo id="in" name="Inner" date="2006-07-30T07:47:17Z">\#(Self.image)</photo>"#
        let batch = try parse(
            "<album><photo \(Self.good)>\(Self.image)\(inner)\(Self.image)</photo>"
                + #"<photo id="after" name="After" date="2006-07-30T07:47:17Z">\#(Self.image)</photo></album>"#)
        #expect(batch.entries.map(\.id) == ["in", "after"])
        #expect(batch.skipped.map(\.reason) == ["it contains another photo"])
    }

    @Test(
        "BEHAVIOURS 1.7: A document without photos is an empty gallery",
        arguments: [
            "<album/>", "<album></album>", "<anything><at>all</at></anything>",
        ])
    func withoutPhotos(text: String) throws {
        #expect(try parse(text) == GalleryBatch())
    }

    @Test("BEHAVIOURS 1.8: Parsing stops between elements when cancelled")
    func cancelled() throws {
        let photos = (0..<1_000).map {
            #"<photo id="\#($0)" name="N" date="2006-07-30T07:47:17Z">\#(Self.image)</photo>"#
        }.joined()
        let parser = GalleryXMLParser(base: base)
        var asked = 0
        #expect(throws: CancellationError.self) {
            try parser.parse(Array("<album>\(photos)".utf8)) {
                asked += 1
                return asked == 10
            }
        }
        #expect(asked == 10)
    }

    @Test("Names and ids have a maximum length") func longNames() throws {
        func photo(id: String, name: String) -> String {
            self.photo(#"id="\#(id)" name="\#(name)" date="2006-07-30T07:47:17Z""#)
        }
        let most = String(repeating: "x", count: 4_096)
        #expect(try parse(photo(id: most, name: most)).entries.map { [$0.id, $0.name] } == [[most, most]])
        let long = try parse(photo(id: most + "x", name: "N"))
        #expect(long.entries.isEmpty && long.skipped.map(\.reason) == ["its id is longer than 4096 bytes"])
        // Never inside a character: é has two bytes here, the family emoji many.
        for (name, kept) in [
            ("x" + String(repeating: "é", count: 4_000), "x" + String(repeating: "é", count: 2_047)),
            (String(repeating: "x", count: 4_090) + "👨‍👩‍👧‍👦", String(repeating: "x", count: 4_090)),
            // A character of any length is cut between its scalars.
            ("e" + String(repeating: "\u{301}", count: 10_000), "e" + String(repeating: "\u{301}", count: 2_047)),
        ] {
            let batch = try parse(photo(id: "1", name: name))
            #expect(batch.entries.map(\.name) == [kept])
            #expect(batch.remarks.map(\.reason) == ["its name was cut to 4096 bytes"])
        }
    }

    @Test("Supported encodings are read") func encodings() throws {
        let text = #"<album><photo id="1" name="Zürich" date="2006-07-30T07:47:17Z">\#(Self.image)</photo></album>"#
        let utf8: [UInt8] = Array(text.utf8)
        let latin1: [UInt8] =
            Array(#"<?xml version="1.0" encoding="ISO-8859-1"?>"#.utf8)
            + text.unicodeScalars.map { UInt8($0.value) }
        let utf16: [UInt8] = text.utf16.reduce(into: [0xFF, 0xFE]) { $0 += [UInt8($1 & 0xFF), UInt8($1 >> 8)] }
        let utf16Big: [UInt8] = text.utf16.reduce(into: [0xFE, 0xFF]) { $0 += [UInt8($1 >> 8), UInt8($1 & 0xFF)] }
        for bytes in [utf8, [0xEF, 0xBB, 0xBF] + utf8, latin1, utf16, utf16Big] as [[UInt8]] {
            for pieces in [1, 3, 10_000] {
                #expect(try parse(bytes, pieces: pieces).entries.map(\.name) == ["Zürich"])
            }
        }
        // Latin-1 bytes without a declared encoding count as UTF-8.
        #expect(throws: FormatError.self) { try parse(text.unicodeScalars.map { UInt8($0.value) }) }
    }

    /// ESC cannot occur in XML 1.0, not even as a reference; C1 controls and overrides can. The user interface makes
    /// them visible.
    @Test("Names are not made visible by the parser") func rawNames() throws {
        let batch = try parse(photo(#"id="1" name="a&#x9B;b&#x202E;" date="2006-07-30T07:47:17Z""#))
        #expect(batch.entries.map(\.name) == ["a\u{9B}b\u{202E}"])
        #expect(throws: FormatError.self) { try parse(photo(#"id="1" name="&#x1B;""#)) }
    }
}
