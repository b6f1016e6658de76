import Model
import Testing

@testable import Formats

/// The answers of Immich servers.
@Suite struct ImmichParserTests {
    private static func asset(_ number: Int, _ more: String = "") -> String {
        """
        {"id":"0000000\(number)-0000-4000-8000-0000000000aa","originalFileName":"\(number).jpg","type":"IMAGE",\
        "localDateTime":"2024-05-06T07:08:09.000Z","fileCreatedAt":"2024-05-06T05:08:09.000Z",\
        "updatedAt":"2025-01-02T03:04:05.678Z","checksum":"c\(number)","thumbhash":"t\(number)",\
        "originalMimeType":"image/jpeg","isTrashed":false\(more)}
        """
    }

    private static func page(_ assets: [String], next: String = "null") -> String {
        #"{"albums":{"items":[{"id":"x"}],"nextPage":"9"},"assets":{"total":1,"items":[\#(assets.joined(separator: ","))],"#
            + #""nextPage":\#(next)}}"#
    }

    private func parse(_ text: String, pieces size: Int = .max) throws -> (photos: [LibraryPhoto], next: String?) {
        let parser = ImmichPhotoParser(server: try Address("http://photos.test/"))
        var photos: [LibraryPhoto] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            photos += try parser.parse(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return (photos + (try parser.finish()), parser.nextPage)
    }

    @Test("A page has the facts about its photos and names the next page")
    func page() throws {
        let (photos, next) = try parse(Self.page([Self.asset(1), Self.asset(2)], next: #""2""#))
        #expect(next == "2" && photos.count == 2)
        let id = "00000001-0000-4000-8000-0000000000aa"
        #expect(
            photos.first
                == LibraryPhoto(
                    id: id, name: "1.jpg",
                    date: .cameraTime(try #require(Timestamp(iso8601: "2024-05-06T07:08:09Z"))), part: "2024-05",
                    revision: "c1", thumbhash: "t1", photo: try Address("http://photos.test/api/assets/\(id)/original"),
                    thumbnail: try Address("http://photos.test/api/assets/\(id)/thumbnail?size=thumbnail"),
                    changedAt: Timestamp(iso8601: "2025-01-02T03:04:05.678Z")))
        #expect(try parse(Self.page([])).photos.isEmpty)
        #expect(try parse(Self.page([], next: "3")).next == "3")
    }

    @Test("A photo has its annotations")
    func annotations() throws {
        let more = #"""
            ,"isFavorite":true,"exifInfo":{"make":"X","description":"The ferry","rating":4,"country":"Germany","state":"Berlin",
            "city":"Berlin","exposureTime":"1/60","orientation":null},"people":[{"id":"p","name":"Anna","faces":[{"name":"x"}]},
            {"name":""},{"name":"Uwe"}],"tags":[{"name":"birds","value":"animals/birds"}]
            """#
        for size in [1, 1_000_000] {
            let photos = try parse(Self.page([Self.asset(1, more), Self.asset(2)]), pieces: size).photos
            let first = try #require(photos.first).annotations
            #expect(first.isFavorite && first.rating == 4 && first.description == "The ferry")
            #expect(first.place == "Berlin, Germany" && first.people == ["Anna", "Uwe"] && first.tags == ["birds"])
            // The next photo inherits nothing.
            #expect(photos.last?.annotations == PhotoAnnotations())
        }
        let long = String(repeating: "é", count: 3_000)
        let cut = try parse(
            Self.page([Self.asset(1, #","originalFileName":"x\#(long)","exifInfo":{"description":"x\#(long)"}"#)]))
        // Half of a letter would become another sign.
        #expect(
            cut.photos.first?.name.utf8.count == 1_023 && cut.photos.first?.annotations.description.utf8.count == 4_095)
        #expect(cut.photos.first?.name.hasSuffix("é") == true)
        for rating in ["-1", "0", "6", "44", "null", #""3""#, "3.5"] {
            let photo = try parse(Self.page([Self.asset(1, #","exifInfo":{"rating":\#(rating)}"#)])).photos.first
            #expect(photo?.annotations == PhotoAnnotations())
        }
    }

    @Test(
        "A video has its length, and the server’s still picture",
        arguments: [
            ("5000", 5_000), (#""0:01:02.500000""#, 62_500), (#""12:00:00""#, 43_200_000), ("null", 0), ("-5", 0),
            ("1e99", 0), ("99999999999999999999", 864_000_000), (#""x""#, 0),
        ])
    func videos(duration: String, length: Int) throws {
        let more = #","type":"VIDEO","duration":\#(duration),"originalMimeType":"video/mp4""#
        let video = try #require(try parse(Self.page([Self.asset(1, more)])).photos.first)
        #expect(video.videoMilliseconds == length && video.photo.query == "size=preview")
    }

    @Test("Audio files, photos in the trash, and objects without a valid id are left out")
    func leftOut() throws {
        let assets = [
            Self.asset(1, #","type":"AUDIO""#), Self.asset(2, #","isTrashed":true"#),
            Self.asset(3, #","id":"../../secret""#).replacing("00000003-0000-4000-8000-0000000000aa", with: "short"),
            #"{"type":"IMAGE"}"#, Self.asset(4), Self.asset(5, #","type":"VIDEO","visibility":"hidden""#),
        ]
        #expect(try parse(Self.page(assets)).photos.map(\.name) == ["4.jpg"])
    }

    @Test("A photo in a format that Vitrine does not decode has the address of its preview")
    func undecodable() throws {
        func address(_ more: String) throws -> String? {
            try parse(Self.page([Self.asset(1, more)])).photos.first?.photo.query
        }
        #expect(try address(#","originalMimeType":"image/vnd.adobe.photoshop""#) == "size=preview")
        // The server develops raw files.
        #expect(try address(#","originalMimeType":"image/x-canon-cr2""#) == "size=preview")
        #expect(try address(#","originalMimeType":"image/heic""#) == nil)
        // Older servers state no type.
        let untyped = Self.asset(1).replacing("originalMimeType", with: "unknownMember")
        #expect(try parse(Self.page([untyped])).photos.first?.photo.query == nil)
        for name in ["1.PSD", "1.DNG"] {
            let other = untyped.replacing("1.jpg", with: name)
            #expect(try parse(Self.page([other])).photos.first?.photo.query == "size=preview")
        }
    }

    @Test("An edited photo has the addresses of its edited pictures, and each edit revises it")
    func edited() throws {
        func photo(_ more: String) throws -> LibraryPhoto {
            try #require(try parse(Self.page([Self.asset(1, more)])).photos.first)
        }
        let first = try photo(#","isEdited":true"#)
        #expect(first.photo.query == "edited=true" && first.thumbnail?.query == "size=thumbnail&edited=true")
        #expect(first.photo.path.hasSuffix("/original") && first.revision == "c1t1")
        let raw = try photo(#","isEdited":true,"originalMimeType":"image/x-canon-cr2""#)
        #expect(raw.photo.query == "size=preview&edited=true")
        #expect(try photo(#","isEdited":true,"thumbhash":"t9""#).revision == "c1t9")
        let (unedited, older) = (try photo(#","isEdited":false"#), try photo(""))
        #expect(unedited == older)
        // The next photo inherits nothing.
        let both = try parse(Self.page([Self.asset(1, #","isEdited":true"#), Self.asset(2)])).photos
        #expect(both.map(\.revision) == ["c1t1", "c2"] && both.last?.photo.query == nil)
    }

    @Test("Missing members and members of other types leave facts empty")
    func missingMembers() throws {
        let bare = #"{"id":"00000001-0000-4000-8000-0000000000AA","thumbhash":null,"localDateTime":5,"checksum":["x"]}"#
        let photo = try #require(try parse(Self.page([bare])).photos.first)
        #expect(photo.id == "00000001-0000-4000-8000-0000000000aa" && photo.name == photo.id)
        #expect(photo.date == nil && photo.part == LibraryPhoto.noPart && photo.changedAt == nil)
        let utc = Self.asset(1).replacing("localDateTime", with: "unknown")
        #expect(
            try parse(Self.page([utc])).photos.first?.date
                == .moment(try #require(Timestamp(iso8601: "2024-05-06T05:08:09Z"))))
    }

    @Test("Every cut of a page gives the same photos, and every shorter page an error")
    func cuts() throws {
        let text = Self.page([Self.asset(1), Self.asset(2)], next: #""2""#)
        let whole = try parse(text)
        for size in 1...text.utf8.count {
            let parts = try parse(text, pieces: size)
            #expect(parts.photos == whole.photos && parts.next == whole.next)
        }
        for length in 0..<text.utf8.count {
            #expect(throws: FormatError.self) { try parse(String(text.prefix(length))) }
        }
    }

    @Test("An answer that is not a page is refused, however deep or long")
    func refusals() {
        let answers = [
            "5", "[]", "{}", "null", #"{"assets":[]}"#, #"{"assets":{}}"#, #"{"items":[]}"#, #"{"assets":{"items":5}}"#,
            #"{"assets":{"items":[],"nextPage":"1\",\"x\":1"}}"#, #"{"assets":{"items":[],"nextPage":"12345678901"}}"#,
            #"{"assets":{"items":[],"nextPage":-1}}"#, String(repeating: "[", count: 100_000),
            #"{"assets":{"items":[{"id":"# + String(repeating: "[", count: 1_000),
            #"{"assets":{"items":[{"id":""# + String(repeating: "a", count: 2_000_000) + #""}]}}"#,
        ]
        for answer in answers {
            #expect(throws: FormatError.self, "\(answer.prefix(80))") { try parse(answer) }
        }
    }

    @Test("Long texts are cut or count as missing")
    func longTexts() throws {
        let long = String(repeating: "x", count: 100_000)
        let asset = Self.asset(1, #","originalFileName":"\#(long)","checksum":"\#(long)","thumbhash":"\#(long)""#)
        let photo = try #require(try parse(Self.page([asset])).photos.first)
        #expect(photo.name.count == 1_024 && photo.revision == "c1" && photo.thumbhash == "t1")
    }

    // MARK: - Months

    private func items<Item>(_ parser: any LibraryParser<Item>, _ text: String) throws -> [Item] {
        let beginning = try Array(text.utf8).flatMap { try parser.parse([$0]) }
        return beginning + (try parser.finish())
    }

    @Test("The list of months has their counts, also in the form of older servers")
    func months() throws {
        let text =
            #"[{"timeBucket":"2024-05-01","count":42},{"count":7,"timeBucket":"2010-12-01T00:00:00.000Z","x":[{}]}]"#
        #expect(
            try items(ImmichMonthListParser(), text)
                == [LibraryPart(name: "2024-05", count: "42"), LibraryPart(name: "2010-12", count: "7")])
        #expect(try items(ImmichMonthListParser(), "[]").isEmpty)
        for text in [
            "{}", "5", #"[{"count":1}]"#, #"[{"timeBucket":"../x","count":1}]"#, #"[{"timeBucket":"2024-05-01"}]"#, "[",
        ] {
            #expect(throws: FormatError.self, "\(text)") { try items(ImmichMonthListParser(), text) }
        }
    }

    @Test("A month has the ids of its photos and videos")
    func month() throws {
        let (photo, video) = ("00000001-0000-4000-8000-0000000000aa", "00000002-0000-4000-8000-0000000000bb")
        let text = #"{"stack":[["a","2"]],"isImage":[true,false],"id":["\#(photo)","\#(video)"],"ratio":[1.5,1]}"#
        #expect(
            try items(ImmichMonthParser(), text)
                == [LibraryMember(id: photo), LibraryMember(id: video)])
        #expect(try items(ImmichMonthParser(), #"{"id":[],"isImage":[]}"#).isEmpty)
        // Without all ids, photos would seem to be removed.
        let broken = [
            "{}", "[]", #"{"id":["x"],"isImage":[true]}"#,
            #"{"isImage":[true]}"#,
            #"{"id":["\#(photo)"]"#,
        ]
        for text in broken {
            #expect(throws: FormatError.self, "\(text)") { try items(ImmichMonthParser(), text) }
        }
    }
}
