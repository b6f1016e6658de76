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
    private let galleries: ServedGalleries

    private static let album = ["a.jpg", "2024/b.jpg", "2025/7-c Ü&.jpg"]

    init() throws {
        let picture = try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/tiny.jpg"))
        for path in Self.album + ["2024/other.jpg"] { files.write(path, Array(picture)) }
        galleries = try ServedGalleries()
    }

    private func server(hasSharedAlbums: Bool = true) async throws -> NextcloudServer {
        try await NextcloudServer.start(
            serving: files.path, albums: ["Summer 2024": Self.album, "Ünder": ["a.jpg"]],
            sharedAlbums: hasSharedAlbums ? ["Winter: 2024 (anna)": ["a.jpg", "2024/b.jpg"]] : nil,
            login: "me@example.org")
    }

    private func signIn(_ cache: GalleryCache, as user: String = NextcloudServer.user) throws {
        galleries.enter(.password(user: user, password: NextcloudServer.password), cache)
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
        try await galleries.opening(server.url(path)) { cache in
            await galleries.fetch(.list(cache.id))
            #expect(galleries.activity.questions.map(\.browserServer?.text) == [server.url("/")], "\(server.requests)")
            // The name for the sign-in is not the id in the album's address.
            try signIn(cache, as: "me@example.org")
            await galleries.fetch(.list(cache.id))
            let photos = try photos(cache)
            #expect(Set(photos.map(\.name)) == ["a.jpg", "b.jpg", "7-c Ü&.jpg"], "\(server.requests)")
            let ids = try Self.album.map { "\(try number(of: $0))-\($0.split(separator: "/").last ?? "")" }
            #expect(Set(photos.map(\.galleryID)) == Set(ids))
            #expect(try cache.read { try $0.source() }?.kind == .nextcloud && galleries.activity.questions.isEmpty)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            for path in Self.album {
                let number = try number(of: path)
                let photo = try #require(photos.first { $0.galleryID.hasPrefix("\(number)-") })
                let bytes = try #require(try cache.read { try $0.thumbnail(of: photo.key) }).bytes
                #expect(String(decoding: bytes, as: UTF8.self).contains("preview of \(number)"))
            }
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.counts() }.photos == 3)
            let before = server.requests.count
            await galleries.fetch(.list(cache.id))
            #expect(
                server.requests.dropFirst(before) == ["PROPFIND /remote.php/dav/photos/me/albums/Summer%202024/ 207"])
        }
    }

    @Test("A name with other letters leads to its album")
    func otherLetters() async throws {
        let server = try await server()
        try await galleries.opening(server.url("/apps/photos/albums/Ünder")) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            #expect(try photos(cache).map(\.name) == ["a.jpg"], "\(server.requests)")
        }
    }

    /// Fetches the pictures of an album with the photos a.jpg and b.jpg.
    private func expectPictures(of cache: GalleryCache, from server: NextcloudServer) async throws {
        #expect(Set(try photos(cache).map(\.name)) == ["a.jpg", "b.jpg"], "\(server.requests)")
        for rendition in Rendition.allCases { await galleries.fetch(.everyPicture(cache.id, rendition)) }
        let counts = try cache.read { try $0.counts() }
        #expect(counts.thumbnails == 2 && counts.photos == 2 && counts.failed == 0, "\(server.requests)")
    }

    @Test(
        "An album that another user shares opens with its address",
        arguments: [
            "/apps/photos/sharedalbums/Winter:%202024%20(anna)",
            "/remote.php/dav/photos/me/sharedalbums/Winter:%202024%20(anna)/",
        ])
    func shared(path: String) async throws {
        let server = try await server()
        try await galleries.opening(server.url(path)) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            try await expectPictures(of: cache, from: server)
        }
    }

    @Test(
        "The public link of an album leads to its photos, without a question",
        arguments: ["/apps/photos/public/Ab3dEf6hIj9kLmN", "/index.php/apps/photos/public/Ab3dEf6hIj9kLmN/"])
    func publicAlbum(path: String) async throws {
        let server = try await NextcloudServer.start(
            serving: files.path, publicAlbums: ["Ab3dEf6hIj9kLmN": ["a.jpg", "2024/b.jpg"]])
        try await galleries.opening(server.url(path)) { cache in
            await galleries.fetch(.list(cache.id))
            try await expectPictures(of: cache, from: server)
            #expect(server.requests.count { $0.contains("/publicPreview/") && $0.hasSuffix(" 200") } == 2)
            let before = server.requests.count
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.albums(cache.id))
            #expect(
                server.requests.dropFirst(before) == ["PROPFIND /remote.php/dav/photospublic/Ab3dEf6hIj9kLmN/ 207"])
            #expect(try cache.albums().albums.isEmpty && galleries.activity.questions.isEmpty)
        }
    }

    @Test("A server that knows no shared albums lists the user’s own")
    func withoutSharedAlbums() async throws {
        let server = try await server(hasSharedAlbums: false)
        try await galleries.opening(server.url("/")) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.albums(cache.id))
            let list = try cache.albums()
            #expect(Set(list.albums.map(\.name)) == ["Summer 2024", "Ünder"] && list.trouble == nil)
        }
    }

    @Test(
        "A missing album is reported, and another user’s is not shown",
        arguments: [
            ("/apps/photos/albums/Winter", 404), ("/remote.php/dav/photos/me/albums/Winter/", 404),
            ("/remote.php/dav/photos/you/albums/Summer%202024/", 403), ("/apps/photos/sharedalbums/Summer%202024", 404),
        ])
    func missing(path: String, status: Int) async throws {
        let server = try await server()
        try await galleries.opening(server.url(path)) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
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
        try await galleries.opening(server.url("/apps/photos/albums/x/")) { cache in
            await galleries.fetch(.list(cache.id))
            let photos = try photos(cache)
            #expect(photos.map(\.galleryID) == ["a.jpg"])
            #expect(try cache.read { try $0.source() }?.kind == .web)
        }
    }
}
