import Model
import Testing

@testable import Cache

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
