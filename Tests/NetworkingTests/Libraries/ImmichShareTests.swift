import Foundation
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Shared links of a stand-in for Immich.
@Suite(.ownThread, .unlessItHangs) struct ImmichShareTests {
    private let galleries: ServedGalleries

    private static let album = "00000000-0000-4000-8000-0000000000bb"
    private static let key = "sh4re_Key-with-many-letters"

    init() throws { galleries = try ServedGalleries() }

    private func start(_ share: [String: any Sendable], photos: Int = 40) async throws -> ImmichServer {
        let settings: [String: any Sendable] = [
            "perMonth": 10, "albums": [Self.album: [1, 2, 3, 15, 35]], "shares": [Self.key: share],
        ]
        return try await ImmichServer.start(photos: photos, settings: settings)
    }

    private func photos(_ cache: GalleryCache) throws -> [Photo] { try galleries.photos(cache) }

    @Test("A link to single photos opens without a question, with thumbnails and photos")
    func singlePhotos() async throws {
        let server = try await start(["photos": [3, 4, 20]])
        try await galleries.opening(server.url("/share/\(Self.key)")) { cache in
            await galleries.fetch(.list(cache.id))
            let found = try photos(cache)
            #expect(found.map(\.name) == ["IMG_000003.jpg", "IMG_000004.jpg", "IMG_000020.jpg"])
            #expect(found.allSatisfy { $0.thumbhash != nil })
            for rendition in Rendition.allCases { await galleries.fetch(.everyPicture(cache.id, rendition)) }
            #expect(try photos(cache).allSatisfy { $0.thumbnail.isCurrent && $0.original.isCurrent })
            #expect(galleries.activity.questions.isEmpty)
            #expect(server.requests.count { $0.hasSuffix("thumbnail thumbnail 200") } == 3)
            #expect(server.requests.count { $0.hasSuffix("original 200") } == 3)
            // The link may contain other photos later.
            let count = server.requests.count
            await galleries.fetch(.list(cache.id))
            #expect(server.requests.dropFirst(count) == ["GET /api/shared-links/me 200"])
        }
    }

    @Test(
        "A link to an album opens with its name or its key, and reads the months of the album",
        arguments: [false, true])
    func album(hasSlug: Bool) async throws {
        let server = try await start(["album": Self.album, "slug": "summer-2024"])
        try await galleries.opening(server.url(hasSlug ? "/s/summer-2024" : "/share/\(Self.key)/photos")) { cache in
            await galleries.fetch(.list(cache.id))
            let found = try photos(cache)
            #expect(found.count == 5 && found.allSatisfy { $0.thumbhash != nil })
            // The camera's clock was two hours ahead of UTC.
            let first = try #require(found.first)
            #expect(first.name.hasPrefix("2010-01-0") && first.date == Timestamp(localTime: Self.time(first.name)))
            #expect(
                ServedGalleries.understood(server.requests).suffix(5) == [
                    "GET /api/shared-links/me 200", "GET /api/timeline/buckets 200",
                    "GET /api/timeline/bucket 2010-04-01 200", "GET /api/timeline/bucket 2010-02-01 200",
                    "GET /api/timeline/bucket 2010-01-01 200",
                ])
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(try photos(cache).allSatisfy(\.original.isCurrent))
        }
    }

    /// Returns the time in a name such as `2010-01-01 10.00.00`.
    private static func time(_ name: String) -> String {
        name.replacing(" ", with: "T").replacing(".", with: ":")
    }

    @Test("If a link is only for viewing, Vitrine shows the previews", arguments: [false, true])
    func viewing(isAlbum: Bool) async throws {
        let photos: [String: any Sendable] = isAlbum ? ["album": Self.album] : ["photos": [1, 2, 3]]
        let server = try await start(photos.merging(["isForViewing": true]) { first, _ in first })
        try await galleries.opening(server.url("/share/\(Self.key)")) { cache in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.everyPicture(cache.id, .original))
            let found = try self.photos(cache)
            #expect(found.count == (isAlbum ? 5 : 3) && found.allSatisfy(\.original.isCurrent))
            #expect(server.requests.count { $0.hasSuffix("thumbnail preview 200") } == found.count)
            #expect(!server.requests.contains { $0.contains("original") })
        }
    }

    @Test(
        "A link that the server refuses is reported in one sentence",
        arguments: [
            ("/share/\(key)", "the shared link has a password, and Vitrine opens only links without a password"),
            ("/share/other", "the shared link is unknown to the server, or has expired"),
            ("/s/other", "the shared link is unknown to the server, or has expired"),
        ])
    func refused(path: String, reason: String) async throws {
        let server = try await start(["photos": [1], "password": "op3n"])
        try await galleries.opening(server.url(path)) { cache in
            await galleries.fetch(.list(cache.id))
            let failure = try cache.read { try $0.gallery() }.failure
            #expect(failure?.reason == reason)
            #expect(galleries.activity.questions.isEmpty)
        }
    }

    @Test("A refused key of a link is no reason to ask for an API key")
    func expired() async throws {
        let server = try ScriptedServer { _ in .answer(401, #"{"message":"Invalid share key"}"#) }
        let id = "00000001-0000-4000-8000-0000000000aa"
        for path in ["/api/assets/\(id)/thumbnail?size=thumbnail", "/api/timeline/buckets?albumId=\(id)"] {
            let plan = FetchPlan(
                address: try Address(server.url(path)), signIn: .header(name: "x-immich-share-key", value: "k3y"),
                limit: 1_000, addressPolicy: .anywhere)
            await #expect(throws: RequestError.sharedLink(hasPassword: false)) {
                _ = try await Response.to(plan, over: galleries.client, with: TransferPermit())
            }
        }
    }

    @Test("Only the server of the link gets its key, also after a redirect to https")
    func secrecy() throws {
        func key(_ picture: String, in gallery: String) throws -> SignIn? {
            ImmichRules.shareSignIn(for: try Address(picture), in: try Address(gallery))
        }
        let (gallery, id) = ("http://photos.test/share/k3y", "00000001-0000-4000-8000-0000000000aa")
        let header = SignIn.header(name: "x-immich-share-key", value: "k3y")
        #expect(try key("http://photos.test/api/assets/\(id)/original", in: gallery) == header)
        #expect(try key("https://photos.test/api/assets/\(id)/thumbnail?size=thumbnail", in: gallery) == header)
        for picture in [
            "http://evil.test/api/assets/\(id)/original", "http://photos.test:81/api/assets/\(id)/original",
            "http://photos.test/other/\(id)/original",
        ] {
            #expect(try key(picture, in: gallery) == nil)
        }
        #expect(try key("http://photos.test/api/assets/\(id)/original", in: "http://photos.test/albums/k3y") == nil)
        for path in [
            "/share/", "/share/a%0Ab", "/share/a%20b", "/shares/k3y", "/s/\(String(repeating: "x", count: 257))",
        ] {
            #expect(try ImmichShare(Address("http://photos.test" + path)) == nil, "\(path)")
        }
    }
}
