import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Shared links of a stand-in for PhotoPrism.
@Suite(.ownThread, .unlessItHangs) struct PhotoPrismShareTests {
    private let galleries: ServedGalleries

    private static let album = "aqcd0000000000bb"
    private static let other = "aqcd0000000000cc"
    private static let secret = "1abcd2efgh"

    init() throws { galleries = try ServedGalleries() }

    private func start(
        _ albums: [String] = [album], photos: Int = 25, base: String = "", isPublic: Bool = false
    ) async throws -> PhotoPrismServer {
        try await PhotoPrismServer.start(
            photos: photos,
            settings: [
                "albums": [Self.album: [1, 4], Self.other: Array(0..<photos)], "shares": [Self.secret: albums],
                "base": base, "public": isPublic,
            ])
    }

    private func names(_ cache: GalleryCache) throws -> [String] { try galleries.photos(cache).map(\.name) }

    private static let visit = "POST /api/v1/session 200"

    @Test(
        "A shared link opens its album without a question, with thumbnails and photos",
        arguments: [
            ("", "/s/\(secret)", 2), ("", "/s/\(secret)/summer", 2), ("", "/s/\(secret)/summer/", 2),
            ("", "/s/\(secret)/\(other)", 25), ("/photos", "/photos/s/\(secret)/summer", 2),
        ])
    func opens(base: String, path: String, count: Int) async throws {
        let server = try await start(path.contains(Self.other) ? [Self.album, Self.other] : [Self.album], base: base)
        try await galleries.opening(server.url(path)) { cache throws in
            await galleries.fetch(.list(cache.id))
            #expect(try galleries.failure(cache) == nil && galleries.activity.questions.isEmpty)
            #expect(try names(cache).count == count)
            let facts = try cache.read { try $0.source() }
            #expect(try facts?.kind == .photoPrism && facts?.root == Address(server.url(base + "/")))
            let before = server.requests.count
            for rendition in Rendition.allCases { await galleries.fetch(.everyPicture(cache.id, rendition)) }
            let counts = try cache.read { try $0.counts() }
            #expect(counts.thumbnails == count && counts.photos == count && counts.failed == 0)
            // One visit brings the tokens of all pictures.
            let requests = server.requests.dropFirst(before)
            #expect(requests.count { $0 == "POST \(base)/api/v1/session 200" } == 1)
            #expect(requests.count == 2 * count + 1 && !requests.contains { $0.contains("/photos one") })
        }
    }

    @Test("On a server without passwords, a link opens the album whose id it has")
    func publicServer() async throws {
        let server = try await start(isPublic: true)
        try await galleries.opening(server.url("/s/\(Self.secret)/\(Self.album)")) { cache throws in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(try names(cache) == ["Photo 1", "Photo 4"] && cache.read { try $0.counts() }.photos == 2)
        }
    }

    @Test("The address of a server below “/s/” is no link, and its pictures come with the user’s password")
    func serverBelow() async throws {
        let server = try await start(photos: 3, base: "/s/pp")
        try await galleries.opening(server.url("/s/pp/"), signedInAs: .token(PhotoPrismServer.password)) {
            cache throws in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            #expect(try names(cache).count == 3 && cache.read { try $0.counts() }.thumbnails == 3)
            #expect(!server.requests.contains { $0.contains("/session") })
        }
    }

    @Test("If a link leads to several albums and names none, Vitrine says what to do")
    func severalAlbums() async throws {
        let server = try await start([Self.album, Self.other])
        try await galleries.opening(server.url("/s/\(Self.secret)/summer")) { cache throws in
            await galleries.fetch(.list(cache.id))
            #expect(try galleries.failure(cache)?.reason.contains("End its address with the id of one") == true)
        }
    }

    @Test("An expired link is tried once for all pictures, or the server would refuse all sign-ins from this machine")
    func expiredPictures() async throws {
        let server = try await start([Self.other])
        try await galleries.opening(server.url("/s/\(Self.secret)/all")) { cache throws in
            await galleries.fetch(.list(cache.id))
            try server.order(["shares": [String: [String]]()])
            let before = server.requests.count
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            #expect(server.requests.dropFirst(before) == ["POST /api/v1/session 404"])
            #expect(try cache.read { try $0.counts() }.thumbnails == 0)
        }
    }

    @Test("Pictures that the server refuses do not open a visit each")
    func refusedPictures() async throws {
        let server = try ScriptedServer { request in
            guard request.path == "/api/v1/session" else { return .answer(403, "") }
            return .answer(200, #"{"access_token":"v","data":{"shares":["aqc1"]},"config":{"previewToken":"p1"}}"#)
        }
        let (clock, client) = (ManualClock(), galleries.client)
        let tokens = PictureTokens(clock)
        func ask() async throws -> Int {
            let before = server.requests.count
            var plan = FetchPlan(
                address: try Address(server.url("/api/v1/t/0abc/-/fit_720")), limit: 1_000, addressPolicy: .anywhere)
            (plan.tokens, plan.share) = (tokens, PhotoPrismShare(try Address(server.url("/s/\(Self.secret)"))))
            await #expect(throws: RequestError.status(403, retryAfter: nil)) {
                _ = try await plan.answer(over: client, with: TransferPermit())
            }
            return server.requests.count - before
        }
        #expect(try await [ask(), ask(), ask()] == [2, 1, 1])
        clock.advance(to: .seconds(60))
        #expect(try await ask() == 3)
    }

