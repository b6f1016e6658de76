import Foundation
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries on a stand-in for PhotoPrism.
@Suite(.ownThread, .unlessItHangs) struct PhotoPrismTests {
    private let galleries: ServedGalleries

    private static let album = "aqcd0000000000bb"

    init() throws {
        galleries = try ServedGalleries()
    }

    /// Updates the list. Returns the requests of the update.
    @discardableResult
    private func update(_ cache: GalleryCache, _ server: PhotoPrismServer) async -> [String] {
        await galleries.update(cache, server)
    }

    /// Opens an address with an app password, and runs a controller meanwhile.
    private func openingWithPassword(
        _ url: String, password: String? = PhotoPrismServer.password, _ body: (GalleryCache) async throws -> Void
    ) async throws {
        try await galleries.opening(url, signedInAs: password.map(SignIn.token), body)
    }

    private func photos(_ cache: GalleryCache) throws -> [Photo] { try galleries.photos(cache) }

    private func names(_ cache: GalleryCache) throws -> [String] { try photos(cache).map(\.name) }

    private func failure(_ cache: GalleryCache) throws -> Failure? { try galleries.failure(cache) }

    private static let settings = "GET /api/v1/config 200"
    private static let months = "GET /api/v1/moments/time 200"
    private static func page(_ offset: Int) -> String { "GET /api/v1/photos \(offset) 200" }

    // MARK: - The first update

    @Test(
        "The address of a server leads to its photos, with one question for an app password",
        arguments: ["/", "/library/browse?view=cards", "/photos/library/login", "/photos/"])
    func serverAddress(path: String) async throws {
        let base = path.hasPrefix("/photos/") ? "/photos" : ""
        let server = try await PhotoPrismServer.start(photos: 25, settings: ["base": base])
        try await openingWithPassword(server.url(path), password: nil) { cache throws in
            await update(cache, server)
            // The page, perhaps after a redirect, and requests to recognise the server. Then the library's first request.
            let requests = server.requests
            #expect(requests.filter { $0.hasSuffix(" 401") } == ["GET \(base)/api/v1/moments/time 401"])
            #expect(requests.count { !$0.hasSuffix(" 307") && !$0.hasSuffix(" 401") } <= 6)
            let origin = try #require(cache.address.origin)
            var question = SignInQuestion(origin: origin, schemes: ["bearer"], galleries: [cache.id])
            question.tokenName = "app password"
            #expect(galleries.activity.questions == [question])
            #expect(try failure(cache)?.reason == "an app password is needed for \(origin.place)")
            galleries.enter(.token(PhotoPrismServer.password), cache)
            // The library is not searched for again.
            let expected = [Self.settings, Self.months, Self.page(0)].map { $0.replacing("/api", with: base + "/api") }
            #expect(await update(cache, server) == expected)
            #expect(try galleries.activity.questions.isEmpty && photos(cache).count == 25 && failure(cache) == nil)
            let facts = try cache.read { try ($0.source(), $0.gallery()) }
            #expect(try facts.0?.kind == .photoPrism && facts.0?.root == Address(server.url(base + "/")))
            #expect(facts.1.kind == .photoPrism && facts.1.hasPaths == false)
            let first = try #require(try photos(cache).first)
            #expect(first.name == "Photo 0" && first.folder == nil && first.galleryID == "p000000000000000")
            // The time on the camera's clock, as for photos whose metadata Vitrine reads itself.
            #expect(first.date == Timestamp(localTime: "2010-01-01T10:00:00"))
        }
    }

    @Test("A server without passwords asks for none, also for pictures")
    func publicServer() async throws {
        let server = try await PhotoPrismServer.start(
            photos: 5, settings: ["public": true, "passwords": [String: String]()])
        try await openingWithPassword(server.url("/"), password: nil) { cache throws in
            await update(cache, server)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            let counts = try cache.read { try $0.counts() }
            #expect(counts.thumbnails == 5 && counts.failed == 0 && galleries.activity.questions.isEmpty)
        }
    }

    @Test("Pages of 1,000 photos follow each other, and photos with two files appear once")
    func pages() async throws {
        let server = try await PhotoPrismServer.start(photos: 2_500, settings: ["files": 2])
        try await openingWithPassword(server.url("/")) { cache throws in
            // The requests to recognise the server may arrive late.
            let requests = await update(cache, server).filter { $0.contains("/photos ") || $0.contains("/moments/") }
            #expect(requests == [Self.months, Self.page(0), Self.page(1_000), Self.page(2_000), Self.months])
            let record = try cache.read { try $0.gallery() }
            #expect(record.photoCount == 2_500 && record.listVersion >= 2 && record.failure == nil)
            #expect(Set(try photos(cache).map(\.galleryID)).count == 2_500)
        }
    }

