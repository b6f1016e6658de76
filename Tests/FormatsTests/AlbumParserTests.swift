import Model
import Testing

@testable import Formats

/// The lists of albums and people of photo servers.
@Suite struct AlbumParserTests {
    private let server: Address
    private let folder: Address

    init() throws {
        server = try Address("http://photos.test/")
        folder = try Address("http://photos.test/remote.php/dav/photos/me/albums/")
    }

    private static func id(_ number: Int) -> String { "0000000\(number)-0000-4000-8000-0000000000aa" }

    /// Parses a text, cut into pieces of a size.
    private func parse(
        _ text: String, _ parser: any LibraryParser<Album>, pieces size: Int = .max
    ) throws -> [Album] {
        var albums: [Album] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            albums += try parser.parse(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return albums + (try parser.finish())
    }

    private func albums(_ text: String) throws -> [Album] { try parse(text, ImmichAlbumParser(server: server)) }

    /// Checks that every cut of an answer gives the same albums, and that every shorter answer is an error.
    private func checkCuts(_ text: String, _ makeParser: () -> any LibraryParser<Album>) throws {
        let whole = try parse(text, makeParser())
        #expect(!whole.isEmpty)
        for size in 1...text.utf8.count { #expect(try parse(text, makeParser(), pieces: size) == whole) }
        for length in 0..<text.utf8.count {
            #expect(throws: FormatError.self, "\(length)") { try parse(String(text.prefix(length)), makeParser()) }
        }
    }

    // MARK: - Immich's albums

    private static let list = """
        [{"albumName":"Summer","id":"\(id(1))","assetCount":42,"albumThumbnailAssetId":"\(id(7))",\
        "albumUsers":[{"role":"owner","user":{"id":"\(id(9))","albumName":"x"}}]},\
        {"id":"\(id(2))","assetCount":0,"albumThumbnailAssetId":null,"albumName":"\\u00dcber\\n1"}]
        """

    @Test("An Immich album has an address, a name, a count and a cover")
    func immichAlbums() throws {
        #expect(
            try albums(Self.list) == [
                Album(
                    .album, at: Address("http://photos.test/albums/\(Self.id(1))"), name: "Summer", count: 42,
                    cover: Self.id(7)),
                Album(.album, at: Address("http://photos.test/albums/\(Self.id(2))"), name: "Über\n1", count: 0),
            ])
        #expect(try albums("[]").isEmpty)
    }

    @Test("Unsound ids, counts and names of an Immich album count as missing")
    func unsoundAlbums() throws {
        let text = """
            [{"albumName":"no id"},{"id":"../../secret","albumName":"x"},{"id":5},\
            {"id":"\(Self.id(3))","albumName":"  ","assetCount":-1,"albumThumbnailAssetId":"../x"},\
            {"id":"\(Self.id(4))","albumName":"\(String(repeating: "x", count: 5_000))","assetCount":1e400}]
            """
        let found = try albums(text)
        #expect(found.map(\.name) == [Self.id(3), String(repeating: "x", count: Album.longestName)])
        #expect(found.allSatisfy { $0.count == nil && $0.cover == nil })
        #expect(try albums(#"[{"id":"\#(Self.id(1))","assetCount":12345678901}]"#).first?.count == nil)
    }

    @Test("Every cut of Immich's albums gives the same albums")
    func cutAlbums() throws { try checkCuts(Self.list) { ImmichAlbumParser(server: server) } }

    @Test("An answer that is not a list of albums is refused")
    func refusedAlbums() {
        for text in ["{}", "5", "null", #"{"albums":[]}"#, "[{", String(repeating: "[", count: 100_000), ""] {
            #expect(throws: FormatError.self, "\(text.prefix(40))") { try albums(text) }
        }
    }

    // MARK: - Immich's people

    private static func person(_ number: Int, _ name: String, _ more: String = "") -> String {
        #"{"id":"\#(id(number))","name":"\#(name)","isHidden":false,"sharedBy":[{"id":"\#(id(9))","name":"x"}]\#(more)}"#
    }

    private static func page(_ people: [String], more: Bool = false) -> String {
        #"{"total":3,"people":[\#(people.joined(separator: ","))],"hidden":0,"hasNextPage":\#(more)}"#
    }

    private func people(_ text: String, page: String? = nil) throws -> (albums: [Album], next: String?) {
        let parser = ImmichPeopleParser(page: page, server: server)
        return (try parse(text, parser), parser.nextPage)
    }

    @Test("People with names are listed; unnamed and hidden ones are not")
    func immichPeople() throws {
        let text = Self.page([
            Self.person(1, "Grandma"), Self.person(2, ""), Self.person(3, "Hidden", #","isHidden":true"#),
            #"{"name":"no id"}"#,
        ])
        let expected = Album(.person, at: try Address("http://photos.test/people/\(Self.id(1))"), name: "Grandma")
        let found = try people(text)
        #expect(found.albums == [expected] && found.next == nil)
    }

    @Test("Another page follows only a page with names")
    func followingPages() throws {
        #expect(try people(Self.page([Self.person(1, "Cat")], more: true)).next == "2")
        #expect(try people(Self.page([Self.person(1, "Cat")], more: true), page: "7").next == "8")
        #expect(try people(Self.page([Self.person(1, "")], more: true)).next == nil)
    }

    @Test("Every cut of Immich's people gives the same people")
    func cutPeople() throws {
        try checkCuts(Self.page([Self.person(1, "Grandma"), Self.person(2, "Cat")], more: true)) {
            ImmichPeopleParser(page: nil, server: server)
        }
    }

    @Test("An answer that is not a page of people is refused")
    func refusedPeople() {
        for text in ["[]", "5", "{}", #"{"people":{}}"#, #"{"people":5}"#, #"{"people":[{"#] {
            #expect(throws: FormatError.self, "\(text)") { try people(text) }
        }
    }

    // MARK: - PhotoPrism's albums and people

    private func photoPrism(
        _ kind: PhotoPrismAlbumParser.Kind, offset: Int = 0, pageSize: Int = 10
    ) -> PhotoPrismAlbumParser {
        PhotoPrismAlbumParser(kind, server: server, offset: offset, pageSize: pageSize)
    }

    private static let photoPrismList = """
        [{"UID":"aqcd0000000000bb","Thumb":"aa11","Type":"album","Title":"Summer","Path":"","PhotoCount":42,"x":[{"UID":"b"}]},\
        {"UID":"aqcd0000000000cc","Thumb":"","Title":"Lake","Path":"2024/Lake","PhotoCount":0},{"UID":"../x","Title":"y"}]
        """

    @Test(
        "A PhotoPrism album has an address, a name, a count and a cover; a folder has the name of its path",
        arguments: [
            (PhotoPrismAlbumParser.Kind.album, "Summer", "Lake", Int?.some(0)), (.moment, "Summer", "Lake", nil),
            (.folder, "Summer", "2024 / Lake", nil),
        ])
    func photoPrismAlbums(kind: PhotoPrismAlbumParser.Kind, first: String, second: String, count: Int?) throws {
        let page = "http://photos.test/library/\(kind.rawValue)s/"
        #expect(
            try parse(Self.photoPrismList, photoPrism(kind)) == [
                Album(
                    .album, at: Address(page + "aqcd0000000000bb/view"), name: first,
                    count: count.map { _ in 42 }, cover: "aa11"),
                Album(.album, at: Address(page + "aqcd0000000000cc/view"), name: second, count: count),
            ])
        try checkCuts(Self.photoPrismList) { photoPrism(kind) }
    }

    @Test("A person's cover is the photo with the face")
    func photoPrismPeople() throws {
        let text = #"[{"UID":"js01","Name":"Grandma","Slug":"grandma","PhotoCount":3,"Thumb":"aa11-046045043065"}]"#
        #expect(
            try parse(text, photoPrism(.person)) == [
                Album(
                    .person, at: Address("http://photos.test/library/all?q=subject:js01"), name: "Grandma", count: 3,
                    cover: "aa11")
            ])
    }

