import Model
import Testing

@testable import Formats

/// Lists of folders in the JSON of nginx, Caddy and copyparty.
@Suite struct JSONListingTests {
    private let folder: ListedFolder

    init() throws { folder = ListedFolder(try Address("http://example.org/photos/2026/")) }

    private static let nginxList = """
        [\r
        { "name":"2024 #1 & 50%+Ü", "type":"directory", "mtime":"Sun, 12 Jun 2022 02:13:20 GMT" },\r
        { "name":"%41.jpg", "type":"file", "mtime":"Fri, 12 Feb 2021 03:03:03 GMT", "size":294 },\r
        { "name":"back\\\\slash.jpg", "type":"file", "mtime":"Fri, 10 Sep 2021 18:18:18 GMT", "size":306 },\r
        { "name":"line\\nbreak\\u001F.jpg", "type":"file", "mtime":"Fri, 23 Apr 2021 08:08:08 GMT", "size":294 },\r
        { "name":"what?#.jpg", "type":"file", "mtime":"Fri, 26 Feb 2021 04:04:04 GMT", "size":294 },\r
        { "name":"notes.txt", "type":"file", "mtime":"Fri, 26 Feb 2021 04:04:04 GMT", "size":294 },\r
        { "name":"pipe.jpg", "type":"other", "mtime":"Fri, 26 Feb 2021 04:04:04 GMT" },\r
        { "name":"@eaDir", "type":"directory", "mtime":"Sun, 12 Jun 2022 02:13:20 GMT" }\r
        ]
        """

