import Foundation
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Thumbnails and photos of a stand-in for Immich.
@Suite(.ownThread, .unlessItHangs) struct ImmichPictureTests {
    private let galleries: ServedGalleries

    private static let signIn = SignIn.header(name: "x-api-key", value: ImmichServer.key)

    init() throws { galleries = try ServedGalleries() }

    @Test("Thumbnails and photos come from the server’s addresses for them")
    func pictures() async throws {
        let server = try await ImmichServer.start(photos: 3)
        // The server develops raw files.
        try server.order(["change": 1, "originalMimeType": "image/x-adobe-dng"])
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache in
            _ = await galleries.update(cache, server)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            await galleries.fetch(.everyPicture(cache.id, .original))
            let counts = try cache.read { try $0.counts() }
            #expect(counts.thumbnails == 3 && counts.photos == 3 && counts.failed == 0)
            let ids = try galleries.photos(cache).map(\.galleryID)
            let expected =
                ids.map { "GET /api/assets/\($0)/thumbnail thumbnail 200" }
                + [ids[0], ids[2]].map { "GET /api/assets/\($0)/original 200" }
                + ["GET /api/assets/\(ids[1])/thumbnail preview 200"]
            #expect(server.requests.filter { $0.hasPrefix("GET /api/assets/") }.sorted() == expected.sorted())
        }
    }

    @Test("An edited photo appears as the server shows it, and another edit fetches its pictures again")
    func edited() async throws {
        let server = try await ImmichServer.start(photos: 2)
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache in
            func pictures() async throws -> [String] {
                let before = server.requests.count
                _ = await galleries.update(cache, server)
                await galleries.fetch(.everyPicture(cache.id, .thumbnail))
                await galleries.fetch(.everyPicture(cache.id, .original))
                #expect(try cache.read { try $0.counts() }.failed == 0)
                return server.requests.dropFirst(before).filter { $0.hasPrefix("GET /api/assets/") }.sorted()
            }
            #expect(try await pictures().allSatisfy { !$0.contains("edited") })
            let id = try galleries.photos(cache)[1].galleryID
            let edited = ["original edited 200", "thumbnail thumbnail edited 200"].map { "GET /api/assets/\(id)/\($0)" }
            try server.order(["change": 1, "isEdited": true])
            #expect(try await pictures() == edited)
            let bytes = try #require(try cache.read { try $0.thumbnail(of: galleries.photos(cache)[1].key) }).bytes
            #expect(String(decoding: bytes, as: UTF8.self).contains("thumbnail thumbnail 1 edited"))
            // Only the ThumbHash shows another edit.
            try server.order(["change": 1, "thumbhash": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="])
            #expect(try await pictures() == edited)
        }
    }

    @Test("A thumbnail that the server has not made yet is asked for again")
    func missingThumbnail() async throws {
        let server = try await ImmichServer.start(photos: 2)
        try server.order(["change": 0, "thumbhash": NSNull()])
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache in
            _ = await galleries.update(cache, server)
            let first = try #require(try galleries.photos(cache).first)
            let expected = Failure("the server has not made this thumbnail yet", remedy: .time)
            // A later subscription would miss changes.
            let changes = cache.changes()
            galleries.wishes.ask(for: .everyPicture(cache.id, .thumbnail))
            for await _ in changes {
                let trouble = try cache.read { try $0.photo(first.key) }?.thumbnail.trouble
                if try trouble == .putOff(expected) && cache.read({ try $0.counts() }).thumbnails == 1 { break }
            }
        }
    }
}
