import Cache
import Session
import Foundation
import HTTP
import Logging
import Model
import TestSupport
import Testing

@testable import Networking

/// Each kind of request alone, with a file and a known cache.
@Suite("BEHAVIOURS 7.5, 7.6: requests run alone") struct RequestTests {
    private let folder = TestFolder()
    private let client = HTTPClient(log: Log())
    private let context: RequestContext
    private let cache: GalleryCache

    init() throws {
        let log = Log()
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        context = RequestContext(
            caches: caches, activity: Activity(), log: log, now: { Timestamp(milliseconds: 42_000) })
        cache = try caches.open(Address(filePath: folder.path("album")))
        folder.write(
            "album/index.xml",
            """
            <album><photo id="1" name="One" date="2006-07-30T07:47:17Z">
            <image kind="image" srcURL="photo.jpg"/><image kind="thumbnail" srcURL="thumb.jpg"/></photo>
            <photo id="2" name="Two" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="photo.jpg"/></photo></album>
            """)
        folder.write("album/photo.jpg", NetworkTest.picture("photo"))
        folder.write("album/thumb.jpg", NetworkTest.picture("thumbnail"))
    }

    private func perform(_ kind: any NetworkRequest.Type, _ subject: Wish.Subject) async throws {
        let request = try #require(try kind.make(for: subject, in: context))
        try await request.perform(over: client)
    }

    private func key(_ id: String) throws -> PhotoKey {
        try #require(try cache.read { try $0.photo(galleryID: id) }).key
    }

    @Test func list() async throws {
        #expect(try GalleryListRequest.make(for: .list(cache.id), in: context)?.isAskedAfter == false)
        try await perform(GalleryListRequest.self, .list(cache.id))
        #expect(try GalleryListRequest.make(for: .list(cache.id), in: context)?.isAskedAfter == true)
        var photos: [Photo] = []
        try cache.read { try $0.forEachPhoto { photos.append($0) } }
        #expect(photos.map(\.galleryID) == ["1", "2"] && photos.map(\.name) == ["One", "Two"])
        let record = try cache.read { try $0.gallery() }
        #expect(record.photoCount == 2 && record.lastSuccess == Timestamp(milliseconds: 42_000))
    }

    @Test func thumbnail() async throws {
        try await perform(GalleryListRequest.self, .list(cache.id))
        let key = try key("1")
        try await perform(ThumbnailRequest.self, .picture(cache.id, key, .thumbnail))
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes == NetworkTest.picture("thumbnail"))
        // The thumbnail is stored, so nothing is missing.
        #expect(try ThumbnailRequest.make(for: .picture(cache.id, key, .thumbnail), in: context) == nil)
    }

    @Test("BEHAVIOURS 3.4: a photo is stored in a file of the cache")
    func photo() async throws {
        try await perform(GalleryListRequest.self, .list(cache.id))
        let key = try key("1")
        try await perform(PhotoRequest.self, .picture(cache.id, key, .original))
        let stored = try #require(try cache.read { try $0.photoFile(of: key) })
        let bytes = try Data(contentsOf: URL(fileURLWithPath: cache.files.path(stored)))
        #expect(Array(bytes) == NetworkTest.picture("photo"))
    }

    /// A transfer that still reads the file would mix its bytes with those of the next attempt.
    @Test func aCancelledLocalPhotoLeavesNothing() async throws {
        folder.write("album/photo.jpg", NetworkTest.picture(String(repeating: "p", count: 200_000)))
        try await perform(GalleryListRequest.self, .list(cache.id))
        let request = try #require(try PhotoRequest.make(for: .picture(cache.id, key("1"), .original), in: context))
        let left = Task { [client] in
            var response = try await Response.to(request.plan(), over: client, with: TransferPermit())
            while try await response.nextWritten() != nil {}
            withUnsafeCurrentTask { $0?.cancel() }
            try await request.process(&response)
        }
        await #expect(throws: CancellationError.self) { try await left.value }
        #expect(request.held == 0)
        #expect(folder.entries("cache/galleries/\(cache.id)/partial").isEmpty)
    }

    @Test("BEHAVIOURS 1.2: a photo without a thumbnail is fetched to make one")
    func photoForThumbnail() async throws {
        try await perform(GalleryListRequest.self, .list(cache.id))
        let key = try key("2")
        #expect(try ThumbnailRequest.make(for: .picture(cache.id, key, .thumbnail), in: context) == nil)
        let request = try #require(try PhotoRequest.make(for: .picture(cache.id, key, .thumbnail), in: context))
        #expect(request.identity.subject == .picture(cache.id, key, .original))
        try await request.perform(over: client)
        #expect(try PhotoRequest.make(for: .picture(cache.id, key, .thumbnail), in: context) == nil)
    }

    @Test func kindsServeOnlyTheirWishes() async throws {
        try await perform(GalleryListRequest.self, .list(cache.id))
        let key = try key("1")
        #expect(try GalleryListRequest.make(for: .picture(cache.id, key, .original), in: context) == nil)
        #expect(try ThumbnailRequest.make(for: .list(cache.id), in: context) == nil)
        #expect(try ThumbnailRequest.make(for: .picture(cache.id, key, .original), in: context) == nil)
        #expect(try PhotoRequest.make(for: .picture(cache.id, key, .thumbnail), in: context) == nil)
        #expect(try PhotoRequest.make(for: .picture(cache.id, PhotoKey(99), .original), in: context) == nil)
    }

    @Test("BEHAVIOURS 1.6: a list with a mistake changes nothing")
    func brokenList() async throws {
        try await perform(GalleryListRequest.self, .list(cache.id))
        folder.write("album/index.xml", "<album><photo id='3' name='Three' date='2006-07-30T07:47:17Z'/></albun>")
        await #expect(throws: (any Error).self) { try await perform(GalleryListRequest.self, .list(cache.id)) }
        #expect(try cache.read { try $0.gallery().photoCount } == 2)
    }

    @Test(
        "BEHAVIOURS 5.5: an answer that is not a picture is not stored",
        arguments: [
            "<!DOCTYPE html><html>error</html>", "", "no picture at all, just text",
        ])
    func noPicture(text: String) async throws {
        try await perform(GalleryListRequest.self, .list(cache.id))
        folder.write("album/photo.jpg", text)
        folder.write("album/thumb.jpg", text)
        let key = try key("1")
        await #expect(throws: RequestError.self) {
            try await perform(PhotoRequest.self, .picture(cache.id, key, .original))
        }
        await #expect(throws: RequestError.self) {
            try await perform(ThumbnailRequest.self, .picture(cache.id, key, .thumbnail))
        }
        #expect(try cache.read { try $0.photoFile(of: key) } == nil)
        #expect(try cache.read { try $0.thumbnail(of: key) } == nil)
        #expect(folder.entries("cache/galleries/\(cache.id)/partial").isEmpty)
    }
}