    @Test("Another page follows only a full page, and another answer is refused")
    func photoPrismPages() throws {
        for (size, next) in [(3, "10"), (4, nil)] as [(Int, String?)] {
            let parser = photoPrism(.album, offset: 7, pageSize: size)
            _ = try parse(Self.photoPrismList, parser)
            #expect(parser.nextPage == next)
        }
        for text in ["{}", "5", "[5]", "[[]]", #"{"error":"x"}"#, "[{", ""] {
            #expect(throws: FormatError.self, "\(text)") { try parse(text, photoPrism(.album)) }
        }
    }

    // MARK: - Tags

    @Test("A tag of Immich has the page that browsers show, and the names of the outer tags")
    func immichTags() throws {
        let text = """
            [{"id":"\(Self.id(1))","name":"Rome","value":"Trips/Rome","parentId":"\(Self.id(2))","x":{"value":"y"}},\
            {"value":"&#?%+ \\u00e9","name":"x","id":"\(Self.id(3))"},{"id":"\(Self.id(4))","value":""},{"value":"no id"},\
            {"id":"../5","value":"z"},{"id":"\(Self.id(6))","value":"\(String(repeating: "v", count: 1_025))"}]
            """
        #expect(
            try parse(text, ImmichTagParser(server: server)) == [
                Album(.tag, at: Address("http://photos.test/tags?path=Trips%2FRome"), name: "Trips / Rome"),
                Album(.tag, at: Address("http://photos.test/tags?path=%26%23%3F%25%2B%20%C3%A9"), name: "&#?%+ é"),
            ])
        try checkCuts(text) { ImmichTagParser(server: server) }
        for text in ["{}", "5", "[5]", #"[[{"id":"\(Self.id(1))"}]]"#, "[{"] {
            #expect(throws: FormatError.self, "\(text)") { try parse(text, ImmichTagParser(server: server)) }
        }
    }

    @Test("Of a long name of a tag, the end stays")
    func longTag() throws {
        let value = String(repeating: "ü", count: 200) + "/Rome"
        let albums = try parse(#"[{"id":"\#(Self.id(1))","value":"\#(value)"}]"#, ImmichTagParser(server: server))
        let name = try #require(albums.first?.name)
        #expect(name.hasPrefix("…ü") && name.hasSuffix("ü / Rome") && name.utf8.count <= Album.longestName)
    }

    @Test("The photos of a tag of Immich are on the pages after the list of tags")
    func immichTagFinder() throws {
        let text = #"[{"id":"\#(Self.id(2))","value":"Trips"},{"id":"\#(Self.id(1))","value":"Trips/Rome"}]"#
        let parser = ImmichTagFinder(value: Array("Trips/Rome".utf8))
        #expect(try parser.parse(Array(text.utf8)).isEmpty && parser.finish().isEmpty && parser.mayLackPhotos)
        let page = try #require(parser.nextPage.flatMap { ImmichTagPage(name: $0) })
        #expect(page == ImmichTagPage(tag: Self.id(1), number: "1"))
        let photos = ImmichPhotoParser(server: server, tag: page.tag)
        _ = try photos.parse(Array(#"{"assets":{"items":[],"nextPage":"2"}}"#.utf8))
        _ = try photos.finish()
        #expect(photos.nextPage == ImmichTagPage(tag: Self.id(1), number: "2").name)
        // Names differ in case on the server, too.
        let other = ImmichTagFinder(value: Array("trips/rome".utf8))
        _ = try other.parse(Array(text.utf8))
        #expect(throws: FormatError.notAGallery("the page of a tag that the server does not have")) {
            try other.finish()
        }
    }

    @Test("A label of PhotoPrism opens a search for the word that its name has now")
    func photoPrismLabels() throws {
        let text = """
            [{"ID":1,"UID":"lq1","Slug":"cat","CustomSlug":"tiger-cat","Name":"Tiger Cat","PhotoCount":3,"Thumb":"ab12"},\
            {"UID":"lq2","Slug":"_ab-c","CustomSlug":"","Name":"Dog"},{"UID":"lq3","Slug":"a/b","Name":"x"},\
            {"UID":"lq4","Slug":"--","Name":"y"}]
            """
        func makeParser() -> PhotoPrismAlbumParser {
            PhotoPrismAlbumParser(.label, server: server, offset: 0, pageSize: 4)
        }
        let parser = makeParser()
        #expect(
            try parse(text, parser) == [
                Album(
                    .tag, at: Address("http://photos.test/library/all?q=label:tiger-cat"), name: "Tiger Cat", count: 3,
                    cover: "ab12"),
                Album(.tag, at: Address("http://photos.test/library/all?q=label:_ab-c"), name: "Dog"),
            ])
        #expect(parser.nextPage == "4")
        try checkCuts(text) { makeParser() }
    }

    @Test("A tag of Piwigo has an address, a name and a count")
    func piwigoTags() throws {
        let text = """
            {"stat":"ok","result":{"tags":[{"id":7,"name":"Sea","counter":42,"url_name":"sea","url":"x"},\
            {"name":"","id":"8"},{"name":"no id"}],"categories":[{"id":1}]}}
            """
        #expect(
            try parse(text, PiwigoAlbumParser(.tag, server: server)) == [
                Album(.tag, at: Address("http://photos.test/index.php?/tags/7"), name: "Sea", count: 42),
                Album(.tag, at: Address("http://photos.test/index.php?/tags/8"), name: "8"),
            ])
        try checkCuts(text) { PiwigoAlbumParser(.tag, server: server) }
        for text in ["{}", #"{"stat":"ok","result":{"categories":[]}}"#] {
            #expect(throws: FormatError.self, "\(text)") { try parse(text, PiwigoAlbumParser(.tag, server: server)) }
        }
    }

    // MARK: - Piwigo's albums

    @Test("A Piwigo album has an address, a name, the count of all its photos and a cover")
    func piwigoAlbums() throws {
        let text = """
            {"stat":"ok","result":{"categories":[{"id":7,"name":"2024 \\/ Lake","nb_images":1,"total_nb_images":42,\
            "representative_picture_id":"9","x":{"id":1,"name":"y"}},{"id":"8","name":"","representative_picture_id":null},\
            {"name":"no id"},{"id":"../9","name":"z"}]}}
            """
        #expect(
            try parse(text, PiwigoAlbumParser(.album, server: server)) == [
                Album(
                    .album, at: Address("http://photos.test/index.php?/category/7"), name: "2024 / Lake", count: 42,
                    cover: "9"),
                Album(.album, at: Address("http://photos.test/index.php?/category/8"), name: "8"),
            ])
        try checkCuts(text) { PiwigoAlbumParser(.album, server: server) }
        for text in ["{}", #"{"stat":"ok","result":{}}"#, #"{"stat":"fail","err":401,"message":"no"}"#] {
            #expect(throws: FormatError.self, "\(text)") { try parse(text, PiwigoAlbumParser(.album, server: server)) }
        }
    }

    // MARK: - Nextcloud's albums

    private static func album(_ path: String, _ count: String) -> String {
        """
        <d:response><d:href>/remote.php/dav/photos/me/albums/\(path)</d:href><d:propstat><d:prop><d:resourcetype>\
        <d:collection/></d:resourcetype>\(count)</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
        """
    }

    private var pages: Address { get throws { try server.resolving("apps/photos/albums/") } }

    private static let multistatus = """
        <?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:nc="http://nextcloud.org/ns">\(album("", ""))\
        \(album("Summer%202024/", "<nc:nbItems>3</nc:nbItems>"))\(album("%c3%9cber%26/", "<nc:nbItems>-1</nc:nbItems>"))\
        </d:multistatus>
        """

    @Test("A Nextcloud album has the address that a browser shows, a name and a count")
    func nextcloudAlbums() throws {
        let parser = try NextcloudAlbumParser(folder: folder, pages: pages)
        #expect(
            try parse(Self.multistatus, parser) == [
                Album(
                    .album, at: Address("http://photos.test/apps/photos/albums/Summer%202024"), name: "Summer 2024",
                    count: 3),
                Album(.album, at: Address("http://photos.test/apps/photos/albums/%C3%9Cber&"), name: "Über&"),
            ])
    }

    @Test("Every cut of Nextcloud's albums gives the same albums")
    func cutNextcloud() throws {
        let pages = try pages
        try checkCuts(Self.multistatus) { NextcloudAlbumParser(folder: folder, pages: pages) }
    }
}
