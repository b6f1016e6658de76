import Model
import Testing

@testable import Formats

@Suite struct WebDAVParserTests {
    private let folder: ListedFolder

    init() throws { folder = ListedFolder(try Address("https://example.org/dav/my%20photos/")) }

    private func parse(_ text: String, pieces: Int = 1 << 20) throws -> ListingPiece {
        try ListingPiece(Array(text.utf8), pieces: pieces, WebDAVParser(folder: folder))
    }

    /// Returns a response in the default namespace.
    private func response(_ reference: String, _ properties: String, status: String = "HTTP/1.1 200 OK") -> String {
        "<response><href>\(reference)</href><propstat><prop>\(properties)</prop>"
            + "<status>\(status)</status></propstat></response>"
    }

    private func document(_ responses: String) -> String {
        #"<?xml version="1.0" encoding="utf-8"?><multistatus xmlns="DAV:" xmlns:oc="http://owncloud.org/ns" "#
            + #"xmlns:nc="http://nextcloud.org/ns">\#(responses)</multistatus>"#
    }

    private func names(_ responses: String) throws -> [String] { try parse(document(responses)).names }

    /// An answer in Apache's form: several prefixes, missing properties apart.
    private let apache = """
        <?xml version="1.0" encoding="utf-8"?>
        <D:multistatus xmlns:D="DAV:" xmlns:ns0="DAV:">
        <D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/" xmlns:g0="DAV:">
        <D:href>/dav/my%20photos/</D:href>
        <D:propstat><D:prop>
        <lp1:resourcetype><D:collection/></lp1:resourcetype>
        <lp1:getlastmodified>Wed, 25 Nov 2026 21:35:47 GMT</lp1:getlastmodified>
        <lp1:getetag>"1000-66"</lp1:getetag>
        </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
        <D:propstat><D:prop><g0:getcontentlength/></D:prop>
        <D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>
        </D:response>
        <D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/">
        <D:href>/dav/my%20photos/2024%20%231%20&amp;%2050%25+%c3%9c/</D:href>
        <D:propstat><D:prop>
        <lp1:resourcetype><D:collection/></lp1:resourcetype>
        <lp1:getetag>"1001-66"</lp1:getetag>
        </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
        </D:response>
        <D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/">
        <D:href>/dav/my%20photos/fish&amp;amp;chips%fc.jpg</D:href>
        <D:propstat><D:prop>
        <lp1:resourcetype/>
        <lp1:getcontentlength>295</lp1:getcontentlength>
        <lp1:getlastmodified>Fri, 29 Jan 2021 02:02:02 GMT</lp1:getlastmodified>
        <lp1:getetag>"127-&#53;b&quot;</lp1:getetag>
        <lp2:executable>F</lp2:executable>
        </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
        </D:response>
        </D:multistatus>
        """

