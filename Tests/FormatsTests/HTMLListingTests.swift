import Model
import Testing

@testable import Formats

/// Lists of folders as web servers show them.
@Suite struct HTMLListingTests {
    private let folder: ListedFolder

    init() throws { folder = ListedFolder(try Address("http://example.org/my%20photos/")) }

    private func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try ListingPiece(bytes, HTMLListingParser(folder: folder))
    }

    private func parse(_ text: String) throws -> ListingPiece { try parse(Array(text.utf8)) }

    @Test("A date may be in elements without blanks between them")
    func dateWithoutBlanks() throws {
        for row in ["<b>2021-02-12</b>03:03", "2021-02-12<b>03:03</b>", "<b>2021-02-12</b><b>03:03</b>"] {
            let piece = try parse("<html><body><a href=\"a.jpg\">a.jpg</a> \(row)<hr></body></html>")
            #expect(piece.files.map(\.date) == [Timestamp(iso8601: "2021-02-12T03:03:00Z")], "\(row)")
        }
    }

    @Test("An end tag without a name ends nothing, and swallows no link")
    func namelessEndTags() throws {
        for tag in ["</>", "</ >", "</ a>", "</1>"] {
            let piece = try parse(
                "<html><body>\(tag)<a href=\"a.jpg\">a.jpg</a>\(tag)<a href=\"b.jpg\">b</a></body></html>")
            #expect(piece.files.count == 2, "\(tag)")
        }
    }

    /// A page in the form of each server: a folder, a picture from 2021-02-12, and things that are neither.
    struct Page: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let date: String?
        let revision: String

        init(_ server: String, date: String?, revision: String, _ text: String) {
            (testDescription, self.date, self.revision, self.text) = (server, date, revision, text)
        }
    }

    static let pages = [
        Page(
            "Apache", date: nil, revision: "",
            """
            <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
            <html><head><title>Index of /my photos</title></head><body><h1>Index of /my photos</h1>
            <ul><li><a href="/"> Parent Directory</a></li>
            <li><a href="2024%20%231%20&amp;%2050%25+%c3%9c/"> 2024 #1 &amp; 50%+Ü/</a></li>
            <li><a href="./a:b%2541.jpg"> a:b%41.jpg</a></li>
            <li><a href="notes.txt"> notes.txt</a></li>
            </ul></body></html>
            """),
        Page(
            "Apache with FancyIndexing", date: "2021-02-12T03:03:00Z", revision: "2021-02-12 03:03 552K",
            """
            <html><body><pre><img src="/icons/blank.gif" alt="Icon "> <a href="?C=N;O=D">Name</a>    <a \
            href="?C=M;O=A">Last modified</a>      <a href="?C=S;O=A">Size</a>  <hr>\
            <img src="/icons/back.gif" alt="[PARENTDIR]"> <a href="/">Parent Directory</a>             -   
            <img src="/icons/folder.gif" alt="[DIR]"> <a href="2024%20%231%20&amp;%2050%25+%c3%9c/">2024 #1 &am..&gt;</a>\
             2022-06-11 22:13    -   
            <img src="/icons/image2.gif" alt="[IMG]"> <a href="./a:b%2541.jpg">llllllllllllllllllll..&gt;</a> \
            2021-02-12 03:03  552K  
            <img src="/icons/text.gif" alt="[TXT]"> <a href="notes.txt">notes.txt</a> 2021-10-22 17:21  306   
            <hr></pre></body></html>
            """),
        Page(
            "Apache with HTMLTable", date: "2021-02-12T03:03:00Z", revision: "2021-02-12 03:03 294",
            """
            <table><tr><th valign="top">&nbsp;</th><th><a href="?C=N;O=D">Name</a></th></tr>
            <tr><th colspan="5"><hr></th></tr>
            <tr><td valign="top"><img src="/icons/folder.gif" alt="[DIR]"></td><td><a href="2024%20%231%20&amp;%2050%25+%c3%9c/">\
            2024/</a></td><td align="right">2022-06-11 22:13  </td><td align="right">  - </td><td>&nbsp;</td></tr>
            <tr><td><a href="./a:b%2541.jpg"><img src="/icons/image2.gif" alt="[IMG]"></a></td><td><a \
            href="./a:b%2541.jpg">a..&gt;</a></td><td align="right">2021-02-12 03:03  </td><td align="right">294 </td>\
            <td>&nbsp;</td></tr>
            </table>
            """),
        Page(
            "nginx", date: "2021-02-12T03:03:00Z", revision: "12-Feb-2021 03:03 294",
            """
            <html>\r
            <head><title>Index of /</title></head>\r
            <body>\r
            <h1>Index of /</h1><hr><pre><a href="../">../</a>\r
            <a href="2024%20%231%20%26%2050%25%2B%C3%9C/">2024 #1 &amp; 50%+Ü/</a>      12-Jun-2022 02:13                   -\r
            <a href="a%3Ab%2541.jpg">a:b%41.jp..&gt;</a>                                            12-Feb-2021 03:03     294\r
            <a href="notes.txt">notes.txt</a>                                          15-Jan-2021 01:01     295\r
            </pre><hr></body>\r
            </html>\r
            """),
        Page(
            "lighttpd", date: "2021-02-12T03:03:03Z", revision: "2021-Feb-12 03:03:03 0.2K image/jpeg",
            """
            <!DOCTYPE html><html><head><style type="text/css">a, a:active {text-decoration: none;}</style></head><body>
            <table summary="Directory Listing"><thead><tr><th class="n">Name</th></tr></thead><tbody>
            <tr class="d"><td class="n"><a href="../">..</a>/</td><td class="m">&nbsp;</td><td class="s">- &nbsp;</td></tr>
            <tr class="d"><td class="n"><a href="2024%20%231%20%26%2050%25%2B%C3%9C/">2024 #1 &#x26; 50%+Ü</a>/</td>\
            <td class="m">2022-Jun-11 22:13:20</td><td class="s">- &nbsp;</td><td class="t">Directory</td></tr>
            <tr><td class="n"><a href="a%3Ab%2541.jpg">a:b%41.jpg</a></td><td class="m">2021-Feb-12 03:03:03</td>\
            <td class="s">0.2K</td><td class="t">image/jpeg</td></tr>
            </tbody></table></body></html>
            """),
        Page(
            "Caddy", date: "2021-02-12T03:03:03Z", revision: "294 B 2021-02-12T03:03:03Z",
            """
            <!DOCTYPE html><html><head><link rel="canonical" href="//"  /><meta charset="utf-8"></head><body>
            <h1><a href="../">my photos</a></h1><a href="?sort=name&order=desc">Name</a><table><tbody>
            <tr class="file"><td></td><td>
            <a href="./2024%20%231%20&amp;%2050%25+%C3%9C/"><svg class="icon" viewBox="0 0 24 24"><path d="M0 0h24"/></svg>
            <span class="name">2024 #1 &amp; 50%+Ü/</span></a></td><td>&mdash;</td><td class="timestamp hideable">
            <time datetime="2022-06-12T02:13:20Z">06/12/2022 02:13:20 AM +00:00</time></td></tr>
            <tr class="file"><td></td><td><a href="./a:b%2541.jpg"><svg><path d="M0"/><path d="M1"/></svg>
            <span class="name">a:b%41.jpg</span></a></td>
            <td class="size" data-size="294"><div class="sizebar"><div>294 B</div></div></td><td>
            <time datetime="2021-02-12T03:03:03Z">02/12/2021 03:03:03 AM +00:00</time></td><td class="hideable"></td></tr>
            </tbody></table><script>const a = "<a href='b.jpg'>"; if (a<b) { c("</b>"); }</script>
            <a rel="noopener noreferrer" href="https://caddyserver.com">Caddy</a></body></html>
            """),
        Page(
            "rclone", date: "2021-02-12T03:03:03.250Z", revision: "294 2021-02-12 03:03:03.25 +0000 UTC",
            """
            <!DOCTYPE html><html><body><table><tbody><tr class="file"><td>
            <svg width="1.5em"><use xlink:href="#go-up"></use></svg><span class="name"><a href="..">Go up</a></span></td></tr>
            <tr class="file"><td></td><td><svg width="1.5em"><use xlink:href="#folder"></use></svg>
            <span class="name"><a href="2024%20%231%20&amp;%2050%25+%C3%9C/">2024 #1 &amp; 50%+Ü/</a></span>
            <a class="zip" href="2024%20%231%20&amp;%2050%25+%C3%9C/?download=zip" title="Download"><svg></svg></a></td>
            <td data-order="-1">&mdash;</td><td><time datetime="2022-06-12 02:13:20 &#43;0000 UTC">2022</time></td></tr>
            <tr class="file"><td></td><td><svg><use xlink:href="#file"></use></svg>
            <span class="name"><a href="./a:b%2541.jpg">a:b%41.jpg</a></span></td><td data-order="294"><size>294</size></td>
            <td><time datetime="2021-02-12 03:03:03.25 &#43;0000 UTC">2021-02-12 03:03:03.25 &#43;0000 UTC</time></td></tr>
            </tbody></table></body></html>
            """),
        Page(
            "http-server", date: "2021-02-12T03:03:00Z", revision: "(-rw-r--r--) 12-Feb-2021 03:03 1.2k",
            """
            <!doctype html><html><head><title>Index of /my photos/</title></head><body><h1>Index of /my photos/</h1><table>
            <tr><td><i class="icon icon-_blank"></i></td><td class="perms"><code>(drwxr-xr-x)</code></td>\
            <td class="last-modified">12-Jun-2022 02:13</td><td class="file-size"><code></code></td>\
            <td class="display-name"><a href="./2024%20%231%20%26%2050%25%2B%C3%9C/">2024 #1 &amp; 50%+Ü/</a></td></tr>
            <tr><td><i class="icon icon-jpg"></i></td><td class="perms"><code>(-rw-r--r--)</code></td>\
            <td class="last-modified">12-Feb-2021 03:03</td><td class="file-size"><code>1.2k</code></td>\
            <td class="display-name"><a href="./a%3Ab%2541.jpg">a:b%41.jpg</a></td></tr>
            </table><br><address>Node.js v20.1.0/ http-server</address></body></html>
            """),
        Page(
            "Python", date: nil, revision: "",
            """
            <!DOCTYPE HTML><html lang="en"><head><meta charset="utf-8"></head><body><h1>Directory listing for /</h1><hr><ul>
            <li><a href="2024%20%231%20%26%2050%25%2B%C3%9C/">2024 #1 &amp; 50%+Ü/</a></li>
            <li><a href="a%3Ab%2541.jpg">a:b%41.jpg</a></li>
            </ul><hr></body></html>
            """),
        Page(
            "copyparty", date: "2021-02-12T03:03:03Z", revision: "294 JPG 2021-02-12 03:03:03",
            """
            <table><thead><tr><th name="lead"><span>c</span></th></tr></thead><tbody>
            <tr><td><a href="2024%20%231%20%26%2050%25%2B%C3%9C/?zip=crc" rel="nofollow">zip</a></td>\
            <td><a href="2024%20%231%20%26%2050%25%2B%C3%9C/">2024 #1 &amp; 50%+Ü/</a></td><td>4096</td><td>---</td>\
            <td>2022-06-12 02:13:20</td></tr>
            <tr><td>-</td><td><a href="a%3Ab%2541.jpg">a:b%41.jpg</a></td><td>294</td><td>JPG</td><td>2021-02-12 03:03:03</td></tr>
            </tbody></table>
            """),
        Page(
            "wsgidav", date: "2021-02-12T03:03:03Z", revision: "JPG-File 294 Bytes Fri, 12 Feb 2021 03:03:03 GMT",
            """
            <html><body><table><tbody><tr><td><a class="symlink" href=".."  >
              Parent Directory</a></td></tr>
            <tr class="directory"><td><a class="" href="./2024%20%231%20%26%2050%25%2B%C3%9C/"  >
              2024 #1 &amp; 50%+Ü
            </a></td><td>Directory</td><td></td><td>Sun, 12 Jun 2022 02:13:20 GMT</td></tr>
            <tr class=""><td>
              <a class="" href="./a&#58;b%2541.jpg"  >
                a:b%41.jpg
              </a></td>
            <td>JPG-File</td>
            <td>294 Bytes</td>
            <td>Fri, 12 Feb 2021 03:03:03 GMT</td></tr></tbody></table>
            <p class="trailer"><a href='https://github.com/mar10/wsgidav/'>WsgiDAV/4.4.0</a> - Wed, 25 Nov 2026 21:38:41 GMT</p>
            </body></html>
            """),
        Page(
            "SabreDAV", date: "2021-02-12T03:03:03Z", revision: "Unknown 294 2021-02-12T03:03:03+00:00",
            """
            <html><body><table><tr><td><a href="/my%20photos/2024%20%231%20%26%2050%25%2b%c3%9c/">
            <img src="/?sabreAction=asset&assetName=icons%2Fcollection.png" alt="" width="24" /></a></td></tr>
            <tr><td><a href="/my%20photos/a:b%2541.jpg"><img src="/?sabreAction=asset&assetName=icons%2Ffile.png" alt="" /></a></td>
            <td><a href="/my%20photos/a:b%2541.jpg">a:b%41.jpg</a></td>
            <td>Unknown</td>
            <td>294</td>
            <td>2021-02-12T03:03:03+00:00</td>
            </tr></table><address>Generated by <a href="http://sabre.io/">http://sabre.io/</a></address></body></html>
            """),
    ]

    @Test("The list of each server is read", arguments: pages)
    func server(page: Page) throws {
        let piece = try parse(page.text)
        #expect(piece.folders == [ListedSubfolder(name: Array("2024 #1 & 50%+Ü".utf8))])
        let date = page.date.flatMap { Timestamp(iso8601: $0) }
        #expect(piece.files == [ListedFile(name: Array("a:b%41.jpg".utf8), date: date, revision: page.revision)])
    }

    @Test("The list of each server may arrive in small pieces", arguments: pages, [1, 2, 3, 100])
    func pieces(page: Page, pieces: Int) throws {
        let bytes = Array(page.text.utf8)
        #expect(try ListingPiece(bytes, pieces: pieces, HTMLListingParser(folder: folder)) == parse(bytes))
    }

    @Test("A list may be cut anywhere", arguments: pages.filter { ["nginx", "Caddy"].contains($0.testDescription) })
    func cuts(page: Page) throws {
        try expectSameForEachCut(Array(page.text.utf8)) { HTMLListingParser(folder: folder) }
    }

    @Test("Mangled pages do not crash the parser", arguments: pages)
    func mangled(page: Page) {
        expectNoCrash(Array(page.text.utf8), seed: 3, rounds: 100) { HTMLListingParser(folder: folder) }
    }

    /// Returns the names on a page with one link.
    private func names(_ reference: String) throws -> [String] {
        try parse("<a href=\"\(reference)\">x</a>").names
    }

    @Test("A reference keeps its bytes")
    func bytes() throws {
        func name(_ reference: [UInt8], head: String = "") throws -> [UInt8]? {
            try parse(Array("\(head)<a href='".utf8) + reference + "'>x</a>".utf8).files.first?.name
        }
        let latin = [0xFC] + Array(".jpg".utf8)
        #expect(try name(latin) == latin && name(Array("%fc.jpg".utf8)) == latin)
        // The declared encoding does not matter, and references are always UTF-8.
        for encoding in ["iso-8859-1", "utf-8", "utf-16", "nonsense"] {
            let head =
                "<meta charset='\(encoding)'><meta http-equiv=Content-Type content='text/html; charset=\(encoding)'>"
            for reference in ["ü.jpg", "&uuml;.jpg", "&#252;.jpg", "&#xFC;.jpg", "%C3%BC.jpg"] {
                #expect(try name(Array(reference.utf8), head: head) == Array("ü.jpg".utf8), "\(reference)")
            }
        }
        #expect(try name(Array("\u{F781}.jpg".utf8)) == Array("\u{F781}.jpg".utf8))
        #expect(try parse([0xEF, 0xBB, 0xBF] + "<a href=a.jpg>".utf8).names == ["a.jpg"])
        #expect(throws: FormatError.encoding("UTF-16")) { try parse([0xFF, 0xFE, 0x3C, 0x00]) }
    }

    @Test("A name keeps its bytes after a long text, wherever the text is cut", arguments: 0..<6)
    func longText(offset: Int) throws {
        let text = String(repeating: "x", count: offset) + String(repeating: "ж", count: 3_000)
        let page = Array("<p>\(text)</p><a href='Фото.jpg'>x</a>".utf8)
        for pieces in [page.count, 100, 1] {
            let piece = try ListingPiece(page, pieces: pieces, HTMLListingParser(folder: folder))
            #expect(piece.names == ["Фото.jpg"], "in pieces of \(pieces) bytes")
        }
    }

    @Test("Long values of attributes are cut, and the rest of the page is read")
    func longValues() throws {
        let link = "<a href='Фото.jpg'>x</a>"
        for part in ["A", "ж", "&amp;", "="] {
            let long = String(repeating: part, count: 70_000 / part.utf8.count)
            for tag in [
                "<img src='data:image/png;base64,\(long)'>", "<div data-page=\"\(long)\" class=x>",
                "<div data-page=\(long)>", "<div a='\(long)' b='\(long)' c='\(long)' d='\(long)'>",
            ] {
                for pieces in [1 << 20, 1_000] {
                    let page = Array((tag + link).utf8)
                    let piece = try ListingPiece(page, pieces: pieces, HTMLListingParser(folder: folder))
                    #expect(piece.names == ["Фото.jpg"], "\(tag.prefix(40)), in pieces of \(pieces) bytes")
                }
            }
        }
        let late = "<a href='a.jpg'><img src='data:\(String(repeating: "A", count: 70_000))' data-src='small.jpg'></a>"
        #expect(try parse(late).files.first?.thumbnail?.path == "/my%20photos/small.jpg")
    }

    @Test("A cut address is invalid, even if its beginning is the address of a picture")
    func cutAddresses() throws {
        let blanks = String(repeating: "&#32;", count: 6_000)
        for address in ["a.jpg\(blanks)/x", "a.jpg#\(blanks)/x", "&#\(String(repeating: "0", count: 30_000))97;.jpg"] {
            #expect(try names(address) == [], "\(address.prefix(10))")
        }
    }

    @Test("References are read in every form that browsers accept")
    func forms() throws {
        for tag in [
            "<a href='a.jpg'>", "<A HREF=a.jpg>", "<a\nhref\t=\n\"a.jpg\">", "<a title=\"x>y\" href=a.jpg>",
            "<a href=' \na.j\npg '>", "<a/href=a.jpg>", "<a \"'<= x href=a.jpg>", "<a disabled href=\"a.jpg\"class=x>",
            "<a href=a.jpg#x>", "<a x='y'href=\"a.jpg\">", "<!-- > <b> --><a href=a.jpg>",
            "<!--><a href=a.jpg><!-- -->",
            "<!-- --!><a href=a.jpg>", "a < b <a href=a.jpg>", "</ <a href=x> ><a href=a.jpg>",
            "<? <a> ?><a href=a.jpg>",
            "<script>'</scrip' + '<!--'</SCRIPT ><a href=a.jpg>", "<style/></style><a href=a.jpg>",
            "<a href=a.jpg/>".replacing("/", with: " /"),
            "<title>a<b</title><a href=a.jpg>",
        ] {
            #expect(try parse(tag + "x</a>").names == ["a.jpg"], "\(tag)")
        }
        for tag in [
            "<a name=a.jpg>", "<!-- <a href=a.jpg> -->", "<script><a href=a.jpg></script>", "<ahref=a.jpg>",
            "<a href=>",
            "<a href>", "<style><a href=a.jpg>", "<a href=a.jpg/>",
        ] {
            #expect(try parse(tag + "x</a>").names == [], "\(tag)")
        }
    }

    @Test(
        "References outside of the folder are skipped",
        arguments: [
            "../a.jpg", "/a.jpg", "sub/a.jpg", "sub%2Fa.jpg", "..%2fa.jpg", "%2e%2e/a.jpg",
            "http://other.example/a.jpg",
            "//other.example/my%20photos/a.jpg", "https://example.org/my%20photos/a.jpg", "a.jpg?", "a.jpg?x=1",
            "#a.jpg",
            "javascript:a.jpg", "data:a.jpg", "file:///my%20photos/a.jpg", "a%00.jpg", "", "a.txt", ".a.jpg",
            "http://[a.jpg", "a\u{1}.jpg",
        ])
    func outside(reference: String) throws {
        #expect(try parse("<a href=\"\(reference)\">a.jpg</a> 2021-02-12 03:03") == ListingPiece())
    }

    @Test("The page may state the address for its references") func base() throws {
        #expect(try parse("<base href='/my%20photos/'><a href=a.jpg>").names == ["a.jpg"])
        #expect(try parse("<base href='/other/'><a href=a.jpg><a href='../my photos/b.jpg'>").names == ["b.jpg"])
        #expect(try parse("<base href='http://other.example/my%20photos/'><a href=a.jpg>").names == [])
    }

    @Test("Dates are read in all their forms")
    func dates() throws {
        for (text, date) in [
            ("2021-02-12 03:03", "2021-02-12T03:03:00Z"), ("12-Feb-2021 03:03", "2021-02-12T03:03:00Z"),
            ("2021-Feb-12 03:03:03", "2021-02-12T03:03:03Z"), ("Fri, 12 Feb 2021 03:03:03 GMT", "2021-02-12T03:03:03Z"),
            ("2021-02-12T03:03:03+01:00", "2021-02-12T02:03:03Z"),
            ("2021-02-12 03:03:03 +0130", "2021-02-12T01:33:03Z"),
            ("2021-02-12 03:03:03 +01:30", "2021-02-12T01:33:03Z"),
            ("2021-02-12 03:03:03 -01:30", "2021-02-12T04:33:03Z"),
            ("1.5K &nbsp; 2021-02-12&nbsp;03:03 x", "2021-02-12T03:03:00Z"),
            ("<time datetime='2021-02-12T03:03:03Z'>x</time>", "2021-02-12T03:03:03Z"),
            ("2021-02-12", nil), ("2021-13-12 03:03", nil), ("03:03 2021-02-12", nil), ("", nil),
            (String(repeating: "x ", count: 2_000) + "2021-02-12 03:03", nil), ("<br>2021-02-12 03:03", nil),
            ("<a href=b.txt>2021-02-12 03:03</a> 2021-02-12 03:03", nil), ("<a href='?x'>2021-02-12 03:03</a>", nil),
        ] as [(String, String?)] {
            let file = try parse("<a href=a.jpg>a.jpg</a> \(text)<hr>").files.first
            #expect(file != nil && file?.date?.iso8601 == date, "\(text)")
            #expect(file?.revision.isEmpty == (date == nil))
        }
        let long = try parse("<a href=a.jpg>x</a> 2021-02-12 03:03 " + String(repeating: "ü", count: 300) + "<hr>")
        #expect(long.files.first.map { (190...200).contains($0.revision.utf8.count) } == true)
    }

    @Test("A date before the link counts if none follows the link, and if the row has no other link")
    func datesBeforeLinks() throws {
        let date = "2021-02-12T03:03:00Z"
        for (rows, dates) in [
            ("2021-02-12 03:03 294 <a href=a.jpg>a</a><br>2021-02-12 03:03 5 <a href=b.jpg>b</a><br>", [date, date]),
            ("2022-02-12 03:03 <a href=a.jpg>a</a> 2021-02-12 03:03<br><a href=b.jpg>b</a><br>", [date, nil]),
            ("2021-02-12 03:03 <a href=a.jpg>a</a> <a href=b.jpg>b</a><br>", [nil, nil]),
            ("2021-02-12 03:03 <br><a href=a.jpg>a</a><hr>2021-02-12 03:03<br>", [nil]),
            ("<h1>2021-02-12 03:03</h1><a href=a.jpg>a</a><br>", [nil]),
            (String(repeating: "x ", count: 2_000) + "2021-02-12 03:03 <a href=a.jpg>a</a><br>", [nil]),
        ] as [(String, [String?])] {
            let files = try parse("<html><body><pre><a href='/'>Up</a><br><br>\(rows)</pre></body></html>").files
            #expect(files.map { $0.date?.iso8601 } == dates, "\(rows.prefix(99))")
            #expect(files.map(\.revision.isEmpty) == dates.map { $0 == nil }, "\(rows.prefix(99))")
        }
    }

    @Test("The age of a file at the end of its row is no part of its revision")
    func ages() throws {
        func file(_ words: String) throws -> ListedFile? {
            try parse(
                """
                <table><tr><td><a href=a.jpg>a.jpg</a></td><td>1.2 MiB</td>
                <td><span>2026-11-25 21:00:00 +01:00 </span><span>\(words)</span></td></tr></table>
                """
            ).files.first
        }
        let fresh = try #require(try file("now"))
        #expect(fresh.date?.iso8601 == "2026-11-25T20:00:00Z" && fresh.revision == "1.2 MiB 2026-11-25 21:00:00 +01:00")
        for age in [
            "3 hours ago", "4 hours ago", "an hour ago", "a week ago", "1 year ago", "in 3 seconds", "in a day",
        ] {
            #expect(try file(age) == fresh, "\(age)")
        }
        for words in ["3 miles ago", "x hours ago", "in summer", "in 2 parts", "jpeg", "ago", "3 HOURS AGO"] {
            #expect(try file(words)?.revision == fresh.revision + " " + words, "\(words)")
        }
    }

    @Test("20,000 links arrive piece by piece") func many() throws {
        let parser = HTMLListingParser(folder: folder)
        var (count, largest) = (0, 0)
        func take(_ piece: ListingPiece) {
            count += piece.files.count
            largest = max(largest, piece.files.count)
        }
        for block in 0..<200 {
            let rows = (0..<100).map { "<a href=\"\(block)-\($0).jpg\">x</a>   2021-02-12 03:03   5\n" }.joined()
            take(try parser.parse(Array(rows.utf8)))
        }
        take(try parser.finish())
        #expect(count == 20_000 && largest <= 300)
    }

    @Test("Excess is rejected") func excess() throws {
        #expect(throws: FormatError.tooDeep) { try parse(String(repeating: "<b>", count: 300)) }
        let rows = (0..<80).map { "<p><font color=red><a href=\($0).jpg>x</a>" }.joined()
        #expect(try parse(rows).names.count == 80)
        let attributes = (0..<1_000).map { " a\($0)" }.joined()
        #expect(throws: FormatError.tooManyAttributes(line: 1)) { try parse("<p\(attributes)>") }
        #expect(throws: FormatError.tooManyAttributes(line: 1)) { try parse("<p = \(attributes)>") }
        for long in ["<p a='", "<p a=", "<p ", "<p>", "<p><!--", "<script>", "</p", "<?", ""] {
            #expect(throws: FormatError.self, "\(long)") {
                try parse(long + String(repeating: "a ".contains(long.last ?? "a") ? " " : "x", count: 2 << 20))
            }
        }
        #expect(throws: FormatError.tooManyNames) { try parse((0..<5_000).map { "<a\($0)></a\($0)>" }.joined()) }
        // References of one character each, none of which becomes another.
        let references = String(repeating: "&amp;amp;", count: 20_000)
        #expect(try parse("<a href=a.jpg>x</a>" + references + "<hr><a href=b.jpg>").names == ["a.jpg", "b.jpg"])
        #expect(try parse("<a href='\(String(repeating: "x", count: 60_000)).jpg'>").names == [])
    }

    @Test("The first feed on the page's own server counts") func feeds() throws {
        func feed(_ head: String) throws -> String? {
            try parse("<html><head>\(head)</head><body></body></html>").feed?.text
        }
        let rss = #"type="application/rss+xml""#
        let first = #"<link rel="alternate" \#(rss) title="Posts" href="/feed/">"#
        let others = [
            #"<LINK HREF='http://example.org/x.atom' REL='Alternate' TYPE='Application/Atom+XML; charset=utf-8'/>"#,
            #"<link rel="home alternate" type="application/feed+json" href="b.json?a=1&amp;b=2">"#,
        ]
        #expect(try feed(first + others.joined()) == "http://example.org/feed/")
        #expect(try feed(others[0] + first) == "http://example.org/x.atom")
        #expect(try feed(others[1]) == "http://example.org/my%20photos/b.json?a=1&b=2")
        for other in [
            #"<link rel="stylesheet" \#(rss) href="/feed/">"#, #"<link rel="alternate" \#(rss)>"#,
            #"<link rel="alternate" type="application/json" href="/api">"#, #"<link rel="alternate" href="/feed/">"#,
            #"<link rel="alternate" \#(rss) href="//other.example/feed/">"#,
            #"<link rel="alternate" \#(rss) href="http://example.org:8080/feed/">"#,
            #"<link rel="alternate" \#(rss) href="file:///etc/passwd">"#,
            #"<link rel="alternate\#(String(repeating: " ", count: 300))" \#(rss) href="/feed/">"#,
            #"<a rel="alternate" \#(rss) href="/feed/">x</a>"#,
        ] {
            #expect(try feed(other) == nil, "\(other)")
            #expect(try feed(other + first) == "http://example.org/feed/", "\(other)")
        }
    }

    @Test("Other documents are rejected") func rejected() throws {
        #expect(throws: FormatError.notAGallery("a JSON file")) { try parse(#"{"dirs":[],"files":[]}"#) }
        #expect(throws: FormatError.notAGallery("a text file")) { try parse("a.jpg") }
        #expect(throws: FormatError.empty) { try parse(" \n") }
        #expect(throws: FormatError.malformed(line: 1, reason: "it ends within a tag")) {
            try parse("<p><a href='a.jpg")
        }
    }

    @Test("A web page is recognised by its type or beginning") func recognised() {
        func isRecognised(_ type: String?, _ text: String) -> Bool {
            HTMLListingParser.recognises(contentType: type, beginning: Array(text.utf8))
        }
        #expect(isRecognised("text/html; charset=utf-8", "x") && isRecognised("Text/HTML", "x"))
        #expect(isRecognised(nil, "\n<!DOCTYPE HTML>") && isRecognised("application/xml", "<?xml?><html xmlns='x'>"))
        #expect(!isRecognised("text/xml", "<list>") && !isRecognised(nil, "[]") && !isRecognised(nil, ""))
    }
}
