import Model
import Testing

@testable import Formats

/// The answers of PhotoPrism servers.
@Suite struct PhotoPrismParserTests {
    private static let hash = "da39a3ee5e6b4b0d3255bfef95601890afd80709"

    private static func photo(_ number: Int, _ more: String = "") -> String {
        """
        {"ID":"\(number)-1","UID":"pabc\(number)","Type":"image","Title":"Title \(number)","OriginalName":"a/b/\(number)",\
        "TakenAt":"2024-05-06T05:08:09Z","TakenAtLocal":"2024-05-06T07:08:09Z","Year":2024,"Month":5,"Lat":1.5e-3,\
        "FileName":"2024/05/\(number).jpg","Hash":"\(hash)","UpdatedAt":"2025-01-02T03:04:05Z","DeletedAt":null,\
        "Files":[{"UID":"fx","Hash":"other","Name":"x.dng","Markers":[{"UID":"mx"}]}]\(more)}
        """
    }

    private static func page(_ photos: [String]) -> String { "[\(photos.joined(separator: ","))]" }

    private func parse(
        _ text: String, pieces size: Int = .max, offset: Int = 0, pageSize: Int = 1_000
    ) throws -> (photos: [LibraryPhoto], next: String?) {
        let parser = PhotoPrismPhotoParser(
            server: try Address("http://photos.test/pp/"), offset: offset, pageSize: pageSize)
        var photos: [LibraryPhoto] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            photos += try parser.parse(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return (photos + (try parser.finish()), parser.nextPage)
    }

    @Test("A page has the facts about its photos, and addresses without tokens")
    func page() throws {
        let (photos, next) = try parse(Self.page([Self.photo(1), Self.photo(2)]))
        #expect(next == nil && photos.count == 2)
        #expect(
            photos.first
                == LibraryPhoto(
                    id: "pabc1", name: "Title 1",
                    date: .cameraTime(try #require(Timestamp(iso8601: "2024-05-06T07:08:09Z"))), part: "2024-05",
                    revision: Self.hash, photo: try Address("http://photos.test/pp/api/v1/dl/\(Self.hash)"),
                    thumbnail: try Address("http://photos.test/pp/api/v1/t/\(Self.hash)/-/fit_720"),
                    changedAt: Timestamp(iso8601: "2025-01-02T03:04:05Z")))
        #expect(try parse("[]").photos.isEmpty)
    }

    @Test("A photo has its annotations")
    func annotations() throws {
        let more = #","Favorite":true,"Caption":"The ferry","Description":"","PlaceLabel":"Berlin, Germany","Rating":3"#
        let (photos, _) = try parse(
            Self.page([Self.photo(1, more), Self.photo(2, #","Description":"Old","PlaceLabel":"Unknown""#)]))
        let (first, second) = (try #require(photos.first).annotations, try #require(photos.last).annotations)
        #expect(first.isFavorite && first.description == "The ferry" && first.place == "Berlin, Germany")
        #expect(!second.isFavorite && second.description == "Old" && second.place.isEmpty)
    }

    @Test("A page that is full names the next page, even if it has videos")
    func nextPage() throws {
        let full = Self.page([Self.photo(1), Self.photo(2, #","Type":"video""#)])
        #expect(try parse(full, offset: 4, pageSize: 2).next == "6")
        #expect(try parse(full, offset: 4, pageSize: 3).next == nil)
        #expect(try parse(full, offset: .max - 1, pageSize: 2).next == nil)
    }

    private static func visit(_ shares: String) -> String {
        """
        {"status":"success","id":"0ld","session_id":"x","access_token":"new_1-","user":{"id":"u","shares":["aa0000000000"]},\
        "data":{"tokens":["t"],"shares":\(shares)},"config":{"id":"c","previewToken":"prev","downloadToken":"d0wn",\
        "thumbs":[{"previewToken":"no"}]}}
        """
    }

    private static let several = #"["p1","a/b","aqc1","aqc2","aqc1"]"#

    @Test(
        "The answer to a shared link names its album, or the one that the link means",
        arguments: [
            (#"["aqc1","aqc1"]"#, nil, "aqc1"), (#"["aqc1"]"#, "summer", "aqc1"), (several, "aqc2", "aqc2"),
            ("null", "aqc3", "aqc3"),
        ] as [(String, String?, String)])
    func visits(shares: String, album: String?, expected: String) throws {
        for size in [1, 3, .max] {
            let parser = PhotoPrismVisitParser(album: album)
            var rest = Array(Self.visit(shares).utf8)[...]
            while !rest.isEmpty {
                #expect(try parser.parse(Array(rest.prefix(size))).isEmpty)
                rest = rest.dropFirst(size)
            }
            #expect(try parser.finish().isEmpty && parser.mayLackPhotos)
            #expect(parser.previewToken == "prev" && parser.downloadToken == "d0wn")
            let page = try #require(parser.nextPage.flatMap { PhotoPrismSharePage(name: $0) })
            #expect(page.session == "new_1-" && page.album == expected && page.offset == 0)
            let photos = PhotoPrismPhotoParser(
                server: try Address("http://photos.test/"), offset: 4, pageSize: 1, share: page)
            _ = try photos.parse(Array(Self.page([Self.photo(1)]).utf8))
            _ = try photos.finish()
            #expect(photos.nextPage == "new_1- \(expected) 5")
        }
    }

    @Test("A link to several albums that names none of them is refused", arguments: [nil, "summer", "aqc3"])
    func severalAlbums(album: String?) throws {
        let parser = PhotoPrismVisitParser(album: album)
        _ = try parser.parse(Array(Self.visit(Self.several).utf8))
        #expect(throws: FormatError.severalAlbums) { try parser.finish() }
    }

    @Test("Before 2024, the session’s secret had another name, and the answer had no tokens of its own")
    func olderVisit() throws {
        let parser = PhotoPrismVisitParser()
        _ = try parser.parse(Array(#"{"id":"0ld","data":{"shares":["aqc1"]}}"#.utf8))
        _ = try parser.finish()
        #expect(parser.nextPage == "0ld aqc1 0" && parser.previewToken == nil && parser.downloadToken == nil)
    }

    @Test(
        "An answer that opens no album is refused",
        arguments: [
            "[]", "{}", #"{"id":"0ld","data":{"shares":[]}}"#, #"{"data":{"shares":["aqc1"]}}"#,
            #"{"id":"a b","data":{"shares":["aqc1"]}}"#, #"{"id":"","data":{"shares":["aqc1"]}}"#,
            #"{"id":"0ld","data":{"tokens":["aqc1"]}}"#, #"{"id":"0ld","data":{"shares":["b1"]}}"#,
            #"{"id":"0ld","data":{"shares":["aqc1"]}"#,
        ])
    func noVisit(text: String) throws {
        let parser = PhotoPrismVisitParser()
        #expect(throws: FormatError.self) {
            _ = try parser.parse(Array(text.utf8))
            _ = try parser.finish()
        }
    }

    @Test("A text that is no name of a page is refused")
    func pageNames() {
        for name in ["", "a", "a b", "a b c", "a b -1", "a b 1 2"] { #expect(PhotoPrismSharePage(name: name) == nil) }
    }

    @Test("A video has its length, and the server’s still picture")
    func videos() throws {
        let page = Self.page([
            Self.photo(1, #","Type":"video","Duration":62500000000"#),
            Self.photo(2, #","Type":"video","Duration":1e99"#),
            Self.photo(3, #","Type":"live","Duration":3000000000"#),
        ])
        let photos = try parse(page).photos
        #expect(photos.map(\.videoMilliseconds) == [62_500, 0, nil])
        #expect(photos.first?.photo == photos.first?.thumbnail.flatMap { try? $0.resolving("fit_1920") })
    }

    @Test("Audio files, and objects without a valid id or file, are left out")
    func leftOut() throws {
        let photos = [
            Self.photo(1, #","Type":"audio""#), Self.photo(2, #","UID":"../../secret""#),
            Self.photo(3, #","UID":"a/b""#),
            Self.photo(4, #","UID":"""#), Self.photo(5, #","Hash":"x/../y""#), Self.photo(6, #","Hash":"x?t=1""#),
            Self.photo(7, #","Hash":"""#), Self.photo(8, #","UID":"\#(String(repeating: "a", count: 200))""#),
            "{}", Self.photo(9, #","Type":"live""#),
        ]
        #expect(try parse(Self.page(photos)).photos.map(\.name) == ["Title 9"])
    }

    @Test("A photo without a title has the name of its file")
    func names() throws {
        func name(_ more: String) throws -> String? { try parse(Self.page([Self.photo(1, more)])).photos.first?.name }
        #expect(try name(#","Title":"""#) == "1")
        #expect(try name(#","Title":"","OriginalName":"""#) == "1.jpg")
        #expect(try name(#","Title":"","OriginalName":"/","FileName":"""#) == "pabc1")
        #expect(try name(#","Title":"\#(String(repeating: "x", count: 100_000))""#)?.count == 1_024)
    }

    @Test("A photo in a format that Vitrine does not decode has the address of its preview")
    func undecodable() throws {
        let photo = try #require(try parse(Self.page([Self.photo(1, #","FileName":"a.dng""#)])).photos.first)
        #expect(photo.photo.path == "/pp/api/v1/t/\(Self.hash)/-/fit_1920")
    }

    @Test("Missing members, members of other types and unknown dates leave facts empty")
    func missingMembers() throws {
        let bare = #"{"UID":"p1","Hash":"\#(Self.hash)","Title":5,"Year":-1,"Month":{"a":1},"TakenAtLocal":["x"]}"#
        let photo = try #require(try parse(Self.page([bare])).photos.first)
        #expect(photo.name == "p1" && photo.date == nil && photo.part == LibraryPhoto.noPart && photo.changedAt == nil)
        let zero = Self.photo(1, #","TakenAtLocal":"0001-01-01T00:00:00Z""#)
        #expect(
            try parse(Self.page([zero])).photos.first?.date
                == .moment(try #require(Timestamp(iso8601: "2024-05-06T05:08:09Z"))))
        let numbers = ["1e400", "-0", "99999", "12345678901234567890", "0", "2024.5", "13"]
        for number in numbers {
            let photo = try parse(Self.page([Self.photo(1, #","Month":\#(number),"Year":\#(number)"#)])).photos.first
            #expect(photo?.part == LibraryPhoto.noPart, "\(number)")
        }
    }

    @Test("Every cut of a page gives the same photos, and every shorter page an error")
    func cuts() throws {
        let text = Self.page([Self.photo(1), Self.photo(2)])
        let whole = try parse(text)
        for size in 1...text.utf8.count { #expect(try parse(text, pieces: size).photos == whole.photos) }
        for length in 0..<text.utf8.count {
            #expect(throws: FormatError.self) { try parse(String(text.prefix(length))) }
        }
    }

    @Test("An answer that is not a page is refused, however deep or long")
    func refusals() {
        let answers = [
            "5", "{}", "null", "true", #""text""#, #"{"code":401,"error":"Please log in"}"#, "[5]", "[[]]", #"["a"]"#,
            "[null]", "<!doctype html>", "[{}]x", String(repeating: "[", count: 100_000),
            #"[{"Files":"# + String(repeating: "[", count: 1_000),
            #"[{"UID":""# + String(repeating: "a", count: 2_000_000) + #""}]"#,
            #"[{"Year":"# + String(repeating: "9", count: 1_000) + "}]",
        ]
        for answer in answers {
            #expect(throws: FormatError.self, "\(answer.prefix(80))") { try parse(answer) }
        }
    }

    // MARK: - Months

    private func items<Item>(_ parser: any LibraryParser<Item>, _ text: String) throws -> [Item] {
        let beginning = try Array(text.utf8).flatMap { try parser.parse([$0]) }
        return beginning + (try parser.finish())
    }

    @Test("The list of months has their counts, and leaves out months that do not exist")
    func months() throws {
        let text = """
            [{"Label":"","Year":2024,"Month":5,"State":"x","PhotoCount":42},{"PhotoCount":7,"Month":12,"Year":987,"x":[{}]},
            {"Year":-1,"Month":-1,"PhotoCount":3},{"Year":2024,"Month":13,"PhotoCount":3}]
            """
        #expect(
            try items(PhotoPrismMonthListParser(), text)
                == [LibraryPart(name: "2024-05", count: "42"), LibraryPart(name: "0987-12", count: "7")])
        #expect(try items(PhotoPrismMonthListParser(), "[]").isEmpty)
        for text in ["{}", "5", "null", #"[{"Year":2024,"Month":5}]"#, "[5]", "[", #"[{"PhotoCount":"4"}]"#] {
            #expect(throws: FormatError.self, "\(text)") { try items(PhotoPrismMonthListParser(), text) }
        }
    }

    @Test("A month has the ids of its photos and videos")
    func month() throws {
        let text = Self.page([Self.photo(1), Self.photo(2, #","Type":"video""#), Self.photo(3, #","Type":"document""#)])
        #expect(
            try items(PhotoPrismMemberParser(), text).map { [$0.id, "\($0.isShown)"] }
                == [["pabc1", "true"], ["pabc2", "true"], ["pabc3", "false"]])
        #expect(try items(PhotoPrismMemberParser(), "[]").isEmpty)
        // Without all ids, photos would seem to be removed.
        for text in ["{}", #"[{"UID":"x/y"}]"#, "[{}]", "null", #"[{"UID":"p1"}"#] {
            #expect(throws: FormatError.self, "\(text)") { try items(PhotoPrismMemberParser(), text) }
        }
    }

    // MARK: - Settings

    @Test(
        "The settings tell whether photos wait for a review",
        arguments: [
            (#"{"settings":{"features":{"review":false,"private":true}},"name":"PhotoPrism"}"#, false),
            (#"{"settings":{"features":{"private":false,"review":true}}}"#, true), ("{}", true),
            (#"{"settings":{"features":{"private":false},"review":false},"features":{"review":false}}"#, true),
            (#"{"settings":{"features":{}},"x":{"y":{"review":false}}}"#, true),
            (#"{"settings":{"features":{"x":{"review":false},"y":[false],"review":null}}}"#, true),
        ])
    func settings(json: String, hasReview: Bool) throws {
        #expect(try PhotoPrismSettings(json: Array(json.utf8)).hasReview == hasReview)
        #expect(throws: FormatError.self) { try PhotoPrismSettings(json: Array(json.utf8.dropLast())) }
        #expect(throws: FormatError.self) { try PhotoPrismSettings(json: Array("[\(json)]".utf8)) }
    }
}
