import Foundation
import Glibc
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Gallery files on a local disk, whose photos stay in their folder.
@Suite struct LocalListTests {
    private let folder = TestFolder()
    private let client = HTTPClient(log: Log())
    private let context: RequestContext
    private let caches: CacheFolder

    init() throws {
        let log = Log()
        caches = try CacheFolder(path: folder.path("cache"), log: log)
        context = RequestContext(
            caches: caches, activity: Activity(), log: log, now: { Timestamp(milliseconds: 42_000) })
        folder.write("album/images/one.jpg", NetworkTest.picture("one"))
        folder.write("album/small/one.jpg", NetworkTest.picture("small"))
        try writeList("images/one.jpg")
    }

    private func writeList(_ photo: String, thumbnail: String? = "small/one.jpg", date: String = "2006") throws {
        let image = thumbnail.map { "<image kind=\"thumbnail\" srcURL=\"\($0)\"/>" } ?? ""
        folder.write(
            "album/gallery.xml",
            """
            <album><photo id="1" name="One" date="\(date)-07-30T07:47:17Z">
            <image kind="image" srcURL="\(photo)"/>\(image)</photo></album>
            """)
    }

    /// Opens the gallery by its folder or file, and reads the list.
    private func listed(_ path: String = "album") async throws -> GalleryCache {
        let cache = try caches.open(Address(filePath: folder.path(path)))
        try await list(cache)
        return cache
    }

    private func list(_ cache: GalleryCache) async throws {
        try await #require(try GalleryListRequest.make(for: .list(cache.id), in: context)).perform(over: client)
    }

    private func photo(_ cache: GalleryCache) throws -> Photo {
        try #require(try cache.read { try $0.photo(galleryID: "1") })
    }

    /// Returns the request that the controller makes.
    private func request(_ cache: GalleryCache, _ rendition: Rendition) throws -> (any NetworkRequest)? {
        let kinds: [any NetworkRequest.Type] = [
            ThumbnailRequest.self, LocalPhotoRequest.self, EmbeddedThumbnailRequest.self, PhotoRequest.self,
        ]
        return try RequestFactory(kinds, context).request(for: .picture(cache.id, try photo(cache).key, rendition))
    }

    private func fetch(_ cache: GalleryCache, _ rendition: Rendition = .original) async throws {
        try await #require(try request(cache, rendition)).perform(over: client)
    }

    private func stored(_ cache: GalleryCache) throws -> StoredPhoto {
        let key = try photo(cache).key
        return try #require(try cache.read { try $0.photoFile(of: key) })
    }

    private func copies(_ cache: GalleryCache) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: cache.folder + "/photos")
    }

    @Test("A photo stays where it is, and the cache has no copy", arguments: ["album", "album/gallery.xml"])
    func inPlace(path: String) async throws {
        let cache = try await listed(path)
        #expect(try request(cache, .original) is LocalPhotoRequest)
        try await fetch(cache)
        let stored = try stored(cache)
        #expect(cache.files.path(stored) == folder.path("album/images/one.jpg"))
        #expect(try photo(cache).isInPlace && photo(cache).original.isCurrent)
        #expect(try copies(cache).isEmpty && cache.files.isIntact(stored))
        close(try cache.files.open(stored))
        #expect(try await cache.check().complaints.isEmpty)
        // Its metadata is still to be read, also in a later run of the program.
        #expect(try cache.unreadPhotos() == [photo(cache).key])
        try await cache.writer.store(
            PhotoMetadata(format: "JPEG", width: 4, height: 3), of: photo(cache).key, edition: stored.edition)
        #expect(try cache.unreadPhotos().isEmpty)
        // The cache has no file to remove.
        #expect(try await cache.writer.dropPhotos([photo(cache).key]) == 0)
        #expect(try await cache.writer.clear(photosOnly: true) == 0)
        #expect(try photo(cache).isInPlace && photo(cache).original.isCurrent)
        try cache.sweep()
        #expect(FileManager.default.fileExists(atPath: folder.path("album/images/one.jpg")))
    }

    @Test("Vitrine stores a thumbnail that the list names; without one, it uses the photo")
    func thumbnails() async throws {
        let cache = try await listed()
        #expect(try request(cache, .thumbnail) is ThumbnailRequest)
        try await fetch(cache, .thumbnail)
        let key = try photo(cache).key
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes == NetworkTest.picture("small"))
        #expect(try !photo(cache).original.isCurrent)
        try writeList("images/one.jpg", thumbnail: nil, date: "2007")
        try await list(cache)
        try await fetch(cache, .thumbnail)
        #expect(try photo(cache).isInPlace && cache.read { try $0.thumbnailsToMake() } == [key])
    }

    @Test("A photo behind a link in the folder is copied, and one behind a link out of it is refused")
    func links() async throws {
        #expect(symlink("images", folder.path("album/inside")) == 0)
        try writeList("inside/one.jpg")
        let cache = try await listed()
        #expect(try request(cache, .original) is PhotoRequest)
        try await fetch(cache)
        #expect(try !photo(cache).isInPlace && copies(cache).count == 1)

        folder.write("secret/two.jpg", NetworkTest.picture("secret"))
        #expect(symlink("../secret", folder.path("album/outside")) == 0)
        try writeList("outside/two.jpg", date: "2007")
        try await list(cache)
        await #expect(throws: (any Error).self) { try await fetch(cache) }
        #expect(try copies(cache).count == 1)
    }

    @Test("A missing file, or one outside the folder, is not found in place")
    func outside() async throws {
        let cache = try await listed("album/gallery.xml")
        folder.write("one.jpg", NetworkTest.picture("other"))
        for path in ["album/missing.jpg", "one.jpg", "album/../one.jpg", "album/gallery.xml/one.jpg"] {
            #expect(!cache.files.isInPlace(Address(filePath: folder.path(path))), "\(path)")
        }
        let whole = try caches.open(Address(filePath: folder.path("album")))
        #expect(!whole.files.isInPlace(Address(filePath: folder.path("one.jpg"))))
        let top = try caches.open(Address(filePath: "/"))
        #expect(top.files.isInPlace(Address(filePath: folder.path("one.jpg"))))
        let server = try caches.open(Address("http://example.org/gallery.xml"))
        #expect(!server.files.isInPlace(Address(filePath: folder.path("album/images/one.jpg"))))
    }

    @Test("If the list names another file, the row gets that file only after Vitrine has examined it")
    func moved() async throws {
        let cache = try await listed()
        try await fetch(cache)
        // Only the date is new: the file stays, as an older edition.
        try writeList("images/one.jpg", date: "2007")
        try await list(cache)
        #expect(try photo(cache).isInPlace && !photo(cache).original.isCurrent)
        try await fetch(cache)
        try writeList("http://example.org/two.jpg", date: "2007")
        try await list(cache)
        let key = try photo(cache).key
        #expect(try !photo(cache).isInPlace && cache.read { try $0.photoFile(of: key) } == nil)
        #expect(try request(cache, .original) is PhotoRequest)
    }
}
