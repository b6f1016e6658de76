import Foundation
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Updates of a gallery on a stand-in for PhotoPrism, after the first one.
@Suite(.ownThread, .unlessItHangs) struct PhotoPrismUpdateTests {
    private let galleries: ServedGalleries

    private static let settings = "GET /api/v1/config 200"
    private static let months = "GET /api/v1/moments/time 200"
    private static let changes = "GET /api/v1/photos since 0 200"
    private static let favorites = "GET /api/v1/photos favorite 0 200"
    private static func page(_ offset: Int) -> String { "GET /api/v1/photos \(offset) 200" }
    private static func month(_ name: String) -> String { "GET /api/v1/photos \(name) 200" }
    /// The requests of an update without changes.
    private static let nothing = [settings, months, changes, favorites]

    init() throws { galleries = try ServedGalleries() }

    /// Updates the list. Returns the requests of the update.
    @discardableResult
    private func update(_ cache: GalleryCache, _ server: PhotoPrismServer) async -> [String] {
        await galleries.update(cache, server)
    }

    /// Opens the library with an app password, and runs a controller meanwhile.
    private func opening(_ server: PhotoPrismServer, _ body: (GalleryCache) async throws -> Void) async throws {
        try await galleries.opening(server.url("/"), signedInAs: .token(PhotoPrismServer.password), body)
    }

    private func photos(_ cache: GalleryCache) throws -> [Photo] { try galleries.photos(cache) }

    @Test("An update without changes needs four requests and writes nothing")
    func unchanged() async throws {
        let server = try await PhotoPrismServer.start(photos: 1_500)
        try await opening(server) { cache throws in
            await update(cache, server)
            let version = try cache.read { try $0.gallery() }.listVersion
            #expect(await update(cache, server) == Self.nothing)
            #expect(try cache.read { try $0.gallery() }.listVersion == version)
            #expect(try photos(cache).count == 1_500 && galleries.failure(cache) == nil)
        }
    }

