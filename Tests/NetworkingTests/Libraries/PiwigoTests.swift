import Foundation
import HTTP
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries on a stand-in for Piwigo.
@Suite(.ownThread, .unlessItHangs) struct PiwigoTests {
    private let galleries: ServedGalleries

    init() throws {
        galleries = try ServedGalleries()
    }

    /// Updates the list. Returns the requests of the update.
    @discardableResult
    private func update(_ cache: GalleryCache, _ server: PiwigoServer) async -> [String] {
        await galleries.update(cache, server)
    }

    private static func signIn(_ key: String) -> SignIn { .header(name: "X-PIWIGO-API", value: key) }

    private func photos(_ cache: GalleryCache) throws -> [Photo] { try galleries.photos(cache) }

    private func ids(_ cache: GalleryCache) throws -> [String] { try photos(cache).map(\.galleryID).sorted() }

    private func failure(_ cache: GalleryCache) throws -> Failure? { try galleries.failure(cache) }

    private static let albums = "POST /ws.php pwg.categories.getList 200"
    private static func page(_ number: Int) -> String { "POST /ws.php pwg.categories.getImages \(number) 200" }

    // MARK: - The first update

    @Test(
        "The address of a server leads to its photos, with at most six requests to find the server",
        arguments: ["/", "/index.php?/categories/flat", "/picture.php?/3"])
    func serverAddress(path: String) async throws {
        let server = try await PiwigoServer.start(photos: 25, settings: ["taken": [2]])
        try await galleries.opening(server.url(path)) { cache throws in
            let requests = await update(cache, server)
            // The requests that look for other kinds of servers may arrive late.
            #expect(requests.filter { $0 == Self.albums || $0 == Self.page(0) } == [Self.albums, Self.page(0)])
            #expect(requests.count <= 6 + 2)
            #expect(requests.contains("GET /ws.php pwg.session.getStatus 200"))
            let facts = try cache.read { try ($0.source(), $0.gallery()) }
            #expect(try facts.0?.kind == .piwigo && facts.0?.root == Address(server.url("/")))
            #expect(facts.1.kind == .piwigo && facts.1.hasPaths == false && facts.1.failure == nil)
            let photos = try photos(cache)
            #expect(photos.count == 25)
            let taken = try #require(photos.first { $0.galleryID == "2" })
            #expect(taken.name == "Photo IMG_000002" && taken.date == Timestamp(localTime: "2010-01-01T10:00:00"))
            let posted = try #require(photos.first { $0.galleryID == "3" })
            #expect(posted.date == Timestamp(iso8601: "2024-05-06T07:08:12Z"))
        }
    }

    @Test(
        "Other pages of Piwigo are no galleries",
        arguments: ["/index.php?/tags/3-sea/4-sun", "/index.php?/category/sea"])
    func otherPages(path: String) async throws {
        let server = try await PiwigoServer.start(photos: 2)
        try await galleries.opening(server.url(path)) { cache throws in
            let requests = await update(cache, server)
            let expected = "This is a Piwigo page without a numbered album or tag, not a gallery"
            #expect(try failure(cache)?.reason == expected)
            #expect(!requests.contains { $0.contains("pwg.categories") })
        }
    }

    @Test("A server below another folder is found there, and also at an album’s address without a question mark")
    func folder() async throws {
        let server = try await PiwigoServer.start(photos: 3, settings: ["root": "/gallery/"])
        for path in ["/gallery/", "/gallery/index.php?/category/1"] {
            try await galleries.opening(server.url(path)) { cache throws in
                await update(cache, server)
                #expect(try ids(cache) == ["1", "2", "3"])
                #expect(try cache.read { try $0.source() }?.root == Address(server.url("/gallery/")))
            }
        }
    }