    private static let caddyList = #"""
        [{"name":"2024 #1 \u0026 50%+Ü/","size":4096,"url":"./2024%20%231%20\u0026%2050%25+%C3%9C/","mod_time":"2022-06-12T02:13:20Z","mode":2147484141,"is_dir":true,"is_symlink":false},
        {"name":"%41.jpg","size":294,"url":"./%2541.jpg","mod_time":"2021-02-12T03:03:03.25Z","mode":420,"is_dir":false,"is_symlink":false},
        {"name":".hidden.jpg","size":299,"url":"./.hidden.jpg","mod_time":"2021-07-02T13:13:13.25Z","mode":420,"is_dir":false,"is_symlink":false},
        {"name":"a:b.jpg","size":306,"url":"./a:b.jpg","mod_time":"2021-09-24T19:19:19.25Z","mode":420,"is_dir":false,"is_symlink":true},
        {"name":"latin\ufffd.jpg","size":298,"url":"./latin%FC.jpg","mod_time":"2021-08-13T16:16:16.25Z","mode":420,"is_dir":false,"is_symlink":false},
        {"name":"line\nbreak.jpg","size":294,"url":"./line%0Abreak.jpg","mod_time":"2021-04-23T08:08:08.25Z","mode":420,"is_dir":false,"is_symlink":false}]
        """#

    private static let copypartyList = #"""
        {"dirs": [{"lead": "<a href=\"2024%20%231/?zip=crc\" rel=\"nofollow\">zip</a>", "href": "2024%20%231/", "sz": 4096, "ext": "---", "ts": 1655000000},
        {"lead": "-", "href": "keyed/?k=AbC-_9", "sz": 4096, "ext": "---", "ts": 1655000000}],
        "files": [{"lead": "-", "href": "%2541.jpg", "sz": 294, "ext": "jpg", "ts": 1613098983},
        {"lead": "-", "href": "latin%FC.jpg", "sz": 298, "ext": "jpg", "ts": 1628871376, "tags": {"ac": [1, {"href": "no.jpg"}]}},
        {"lead": "-", "href": "what%3F.jpg?k=AbC-_9", "sz": 294, "ext": "jpg", "ts": 1614312244},
        {"lead": "-", "href": "notes.txt", "sz": 5, "ext": "txt", "ts": 1614312244}],
        "taglist": [], "srvinf": "vm</span> // <span>77.5 GiB free", "perms": ["read", "get"],
        "cfg": {"idx": false, "files": [{"href": "no.jpg"}]}, "logues": ["", ""]}
        """#

    private static let lists = [nginxList, caddyList, copypartyList]

    @Test("An empty list is recognised if the whole answer is one")
    func emptyList() {
        #expect(JSONListingParser.recognises(Array("[ ]\n".utf8)))
        for text in ["[", "[ ", "{}", "[1]", ""] { #expect(!JSONListingParser.recognises(Array(text.utf8)), "\(text)") }
    }

    @Test("Empty lists of folders or of files make an object a list, and other lists do not")
    func emptySections() throws {
        #expect(JSONListingParser.recognises(Array(#"{"dirs": [], "files": [], "perms": "#.utf8)))
        for name in ["dirs", "files"] {
            let piece = try list("{\"\(name)\": []}")
            #expect(piece.files.isEmpty && piece.folders.isEmpty)
            #expect(!JSONListingParser.recognises(Array("{\"\(name)\": [], ".utf8)))
        }
        #expect(throws: (any Error).self) { try list(#"{"taglist": []}"#) }
    }

    @Test("The list of nginx gives pictures and folders, by their raw names")
    func nginx() throws {
        let piece = try list(Self.nginxList)
        #expect(piece.folders == [ListedSubfolder(name: Array("2024 #1 & 50%+Ü".utf8))])
        #expect(names(piece) == ["%41.jpg", #"back\slash.jpg"#, "line\nbreak\u{1F}.jpg", "what?#.jpg"])
        #expect(
            piece.files.first
                == ListedFile(
                    name: Array("%41.jpg".utf8), date: Timestamp(iso8601: "2021-02-12T03:03:03Z"),
                    revision: "294-Fri, 12 Feb 2021 03:03:03 GMT"))
    }

    @Test("The list of Caddy gives the exact names of its URLs")
    func caddy() throws {
        let piece = try list(Self.caddyList)
        #expect(piece.caddyEntryCount == 6)
        #expect(piece.folders == [ListedSubfolder(name: Array("2024 #1 & 50%+Ü".utf8))])
        #expect(
            piece.files.map(\.name)
                == ["%41.jpg".utf8, "a:b.jpg".utf8].map { Array($0) } + [
                    Array("latin".utf8) + [0xFC] + Array(".jpg".utf8), Array("line\nbreak.jpg".utf8),
                ])
        #expect(
            piece.files.first
                == ListedFile(
                    name: Array("%41.jpg".utf8), date: Timestamp(iso8601: "2021-02-12T03:03:03.25Z"),
                    revision: "294-2021-02-12T03:03:03.25Z"))
    }

    @Test("The list of copyparty gives pictures with thumbnails, and addresses with keys")
    func copyparty() throws {
        let piece = try list(Self.copypartyList)
        #expect(piece.folders == ["2024 #1", "keyed"].map { ListedSubfolder(name: Array($0.utf8)) })
        let beginning = "http://example.org/photos/2026/"
        #expect(
            piece.files == [
                ListedFile(
                    name: Array("%41.jpg".utf8), date: Timestamp(iso8601: "2021-02-12T03:03:03Z"),
                    revision: "294-1613098983", thumbnail: try Address(beginning + "%2541.jpg?th=j")),
                ListedFile(
                    name: Array("latin".utf8) + [0xFC] + Array(".jpg".utf8),
                    date: Timestamp(iso8601: "2021-08-13T16:16:16Z"), revision: "298-1628871376",
                    thumbnail: try Address(beginning + "latin%FC.jpg?th=j")),
                ListedFile(
                    name: Array("what?.jpg".utf8), date: Timestamp(iso8601: "2021-02-26T04:04:04Z"),
                    revision: "294-1614312244", thumbnail: try Address(beginning + "what%3F.jpg?k=AbC-_9&th=j"),
                    photo: try Address(beginning + "what%3F.jpg?k=AbC-_9")),
            ])
    }

    @Test("The members of an entry may be in any order, among unknown ones")
    func order() throws {
        let nginx = try list(
            #"[{"size":1,"x":[{"name":"no.jpg"}],"mtime":"Sun, 06 Nov 1994 08:49:37 GMT","type":"file","y":{"z":{}},"name":"a.jpg"}]"#
        )
        #expect(names(nginx) == ["a.jpg"] && nginx.files.first?.revision == "1-Sun, 06 Nov 1994 08:49:37 GMT")
        let caddy = try list(#"[{"is_dir":false,"x":null,"url":"./a.jpg","size":2},{"url":"./b/","is_dir":true}]"#)
        #expect(names(caddy) == ["a.jpg"] && caddy.folders == [ListedSubfolder(name: [0x62])])
        let copyparty = try list(
            #"{"cfg":{"dirs":[{"href":"no/"}]},"x":[[{"href":"no.jpg"}]],"files":[{"ts":0,"href":"a.jpg"},{"href":"b.jpg"}],"dirs":[]}"#
        )
        #expect(names(copyparty) == ["a.jpg", "b.jpg"] && copyparty.folders.isEmpty)
        #expect(copyparty.files.map(\.revision) == ["-0", ""])
    }

    @Test(
        "Objects elsewhere in the list of copyparty are skipped",
        arguments: [
            #""x":{"a":{"name":"no.jpg","type":"file"}},"files":[{"href":"a.jpg"}]"#,
            #""files":[{"href":"a.jpg"}],"x":[{"name":"no.jpg","type":"file"}]"#,
            #""files":[{"href":"a.jpg"}],"files":{"b":{"href":"no.jpg"}}"#,
            #""files":[{"href":"a.jpg"},[{"href":"no.jpg"}]],"href":"no.jpg""#,
            #""files":[{"href":"a.jpg"},{"href":"no.jpg/"}]"#,
        ])
    func elsewhere(members: String) throws {
        let piece = try list("{" + members + "}")
        #expect(names(piece) == ["a.jpg"] && piece.folders.isEmpty)
    }

    @Test("A name of nginx's that is not UTF-8 keeps its bytes")
    func notUTF8() throws {
        var bytes = Array(#"[{"name":"latin"#.utf8)
        bytes.append(0xFC)
        bytes += Array(#".jpg", "type":"file", "mtime":"Fri, 13 Aug 2021 16:16:16 GMT", "size":298 }]"#.utf8)
        #expect(try list(bytes).files.map(\.name) == [Array("latin".utf8) + [0xFC] + Array(".jpg".utf8)])
        #expect(JSONListingParser.recognises(bytes))
    }

    @Test(
        "An empty folder has an empty list",
        arguments: ["[]\n", "[\r\n\r\n]", #"{"dirs": [], "files": [], "taglist": []}"#])
    func empty(document: String) throws {
        #expect(try list(document) == ListingPiece() && JSONListingParser.recognises(Array(document.utf8)))
    }

    @Test("A list cut anywhere gives the same files and folders", arguments: lists)
    func cuts(document: String) throws {
        let bytes = Array(document.utf8)
        let whole = try list(bytes)
        #expect(!whole.files.isEmpty && !whole.folders.isEmpty)
        for cut in 0...bytes.count {
            #expect(try list([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole)
            if cut < bytes.count { #expect(throws: FormatError.self) { try list(Array(bytes[..<cut])) } }
        }
        #expect(try list(bytes.map { [$0] }) == whole)
    }

    @Test(
        "Names that lead out of the folder are left out",
        arguments: [
            "..", ".", "", "a/b.jpg", "../a.jpg", "/a.jpg", "/etc/passwd.jpg", "\\u0000.jpg", "a\\u0000.jpg", "a.jpg/",
            String(repeating: "l", count: 9_000) + ".jpg", String(repeating: "l", count: 2_000) + ".jpg",
        ])
    func rawNames(name: String) throws {
        let others = #"{"name":"good.jpg","type":"file"}"#
        for kind in ["file", "directory"] {
            let piece = try list(#"[{"name":"\#(name)","type":"\#(kind)","size":1},\#(others)]"#)
            #expect(names(piece) == ["good.jpg"] && piece.folders.isEmpty)
        }
    }

    @Test(
        "References that lead out of the folder are left out",
        arguments: [
            "..", ".", "", "./", "../a.jpg", "/a.jpg", "..%2Fa.jpg", "a/b.jpg", "a%2Fb.jpg", "%2E%2E", "%00.jpg",
            "a%00.jpg",
            "http://example.com/photos/2026/a.jpg", "//example.com/photos/2026/a.jpg",
            "https://example.org/photos/2026/a.jpg",
            "http://example.org:81/photos/2026/a.jpg", "javascript:alert(1)//a.jpg", "file:///photos/2026/a.jpg",
            "?a.jpg", "#a.jpg",
            "\\u0001a.jpg", String(repeating: "l", count: 9_000) + ".jpg", "sub/../../a.jpg", "data:image/jpg,a.jpg",
        ])
    func references(reference: String) throws {
        let caddy = try list(
            #"[{"name":"a.jpg","url":"\#(reference)","is_dir":false},{"url":"\#(reference)","is_dir":true},{"url":"./good.jpg","is_dir":false}]"#
        )
        #expect(names(caddy) == ["good.jpg"] && caddy.folders.isEmpty)
        let copyparty = try list(
            #"{"dirs":[{"href":"\#(reference)"}],"files":[{"href":"\#(reference)"},{"href":"good.jpg"}]}"#)
        #expect(names(copyparty) == ["good.jpg"] && copyparty.folders.isEmpty)
    }

    @Test(
        "A size or date of any number does no harm",
        arguments: [
            "0", "-1", "1e999", "-1e999", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1.5",
            "\"text\"", "null", "[1,[2]]", "{\"href\":\"no.jpg\"}", "1E-400",
            "99999999999999999999999999999999999999999999",
        ])
    func numbers(number: String) throws {
        let nginx = try list(#"[{"name":"a.jpg","type":"file","mtime":\#(number),"size":\#(number)}]"#)
        #expect(names(nginx) == ["a.jpg"] && nginx.files.first?.date == nil)
        let copyparty = try list(#"{"files":[{"href":"a.jpg","ts":\#(number),"sz":\#(number)}]}"#)
        #expect(names(copyparty) == ["a.jpg"])
        let isUsual = ["0", "-1", "1.5", "1E-400"].contains(number)
        #expect((copyparty.files.first?.date != nil) == isUsual)
    }

    @Test(
        "Other JSON is no list of a folder",
        arguments: [
            "1", "\"name\"", "null", "true", "{}", "[1]", "[[]]", "[{}]", #"[{"name":"a.jpg"}]"#,
            #"{"dirs":{"a":{"href":"a/"}}}"#,
            #"[{"id":1,"title":"a.jpg"}]"#, #"[[{"name":"a.jpg","type":"file"}]]"#,
            #"{"assets":{"items":[{"href":"a.jpg"}]}}"#,
            #"{"files":{"href":"a.jpg"}}"#, #"[{"name":"a.jpg","type":"dir"}]"#,
            #"[{"name":"a.jpg","type":"file","url":"https://example.com"}]"#,
            #"{"dirs":1,"files":"a.jpg"}"#,
        ])
    func others(document: String) {
        #expect(throws: FormatError.notAGallery("a JSON file")) { try list(document) }
        #expect(!JSONListingParser.recognises(Array(document.utf8)))
    }

    @Test("The first kilobyte tells a list from other answers")
    func recognises() {
        for document in Self.lists {
            #expect(JSONListingParser.recognises(Array(document.utf8)))
            #expect(JSONListingParser.recognises(Array(document.utf8.prefix(1_024))))
        }
        let long = String(repeating: "%C3%9C", count: 200)
        for beginning in [
            #"[{"name":"\#(long)"#, #"{"dirs": [{"lead": "<a href=\"\#(long)"#, #"{"files":[{"sz":1,"href":"\#(long)"#,
        ] {
            #expect(JSONListingParser.recognises(Array(beginning.utf8)))
        }
        for document in [
            "", " ", "<!DOCTYPE html><html>", "<list><file>a.jpg</file></list>", "[", "{",
            #"[{"name":"a.jpg","type":"file" oops"#,
            #"[{"id":"\#(long)"#, #"{"assets":{"total":1,"items":[{"id":""#, #"{"files":"#, "not JSON",
            #"[{"name":1,}]"#,
            #"[{"name":"a.jpg","path":"a.jpg","sha":"\#(long)"#,
        ] {
            #expect(!JSONListingParser.recognises(Array(document.utf8)))
        }
    }

    @Test("100,000 entries come out piece by piece")
    func many() throws {
        let parser = JSONListingParser(folder)
        var (count, most) = (0, 0)
        var bytes: [UInt8] = [0x5B]
        for index in 0..<100_000 {
            bytes += #"\#(index == 0 ? "" : ","){"name":"\#(index).jpg","type":"file","size":\#(index)}"#.utf8
            guard bytes.count >= 1 << 14 || index == 99_999 else { continue }
            let files = try parser.parse(bytes).files
            (count, most) = (count + files.count, max(most, files.count))
            bytes = []
        }
        _ = try parser.parse([0x5D])
        #expect(try parser.finish() == ListingPiece())
        #expect(count == 100_000 && most < 1_000)
    }

    // MARK: -

    private func list(_ document: String) throws -> ListingPiece { try list(Array(document.utf8)) }

    private func list(_ bytes: [UInt8]) throws -> ListingPiece { try list([bytes]) }

    private func list(_ pieces: [[UInt8]]) throws -> ListingPiece {
        let parser = JSONListingParser(folder)
        var all = ListingPiece()
        for bytes in pieces {
            let piece = try parser.parse(bytes)
            all.files += piece.files
            all.folders += piece.folders
            all.caddyEntryCount += piece.caddyEntryCount
        }
        let last = try parser.finish()
        #expect(last.etag == nil)
        all.files += last.files
        all.folders += last.folders
        all.caddyEntryCount += last.caddyEntryCount
        return all
    }

    private func names(_ piece: ListingPiece) -> [String] {
        piece.files.map { String(decoding: $0.name, as: UTF8.self) }
    }
}