    @Test("Added, deleted and changed photos need a request for each of their months")
    func changes() async throws {
        let server = try await PhotoPrismServer.start(photos: 100, settings: ["perMonth": 20])
        try await opening(server) { cache throws in
            await update(cache, server)
            let before = try photos(cache)
            try server.order(["delete": 3])
            // The count of this month stays the same.
            try server.order(["delete": 22])
            try server.order(["add": "2010-02-05T06:07:08Z", "name": "new"])
            try server.order(["change": 45, "Title": "renamed"])
            try server.order(["change": 46, "Hash": "da39a3ee5e6b4b0d3255bfef95601890afd80709"])
            let requests = await update(cache, server)
            #expect(
                requests == [
                    Self.settings, Self.months, Self.changes, Self.month("2010-01"), Self.month("2010-02"),
                    Self.favorites,
                ])
            let after = Dictionary(uniqueKeysWithValues: try photos(cache).map { ($0.galleryID, $0) })
            #expect(after.count == 99 && after.values.contains { $0.name == "new" })
            for photo in before {
                let number = Int(photo.galleryID.dropFirst(), radix: 16)
                let now = after[photo.galleryID]
                #expect((now == nil) == (number == 3 || number == 22))
                guard let now else { continue }
                #expect(now.key == photo.key && now.name == (number == 45 ? "renamed" : photo.name))
                #expect(now.thumbnail.edition == photo.thumbnail.edition + (number == 46 ? 1 : 0))
            }
            #expect(await update(cache, server) == Self.nothing)
        }
    }

    @Test("A new or removed favorite makes Vitrine read all pages, because the server does not report it as a change")
    func favorites() async throws {
        let server = try await PhotoPrismServer.start(photos: 30)
        try await opening(server) { cache throws in
            func count() throws -> Int? { try cache.read { try $0.hits(PhotoFilter("is:favorite"))?.count } }
            await update(cache, server)
            for (number, isFavorite, expected) in [(5, true, 4), (13, false, 3)] {
                try server.order(["change": number, "favorite": isFavorite])
                #expect(await update(cache, server) == Self.nothing + [Self.page(0)])
                #expect(try count() == expected)
                #expect(await update(cache, server) == Self.nothing)
            }
            // A photo whose record has changed, too, and a deleted photo need no pages.
            try server.order(["change": 6, "favorite": true, "Title": "renamed"])
            try server.order(["delete": 3])
            let requests = await update(cache, server)
            #expect(requests == [Self.settings, Self.months, Self.changes, Self.month("2010-01"), Self.favorites])
            #expect(try count() == 3)
        }
    }

    @Test("Another main file of a photo shows a week after Vitrine last read all pages")
    func mainFile() async throws {
        let server = try await PhotoPrismServer.start(photos: 3, settings: ["public": true, "files": 2])
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        func update(afterDays days: Double) async throws -> [String] {
            try await galleries.update(cache, server, afterDays: days)
        }
        _ = try await update(afterDays: 0)
        let before = try photos(cache)[1]
        try server.order(["main": 1])
        #expect(try await update(afterDays: 6.9) == Self.nothing)
        #expect(try await update(afterDays: 7.1) == [Self.settings, Self.months, Self.page(0)])
        let after = try photos(cache)[1]
        #expect(after.key == before.key && after.thumbnail.edition == before.thumbnail.edition + 1)
        #expect(try await update(afterDays: 14) == Self.nothing)
    }

    @Test("If the server has no review, photos of low quality appear, and each update reads all pages")
    func withoutReview() async throws {
        let server = try await PhotoPrismServer.start(
            photos: 6, settings: ["review": false, "hidden": ["private": [1], "review": [2]]])
        try await opening(server) { cache throws in
            await update(cache, server)
            #expect(try photos(cache).map(\.name) == [0, 2, 3, 4, 5].map { "Photo \($0)" })
            #expect(await update(cache, server) == [Self.settings, Self.page(0)])
            try server.order(["review": true])
            #expect(await update(cache, server) == [Self.settings, Self.months, Self.page(0)])
            #expect(try photos(cache).map(\.name) == [0, 3, 4, 5].map { "Photo \($0)" })
            #expect(await update(cache, server) == Self.nothing)
        }
    }

    @Test("If a photo has no known month, each update reads all pages, and a removed photo disappears")
    func undated() async throws {
        let server = try await PhotoPrismServer.start(photos: 12, settings: ["hidden": ["undated": [5]]])
        try await opening(server) { cache throws in
            await update(cache, server)
            try server.order(["delete": 5])
            #expect(await update(cache, server) == [Self.settings, Self.months, Self.page(0)])
            #expect(try photos(cache).count == 11)
            #expect(await update(cache, server) == Self.nothing)
        }
    }

    @Test("A web server in front of a server without passwords gets the user’s password, and Vitrine asks for no other")
    func passwordInFront() async throws {
        let server = try await PhotoPrismServer.start(photos: 3, settings: ["public": true])
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            try server.order(["front": "Basic bWU6czNjcmV0"])
            try server.order(["add": "2010-02-05T06:07:08Z", "name": "new"])
            galleries.enter(.password(user: "me", password: "s3cret"), cache)
            await update(cache, server)
            #expect(try photos(cache).count == 4 && galleries.failure(cache) == nil)
            #expect(galleries.activity.questions.isEmpty && cache.signIn(for: cache.address) != nil)
        }
    }

    @Test("An app password that is for photos only is enough, and each update then reads all pages")
    func scope() async throws {
        let server = try await PhotoPrismServer.start(
            photos: 12, settings: ["passwords": [PhotoPrismServer.password: "photos"]])
        try await opening(server) { cache throws in
            await update(cache, server)
            try server.order(["delete": 5])
            #expect(await update(cache, server) == [Self.settings, "GET /api/v1/moments/time 403", Self.page(0)])
            #expect(try photos(cache).count == 11 && galleries.failure(cache) == nil)
        }
    }
}