    @Test(
        "Addresses of albums select their photos",
        arguments: [
            ("/", "/", "all"), ("/g", "/g/", "all"), ("/g/index.php", "/g/", "all"), ("/index.php?lang=de", "/", "all"),
            ("/index.php?/categories", "/", "all"), ("/index.php?/categories/flat/start-15", "/", "all"),
            ("/index.php?/categories/created-monthly-list-2024-5", "/", "all"),
            ("/identification.php?redirect=x", "/", "all"),
            ("/index.php?/category/12", "/", "12"), ("/g/index.php?/category/12-beach/start-15", "/g/", "12"),
            ("/index.php?/category/12/flat&display=large", "/", "12"), ("/index.php/category/12", "/", "12"),
            ("/g/index/category/12-beach", "/g/", "12"), ("/index?/category/12", "/", "12"),
            ("/g/category/12", "/g/", "12"),
            ("/picture.php?/34", "/", "all"), ("/picture.php?/34-file/category/12-beach", "/", "12"),
            ("/g/picture/34/category/12", "/g/", "12"), ("/index.php?/category/12/13", "/", "other"),
            ("/index.php?/category/holiday/beach", "/", "other"), ("/index.php?/tags/3-sea", "/", "tag 3"),
            ("/g/index.php?/tags/3/start-15", "/g/", "tag 3"), ("/g/tags/3-sea", "/g/", "tag 3"),
            ("/g/tags/3-sea/start-15", "/g/", "tag 3"), ("/tags/2020/", "/tags/2020/", "all"),
            ("/tags/2024/index.php?/category/12", "/tags/2024/", "12"),
            ("/picture.php?/34/tags/3-sea", "/", "tag 3"), ("/index.php?/tags/3-sea/4-sun", "/", "other"),
            ("/index.php?/tags/sea", "/", "other"), ("/index.php?/tags", "/", "other"), ("/tags.php", "/", "all"),
            ("/index.php?/favorites", "/", "favorites"),
            ("/index.php?/favorites/start-15", "/", "favorites"), ("/index.php?/recent_pics", "/", "other"),
            ("/picture.php?/34/search/7", "/", "other"),
            ("//evil.test/index.php", "//evil.test/index.php", "all"), ("/index.php?/category/0", "/", "other"),
            ("/index.php?/category/9999999999999999999", "/", "other"),
        ])
    func addresses(path: String, server: String, selection: String) throws {
        let address = PiwigoAddress(try Address("http://photos.test" + path))
        #expect(try address.server == Address("http://photos.test" + server))
        let expected: PiwigoAddress.Selection =
            switch selection {
            case "all": .all
            case "favorites": .favorites
            case "other": .other
            case "tag 3": .tag("3")
            default: .album(selection)
            }
        #expect(address.selection == expected)
    }

    @Test("An album has the photos of the albums in it, and a photo in several albums is one photo")
    func album() async throws {
        let albums: [String: any Sendable] = [
            "2": ["photos": [2, 3]] as [String: any Sendable],
            "3": ["photos": [3, 5], "parent": 2] as [String: any Sendable],
        ]
        let server = try await PiwigoServer.start(photos: 6, settings: ["albums": albums])
        try await galleries.opening(server.url("/index.php?/category/2-beach/start-0")) { cache throws in
            await update(cache, server)
            #expect(try ids(cache) == ["2", "3", "5"])
            #expect(await update(cache, server) == [Self.albums])
            try server.order(["delete": 5])
            await update(cache, server)
            #expect(try ids(cache) == ["2", "3"])
        }
    }

    @Test("The favorites need a sign-in, and the photos on all their pages are listed")
    func favorites() async throws {
        let server = try await PiwigoServer.start(photos: 25, settings: ["favorites": [3, 4, 5, 9, 20], "perPage": 2])
        try await galleries.opening(server.url("/index.php?/favorites")) { cache throws in
            #expect(await update(cache, server).allSatisfy { !$0.contains("favorites") })
            #expect(galleries.activity.questions.map(\.secretName) == ["password or API key"])
            galleries.enter(Self.signIn(PiwigoServer.key), cache)
            let requests = ServedGalleries.understood(await update(cache, server))
            #expect(requests.suffix(3) == (0..<3).map { "POST /ws.php pwg.users.favorites.getList \($0) 200" })
            #expect(try Set(ids(cache)) == ["3", "4", "5", "9", "20"] && failure(cache) == nil)
        }
    }

