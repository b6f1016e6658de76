import Foundation
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Albums of Nextcloud's Photos app as galleries.
@Suite(.ownThread, .unlessItHangs) struct NextcloudAlbumTests {
    private let files = TestFolder()
    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let activity = Activity()
    private let wishes = Wishes()
    private let credentials = CredentialStore()
    private let context: RequestContext
    private let client: HTTPClient

    private static let album = ["a.jpg", "2024/b.jpg", "2025/7-c Ü&.jpg"]

    init() throws {
        let picture = try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/tiny.jpg"))
        for path in Self.album + ["2024/other.jpg"] { files.write(path, Array(picture)) }
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        context = RequestContext(caches: caches, activity: activity, log: log)
        client = HTTPClient(log: log)
    }

    private func server() async throws -> NextcloudServer {
        try await NextcloudServer.start(
            serving: files.path, albums: ["Summer 2024": Self.album, "Ünder": ["a.jpg"]], login: "me@example.org")
    }

    /// Opens an address and runs a controller meanwhile.
    private func opening(_ url: String, _ body: (GalleryCache) async throws -> Void) async throws {
        let cache = try context.caches.open(Address(url))
        let controller = NetworkController(wishes: wishes, context: context, client: client)
        let running = Task { await controller.run() }
        defer { running.cancel() }
        try await body(cache)
    }

    /// Asks for a subject and waits until nothing is left to do.
    private func fetch(_ subject: Wish.Subject) async {
        wishes.ask(for: subject)
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { return }
    }

    private func signIn(_ cache: GalleryCache, as user: String = NextcloudServer.user) throws {
        let place = SignInPlace.origin(try #require(cache.address.origin))
        activity.withdrawQuestion(place)
        credentials.take(.password(user: user, password: NextcloudServer.password), for: place, by: [cache.id])
    }

    private func photos(_ cache: GalleryCache) throws -> [Photo] {
        var photos: [Photo] = []
        try cache.read { try $0.forEachPhoto { photos.append($0) } }
        return photos
    }

    private func number(of path: String) throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: files.path(path))
        return try #require(attributes[.systemFileNumber] as? UInt64)
    }

    @Test(
        "The addresses of an album lead to its photos, named without their numbers",
        arguments: [
            "/apps/photos/albums/Summer%202024", "/index.php/apps/photos/albums/Summer%202024/",
            "/remote.php/dav/photos/me/albums/Summer%202024/", "/remote.php/dav/photos/me/albums/Summer%202024",
        ])
    func opens(path: String) async throws {
        let server = try await server()
        try await opening(server.url(path)) { cache in
            await fetch(.list(cache.id))
            #expect(activity.questions.map(\.browserServer?.text) == [server.url("/")], "\(server.requests)")
            // The name for the sign-in is not the id in the album's address.
            try signIn(cache, as: "me@example.org")
            await fetch(.list(cache.id))
            let photos = try photos(cache)
            #expect(Set(photos.map(\.name)) == ["a.jpg", "b.jpg", "7-c Ü&.jpg"], "\(server.requests)")
            let ids = try Self.album.map { "\(try number(of: $0))-\($0.split(separator: "/").last ?? "")" }
            #expect(Set(photos.map(\.galleryID)) == Set(ids))
            #expect(try cache.read { try $0.source() }?.kind == .nextcloud && activity.questions.isEmpty)
            await fetch(.everyPicture(cache.id, .thumbnail))
            for path in Self.album {
                let number = try number(of: path)
                let photo = try #require(photos.first { $0.galleryID.hasPrefix("\(number)-") })
                let bytes = try #require(try cache.read { try $0.thumbnail(of: photo.key) }).bytes
                #expect(String(decoding: bytes, as: UTF8.self).contains("preview of \(number)"))
            }
            await fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.counts() }.photos == 3)
            let before = server.requests.count
            await fetch(.list(cache.id))
            #expect(
                server.requests.dropFirst(before) == ["PROPFIND /remote.php/dav/photos/me/albums/Summer%202024/ 207"])
        }
    }

    @Test("A name with other letters leads to its album")
    func otherLetters() async throws {
        let server = try await server()
        try await opening(server.url("/apps/photos/albums/Ünder")) { cache in
            try signIn(cache)
            await fetch(.list(cache.id))
            #expect(try photos(cache).map(\.name) == ["a.jpg"], "\(server.requests)")
        }
    }

    @Test(
        "A missing album is reported, and another user’s is not shown",
        arguments: [
            ("/apps/photos/albums/Winter", 404), ("/remote.php/dav/photos/me/albums/Winter/", 404),
            ("/remote.php/dav/photos/you/albums/Summer%202024/", 403),
        ])
    func missing(path: String, status: Int) async throws {
        let server = try await server()
        try await opening(server.url(path)) { cache in
            try signIn(cache)
            await fetch(.list(cache.id))
            guard case .failed(let failure) = try cache.read({ try $0.gallery() }).status.state else {
                Issue.record("no failure")
                return
            }
            #expect(failure.reason.contains("\(status)"), "\(failure)")
            #expect(try photos(cache).isEmpty)
        }
    }

    @Test("Another server’s page with such an address is read as a page")
    func otherServer() async throws {
        let server = try ScriptedServer { request in
            request.path == "/apps/photos/albums/x/"
                ? .answer(
                    200, "<html><body><a href=\"a.jpg\">a</a></body></html>", headers: ["Content-Type: text/html"])
                : .answer(404, "not here")
        }
        try await opening(server.url("/apps/photos/albums/x/")) { cache in
            await fetch(.list(cache.id))
            let photos = try photos(cache)
            #expect(photos.map(\.galleryID) == ["a.jpg"])
            #expect(try cache.read { try $0.source() }?.kind == .web)
        }
    }
}
