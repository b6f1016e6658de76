import Testing

@testable import Formats

/// Documents that are rejected as a whole.
extension GalleryXMLParserTests {
    @Test(
        "BEHAVIOURS 1.6: A document that is not well-formed is rejected",
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
        "BEHAVIOURS 1.6: A document that is not XML is identified",
        arguments: [
            ("", FormatError.empty), (" \r\n\t", .empty), ("\u{FEFF}\n", .empty),
            ("just some text, no tags", .notAGallery("a text file")), ("abc", .notAGallery("a text file")),
            ("\n a <photo/>", .notAGallery("a text file")),
            ("<!DOCTYPE html><html><body>", .notAGallery("a web page")),
            ("<!doctype html><html><body>", .notAGallery("a web page")),
            ("<html><head><title>x</title></head></html>", .notAGallery("a web page")),
            ("{\"photos\": []}", .notAGallery("a JSON file")), ("[]", .notAGallery("a JSON file")),
            ("%PDF-1.7", .notAGallery("a PDF document")), ("PK\u{3}\u{4} and more", .notAGallery("a compressed file")),
            ("\u{1}\u{2}\u{3}\u{4}", .notAGallery("a binary file")),
        ])
    func other(text: String, expected: FormatError) {
        for pieces in [1, 10_000] {
            #expect(throws: expected) { try parse(text, pieces: pieces) }
        }
    }

    @Test("A picture instead of a list is identified as one", arguments: [1, 3, 10_000])
    func picture(pieces: Int) {
        for beginning in [[0xFF, 0xD8, 0xFF, 0xE0], Array("GIF89a".utf8), [0x89] + Array("PNG\r\n\u{1A}\n".utf8)]
            as [[UInt8]]
        {
            let bytes = beginning + [UInt8](repeating: 7, count: 100)
            #expect(throws: FormatError.notAGallery("a picture")) { try parse(bytes, pieces: pieces) }
        }
    }

    @Test("Unsupported encodings are rejected by name", arguments: [1, 10_000])
    func encodings(pieces: Int) {
        for name in ["Shift_JIS", "UTF-7", "GB18030", "UTF-16LE", "ISO-2022-JP", "UTF-32"] {
            #expect(throws: FormatError.encoding(name.lowercased())) {
                try parse("<?xml version='1.0' encoding = \"\(name)\" ?><album/>", pieces: pieces)
            }
        }
        let wide = "<?xml version='1.0' encoding='ISO-8859-1'?><album/>".utf16.reduce(into: [0xFE, 0xFF] as [UInt8]) {
            $0 += [UInt8($1 >> 8), UInt8($1 & 0xFF)]
        }
        #expect(throws: FormatError.encoding("iso-8859-1")) { try parse(wide, pieces: pieces) }
        let four: [UInt8] = [0x3C, 0, 0, 0, 0x61, 0, 0, 0]
        #expect(throws: FormatError.encoding("UTF-32")) { try parse(four, pieces: pieces) }
        // A second encoding before the first one.
        #expect(throws: FormatError.self) {
            try parse("<?xml version='1.0' encoding='UTF-8' encoding='UTF-7'?><album/>", pieces: pieces)
        }
    }

    @Test("A document that libxml2 converts to UTF-8 is refused when it is too long; others are not")
    func conversion() throws {
        func read(_ text: String, isWide: Bool = false, isWithinLimit: Bool = false) throws {
            let length = text.utf8.count * (isWide ? 2 : 1) + (isWide ? 2 : 0)
            var intake = XMLIntake(maximumConverted: 1 << 20 + (isWithinLimit ? length : length - 1))
            var bytes = Array(text.utf8)
            if isWide { bytes = bytes.reduce(into: [0xFF, 0xFE]) { $0 += [$1, 0] } }
            let piece = [UInt8](repeating: 0x20, count: XMLIntake.pieceSize)
            _ = try intake.take(bytes[...], line: 1)
            for _ in 0..<64 { _ = try intake.take(piece[...], line: 1) }
        }
        for declared in ["", "<?xml version='1.0'?>", "<?xml version='1.0' encoding='UTF-8'?>"] {
            try read(declared + "<album>")
        }
        for (text, isWide) in [("<?xml version='1.0' encoding='ISO-8859-1'?><album>", false), ("<album>", true)] {
            #expect(throws: FormatError.tooLongToConvert(mebibytes: 1)) { try read(text, isWide: isWide) }
            try read(text, isWide: isWide, isWithinLimit: true)
        }
    }

    @Test("White space before the first tag waits for the end of that tag")
    func blankBeginning() throws {
        var intake = XMLIntake()
        for byte in Array("\n \n<album".utf8) { #expect(try intake.take([byte], line: 1).isEmpty) }
        #expect(try intake.take([UInt8(ascii: ">")], line: 1) == Array("\n \n<album>".utf8))
    }

    @Test("BEHAVIOURS 1.9: Too many attributes, names or namespaces are rejected")
    func excess() throws {
        func numbered(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }
        let most = "<album><p" + numbered(256) { " a\($0)=''" } + "/>"
        #expect(try parse(most + "<!--" + numbered(300) { " a\($0)=''" } + "--></album>").entries.isEmpty)
        #expect(throws: FormatError.tooManyAttributes(line: 1)) {
            try parse("<album><p" + numbered(257) { " a\($0)='>'" } + "/></album>")
        }
        #expect(throws: FormatError.tooManyNames) {
            try parse("<album>" + numbered(2_000) { "<a\($0)/>" } + "</album>")
        }
        let nested = numbered(3) { level in "<p" + numbered(100) { " xmlns:a\(level)_\($0)='u'" } + ">" }
        #expect(throws: FormatError.tooManyNamespaces(line: 1)) { try parse("<album>" + nested) }
        // Namespaces of a closed element are out of scope.
        let beside = numbered(30) { level in "<p" + numbered(20) { " xmlns:a\(level)_\($0)='u'" } + "/>" }
        #expect(try parse("<album>\(beside)</album>").entries.isEmpty)
    }

    @Test("Document types are rejected") func documentTypes() {
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

    @Test("Limits on depth and length hold") func limits() {
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