    @Test("An update needs one request more than the pages, and notices added and removed photos")
    func updates() async throws {
        let server = try await start([Self.other], photos: 1_200)
        try await galleries.opening(server.url("/s/\(Self.secret)/all")) { cache throws in
            await galleries.fetch(.list(cache.id))
            let version = try cache.read { try $0.gallery() }.listVersion
            let pages = ["GET /api/v1/photos 0 200", "GET /api/v1/photos 1000 200"]
            #expect(await galleries.update(cache, server) == [Self.visit] + pages)
            #expect(try cache.read { try $0.gallery() }.listVersion == version && names(cache).count == 1_200)
            try server.order(["album": Self.other, "photos": [7, 8]])
            #expect(await galleries.update(cache, server) == [Self.visit, pages[0]])
            #expect(try names(cache) == ["Photo 7", "Photo 8"])
        }
    }

    @Test("A link that the server does not know, or has forgotten, is reported in one sentence, and the photos stay")
    func refused() async throws {
        let server = try await start([Self.album])
        let reason = "the shared link is unknown to the server, or has expired"
        try await galleries.opening(server.url("/s/0ther/summer")) { cache throws in
            await galleries.fetch(.list(cache.id))
            #expect(try galleries.failure(cache)?.reason == reason && galleries.activity.questions.isEmpty)
        }
        try await galleries.opening(server.url("/s/\(Self.secret)/summer")) { cache throws in
            await galleries.fetch(.list(cache.id))
            try server.order(["shares": [String: [String]]()])
            await galleries.fetch(.list(cache.id))
            #expect(try galleries.failure(cache)?.reason == reason && galleries.activity.questions.isEmpty)
            #expect(try names(cache) == ["Photo 1", "Photo 4"])
        }
    }

    @Test("The user’s own password is not sent with a link, or the server would add the album to the account")
    func ownPassword() async throws {
        let server = try ScriptedServer { request in
            switch request.path {
            case "/api/v1/session":
                .answer(200, #"{"access_token":"v1s1t","data":{"shares":["aqcd0000000000bb"]}}"#)
            case let path where path.hasPrefix("/api/v1/photos?"):
                .answer(200, #"[{"UID":"p1","Hash":"aa11","Title":"a"}]"#, headers: ["Content-Type: application/json"])
            default: .answer(404, "")
            }
        }
        let cache = try galleries.context.caches.open(Address(server.url("/s/\(Self.secret)")))
        try await PhotoPrismTests.assume(cache, at: Address(server.url("/")))
        try await galleries.opening(
            server.url("/s/\(Self.secret)"), signedInAs: .token(PhotoPrismServer.password)
        ) { cache throws in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            #expect(try names(cache) == ["a"])
            #expect(server.requests.count { $0.path == "/api/v1/session" } == 2)
            #expect(server.requests.contains { $0.path.hasPrefix("/api/v1/t/aa11/") })
            for request in server.requests {
                #expect(request.headers["authorization"] == nil, "\(request.path)")
                #expect(request.headers["x-session-id"] == (request.path.contains("photos") ? "v1s1t" : nil))
            }
        }
    }

    @Test("The secret of a visit is written nowhere")
    func unwritten() async throws {
        let server = try await start([Self.album])
        try await galleries.opening(server.url("/s/\(Self.secret)")) { cache throws in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.counts() }.photos == 2)
            // The stand-in numbers visits, and makes their secrets from the numbers.
            let secrets = [
                "f1c9a535934902316904ebb4e3b8033a64a5ce6657dfaca8", "7459289fb359150cfc54a140815c1aec18cb87eca4554a78",
                "prev1s1t", "d0wnv1s1",
            ]
            #expect(galleries.traces(of: secrets) == [])
            #expect(galleries.log.entries.contains { $0.message.contains("/api/v1/dl/") })
        }
    }

    @Test("Addresses that are no shared links are not taken for one")
    func addresses() throws {
        for (path, server, album) in [
            ("/s/1abc", "/", nil), ("/s/1abc/", "/", nil), ("/a/b/s/my_own-secret:2/x", "/a/b/", "x"),
            ("/s/1abc/x/", "/", "x"),
        ] as [(String, String, String?)] {
            let share = try #require(try PhotoPrismShare(Address("http://p.test\(path)")), "\(path)")
            #expect(share.serverPath == server && share.album == album, "\(path)")
        }
        let page = try Address("http://p.test/s/library/browse")
        let server = try #require(PhotoPrismLibrary.server(ofPage: page))
        #expect(server.path == "/s/" && PhotoPrismShare(page)?.isOn(server) == false)
        let tooLong = String(repeating: "a", count: 161)
        for path in [
            "/", "/s", "/s/", "/s//x", "/s/a%20b", "/s/a/b/c", "/s/\(tooLong)", "/as/1abc",
        ] {
            #expect(try PhotoPrismShare(Address("http://p.test\(path)")) == nil, "\(path)")
        }
    }
}