    @Test("An answer of Apache is read") func apacheAnswer() throws {
        let piece = try parse(apache)
        #expect(piece.etag == "\"1000-66\"")
        #expect(piece.folders == [ListedSubfolder(name: Array("2024 #1 & 50%+Ü".utf8), etag: "\"1001-66\"")])
        #expect(
            piece.files == [
                ListedFile(
                    name: Array("fish&amp;chips".utf8) + [0xFC] + Array(".jpg".utf8),
                    date: Timestamp(iso8601: "2021-01-29T02:02:02Z"), revision: "\"127-5b\"")
            ])
    }

    @Test("An answer may be cut anywhere") func cuts() throws {
        try expectSameForEachCut(Array(apache.utf8)) { WebDAVParser(folder: folder) }
    }

    @Test("Namespaces count, and prefixes do not", arguments: ["D:", "ns0:", "lp1:", ""])
    func prefixes(prefix: String) throws {
        let declaration = prefix.isEmpty ? "xmlns" : "xmlns:\(prefix.dropLast())"
        func answer(_ namespace: String) -> String {
            document(response("a.jpg", "<resourcetype/>"))
                .replacing("<?xml version=\"1.0\" encoding=\"utf-8\"?>", with: "")
                .replacing("</", with: "{").replacing("<", with: "<\(prefix)").replacing("{", with: "</\(prefix)")
                .replacing("xmlns=\"DAV:\"", with: "\(declaration)=\"\(namespace)\"")
        }
        #expect(try parse(answer("DAV:")).names == ["a.jpg"])
        #expect(throws: FormatError.self) { try parse(answer("http://example.org/")) }
    }

    @Test("Properties of another namespace do not count") func otherNamespace() throws {
        let other = #"<x:getetag xmlns:x="urn:x">"1"</x:getetag>"#
        let piece = try parse(document(response("a.jpg", other + #"<getetag>"2"</getetag>"# + other)))
        #expect(piece.files.first?.revision == "\"2\"")
        // The wrong parent is another element too.
        #expect(try parse(document("<response><a>" + response("a.jpg", "") + "</a></response>")).files.isEmpty)
    }

    @Test("Only properties with a 2xx status count")
    func status() throws {
        let properties = "<getcontentlength>5</getcontentlength>"
        for status in ["HTTP/1.1 404 Not Found", "HTTP/1.1 403", "HTTP/1.1", "", "200", "HTTP/1.1 20 OK"] {
            #expect(try names(response("a.jpg", properties, status: status)).isEmpty, "\(status)")
        }
        for status in ["HTTP/1.1 200 OK", "HTTP/2 200", " HTTP/1.1 206 Partial\n"] {
            #expect(try names(response("a.jpg", properties, status: status)) == ["a.jpg"], "\(status)")
        }
        let two =
            "<response><href>a.jpg</href>"
            + "<propstat><status>HTTP/1.1 404 Not Found</status><prop><getetag>x</getetag></prop></propstat>"
            + "<propstat><status>HTTP/1.1 200 OK</status><prop><getcontentlength>5</getcontentlength></prop></propstat>"
            + "<propstat><status>HTTP/1.1 200 OK</status><prop><getlastmodified>m</getlastmodified></prop></propstat>"
            + "</response>"
        #expect(try parse(document(two)).files.first?.revision == "5-m")
    }

    @Test("The revision is the ETag, or size and date, or empty") func revision() throws {
        func revision(_ properties: String) throws -> String? {
            try parse(document(response("a.jpg", properties))).files.first?.revision
        }
        #expect(try revision("<getetag> W/&quot;1&quot; </getetag>") == "W/\"1\"")
        #expect(try revision("<getetag/><getcontentlength>5</getcontentlength>") == "5-")
        #expect(try revision("<resourcetype/>") == "")
        let long = String(repeating: "x", count: 300)
        #expect(try revision("<getetag>\(long)</getetag><getcontentlength>5</getcontentlength>") == "5-")
    }

    @Test(
        "An absolute address or path leads into the folder, however it is encoded",
        arguments: [
            "/dav/my%20photos/a.jpg", "/dav/my photos/a.jpg", "https://example.org/dav/my%20photos/%61.jpg",
            "https://EXAMPLE.org:443/dav/m%79%20photos/a.jpg", "a.jpg", " /dav/./my%20photos/x/../a.jpg\n",
            "http://example.org/dav/my%20photos/a.jpg", "HTTP://inner.example:8080/dav/my%20photos/a.jpg",
        ])
    func inside(reference: String) throws {
        #expect(try names(response(reference, "")) == ["a.jpg"])
    }

    @Test(
        "References outside of the folder are skipped",
        arguments: [
            "../a.jpg", "/a.jpg", "/dav/a.jpg", "/dav/my%20photos/sub/a.jpg",
            "http://example.org/dav/other/a.jpg", "https://other.example/a.jpg",
            "//other.example/dav/my%20photos/a.jpg",
            "/dav/my%20photos/sub%2Fa.jpg", "..%2fa.jpg", "%2e%2e/a.jpg", "a%00.jpg", "a.jpg?x", "javascript:a.jpg", "",
            "file:///dav/my%20photos/a.jpg", "/dav/my%20photos/", "a.txt", ".a.jpg",
        ])
    func outside(reference: String) throws {
        #expect(try parse(document(response(reference, ""))) == ListingPiece())
    }

    @Test("A folder is a collection, with or without a slash") func folders() throws {
        let collection = "<resourcetype><collection/></resourcetype><getetag>1</getetag>"
        let all = ["a", "b/", "c.jpg/", "@eaDir/", ".hidden", "%E2%82%AC"].map { response($0, collection) }.joined()
        let piece = try parse(document(all + response("plain/", "")))
        #expect(piece.folderNames == ["a", "b", "c.jpg", "€", "plain"] && piece.files.isEmpty)
        #expect(piece.folders.first?.etag == "1")
    }

    @Test("The folder itself gives the ETag, without its slash too")
    func itself() throws {
        for reference in ["/dav/my%20photos/", "/dav/m%79%20photos", "https://example.org/dav/my%20photos/", "."] {
            let piece = try parse(document(response(reference, "<getetag>7</getetag>")))
            #expect(piece == ListingPiece(etag: "7"), "\(reference)")
        }
        #expect(try parse(document(response("/dav/", "<getetag>7</getetag>"))).etag == nil)
    }

    @Test("Nextcloud's properties give the date and the thumbnail") func nextcloud() throws {
        let root = try Address("https://example.org/cloud/")
        func file(_ properties: String) throws -> ListedFile? {
            let parser = WebDAVParser(folder: folder, previews: .init(root: root))
            return try ListingPiece(Array(document(response("a.jpg", properties)).utf8), parser).files.first
        }
        let taken = "<nc:metadata-photos-original_date_time>1154245637</nc:metadata-photos-original_date_time>"
        let modified = "<getlastmodified>Fri, 29 Jan 2021 02:02:02 GMT</getlastmodified>"
        let preview = "<oc:fileid>42</oc:fileid><nc:has-preview>true</nc:has-preview>"
        let whole = try file(taken + modified + preview)
        #expect(whole?.date == Timestamp(iso8601: "2006-07-30T07:47:17Z") && whole?.isDateTaken == true)
        #expect(
            whole?.thumbnail?.text
                == "https://example.org/cloud/index.php/core/preview?fileId=42&x=256&y=256&a=1&forceIcon=0")
        // Nextcloud repeats the file's time if it knows no other.
        let same = try file(taken + "<getlastmodified>Sun, 30 Jul 2006 07:47:17 GMT</getlastmodified>")
        #expect(same?.date == whole?.date && same?.isDateTaken == false)
        for none in ["<oc:fileid>42</oc:fileid><nc:has-preview>false</nc:has-preview>", "<oc:fileid>42</oc:fileid>"] {
            #expect(try file(none)?.thumbnail == nil)
        }
        for id in ["", "4&amp;x", "-1", "４", String(repeating: "1", count: 21)] {
            #expect(try file("<oc:fileid>\(id)</oc:fileid><nc:has-preview>true</nc:has-preview>")?.thumbnail == nil)
        }
        func dated(_ seconds: String) throws -> ListedFile? {
            try file(
                "<nc:metadata-photos-original_date_time>\(seconds)</nc:metadata-photos-original_date_time>\(modified)")
        }
        for seconds in ["", "0", "-", "x", "1e9", "99999999999999999999", "1.5", "999999999999", "-999999999999"] {
            let file = try dated(seconds)
            #expect(
                file?.date == Timestamp(iso8601: "2021-01-29T02:02:02Z") && file?.isDateTaken == false, "\(seconds)")
        }
        for (seconds, date) in [("99999999999", 99_999_999_999_000), ("-99999999999", -99_999_999_999_000)] {
            let file = try dated(seconds)
            #expect(file?.date?.milliseconds == Int64(date) && file?.isDateTaken == true, "\(seconds)")
        }
    }

    @Test("Previews of a share have the paths of the photos") func sharedPreviews() throws {
        let previews = WebDAVParser.Previews(
            root: try Address("https://example.org/cloud"), share: "t0ken", folder: Array("May 1/".utf8))
        let parser = WebDAVParser(folder: folder, previews: previews)
        let text = document(response("%C3%9C%20&amp;+%2350%25.jpg", "<nc:has-preview>true</nc:has-preview>"))
        #expect(
            try ListingPiece(Array(text.utf8), parser).files.first?.thumbnail?.text
                == "https://example.org/cloud/index.php/apps/files_sharing/publicpreview/t0ken"
                + "?file=/May%201/%C3%9C%20%26%2B%2350%25.jpg&x=256&y=256&a=true")
    }

    @Test("Previews of a public album have the photo’s number and the album’s token") func albumPreviews() throws {
        let previews = WebDAVParser.Previews(root: try Address("https://example.org/cloud"), publicAlbum: "t0ken")
        #expect(
            previews.address(ofFile: "7", named: [])?.text
                == "https://example.org/cloud/index.php/apps/photos/api/v1/publicPreview/7?x=256&y=256&token=t0ken")
        #expect(previews.address(ofFile: "7/../8", named: []) == nil)
    }

    @Test("Unknown elements and responses without a reference are skipped") func unknown() throws {
        let responses =
            "<x:new xmlns:x='urn:x'><response/></x:new><response/><response><href/></response>"
            + "<response><propstat><prop/><status>HTTP/1.1 200 OK</status></propstat></response>"
            + response(
                "a.jpg",
                "<x:y xmlns:x='urn:x'><getetag>1</getetag></x:y><resourcetype><x:z xmlns:x='u'/></resourcetype>")
            + "<responsedescription>b.jpg</responsedescription><sync-token>1</sync-token>"
        let piece = try parse(document(responses))
        #expect(piece.files == [ListedFile(name: Array("a.jpg".utf8))])
    }

    @Test("CDATA and text around elements are read as they should be") func textForms() throws {
        let piece = try parse(
            document("text" + response("<![CDATA[a&.jp]]>g", "text<getetag><!-- c -->1<?p i?>2<b>3</b>4</getetag>")))
        #expect(piece.files == [ListedFile(name: Array("a&.jpg".utf8), revision: "124")])
    }

    @Test("Other documents are rejected")
    func otherDocuments() throws {
        #expect(throws: FormatError.notAGallery("a web page")) { try parse("<!DOCTYPE html><html></html>") }
        #expect(throws: FormatError.notAGallery("a web page")) { try parse("<html><body/></html>") }
        #expect(throws: FormatError.notAGallery("another kind of XML document")) { try parse("<list></list>") }
        #expect(throws: FormatError.notAGallery("another kind of XML document")) { try parse("<multistatus/>") }
        #expect(throws: FormatError.notAGallery("a JSON file")) { try parse("[1, 2, 3, 4, 5, 6, 7, 8]") }
        #expect(throws: FormatError.empty) { try parse("") }
        #expect(throws: FormatError.self) { try parse(String(document("").dropLast())) }
        #expect(throws: FormatError.documentType) {
            try parse("<!DOCTYPE m [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>" + document(response("&b;.jpg", "")))
        }
        #expect(throws: FormatError.self) { try parse(document(response("&b;.jpg", ""))) }
    }

    @Test("Excess is rejected") func excess() throws {
        let deep = String(repeating: "<a>", count: 200)
        #expect(throws: FormatError.tooDeep) { try parse(document(response("a.jpg", deep))) }
        let long = String(repeating: "x", count: 70_000)
        #expect(throws: FormatError.tooLong(line: 1)) { try parse(document(response(long, ""))) }
        #expect(throws: FormatError.tooLong(line: 1)) { try parse(document("<response a='\(long)'/>")) }
        // A text that does not count may have any length.
        #expect(try names(response("a.jpg", "<other>\(long)</other>")) == ["a.jpg"])
        let attributes = (0..<1_000).map { " a\($0)=''" }.joined()
        #expect(throws: FormatError.tooManyAttributes(line: 1)) { try parse(document("<response\(attributes)/>")) }
        #expect(throws: FormatError.tooLong(line: 1)) {
            try parse("<multistatus xmlns='DAV:' " + String(repeating: " ", count: 1 << 19))
        }
    }

    @Test("100,000 responses arrive piece by piece") func many() throws {
        let parser = WebDAVParser(folder: folder)
        var (count, largest) = (0, 0)
        func take(_ piece: ListingPiece) {
            count += piece.files.count
            largest = max(largest, piece.files.count)
        }
        take(try parser.parse(Array(document("").replacing("</multistatus>", with: "").utf8)))
        for block in 0..<1_000 {
            let responses = (0..<100).map { response("\(block)-\($0).jpg", "<getetag>\($0)</getetag>") }.joined()
            take(try parser.parse(Array(responses.utf8)))
        }
        take(try parser.parse(Array("</multistatus>".utf8)))
        take(try parser.finish())
        #expect(count == 100_000 && largest <= 200)
    }

    @Test("Mangled answers do not crash the parser") func mangled() {
        expectNoCrash(Array(apache.utf8), seed: 1) { WebDAVParser(folder: folder) }
    }

    @Test("A multistatus is recognised by its first element") func recognised() {
        func isRecognised(_ text: String) -> Bool {
            WebDAVParser.recognises(Array(text.utf8))
        }
        #expect(isRecognised(apache) && isRecognised(document("")) && isRecognised("\u{FEFF}\n<multistatus/>"))
        #expect(isRecognised("<?xml version='1.0'?><!-- > --><!DOCTYPE x><d:MultiStatus xmlns:d='DAV:'>"))
        for other in ["<list>", "<html>", "multistatus", "<multistatus", "<?xml", "", "{}", "<multistatusx>"] {
            #expect(!isRecognised(other), "\(other)")
        }
    }
}