    @Test("If the last page is full, an empty one follows and changes nothing")
    func fullPage() async throws {
        let server = try await PhotoPrismServer.start(photos: 1_000)
        try await openingWithPassword(server.url("/")) { cache throws in
            #expect(await update(cache, server).contains(Self.page(1_000)))
            #expect(try photos(cache).count == 1_000 && failure(cache) == nil)
        }
    }

    @Test(
        "The address of an album, a person or the favorites leads to these photos",
        arguments: [
            ("/library/albums/\(album)/summer", ["Photo 1", "Photo 4"]),
            ("/library/calendar/\(album)/may-2024", ["Photo 1", "Photo 4"]),
            ("/library/favorites", ["Photo 3", "Photo 13", "Photo 23"]),
            ("/library/all?view=cards&q=person%3Agrand-ma", ["Photo 2", "Photo 6"]),
            ("/library/browse?q=subject:js000000000000aa", ["Photo 2", "Photo 6"]),
        ])
    func selections(path: String, expected: [String]) async throws {
        let server = try await PhotoPrismServer.start(
            photos: 25,
            settings: [
                "albums": [Self.album: [1, 4]], "people": ["js000000000000aa": [2, 6]],
                "names": ["js000000000000aa": "Grand Ma"],
            ])
        try await openingWithPassword(server.url(path)) { cache throws in
            await update(cache, server)
            #expect(try names(cache) == expected)
            guard path.contains(Self.album) else { return }
            // Another photo in an album does not change the photo's own record.
            try server.order(["album": Self.album, "photos": [4, 5]])
            #expect(await update(cache, server) == [Self.page(0)])
            #expect(try names(cache) == ["Photo 4", "Photo 5"])
        }
    }

