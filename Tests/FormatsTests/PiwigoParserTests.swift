import Model
import Testing

@testable import Formats

/// The answers of Piwigo servers.
@Suite struct PiwigoParserTests {
    private static let sizes: [(name: String, letters: String, width: Int, height: Int)] = [
        ("square", "sq", 120, 120), ("thumb", "th", 144, 108), ("2small", "2s", 240, 180), ("xsmall", "xs", 432, 324),
        ("large", "la", 1_008, 756),
    ]

    private static func image(_ id: Int, file: String? = nil, members more: String = "") -> String {
        let sizes = sizes.map { size in
            #""\#(size.name)":{"url":"http:\/\/photos.test\/i.php?\/upload\/\#(id)-\#(size.letters).jpg","#
                + #""width":\#(size.width),"height":\#(size.height)}"#
        }
        return #"{"is_favorite":false,"id":\#(id),"width":4000,"height":3000,"hit":7,"file":"\#(file ?? "\(id).jpg")","#
            + #""name":"Photo \#(id)","comment":null,"date_creation":"2024-05-06 07:08:09","#
            + #""date_available":"2025-01-02 03:04:05","element_url":"http:\/\/photos.test\/upload\/\#(id).jpg","#
            + #""derivatives":{\#(sizes.joined(separator: ","))},"#
            + #""categories":[{"id":5,"url":"http:\/\/photos.test\/index.php?\/category\/5"}]\#(more)}"#
    }

    private static func page(_ images: [String], page: Int = 0, length: Int = 500, total: Int? = nil) -> String {
        #"{"stat":"ok","result":{"paging":{"page":\#(page),"per_page":\#(length),"count":\#(images.count),"#
            + #""total_count":\#(total ?? images.count)},"images":[\#(images.joined(separator: ","))]}}"#
    }

    private typealias Parsed = (photos: [LibraryPhoto], next: String?, hasOnlyOthers: Bool)

