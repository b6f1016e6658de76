import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

@Suite struct FailuresTests {
    private let test: TestCache
    private let gone = RenditionState.Trouble.bad(Failure("the server answered 404", remedy: .none))
    private let later = RenditionState.Trouble.putOff(Failure("the server answered 503", remedy: .time))

    init() throws { test = try TestCache() }

    private func record(_ trouble: RenditionState.Trouble, _ rendition: Rendition, of ids: [String]) async throws {
        for id in ids {
            try await test.cache.writer.recordTrouble(trouble, for: rendition, of: test.key(id), edition: 1)
        }
    }

    @Test func troublesAreGroupedByReason() async throws {
        try await test.sync((0..<20).map { try TestCache.entry("\($0)") })
        #expect(try test.cache.read { try $0.troubleCount() } == 0)
        #expect(try test.cache.read { try $0.troubles(photoLimit: 3) }.isEmpty)
        try await record(gone, .thumbnail, of: ["1", "2", "3", "4", "5"])
        try await record(later, .thumbnail, of: ["6"])
        try await record(gone, .original, of: ["1", "2"])
        let groups = try test.cache.read { try $0.troubles(photoLimit: 3) }
        #expect(groups.map(\.count) == [5, 2, 1])
        #expect(groups.map(\.rendition) == [.thumbnail, .original, .thumbnail])
        #expect(groups.map(\.trouble) == [gone, gone, later])
        #expect(groups.map { $0.photos.map(\.galleryID) } == [["1", "2", "3"], ["1", "2"], ["6"]])
        #expect(try test.cache.read { try $0.troubleCount() } == 8)
        #expect(try test.cache.read { try $0.troubleCount(limit: 6) } == 6)
        #expect(try test.cache.read { try $0.troubles(limit: 1, photoLimit: 0) }.map(\.count) == [5])
    }

    /// A million good photos must not slow down finding three bad ones.
    @Test func troublesAreFoundByTheirIndex() async throws {
        try test.cache.read { reader in
            let plan = { (query: String) in
                try reader.connection.map("EXPLAIN QUERY PLAN " + query) { $0.text(3) }.joined(separator: "; ")
            }
            for rendition in ["thumbnail", "photo"] {
                let index = "\(rendition)_in_trouble"
                let (trouble, reason) = ("\(rendition)_trouble", "\(rendition)_reason")
                let counting = try plan("SELECT 1 FROM photo WHERE \(trouble) IS NOT NULL LIMIT 10")
                #expect(counting.contains(index))
                let grouping = try plan(
                    """
                    SELECT \(trouble), \(reason), count(*) FROM photo WHERE \(trouble) IS NOT NULL
                    GROUP BY \(trouble), \(reason)
                    """)
                #expect(
                    grouping.hasPrefix("SEARCH photo USING COVERING INDEX \(index)") && !grouping.contains("B-TREE"))
                let listing = try plan(
                    "SELECT key FROM photo WHERE \(trouble) = 1 AND \(reason) IS 'x' ORDER BY key LIMIT 3")
                #expect(listing.hasPrefix("SEARCH photo USING COVERING INDEX \(index)") && !listing.contains("B-TREE"))
            }
        }
    }

    @Test func clearingOnePhotosTroubleKeepsTheOthers() async throws {
        try await test.sync((0..<3).map { try TestCache.entry("\($0)") })
        try await record(gone, .thumbnail, of: ["0", "1", "2"])
        try await record(later, .original, of: ["1", "2"])
        try await test.cache.writer.retry([test.key("1")])
        #expect(try test.photo("1").thumbnail == RenditionState(edition: 2))
        #expect(try test.photo("1").original == RenditionState(edition: 1))
        #expect(try test.cache.read { try $0.troubleCount() } == 3)
        try await test.cache.writer.retry()
        #expect(try test.cache.read { try $0.troubleCount() } == 0)
    }

    @Test func failuresOfClosedGalleriesAreKnown() async throws {
        try await test.sync([TestCache.entry("a"), TestCache.entry("b")])
        try await record(later, .original, of: ["b"])
        try await test.cache.writer.recordSyncFailure(Failure("no answer", remedy: .time))
        for caches in [try CacheFolder(path: test.folder.path("cache"), log: Log())] {
            #expect(caches.openCaches.isEmpty)
            let failures = try #require(caches.failures(of: test.cache.address, photoLimit: 10))
            #expect(failures.record.failure?.reason == "no answer")
            #expect(failures.troubles.map(\.trouble) == [later])
            #expect(failures.troubles[0].photos.map(\.galleryID) == ["b"])
            #expect(caches.failures(of: try Address("http://example.org/unknown"), photoLimit: 10) == nil)
            #expect(caches.openCaches.isEmpty)
        }
    }
}

@Suite struct GalleryFactsTests {
    @Test(arguments: [true, false]) func factsOfOpenAndClosedGalleries(isOpen: Bool) async throws {
        let test = try TestCache()
        try await test.sync(["a", "b"].map { try TestCache.entry($0) })
        try await test.hold("a")
        let failure = Failure("gone", remedy: .none)
        try await test.cache.writer.recordTrouble(.bad(failure), for: .original, of: try test.key("b"), edition: 1)
        try await test.cache.writer.recordSyncFailure(failure)
        await test.cache.writer.close()
        let caches = try CacheFolder(path: test.folder.path("cache"), log: test.log)
        if isOpen { _ = try caches.open(test.cache.address) }
        let facts = try #require(caches.facts(of: test.cache.address))
        #expect(facts.record.photoCount == 2 && facts.errorCount == 2)
        let gallery = try #require(caches.gallery(test.cache.address))
        #expect(facts.size >= gallery.photosSize + 4_096 && gallery.photosSize == "photo of a".utf8.count)
        // With a known size no folder is visited.
        #expect(caches.facts(of: test.cache.address, size: 7)?.size == 7)
        #expect(caches.facts(of: try Address("http://example.org/none")) == nil)
    }
}