    @Test("Private photos and photos that wait for a review are left out, except in an album")
    func hiddenPhotos() async throws {
        let server = try await PhotoPrismServer.start(
            photos: 8, settings: ["hidden": ["private": [1], "review": [2]], "albums": [Self.album: [1, 2, 3]]])
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            #expect(try names(cache) == ["Photo 0", "Photo 3", "Photo 4", "Photo 5", "Photo 6", "Photo 7"])
        }
        try await openingWithPassword(server.url("/library/albums/\(Self.album)/view")) { cache throws in
            await update(cache, server)
            #expect(try names(cache) == ["Photo 1", "Photo 2", "Photo 3"])
        }
    }

    // MARK: - Pictures

    @Test("Thumbnails and photos come with one request for their tokens")
    func pictures() async throws {
        let server = try await PhotoPrismServer.start(photos: 3)
        // A format that Vitrine does not decode.
        try server.order(["change": 1, "FileName": "2024/a.svg"])
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            let before = server.requests.count
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            await galleries.fetch(.everyPicture(cache.id, .original))
            let counts = try cache.read { try $0.counts() }
            #expect(counts.thumbnails == 3 && counts.photos == 3 && counts.failed == 0)
            let requests = server.requests.dropFirst(before)
            #expect(requests.count { $0 == "GET /api/v1/photos one 200" } == 1 && requests.count == 7)
            #expect(requests.count { $0.hasSuffix(" fit_720 200") } == 3)
            #expect(requests.count { $0.hasSuffix(" fit_1920 200") } == 1)
            #expect(requests.count { $0.hasPrefix("GET /api/v1/dl/") } == 2)
        }
    }

    @Test("New tokens of the server change no photo, and pictures come with the new tokens")
    func newTokens() async throws {
        let server = try await PhotoPrismServer.start(photos: 4)
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            let (version, before) = (try cache.read { try $0.gallery() }.listVersion, try photos(cache))
            try server.order(["tokens": ["an0therp", "an0therd"]])
            let requests = await update(cache, server)
            #expect(requests.suffix(2) == ["GET /api/v1/photos since 0 200", "GET /api/v1/photos favorite 0 200"])
            #expect(try cache.read { try $0.gallery() }.listVersion == version)
            #expect(try photos(cache) == before)
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(
                try cache.read { try $0.counts() }.photos == 4
                    && photos(cache).allSatisfy { $0.original.trouble == nil })
            // A server that starts again keeps its tokens, but knows them only after a request with the password.
            try server.order(["restart": true])
            for number in 0..<4 {
                try server.order(["change": number, "Hash": "da39a3ee5e6b4b0d3255bfef95601890afd8070\(number)"])
            }
            await update(cache, server)
            try server.order(["restart": true])
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            let counts = try cache.read { try $0.counts() }
            #expect(counts.thumbnails == 4 && counts.failed == 0)
        }
    }

    @Test("Tokens and the app password are written nowhere")
    func unwritten() async throws {
        let server = try await PhotoPrismServer.start(photos: 3)
        try server.order(["tokens": ["prev1ewt0ken", "d0wnl0adt0ken"]])
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.counts() }.photos == 3)
            #expect(galleries.traces(of: [PhotoPrismServer.password, "prev1ewt0ken", "d0wnl0adt0ken"]) == [])
            #expect(FileManager.default.subpaths(atPath: galleries.cacheFolder)?.count ?? 0 > 3)
            #expect(galleries.log.entries.contains { $0.message.contains("/…/fit_720") })
        }
    }

    @Test("A symbol in place of a thumbnail is an error, and not stored as a picture")
    func symbols() async throws {
        let server = try await PhotoPrismServer.start(photos: 3)
        try server.order(["broken": [1]])
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            let expected = Failure("the server sent a symbol instead of a picture", remedy: .none)
            #expect(try photos(cache).map(\.thumbnail.trouble) == [nil, .bad(expected), nil])
            #expect(try photos(cache).map { $0.thumbnail.held != nil } == [true, false, true])
        }
    }

    @Test("If the server refuses every token, the pictures fail after a second attempt")
    func refusedTokens() async throws {
        let server = try ScriptedServer { request in
            switch request.path {
            case "/api/v1/photos?count=1&primary=true":
                .answer(200, "[]", headers: ["X-Preview-Token: a/../b", "Content-Type: application/json"])
            case let path where path.hasPrefix("/api/v1/photos?"):
                .answer(200, #"[{"UID":"p1","Hash":"aa11","Title":"a"}]"#, headers: ["Content-Type: application/json"])
            case "/api/v1/moments/time": .answer(200, "[]")
            default: .answer(403, "<svg/>", headers: ["Content-Type: image/svg+xml"])
            }
        }
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        try await PhotoPrismTests.assume(cache)
        try await openingWithPassword(server.url("/")) { cache throws in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            let reason = Failure("the server answered 403 (not allowed)", remedy: .none)
            #expect(try photos(cache).map(\.thumbnail.trouble) == [.bad(reason)])
            let paths = server.requests.map(\.path)
            #expect(paths.count { $0 == "/api/v1/photos?count=1&primary=true" } == 2)
            // A token that is not a token is not sent.
            #expect(
                paths.filter { $0.contains("/t/") } == [
                    "/api/v1/t/aa11/public/fit_720", "/api/v1/t/aa11/public/fit_720",
                ])
        }
    }

    /// Stores that a gallery is a PhotoPrism server's.
    static func assume(_ cache: GalleryCache, at root: Address? = nil) async throws {
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(), skipped: 0, validators: Validators(),
            source: ListSource(kind: .photoPrism, root: root ?? cache.address), at: Timestamp(milliseconds: 1))
    }

    // MARK: - Refusals

    @Test("A wrong or expired app password is refused once, and no photo is lost")
    func wrongPassword() async throws {
        let server = try await PhotoPrismServer.start(photos: 5)
        for wrong in ["no password at all", "AAAAAA-BBBBBB-CCCCCC-DDDDDD"] {
            try await openingWithPassword(server.url("/"), password: wrong) { cache throws in
                let requests = await update(cache, server)
                #expect(requests.filter { $0.hasSuffix(" 401") } == ["GET /api/v1/moments/time 401"])
                #expect(
                    galleries.activity.questions.map(\.wasRefused) == [true]
                        && galleries.activity.questions.map(\.secretName) == ["app password"])
                #expect(try failure(cache)?.reason.hasSuffix("refuses the app password") == true)
                galleries.enter(.token(PhotoPrismServer.password), cache)
            }
        }
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            #expect(try photos(cache).count == 5)
            let none: [String: String] = [:]
            try server.order(["passwords": none])
            await update(cache, server)
            #expect(try failure(cache)?.reason.hasSuffix("refuses the app password") == true)
            #expect(try photos(cache).count == 5)
        }
    }

    @Test("An album that is gone leads to an error, and no photo is removed")
    func goneAlbum() async throws {
        let server = try await PhotoPrismServer.start(photos: 5, settings: ["albums": [Self.album: [1, 2]]])
        try await openingWithPassword(server.url("/library/albums/\(Self.album)/view")) { cache throws in
            await update(cache, server)
            try server.order(["removeAlbum": Self.album])
            #expect(await update(cache, server) == ["GET /api/v1/photos 0 400"])
            #expect(try photos(cache).count == 2 && failure(cache)?.reason == "the server answered 400")
        }
    }

    // MARK: - Servers that misbehave

    @Test("A server that repeats a page does not keep Vitrine busy, and no photo is lost")
    func repeatedPage() async throws {
        let server = try await PhotoPrismServer.start(photos: 3_500)
        try server.order(["fault": "repeat", "page": 2_000])
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            #expect(try failure(cache) == Failure("the server sent the same page twice", remedy: .none))
            #expect(try photos(cache).count == 2_000)
            try server.order(["fault": "none", "page": 0])
            await update(cache, server)
            #expect(try photos(cache).count == 3_500 && failure(cache) == nil)
        }
    }

    @Test("A truncated page or another answer leads to an error, and no photo is removed")
    func brokenPages() async throws {
        let server = try await PhotoPrismServer.start(photos: 1_500)
        try await openingWithPassword(server.url("/")) { cache throws in
            await update(cache, server)
            for path in ["/api/v1/photos", "/api/v1/moments/time"] {
                for answer in ["", "{}", "null", "<!doctype html><html></html>", "[{", #"[{"UID":"p1"}"#] {
                    try server.order(["raw": [path: answer]])
                    await update(cache, server)
                    #expect(try failure(cache)?.isTemporary == false, "\(path) \(answer)")
                    #expect(try photos(cache).count == 1_500, "\(path) \(answer)")
                }
            }
        }
    }

    // MARK: - Secrecy

    @Test("The app password goes to no other server, and not with the requests that recognise PhotoPrism")
    func secrecy() async throws {
        let other = try ScriptedServer { _ in .answer(200, "[]", headers: ["X-Preview-Token: st0lent0ken"]) }
        let list = #"[{"UID":"p1","Hash":"aa11","Title":"a","FileName":"http://127.0.0.1:\#(other.port)/x.jpg"}]"#
        let server = try ScriptedServer { request in
            switch request.path {
            case "/api/v1/config": .answer(200, #"{"mode":"public","name":"PhotoPrism","about":"PhotoPrism®"}"#)
            case "/api/v1/moments/time": .answer(200, #"[]"#)
            case "/api/v1/photos?count=1&primary=true":
                .answer(302, "", headers: ["Location: http://127.0.0.1:\(other.port)/stolen"])
            case let path where path.hasPrefix("/api/v1/photos?"): .answer(200, list)
            case "/library/browse": .answer(200, "<!doctype html><html></html>", headers: ["Content-Type: text/html"])
            default: .answer(404, "")
            }
        }
        try await openingWithPassword(server.url("/library/browse")) { cache throws in
            await galleries.fetch(.list(cache.id))
            #expect(try photos(cache).count == 1)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            #expect(try photos(cache).first?.thumbnail.trouble != nil)
        }
        let signed = server.requests.filter { $0.headers["authorization"] != nil }.map(\.path)
        #expect(signed.contains("/api/v1/moments/time") && !signed.contains("/api/v1/config"))
        #expect(server.requests.contains { $0.path == "/api/v1/config" })
        #expect(!server.requests.contains { $0.path.contains("st0lent0ken") })
        #expect(other.requests.map(\.path) == ["/stolen"])
        #expect(other.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test("Another program’s pages and settings are not taken for those of PhotoPrism")
    func otherPages() async throws {
        let pages = [
            ("/library/", #"{"name":"Other","x":{"name":"PhotoPrism"}}"#), ("/library/", #"["PhotoPrism"]"#),
            ("/library/", "PhotoPrism"), ("/s/abcdefghij/summer", #"{"name":"Other"}"#),
            ("/", #"{"name":"PhotoPrism"}"#),
        ]
        for (path, settings) in pages {
            let server = try ScriptedServer { request in
                switch request.path {
                case path: .answer(200, "<!doctype html><html></html>", headers: ["Content-Type: text/html"])
                case "/api/v1/config": .answer(200, settings, headers: ["Content-Type: application/json"])
                default: .answer(404, "")
                }
            }
            try await openingWithPassword(server.url(path)) { cache throws in
                await galleries.fetch(.list(cache.id))
                let paths = server.requests.map(\.path)
                #expect(!paths.contains("/api/v1/moments/time"))
                #expect(paths.contains("/api/v1/config") == (path != "/"))
                #expect(!paths.contains("/api/v1/session"))
                #expect(try failure(cache) != nil && photos(cache).isEmpty)
            }
        }
    }
}
