import Testing

@testable import Formats

/// What is refused as a whole: what is no gallery, and what is meant to do harm.
extension GalleryXMLParserTests {
    @Test(
        "BEHAVIOURS 1.6: what is not well-formed is refused as a whole",
        arguments: [
            "<album><photo></album>", "<album>", "<album><photo id='1' id='2'/></album>", "<album/><album/>",
            "<album>&undefined;</album>", "<album", "<album><photo \(good)>\(image)</photo></album>trailing",
            "<album>\u{0}</album>", "<album a=\"<\"/>",
        ])
    func malformed(text: String) {
        for pieces in [1, 5, 10_000] {
            #expect(throws: FormatError.self) { try parse(text, pieces: pieces) }
        }
    }

    @Test(
        "BEHAVIOURS 1.6: what is no XML is said to be none",
        arguments: [
            ("", FormatError.empty), ("just some text, no tags", .notAGallery("not XML")),
            ("abc", .notAGallery("not XML")),
            ("<!DOCTYPE html><html><body>", .notAGallery("a web page")),
            ("<html><head><title>x</title></head></html>", .notAGallery("a web page")),
            ("{\"photos\": []}", .notAGallery("not XML")), ("\u{FF}\u{D8}\u{FF}", .notAGallery("not XML")),
        ])
    func other(text: String, expected: FormatError) {
        #expect(throws: expected) { try parse(text) }
    }

    @Test func documentTypesAreRefused() {
        let laughs = (1...9).map { "<!ENTITY l\($0) \"&l\($0 - 1);&l\($0 - 1);&l\($0 - 1);\">" }.joined()
        for text in [
            "<!DOCTYPE album [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><album>&x;</album>",
            "<!DOCTYPE album SYSTEM \"http://127.0.0.1:1/evil.dtd\"><album/>",
            "<!DOCTYPE album [<!ENTITY l0 \"ha\">\(laughs)]><album>&l9;</album>",
            "<!DOCTYPE album><album/>",
        ] {
            #expect(throws: FormatError.documentType) { try parse(text) }
        }
    }

    @Test func boundsHold() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(throws: FormatError.tooDeep) { try parse(deep) }
        let long = #"<album><photo id="\#(String(repeating: "x", count: 11 << 20))"/></album>"#
        #expect(throws: FormatError.self) { try parse(long) }
        let medium = #"<album><photo id="\#(String(repeating: "x", count: 100_000))"/></album>"#
        #expect(throws: FormatError.tooLong(line: 1)) { try parse(medium) }
        let endlessText = "<album>" + String(repeating: "x", count: 3 << 20)
        #expect(throws: FormatError.tooLong(line: 1)) { try parse(endlessText) }
    }
}
