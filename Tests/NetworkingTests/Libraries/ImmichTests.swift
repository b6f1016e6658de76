import Foundation
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries on a stand-in for Immich.
@Suite(.ownThread, .unlessItHangs) struct ImmichTests {
    private let galleries: ServedGalleries

    private static let album = "00000000-0000-4000-8000-0000000000bb"
    private static let person = "00000000-0000-4000-8000-0000000000cc"

    init() throws {
        galleries = try ServedGalleries()
    }

    /// Updates the list. Returns the requests of the update.
    @discardableResult
    private func update(_ cache: GalleryCache, _ server: ImmichServer) async -> [String] {
        await galleries.update(cache, server)
    }

    /// Opens an address with an API key, and runs a controller meanwhile.
    private func openingWithKey(
        _ url: String, key: String? = ImmichServer.key, _ body: (GalleryCache) async throws -> Void
    ) async throws {
        try await galleries.opening(url, signedInAs: key.map(Self.signIn), body)
    }

    private static func signIn(_ key: String) -> SignIn { .header(name: "x-api-key", value: key) }

    /// Answers the question for an API key.
    private func enter(_ key: String, _ cache: GalleryCache) { galleries.enter(Self.signIn(key), cache) }

    private func photos(_ cache: GalleryCache) throws -> [Photo] { try galleries.photos(cache) }

    private func names(_ cache: GalleryCache) throws -> [String] { try photos(cache).map(\.name) }

    private func failure(_ cache: GalleryCache) throws -> Failure? { try galleries.failure(cache) }

    private static let buckets = "GET /api/timeline/buckets 200"
    private static func page(_ number: Int) -> String { "POST /api/search/metadata \(number) 200" }
    private static func bucket(_ month: String) -> String { "GET /api/timeline/bucket \(month)-01 200" }

    // MARK: - The first update