    @Test("Pages of 500 photos follow each other, also if one has only audio files")
    func pages() async throws {
        let files = Dictionary(uniqueKeysWithValues: (501...1_000).map { (String($0), "\($0).mp3") })
        let server = try await PiwigoServer.start(photos: 1_200, settings: ["files": files])
        try await galleries.opening(server.url("/")) { cache throws in
            let requests = ServedGalleries.understood(await update(cache, server))
            #expect(requests.suffix(5) == [Self.albums, Self.page(0), Self.page(1), Self.page(2), Self.albums])
            let record = try cache.read { try $0.gallery() }
            // The beginning is a commit of its own.
            #expect(record.photoCount == 700 && record.listVersion >= 2 && record.failure == nil)
        }
    }

    @Test("A server that allows fewer photos on a page is read in more pages")
    func shortPages() async throws {
        let server = try await PiwigoServer.start(photos: 25, settings: ["perPage": 10])
        try await galleries.opening(server.url("/")) { cache throws in
            let requests = await update(cache, server)
            #expect(requests.count { $0.contains("getImages") } == 3)
            #expect(try photos(cache).count == 25)
        }
    }

    @Test("Thumbnails and photos come from the server’s addresses, and made thumbnails change no photo")
    func pictures() async throws {
        let server = try await PiwigoServer.start(photos: 3)
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            await galleries.fetch(.everyPicture(cache.id, .original))
            let counts = try cache.read { try $0.counts() }
            #expect(counts.thumbnails == 3 && counts.photos == 3 && counts.failed == 0)
            let expected =
                (1...3).map { "GET /i.php /upload/2024/05/06/\($0)-2s.jpg 200" }
                + (1...3).map { "GET /upload/2024/05/06/\($0).jpg 200" }
            #expect(Set(server.requests.filter { $0.contains("/upload/") }) == Set(expected))
            // The server writes other addresses for the thumbnails by now.
            let editions = try photos(cache).map(\.thumbnail.edition)
            try server.order(["add": 1, "name": "new.jpg"])
            await update(cache, server)
            #expect(try photos(cache).count == 4)
            #expect(try Array(photos(cache).map(\.thumbnail.edition).prefix(3)) == editions)
        }
    }

    @Test("Without the right to originals, the largest picture that the server makes is the photo")
    func noOriginals() async throws {
        let server = try await PiwigoServer.start(photos: 1, settings: ["originals": false])
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(server.requests.last == "GET /i.php /upload/2024/05/06/1-4x.jpg 200")
            #expect(try cache.read { try $0.counts() }.photos == 1)
        }
    }

    // MARK: - Later updates

    @Test("An update without changes needs one request and writes nothing")
    func unchanged() async throws {
        let server = try await PiwigoServer.start(photos: 700)
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            let version = try cache.read { try $0.gallery() }.listVersion
            #expect(await update(cache, server) == [Self.albums])
            #expect(try cache.read { try $0.gallery() }.listVersion == version)
            #expect(try photos(cache).count == 700 && failure(cache) == nil)
        }
    }

    @Test("A removed photo disappears, and an added photo appears, although the count is the same")
    func changed() async throws {
        let server = try await PiwigoServer.start(photos: 20)
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            try server.order(["delete": 7])
            #expect(await update(cache, server) == [Self.albums, Self.page(0)])
            #expect(try photos(cache).count == 19 && !ids(cache).contains("7"))
            try server.order(["delete": 8])
            try server.order(["add": 1, "name": "new.jpg"])
            #expect(await update(cache, server) == [Self.albums, Self.page(0)])
            #expect(try photos(cache).count == 19 && ids(cache).contains("21") && !ids(cache).contains("8"))
        }
    }

    @Test("A renamed photo shows a week after Vitrine last read all pages")
    func renamed() async throws {
        let server = try await PiwigoServer.start(photos: 3)
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        func update(afterDays days: Double) async throws -> [String] {
            try await galleries.update(cache, server, afterDays: days)
        }
        _ = try await update(afterDays: 0)
        try server.order(["change": 2, "name": "renamed"])
        #expect(try await update(afterDays: 6.9) == [Self.albums])
        #expect(try await update(afterDays: 7.1) == [Self.albums, Self.page(0)])
        #expect(try cache.read { try $0.photo(galleryID: "2") }?.name == "renamed")
        #expect(try await update(afterDays: 14) == [Self.albums])
        // The clock was set back.
        #expect(try await update(afterDays: 1) == [Self.albums, Self.page(0)])
    }

    // MARK: - Refusals

    @Test(
        "If guests see no photo, Vitrine asks for a sign-in, and an API key shows the photos",
        arguments: ["isClosed", "private"])
    func key(setting: String) async throws {
        let server = try await PiwigoServer.start(photos: 5, settings: [setting: true])
        try await galleries.opening(server.url("/index.php?/category/1")) { cache throws in
            await update(cache, server)
            let origin = try #require(cache.address.origin)
            #expect(
                galleries.activity.questions == [
                    SignInQuestion(
                        origin: origin, keyHeader: "X-PIWIGO-API", schemes: ["basic"], galleries: [cache.id])
                ])
            #expect(try failure(cache)?.reason == "a password or API key is needed for \(origin.place)")
            galleries.enter(Self.signIn(PiwigoServer.key), cache)
            await update(cache, server)
            #expect(try galleries.activity.questions.isEmpty && photos(cache).count == 5)
        }
    }

    @Test("With a key, the photos of private albums are listed beside the public ones")
    func privateAlbums() async throws {
        let albums = ["2": ["photos": [3, 4], "private": true] as [String: any Sendable]]
        let server = try await PiwigoServer.start(photos: 4, settings: ["albums": albums, "private": true])
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn(PiwigoServer.key)) { cache throws in
            await update(cache, server)
            #expect(try ids(cache) == ["1", "2", "3", "4"])
            #expect(await update(cache, server) == [Self.albums])
            // Without the key, as after a restart, the server would show only the public photos.
            let question = SignInQuestion(
                origin: try #require(cache.address.origin), keyHeader: "X-PIWIGO-API", schemes: [])
            _ = await galleries.credentials.hasOther(
                than: Self.signIn(PiwigoServer.key), for: question, in: cache.address)
            #expect(await update(cache, server) == [])
            #expect(galleries.activity.questions.map(\.secretName) == ["password or API key"])
            #expect(try ids(cache) == ["1", "2", "3", "4"])
        }
    }

    @Test("An API key may stand in the address, as a name and a password")
    func keyInAddress() async throws {
        let server = try await PiwigoServer.start(photos: 4, settings: ["isClosed": true])
        let signIn = SignIn.password(user: PiwigoServer.keyID, password: PiwigoServer.keySecret)
        try await galleries.opening(server.url("/"), signedInAs: signIn) { cache throws in
            await update(cache, server)
            #expect(try photos(cache).count == 4 && failure(cache) == nil)
        }
    }

    @Test("A wrong key is refused once, the question says so, and the photos stay")
    func wrongKey() async throws {
        let server = try await PiwigoServer.start(photos: 5)
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            galleries.enter(Self.signIn("pkid-20240506-wrong:wrong"), cache)
            #expect(await update(cache, server) == ["POST /ws.php 401"])
            #expect(
                galleries.activity.questions.map(\.wasRefused) == [true]
                    && galleries.activity.questions.map(\.secretName) == ["password or API key"])
            #expect(
                try failure(cache)?.reason.hasSuffix("refuses the password or API key") == true
                    && photos(cache).count == 5)
        }
    }

    // MARK: - Servers that misbehave

    @Test("A refusal or another answer leads to one sentence, and no photo is removed")
    func brokenAnswers() async throws {
        let server = try await PiwigoServer.start(photos: 5)
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            try server.order(["add": 1, "name": "new.jpg"])
            let refusal = #"{"stat":"fail","err":1003,"message":"Invalid"}"#
            let answers: [(text: String, status: Int, reason: String)] = [
                (refusal, 200, "The server refuses the request: Invalid"),
                (refusal, 404, "the server answered 404 (not found)"),
                (#"{"stat":"fail","err":401,"message":"no"}"#, 200, "a password or API key is needed for"),
                ("<br />\n<b>Warning</b>: x in <b>/ws.php</b>", 200, "This is a web page, not a gallery"),
                ("<html></html>", 200, "This is a web page, not a gallery"), ("", 200, "The gallery file is empty"),
                (#"{"stat":"ok","result":{"categories":[],"images":[]}}"#, 200, "This is an answer without photos"),
                ("[]", 200, "This is an answer of a server that is not Piwigo, not a gallery"),
            ]
            for answer in answers {
                for method in ["pwg.categories.getImages", "pwg.categories.getList"] {
                    guard method.hasSuffix("Images") || !answer.text.contains("images") else { continue }
                    try server.order(["raw": [method: answer.text], "status": answer.status])
                    await update(cache, server)
                    #expect(try failure(cache)?.reason.hasPrefix(answer.reason) == true, "\(answer) \(method)")
                    #expect(try photos(cache).count == 5, "\(answer) \(method)")
                    galleries.activity.withdrawQuestion(.origin(try #require(cache.address.origin)))
                }
            }
            try server.order(["raw": [String: String]()])
            await update(cache, server)
            #expect(try photos(cache).count == 6 && failure(cache) == nil)
        }
    }

    @Test("A server that repeats a page does not keep Vitrine busy, and no photo is lost")
    func repeatedPage() async throws {
        let server = try await PiwigoServer.start(photos: 1_700)
        try server.order(["fault": "repeat", "page": 2])
        try await galleries.opening(server.url("/")) { cache throws in
            let requests = await update(cache, server)
            #expect(requests.count { $0.contains("getImages") } == 3)
            #expect(try failure(cache) == Failure("the server sent the same page twice", remedy: .none))
            #expect(try photos(cache).count == 1_000)
            try server.order(["fault": "none", "page": 0])
            await update(cache, server)
            #expect(try photos(cache).count == 1_700 && failure(cache) == nil)
        }
    }

    @Test("If the server fails midway, the photos so far stay, and no photo is removed")
    func goneServer() async throws {
        let server = try await PiwigoServer.start(photos: 1_700)
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        func update() async throws {
            let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: galleries.context))
            try await request.perform(over: galleries.client)
        }
        try await update()
        try server.order(["delete": 5])
        try server.order(["fault": "gone", "page": 2])
        await #expect(throws: HTTPError.self) { try await update() }
        #expect(try photos(cache).count == 1_700)
    }

    // MARK: - Secrecy

    @Test("The key goes to no other server, and not with the request that recognises Piwigo")
    func secrecy() async throws {
        let other = try ScriptedServer { _ in .answer(200, "[]") }
        let server = try ScriptedServer { request in
            switch request.path {
            case "/ws.php?format=json&method=pwg.session.getStatus":
                .answer(200, #"{"stat":"ok","result":{"username":"guest","current_datetime":"x"}}"#)
            case "/ws.php?format=json&method=pwg.categories.getList":
                .answer(307, "", headers: ["Location: http://127.0.0.1:\(other.port)/stolen"])
            case "/": .answer(200, "<!doctype html><html></html>", headers: ["Content-Type: text/html"])
            default: .answer(404, "")
            }
        }
        try await galleries.opening("http://127.0.0.1:\(server.port)/", signedInAs: Self.signIn(PiwigoServer.key)) {
            cache throws in
            await galleries.fetch(.list(cache.id))
            let (count, failure) = (try photos(cache).count, try failure(cache))
            #expect(count == 0 && failure != nil)
        }
        let keyed = server.requests.filter { $0.headers["x-piwigo-api"] == PiwigoServer.key }.map(\.path)
        #expect(
            keyed.contains("/ws.php?format=json&method=pwg.categories.getList")
                && !keyed.contains("/ws.php?format=json&method=pwg.session.getStatus"))
        #expect(other.requests.allSatisfy { !$0.headers.values.contains(PiwigoServer.key) })
    }

    @Test("A picture at another host gets no key, and a public gallery’s picture may not be at a private address")
    func otherHosts() async throws {
        let other = try ScriptedServer { _ in .answer(200, "no picture") }
        let server = try await PiwigoServer.start(
            photos: 1, settings: ["origin": "http://127.0.0.1:\(other.port)"])
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn(PiwigoServer.key)) { cache throws in
            await update(cache, server)
            #expect(try photos(cache).count == 1)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            #expect(other.requests.allSatisfy { $0.headers["x-piwigo-api"] == nil })
        }
    }
}