    private func parse(
        _ text: String, pieces size: Int = .max, server: String = "http://photos.test/"
    ) throws -> Parsed {
        let parser = PiwigoPhotoParser(server: try Address(server))
        var photos: [LibraryPhoto] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            photos += try parser.parse(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        photos += try parser.finish()
        return (photos, parser.nextPage, parser.mayLackPhotos)
    }

    private func photo(_ image: String, server: String = "http://photos.test/") throws -> LibraryPhoto? {
        try parse(Self.page([image]), server: server).photos.first
    }

    @Test("A photo has its description")
    func description() throws {
        #expect(
            try photo(Self.image(7, members: #","comment":"The <b>ferry</b>""#))?.annotations.description
                == "The <b>ferry</b>")
        #expect(try photo(Self.image(7))?.annotations == PhotoAnnotations())
    }

    @Test("A page has the facts about its photos")
    func page() throws {
        let parsed = try parse(Self.page([Self.image(7), Self.image(8)]))
        #expect(parsed.next == nil && parsed.photos.map(\.id) == ["7", "8"] && !parsed.hasOnlyOthers)
        #expect(
            parsed.photos.first
                == LibraryPhoto(
                    id: "7", name: "Photo 7",
                    date: .cameraTime(try #require(Timestamp(iso8601: "2024-05-06T07:08:09Z"))),
                    revision: "4000x3000 7.jpg", photo: try Address("http://photos.test/upload/7.jpg"),
                    thumbnail: try Address("http://photos.test/i.php?/upload/7-2s.jpg")))
    }

    @Test("The counts in the answer decide whether a page follows")
    func pages() throws {
        #expect(try parse(Self.page([Self.image(1)], page: 0, length: 500, total: 501)).next == "1")
        #expect(try parse(Self.page([Self.image(1)], page: 1, length: 500, total: 501)).next == nil)
        // The server allows fewer photos on a page.
        #expect(try parse(Self.page([Self.image(1)], page: 1, length: 100, total: 501)).next == "2")
        #expect(try parse(Self.page([], total: 0)).next == nil)
        // Older servers write numbers as strings.
        let text = Self.page([Self.image(1)], total: 501).replacing(
            #""total_count":501"#, with: #""total_count":"501""#)
        #expect(try parse(text).next == "1")
        let huge = String(repeating: "9", count: 18)
        let counts = Self.page([Self.image(1)]).replacing(#""total_count":1"#, with: #""total_count":\#(huge)"#)
            .replacing(#""per_page":500"#, with: #""per_page":\#(huge)"#)
        #expect(try parse(counts).next == nil)
    }

    @Test("The thumbnail is the smallest picture of a useful size, and no square if another picture exists")
    func thumbnails() throws {
        func thumbnail(without names: [String]) throws -> String? {
            var image = Self.image(7)
            for name in names { image = image.replacing("\"\(name)\":{\"url\"", with: "\"\(name)\":{\"uri\"") }
            return try photo(image)?.thumbnail?.query
        }
        #expect(try thumbnail(without: []) == "/upload/7-2s.jpg")
        #expect(try thumbnail(without: ["2small"]) == "/upload/7-xs.jpg")
        #expect(try thumbnail(without: ["2small", "xsmall", "large"]) == "/upload/7-th.jpg")
        #expect(try thumbnail(without: ["thumb", "2small", "xsmall", "large"]) == "/upload/7-sq.jpg")
        #expect(try thumbnail(without: Self.sizes.map(\.name)) == nil)
    }

    @Test("A picture has the same address before and after the server has made it")
    func madePictures() throws {
        let forms = [
            "_data/i/upload/7-2s.jpg", "i.php?/upload/7-2s.jpg", "i.php/upload/7-2s.jpg", "i?/upload/7-2s.jpg",
            "i/upload/7-2s.jpg",
        ]
        for form in forms {
            let image = Self.image(7).replacing(
                #"i.php?\/upload\/7-2s.jpg"#, with: form.replacing("/", with: #"\/"#))
            let found = try photo(image)?.thumbnail
            #expect(try found == Address("http://photos.test/i.php?/upload/7-2s.jpg"), "\(form)")
        }
    }

    @Test("Without the right to originals, the photo is the largest picture that the server makes")
    func withoutOriginal() throws {
        let image = Self.image(7).replacing("element_url", with: "unknown")
        #expect(try photo(image)?.photo == Address("http://photos.test/i.php?/upload/7-la.jpg"))
        let empty = image.replacing("derivatives", with: "unknown")
        #expect(try photo(empty) == nil)
        // PHP writes an empty object as an array.
        let list = #"{"id":7,"file":"7.jpg","element_url":"/upload/7.jpg","derivatives":[]}"#
        let bare = try #require(try photo(list))
        #expect(
            try bare.photo == Address("http://photos.test/upload/7.jpg") && bare.thumbnail == nil && bare.date == nil)
        #expect(bare.name == "7.jpg")
    }

    @Test("Files without a picture are left out, and a video or document shows its picture")
    func otherFiles() throws {
        func otherFile(_ name: String, picture: String) -> String {
            Self.image(7, file: name).replacing(#"upload\/7-"#, with: picture.replacing("/", with: #"\/"#))
        }
        #expect(try photo(otherFile("film.mp4", picture: "upload/pwg_representative/7-"))?.videoMilliseconds == 0)
        #expect(try photo(otherFile("film.MOV", picture: "themes/default/icon/mimetypes/mov-")) == nil)
        #expect(try photo(otherFile("song.mp3", picture: "upload/pwg_representative/7-")) == nil)
        #expect(try photo(otherFile("layers.psd", picture: "themes/default/icon/mimetypes/unknown-")) == nil)
        let paper = try photo(otherFile("paper.pdf", picture: "upload/pwg_representative/7-"))
        #expect(paper?.videoMilliseconds == nil)
        #expect(try paper?.photo == Address("http://photos.test/i.php?/upload/pwg_representative/7-la.jpg"))
        let parsed = try parse(Self.page([Self.image(1, file: "song.ogg")], total: 501))
        #expect(parsed.photos.isEmpty && parsed.hasOnlyOthers && parsed.next == "1")
    }

    @Test("Dates are the time on the camera’s clock, or else the day on which the photo was added")
    func dates() throws {
        func date(_ text: String) throws -> LibraryPhoto.Date? {
            try photo(Self.image(7).replacing(#""date_creation":"2024-05-06 07:08:09""#, with: text))?.date
        }
        let posted = LibraryPhoto.Date.published(try #require(Timestamp(iso8601: "2025-01-02T03:04:05Z")))
        for text in [
            #""date_creation":null"#, #""date_creation":"0000-00-00 00:00:00""#, #""date_creation":"2024-05-06""#,
            #""date_creation":20240506"#, #""date_creation":"2024-05-06 07:08:0Z""#,
        ] {
            #expect(try date(text) == posted, "\(text)")
        }
    }

    @Test("Addresses at the server’s host use the scheme of the gallery, and others stay as they are")
    func addresses() throws {
        let there = try #require(try photo(Self.image(7), server: "https://photos.test/"))
        #expect(try there.photo == Address("https://photos.test/upload/7.jpg"))
        #expect(try there.thumbnail == Address("https://photos.test/i.php?/upload/7-2s.jpg"))
        let other = try #require(try photo(Self.image(7), server: "https://photos.test/piwigo/"))
        #expect(try other.photo == Address("http://photos.test/upload/7.jpg"))
        func address(_ text: String) throws -> Address? {
            try photo(Self.image(7).replacing(#"http:\/\/photos.test\/upload\/7.jpg"#, with: text))?.photo
        }
        #expect(try address("https://other.test/7.jpg") == Address("https://other.test/7.jpg"))
        #expect(try address("upload/7.jpg") == Address("http://photos.test/upload/7.jpg"))
        // The largest picture takes the place of an address that leads to no server.
        let largest = try Address("http://photos.test/i.php?/upload/7-la.jpg")
        for text in ["file:///etc/passwd", "javascript:x", "http://", "", String(repeating: "x", count: 100_000)] {
            #expect(try address(text) == largest, "\(text.prefix(40))")
        }
    }

    @Test("Objects without a sound id are left out, and values of other types count as missing")
    func hostileMembers() throws {
        for id in [#""../7""#, "-7", "7.5", "0", #""07""#, "null", "[7]", #""""#, String(repeating: "7", count: 200)] {
            let image = Self.image(7).replacing(#""id":7,"#, with: #""id":\#(id),"#)
            #expect(try photo(image) == nil, "\(id)")
        }
        let odd =
            #"{"id":"7","file":["x"],"name":{"a":1},"width":"x","height":1e99,"date_creation":{},"element_url":5,"#
            + #""derivatives":{"medium":{"url":["x"],"width":1},"large":{"url":"/l.jpg","width":-1,"height":"9999999999999"}}}"#
        let photo = try photo(odd.replacing(#"["x"],"name""#, with: #""7.jpg","name""#))
        #expect(try photo?.photo == Address("http://photos.test/l.jpg") && photo?.name == "7.jpg" && photo?.id == "7")
        let long = String(repeating: "x", count: 100_000)
        #expect(try self.photo(Self.image(7).replacing("Photo 7", with: long))?.name.count == 1_024)
    }

    @Test("Every cut of a page gives the same photos, and every shorter page an error")
    func cuts() throws {
        let text = Self.page([Self.image(1), Self.image(2)], total: 501)
        let whole = try parse(text)
        for size in 1...text.utf8.count {
            let parts = try parse(text, pieces: size)
            #expect(parts.photos == whole.photos && parts.next == whole.next)
        }
        for length in 0..<text.utf8.count {
            #expect(throws: FormatError.self) { try parse(String(text.prefix(length))) }
        }
    }

    @Test("A refusal has the server’s reason")
    func refusals() {
        #expect(throws: FormatError.refused(code: 401, reason: "Access denied")) {
            try parse(#"{"stat":"fail","err":401,"message":"Access denied"}"#)
        }
        #expect(throws: FormatError.refused(code: 1003, reason: "")) { try parse(#"{"err":"1003","stat":"fail"}"#) }
        #expect(
            FormatError.refused(code: 1003, reason: "").description == "The server refuses the request: error 1003.")
        #expect(throws: FormatError.refused(code: 5, reason: "a [b")) {
            try parse(#"{"stat":"fail","err":5,"message":"a\u001b[b"}"#)
        }
        let long = String(repeating: "x", count: 10_000)
        #expect(throws: FormatError.refused(code: 0, reason: String(long.prefix(200)))) {
            try parse(#"{"stat":"fail","err":{},"message":"\#(long)"}"#)
        }
    }

    @Test("An answer that is no page is refused, however deep or long")
    func others() {
        let page = Self.page([Self.image(1)])
        let answers = [
            "", " ", "5", "[]", "{}", "null", #"{"stat":"ok"}"#, #"{"stat":"ok","result":true}"#,
            #"{"stat":"ok","result":{}}"#, #"{"stat":"ok","result":[]}"#, #"{"stat":"ok","result":{"images":[]}}"#,
            #"{"stat":"ok","result":{"images":{},"paging":{"page":0,"per_page":1,"total_count":0}}}"#,
            page.replacing(#""stat":"ok""#, with: #""stat":"no""#),
            page.replacing(#""per_page":500"#, with: #""per_page":0"#),
            page.replacing(#""page":0"#, with: #""page":-1"#),
            page.replacing(#""total_count":1"#, with: #""total_count":[1]"#),
            page + "x", String(repeating: "[", count: 100_000),
            #"{"stat":"ok","result":{"images":[{"id":"# + String(repeating: "[", count: 1_000),
            #"{"stat":"ok","result":{"images":[{"id":""# + String(repeating: "a", count: 2_000_000) + #""}]}}"#,
        ]
        for answer in answers {
            #expect(throws: FormatError.self, "\(answer.prefix(80))") { try parse(answer) }
        }
        for html in ["<html></html>", "\n <br />\n<b>Warning</b>: " + page] {
            #expect(throws: FormatError.notAGallery("a web page")) { try parse(html) }
        }
    }

    // MARK: - Albums

    private func albums(_ text: String) throws -> [LibraryPart] {
        let parser = PiwigoAlbumListParser()
        return try Array(text.utf8).flatMap { try parser.parse([$0]) } + parser.finish()
    }

    @Test("The list of albums has their counts, and the date of the newest photo in each")
    func albumList() throws {
        let text =
            #"{"stat":"ok","result":{"categories":[{"id":7,"name":"A","nb_images":42,"total_nb_images":50,"#
            + #""date_last":"2024-05-06 07:08:09","x":[{"id":1}]},{"nb_images":"0","date_last":null,"id":"8"}]}}"#
        #expect(
            try albums(text)
                == [LibraryPart(name: "7", count: "42 2024-05-06T07:08:09Z"), LibraryPart(name: "8", count: "0 ")])
        #expect(try albums(#"{"stat":"ok","result":{"categories":[]}}"#).isEmpty)
        let broken = [
            "{}", #"{"stat":"ok","result":{}}"#, #"{"stat":"ok","result":{"categories":{}}}"#,
            #"{"stat":"ok","result":{"categories":[{"id":7}]}}"#,
            #"{"stat":"ok","result":{"categories":[{"nb_images":7}]}}"#,
            #"{"stat":"ok","result":{"categories":[{"id":"x","nb_images":7}]}}"#,
            #"{"stat":"fail","err":401,"message":"no"}"#,
        ]
        for text in broken { #expect(throws: FormatError.self, "\(text)") { try albums(text) } }
        for length in 0..<text.utf8.count {
            #expect(throws: FormatError.self) { try albums(String(text.prefix(length))) }
        }
    }
}
