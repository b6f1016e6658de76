import Foundation
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries on a stand-in for Nextcloud.
@Suite(.ownThread, .unlessItHangs) struct NextcloudTests {
    private let files = TestFolder()
    private let galleries: ServedGalleries

    private static let tree = ["a.jpg", "2024/b.jpg", "2024/May 1/c.jpg", "2024/May 1/deep/d.jpg", "2025/Ü &+#50%.jpg"]

    init() throws {
        let picture = try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/tiny.jpg"))
        for path in Self.tree { files.write(path, Array(picture)) }
        files.write("notes.txt", "no picture")
        galleries = try ServedGalleries()
    }

    /// Answers the question for galleries.credentials.
    private func signIn(_ cache: GalleryCache, _ password: String = NextcloudServer.password) throws {
        galleries.enter(.password(user: NextcloudServer.user, password: password), cache)
    }

    private func photos(_ cache: GalleryCache) throws -> [String: Photo] {
        var photos: [String: Photo] = [:]
        try cache.read { try $0.forEachPhoto { photos[$0.galleryID] = $0 } }
        return photos
    }

    private func ids(_ cache: GalleryCache) throws -> [String] { try photos(cache).keys.sorted() }

    /// Expects that each photo's cached thumbnail is the server's preview of this photo.
    private func expectPreviews(_ cache: GalleryCache, below root: String = "") throws {
        for (id, photo) in try photos(cache) {
            let number = try #require(
                try FileManager.default.attributesOfItem(atPath: files.path(root + id))[.systemFileNumber] as? UInt64)
            let bytes = try #require(try cache.read { try $0.thumbnail(of: photo.key) }, "\(id)").bytes
            #expect(String(decoding: bytes, as: UTF8.self).contains("preview of \(number)"), "\(id)")
        }
    }

    // MARK: - Files of a user

    @Test("The address of a server leads to the user’s photos, with one question")
    func serverAddress() async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url("/")) { cache in
            await galleries.fetch(.list(cache.id))
            #expect(server.requests.contains("GET /status.php 200") && server.requests.count <= 6)
            let origin = try #require(cache.address.origin)
            #expect(
                galleries.activity.questions == [
                    SignInQuestion(
                        origin: origin, schemes: ["basic", "bearer"], realm: "Nextcloud",
                        browserServer: try Address(server.url("/")), galleries: [cache.id])
                ])
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            #expect(galleries.activity.questions.isEmpty)
            #expect(try ids(cache) == Self.tree.sorted())
            #expect(try cache.read { try $0.source() }?.kind == .nextcloud)
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            try expectPreviews(cache)
            // Only previews were fetched, no photos.
            #expect(!server.requests.contains { $0.contains(".jpg") }, "\(server.requests)")
        }
    }

    @Test(
        "Addresses that browsers show lead to the same photos",
        arguments: [
            "/login", "/index.php/login", "/apps/files/", "/index.php/apps/files/files/7?dir=/", "/apps/photos/",
            "/apps/photos/folders", "/apps/photos/photos",
            "/remote.php/dav/files/me/", "/remote.php/dav/files/me", "/remote.php/webdav/",
        ])
    func browserAddresses(path: String) async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url(path)) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            #expect(try ids(cache) == Self.tree.sorted(), "\(server.requests)")
            #expect(server.requests.firstIndex { $0.hasSuffix(" 207") }.map { $0 <= 6 } == true, "\(server.requests)")
        }
    }

    @Test(
        "The address of one folder leads to its photos",
        arguments: [
            "/apps/files/files/7?dir=/2024/May%201", "/remote.php/dav/files/me/2024/May%201/",
            "/apps/photos/folders/2024/May%201", "/index.php/apps/photos/folders/2024/May%201/",
        ])
    func oneFolder(path: String) async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url(path)) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            #expect(try ids(cache) == ["c.jpg", "deep/d.jpg"], "\(server.requests)")
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            try expectPreviews(cache, below: "2024/May 1/")
        }
    }

    @Test(
        "A page of the Photos app that shows other photos is refused, and does not open all photos",
        arguments: [
            "/apps/photos/favorites", "/index.php/apps/photos/places/Berlin", "/apps/photos/albums",
            "/apps/photos/public/a1B2c3D4e5F6g7H",
        ])
    func otherPage(path: String) async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url(path)) { cache throws in
            await galleries.fetch(.list(cache.id))
            let reason = try galleries.failure(cache)?.reason
            #expect(reason?.contains("Photos app that names no folder and no album") == true, "\(server.requests)")
            #expect(try ids(cache).isEmpty && galleries.activity.questions.isEmpty)
        }
    }

    @Test("An update without changes needs one request, and a change deep inside those of its path")
    func updates() async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url("/remote.php/dav/files/me/")) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            var before = server.requests.count
            await galleries.fetch(.list(cache.id))
            #expect(server.requests.dropFirst(before) == ["PROPFIND /remote.php/dav/files/me/ 207"])
            files.write("2024/May 1/deep/new.jpg", "new")
            before = server.requests.count
            await galleries.fetch(.list(cache.id))
            #expect(server.requests.dropFirst(before).count == 1 + 4, "\(server.requests.dropFirst(before))")
            #expect(try ids(cache) == (Self.tree + ["2024/May 1/deep/new.jpg"]).sorted())
            try FileManager.default.removeItem(atPath: files.path("2024/May 1/deep/d.jpg"))
            await galleries.fetch(.list(cache.id))
            #expect(try !ids(cache).contains("2024/May 1/deep/d.jpg"))
        }
    }

    @Test("Photos have the dates on which they were taken")
    func dates() async throws {
        files.write("taken.jpg", "\u{FFFD}Exif 2019:05:04 12:00:00\0")
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url("/remote.php/dav/files/me/")) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            #expect(try photos(cache)["taken.jpg"]?.date == Timestamp(localTime: "2019-05-04T12:00:00"))
            let written = try FileManager.default.attributesOfItem(atPath: files.path("a.jpg"))[.modificationDate]
            let seconds = Int64((try #require(written as? Date)).timeIntervalSince1970.rounded(.down))
            #expect(try photos(cache)["a.jpg"]?.date.seconds == seconds)
        }
    }

    @Test("A wrong password is refused once, and the question says so")
    func wrongPassword() async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url("/remote.php/dav/files/me/")) { cache in
            try signIn(cache, "wrong")
            await galleries.fetch(.list(cache.id))
            #expect(galleries.activity.questions.map(\.wasRefused) == [true])
            // Nextcloud slows down after several wrong ones. The first request has none.
            #expect(server.requests.count { $0.hasSuffix(" 401") } <= 2)
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            #expect(try ids(cache) == Self.tree.sorted())
        }
    }

    @Test("A server that refuses requests of scripts in web pages, like ownCloud, shows its photos")
    func ownCloud() async throws {
        let server = try await NextcloudServer.start(serving: files.path, isOwnCloud: true)
        try await galleries.opening(server.url("/")) { cache in
            try signIn(cache)
            await galleries.fetch(.list(cache.id))
            #expect(try ids(cache) == Self.tree.sorted())
        }
    }

    @Test("A preview that needs a password leads to a question, though the server names no scheme")
    func preview() async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url("/remote.php/dav/files/me/")) { cache in
            let draft = try cache.beginSync()
            try draft.add([
                GalleryEntry(
                    id: "1", name: "P", date: Timestamp(milliseconds: 1), photo: try Address(server.url("/p.jpg")),
                    thumbnail: try Address(server.url("/index.php/core/preview?fileId=1&x=256&y=256")))
            ])
            _ = try await cache.writer.commit(
                draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            #expect(galleries.activity.questions.map(\.schemes) == [["basic"]])
        }
    }

    // MARK: - Public shares

    @Test(
        "The link of a share leads to its photos and their previews",
        arguments: [("", "a1B2c3D4e5F6g7H"), ("/index.php", "a1B2c3D4e5F6g7H"), ("", "my-trip"), ("", "7")])
    func share(prefix: String, token: String) async throws {
        let server = try await NextcloudServer.start(serving: files.path, shares: [token: .init(of: "")])
        try await galleries.opening(server.url(prefix + "/s/" + token)) { cache in
            await galleries.fetch(.list(cache.id))
            #expect(try ids(cache) == Self.tree.sorted() && galleries.activity.questions.isEmpty, "\(server.requests)")
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            try expectPreviews(cache)
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.counts() }.photos == Self.tree.count)
            #expect(server.requests.allSatisfy { !$0.hasSuffix(" 401") && !$0.hasSuffix(" 404") })
            let before = server.requests.count
            await galleries.fetch(.list(cache.id))
            #expect(server.requests.count == before + 1)
        }
    }

    @Test("The link of a share with a password leads to a question, and the right password to the photos")
    func shareWithPassword() async throws {
        let server = try await NextcloudServer.start(
            serving: files.path, shares: ["a1B2c3D4e5F6g7H": .init(of: "2024", password: "op3n")])
        try await galleries.opening(server.url("/s/a1B2c3D4e5F6g7H")) { cache in
            await galleries.fetch(.list(cache.id))
            #expect(
                galleries.activity.questions.map(\.wasRefused) == [false]
                    && galleries.activity.questions.map(\.schemes) == [["basic"]])
            try signIn(cache, "wrong")
            await galleries.fetch(.list(cache.id))
            #expect(galleries.activity.questions.map(\.wasRefused) == [true])
            let refused = server.requests.count { $0.hasSuffix(" 401") }
            #expect(refused == 2, "\(server.requests)")
            try signIn(cache, "op3n")
            await galleries.fetch(.list(cache.id))
            #expect(
                try ids(cache) == ["May 1/c.jpg", "May 1/deep/d.jpg", "b.jpg"] && galleries.activity.questions.isEmpty)
            // Such a share has no previews for programs, so the thumbnails are in the photos.
            await galleries.fetch(.everyPicture(cache.id, .thumbnail))
            #expect(try cache.read { try $0.counts() }.thumbnails == 3)
            await galleries.fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.counts() }.photos == 3)
            // Nextcloud counts each refusal, so the password is always sent at once.
            #expect(server.requests.count { $0.hasSuffix(" 401") } == refused, "\(server.requests)")
        }
    }

    @Test("The link of a share on ownCloud leads to its photos", arguments: [nil, "op3n"])
    func ownCloudShare(password: String?) async throws {
        let server = try await NextcloudServer.start(
            serving: files.path, shares: ["a1B2c3D4e5F6g7H": .init(of: "2024", password: password)], isOwnCloud: true)
        try await galleries.opening(server.url("/s/a1B2c3D4e5F6g7H")) { cache in
            await galleries.fetch(.list(cache.id))
            if let password {
                #expect(galleries.activity.questions.map(\.browserServer) == [nil])
                galleries.enter(.password(user: "public", password: password), cache)
                await galleries.fetch(.list(cache.id))
            }
            #expect(
                try ids(cache) == ["May 1/c.jpg", "May 1/deep/d.jpg", "b.jpg"] && galleries.activity.questions.isEmpty)
            for rendition in Rendition.allCases { await galleries.fetch(.everyPicture(cache.id, rendition)) }
            let counts = try cache.read { try $0.counts() }
            #expect(counts.thumbnails == 3 && counts.photos == 3 && counts.failed == 0, "\(server.requests)")
        }
    }

    @Test(
        "If a server redirects to its secure address, Vitrine asks there for the folder",
        arguments: [
            ("/remote.php/dav/files/me/Photos/", "/remote.php/dav/files/me/Photos/"),
            ("/s/a1B2c3D4e5F6g7H", "/public.php/dav/files/a1B2c3D4e5F6g7H/"),
        ])
    func secureAddress(path: String, folder: String) async throws {
        // The proxy refuses to connect to the secure address.
        let proxy = try ScriptedServer { request in
            guard request.path.hasPrefix("http://") else { return .answer(502) }
            return .answer(301, headers: ["Location: https://\(request.path.dropFirst("http://".count))"])
        }
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        configuration.proxies = ProxyChoice { $0 == "all_proxy" ? "127.0.0.1:\(proxy.port)" : nil }
        let cache = try galleries.context.caches.open(Address("http://cloud.example.org" + path))
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: galleries.context))
        let client = HTTPClient(configuration, log: galleries.log)
        await #expect(throws: (any Error).self) { try await request.perform(over: client) }
        #expect(
            proxy.requests.prefix(2).map { "\($0.method) \($0.path)" } == [
                "PROPFIND http://cloud.example.org" + folder, "CONNECT cloud.example.org:443",
            ])
    }

    @Test("The link of a share that is gone is no gallery")
    func missingShare() async throws {
        let server = try await NextcloudServer.start(serving: files.path)
        try await galleries.opening(server.url("/s/a1B2c3D4e5F6g7H")) { cache in
            await galleries.fetch(.list(cache.id))
            let state = try cache.read { try $0.gallery() }.status.state
            #expect(state == .failed(Failure("the server answered 404 (not found)", remedy: .none)), "\(state)")
            #expect(server.requests.count <= 6 && galleries.activity.questions.isEmpty)
        }
    }
}