    @Test(
        "The address of a server leads to its photos, with one question for an API key",
        arguments: ["/", "/photos"])
    func serverAddress(path: String) async throws {
        let server = try await ImmichServer.start(photos: 25)
        try await openingWithKey(server.url(path), key: nil) { cache in
            await galleries.fetch(.list(cache.id))
            // The last request is the first of the library itself. Others may arrive late.
            let requests = server.requests
            #expect(requests.count <= 6 && requests.contains("GET /api/timeline/buckets 401"))
            let origin = try #require(cache.address.origin)
            #expect(
                galleries.activity.questions == [
                    SignInQuestion(origin: origin, keyHeader: "x-api-key", schemes: [], galleries: [cache.id])
                ])
            #expect(try failure(cache)?.reason == "an API key is needed for \(origin.place)")
            enter(ImmichServer.key, cache)
            await galleries.fetch(.list(cache.id))
            #expect(try galleries.activity.questions.isEmpty && photos(cache).count == 25)
            let facts = try cache.read { try ($0.source(), $0.gallery()) }
            #expect(try facts.0?.kind == .immich && facts.0?.root == Address(server.url("/")))
            #expect(facts.1.kind == .immich && facts.1.hasPaths == false)
            let first = try #require(try photos(cache).first)
            #expect(first.name == "IMG_000000.jpg" && first.folder == nil)
            // The time on the camera's clock, as for photos whose metadata Vitrine reads itself.
            #expect(first.date == Timestamp(localTime: "2010-01-01T10:00:00"))
        }
    }

    @Test("Videos are in the list, with the server’s still pictures, and a removed one disappears")
    func videos() async throws {
        let server = try await ImmichServer.start(photos: 4, settings: ["videos": 2])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            #expect(try names(cache).count == 5)
            let video = try #require(try photos(cache).first { $0.videoMilliseconds != nil })
            #expect(video.name == "IMG_000002.mp4" && video.videoMilliseconds == 5_000)
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(server.requests.contains("GET /api/assets/\(video.galleryID)/thumbnail preview 200"))
            #expect(!server.requests.contains { $0.contains("\(video.galleryID)/original") })
            #expect(
                try cache.read { try $0.videoPage(of: video.key) }?.text == server.url("/photos/\(video.galleryID)"))
            #expect(try cache.read { try $0.videoPage(of: photos(cache)[0].key) } == nil)
            #expect(try cache.read { try $0.hits(PhotoFilter("is:video"))?.count } == 1)
            try server.order(["delete": 2])
            await update(cache, server)
            #expect(try photos(cache).map(\.videoMilliseconds) == [nil, nil, nil, nil])
        }
    }

    @Test("The list brings descriptions, ratings, places and people, and an update changes them")
    func annotations() async throws {
        let server = try await ImmichServer.start(
            photos: 5, settings: ["people": [Self.person: [2]], "names": [Self.person: "Anna"]])
        let exif: [String: any Sendable] = [
            "description": "The ferry", "rating": 4, "city": "Potsdam", "country": "Germany",
        ]
        try server.order(["change": 2, "exifInfo": exif])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            let key = try photos(cache)[2].key
            let found = try cache.read { try $0.annotations(of: key) }
            #expect(found.description == "The ferry" && found.rating == 4 && found.place == "Potsdam, Germany")
            #expect(found.people == ["Anna"] && !found.isFavorite)
            // The third photo is a favorite.
            #expect(try cache.read { try $0.annotations(of: photos(cache)[3].key) }.isFavorite)
            try server.order(["change": 2, "exifInfo": ["rating": 2]])
            await update(cache, server)
            #expect(try cache.read { try $0.annotations(of: key) }.rating == 2)
        }
    }

    @Test("Pages of 1,000 photos follow each other, and the first ones appear before the last page is there")
    func pages() async throws {
        let server = try await ImmichServer.start(photos: 2_500)
        try await openingWithKey(server.url("/")) { cache in
            let requests = await update(cache, server)
            #expect(
                ServedGalleries.understood(requests).suffix(5) == [
                    Self.buckets, Self.page(1), Self.page(2), Self.page(3), Self.buckets,
                ])
            let record = try cache.read { try $0.gallery() }
            // The beginning is a commit of its own.
            #expect(record.photoCount == 2_500 && record.listVersion >= 2)
        }
    }

    @Test(
        "The address of an album, a person or the favorites leads to these photos",
        arguments: [
            ("/albums/\(album)", ["IMG_000001.jpg", "IMG_000004.jpg"]), ("/people/\(person)?at=x", ["IMG_000002.jpg"]),
            ("/favorites", ["IMG_000003.jpg", "IMG_000013.jpg", "IMG_000023.jpg"]),
        ])
    func selections(path: String, expected: [String]) async throws {
        let server = try await ImmichServer.start(
            photos: 25, settings: ["albums": [Self.album: [1, 4]], "people": [Self.person: [2]]])
        try await openingWithKey(server.url(path)) { cache in
            await update(cache, server)
            #expect(try names(cache) == expected)
            // Another photo in an album does not change the photo's own record.
            guard path.hasPrefix("/albums") else { return }
            try server.order(["album": Self.album, "photos": [4, 5]])
            await update(cache, server)
            #expect(try names(cache) == ["IMG_000004.jpg", "IMG_000005.jpg"])
        }
    }

    @Test("The favorites of a partner are not among those of the user")
    func favoritesOfPartner() async throws {
        let server = try await ImmichServer.start(photos: 25, settings: ["partner": [3]])
        try await openingWithKey(server.url("/favorites")) { cache throws in
            await update(cache, server)
            #expect(try names(cache) == ["IMG_000013.jpg", "IMG_000023.jpg"] && failure(cache) == nil)
        }
    }

    // MARK: - Later updates

    @Test("An update without changes needs two requests and writes nothing")
    func unchanged() async throws {
        let server = try await ImmichServer.start(photos: 1_500)
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            let version = try cache.read { try $0.gallery() }.listVersion
            #expect(await update(cache, server) == [Self.buckets, Self.page(1)])
            #expect(try cache.read { try $0.gallery() }.listVersion == version)
            #expect(try photos(cache).count == 1_500 && failure(cache) == nil)
        }
    }

    @Test("One deleted photo needs three requests, and only this photo disappears")
    func deleted() async throws {
        let server = try await ImmichServer.start(photos: 1_500)
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            let before = try names(cache)
            try server.order(["delete": 700])
            #expect(await update(cache, server) == [Self.buckets, Self.page(1), Self.bucket("2010-01")])
            #expect(try names(cache) == before.filter { $0 != "IMG_000700.jpg" })
            #expect(await update(cache, server) == [Self.buckets, Self.page(1)])
        }
    }

    @Test("The photos of a partner stay when a month is read, because the search also finds them")
    func partner() async throws {
        let server = try await ImmichServer.start(photos: 30, settings: ["partner": [2, 5], "perMonth": 10])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            try server.order(["delete": 3])
            #expect(await update(cache, server) == [Self.buckets, Self.page(1), Self.bucket("2010-01")])
            #expect(try photos(cache).count == 29 && names(cache).contains("IMG_000002.jpg"))
        }
    }

    @Test("A month that loses all its photos needs no request of its own")
    func emptiedMonth() async throws {
        let server = try await ImmichServer.start(photos: 12, settings: ["perMonth": 5, "videos": 0])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            for number in 5..<10 { try server.order(["delete": number]) }
            #expect(await update(cache, server) == [Self.buckets, Self.page(1)])
            #expect(try photos(cache).count == 7)
        }
    }

    @Test("An added photo appears, and its month is read, because another photo may have left it")
    func added() async throws {
        let server = try await ImmichServer.start(photos: 100, settings: ["perMonth": 20])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            // The count of the month stays the same.
            try server.order(["delete": 22])
            try server.order(["add": "2010-02-05T06:07:08.000Z", "name": "new.jpg"])
            #expect(await update(cache, server) == [Self.buckets, Self.page(1), Self.bucket("2010-02")])
            #expect(try photos(cache).count == 100)
            #expect(try names(cache).contains("new.jpg"))
            #expect(try !names(cache).contains("IMG_000022.jpg"))
            #expect(await update(cache, server) == [Self.buckets, Self.page(1)])
        }
    }

    @Test("A changed photo keeps its row, and gets a new thumbnail only if its picture has changed")
    func changed() async throws {
        let server = try await ImmichServer.start(photos: 30, settings: ["perMonth": 10])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            let before = try photos(cache)
            try server.order(["change": 3, "originalFileName": "renamed.jpg"])
            try server.order(["change": 4, "thumbhash": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="])
            // It moves to another month.
            try server.order(["change": 5, "localDateTime": "2010-02-20T10:00:00.000Z"])
            let requests = await update(cache, server)
            #expect(requests == [Self.buckets, Self.page(1), Self.bucket("2010-01"), Self.bucket("2010-02")])
            let after = Dictionary(uniqueKeysWithValues: try photos(cache).map { ($0.key, $0) })
            #expect(after.count == 30)
            for photo in before {
                let now = try #require(after[photo.key])
                #expect(now.galleryID == photo.galleryID)
                let isRevised = ["IMG_000004.jpg", "IMG_000005.jpg"].contains(photo.name)
                #expect(now.thumbnail.edition == photo.thumbnail.edition + (isRevised ? 1 : 0), "\(photo.name)")
            }
            #expect(after[before[3].key]?.name == "renamed.jpg")
            #expect(after[before[5].key]?.date == Timestamp(localTime: "2010-02-20T10:00:00"))
            // The photo is in its new month, so a change there does not remove it.
            try server.order(["delete": 12])
            await update(cache, server)
            #expect(try photos(cache).count == 29)
        }
    }

    @Test("A photo that was not listed before makes Vitrine read all pages")
    func unknown() async throws {
        let server = try await ImmichServer.start(photos: 30, settings: ["perMonth": 10, "videos": 0])
        try server.order(["change": 4, "visibility": "locked"])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            #expect(try photos(cache).count == 29)
            // Its record has the time of an earlier change.
            try server.order(["change": 4, "visibility": "timeline", "updatedAt": "2020-01-01T00:00:00.000Z"])
            let requests = await update(cache, server)
            #expect(requests == [Self.buckets, Self.page(1), Self.bucket("2010-01"), Self.page(1)])
            #expect(try photos(cache).count == 30 && cache.read { try $0.gallery() }.skipped == 0)
        }
    }

    @Test("After many changes Vitrine reads all pages, which are fewer than the months")
    func manyChanges() async throws {
        let server = try await ImmichServer.start(photos: 200, settings: ["perMonth": 5, "videos": 0])
        try await openingWithKey(server.url("/")) { cache in
            await update(cache, server)
            for month in 0..<20 { try server.order(["delete": month * 5]) }
            #expect(await update(cache, server) == [Self.buckets, Self.page(1), Self.page(1)])
            #expect(try photos(cache).count == 180)
        }
    }

    // MARK: - Refusals

    @Test("A wrong key is refused once, and the question says so")
    func wrongKey() async throws {
        let server = try await ImmichServer.start(photos: 5)
        try await openingWithKey(server.url("/"), key: "wrong") { cache throws in
            let requests = await update(cache, server)
            #expect(requests.filter { $0.hasSuffix(" 401") } == ["GET /api/timeline/buckets 401"])
            #expect(
                galleries.activity.questions.map(\.wasRefused) == [true]
                    && galleries.activity.questions.map(\.secretName) == ["API key"])
            #expect(try failure(cache)?.reason.hasSuffix("refuses the API key") == true)
            enter(ImmichServer.key, cache)
            await update(cache, server)
            #expect(try photos(cache).count == 5)
        }
    }

    @Test("A key that lacks a permission leads to an error that names the permission")
    func missingPermission() async throws {
        let keys = ["list": ["asset.read"], "nothing": []]
        let server = try await ImmichServer.start(photos: 5, keys: keys)
        try await openingWithKey(server.url("/"), key: "nothing") { cache in
            await update(cache, server)
            let expected = "the API key lacks the permission asset.read"
            #expect(try failure(cache) == Failure(expected, remedy: .none) && galleries.activity.questions.isEmpty)
            enter("list", cache)
            await update(cache, server)
            #expect(try photos(cache).count == 5)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            let trouble = try photos(cache).map(\.thumbnail.trouble)
            let reason = Failure("the API key lacks the permission asset.view", remedy: .none)
            #expect(trouble == Array(repeating: .bad(reason), count: 5))
        }
    }

    @Test("A refused key is asked for again, also if the server has redirected to https")
    func refusedAfterRedirect() async throws {
        let secure = try Address("https://photos.test/")
        let cache = try galleries.context.caches.open(Address("http://photos.test/"))
        let origin = try #require(secure.origin)
        galleries.credentials.take(Self.signIn("wrong"), for: .origin(origin), by: [cache.id])
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: galleries.context))
        let question = SignInQuestion(origin: origin, keyHeader: "x-api-key", schemes: [], wasRefused: true)
        await request.recordFailure(Failure("no", remedy: .none, question: question))
        #expect(galleries.activity.questions.map(\.origin) == [origin])
        #expect(cache.signIn(for: secure) == nil)
    }

    // MARK: - Servers that misbehave

    @Test("A server that repeats a page does not keep Vitrine busy, and no photo is lost")
    func repeatedPage() async throws {
        let server = try await ImmichServer.start(photos: 3_500)
        try server.order(["fault": "repeat", "page": 3])
        try await openingWithKey(server.url("/")) { cache in
            let requests = await update(cache, server)
            #expect(requests.count { $0.hasPrefix("POST") } == 3)
            #expect(try failure(cache) == Failure("the server sent the same page twice", remedy: .none))
            #expect(try photos(cache).count == 2_000)
            try server.order(["fault": "none", "page": 0])
            await update(cache, server)
            #expect(try photos(cache).count == 3_500 && failure(cache) == nil)
        }
    }

    @Test("A server that is busy for a moment gets only the refused request again")
    func busy() async throws {
        let server = try await ImmichServer.start(photos: 2_500)
        try server.order(["fault": "busy", "page": 2])
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        enter(ImmichServer.key, cache)
        let clock = SkippingClock()
        let context = RequestContext(
            caches: galleries.context.caches, activity: galleries.activity, log: galleries.log, clock: clock)
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        try await request.perform(over: galleries.client)
        #expect(
            server.requests.filter { $0.hasPrefix("POST") } == [
                Self.page(1), "POST /api/search/metadata 2 503", Self.page(2), Self.page(3),
            ])
        #expect(try clock.waits == [.seconds(1)] && photos(cache).count == 2_500)
    }

    @Test(
        "If the server fails midway, the photos so far stay, and no photo is removed",
        arguments: [true, false])
    func goneServer(isFirst: Bool) async throws {
        let server = try await ImmichServer.start(photos: 3_500, settings: ["albums": [Self.album: Array(0..<3_000)]])
        let cache = try galleries.context.caches.open(Address(server.url("/albums/\(Self.album)")))
        enter(ImmichServer.key, cache)
        func update() async throws {
            let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: galleries.context))
            try await request.perform(over: galleries.client)
        }
        if !isFirst { try await update() }
        let before = try photos(cache).count
        try server.order(["change": 5, "originalFileName": "renamed.jpg"])
        try server.order(["fault": "gone", "page": 3])
        await #expect(throws: HTTPError.self) { try await update() }
        #expect(try photos(cache).count == (isFirst ? 2_000 : before))
        #expect(try names(cache).contains("renamed.jpg"))
        #expect(try cache.read { try $0.source() }?.kind == .immich)
    }

    @Test("A truncated page or another answer leads to an error, and no photo is removed")
    func brokenPages() async throws {
        let server = try await ImmichServer.start(photos: 1_500, settings: ["albums": [Self.album: Array(0..<1_500)]])
        try await openingWithKey(server.url("/albums/\(Self.album)")) { cache in
            await update(cache, server)
            let count = try photos(cache).count
            let answers = [
                "", "[]", "{}", #"{"assets":{}}"#, #"{"assets":{"items":[],"nextPage":"2"}}"#, "<html></html>",
                #"{"assets":{"items":[],"nextPage":"2\",\"x\":\""}}"#, String(repeating: "[", count: 1_000),
                #"{"assets":{"items":[],"nextPage":null}}"#,
            ]
            for answer in answers {
                try server.order(["raw": ["/api/search/metadata": answer]])
                await update(cache, server)
                #expect(try failure(cache)?.isTemporary == false, "\(answer)")
                #expect(try photos(cache).count == count, "\(answer)")
            }
        }
    }

    // MARK: - Albums

    @Test("Of more than 5,000 albums and people, the first 5,000 of each are listed, and the reason is given")
    func manyAlbums() async throws {
        let ids = (0..<10_002).map { String(format: "00000000-0000-4000-8000-%012x", $0) }
        let (albums, people) = (ids.prefix(5_001), ids.suffix(5_001))
        let server = try await ImmichServer.start(
            photos: 1,
            settings: [
                "albums": Dictionary(uniqueKeysWithValues: albums.map { ($0, [Int]()) }),
                "people": Dictionary(uniqueKeysWithValues: people.map { ($0, [Int]()) }),
                "names": Dictionary(uniqueKeysWithValues: ids.map { ($0, "Name \($0)") }), "tags": ["Trip": [0]],
            ])
        try await openingWithKey(server.url("/")) { cache in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.albums(cache.id))
            let list = try cache.albums()
            for (kind, count) in [(.favorites, 1), (.album, 5_000), (.person, 5_000), (.tag, 1)] as [(Album.Kind, Int)]
            {
                #expect(list.albums.count { $0.kind == kind } == count, "\(kind)")
            }
            #expect(list.trouble == "the server has more than 5000 albums and people" && list.lastSuccess != nil)
        }
    }

    // MARK: - Secrecy

    @Test("The key goes to no other server, and not with the requests that recognise Immich")
    func secrecy() async throws {
        let other = try ScriptedServer { _ in .answer(200, "[]") }
        let server = try ScriptedServer { request in
            switch request.path {
            case "/api/server/version": .answer(200, #"{"major":3,"minor":2,"patch":0}"#)
            case "/api/timeline/buckets?visibility=timeline&withPartners=true":
                .answer(302, "", headers: ["Location: http://127.0.0.1:\(other.port)/stolen"])
            case "/": .answer(200, "<!doctype html><html></html>", headers: ["Content-Type: text/html"])
            default: .answer(404, "")
            }
        }
        try await openingWithKey("http://127.0.0.1:\(server.port)/") { cache in
            await galleries.fetch(.list(cache.id))
            let (count, failure) = (try photos(cache).count, try failure(cache))
            #expect(count == 0 && failure != nil)
        }
        let keyed = server.requests.filter { $0.headers["x-api-key"] == ImmichServer.key }.map(\.path)
        #expect(
            keyed.contains("/api/timeline/buckets?visibility=timeline&withPartners=true")
                && !keyed.contains("/api/server/version"))
        #expect(server.requests.contains { $0.path == "/api/server/version" })
        #expect(other.requests.map(\.path) == ["/stolen"])
        #expect(other.requests.allSatisfy { !$0.headers.values.contains(ImmichServer.key) })
    }
}
