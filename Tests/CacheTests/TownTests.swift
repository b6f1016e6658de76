import Model
import SQLite
import TestSupport
import Testing
import Towns

@testable import Cache

/// The towns at photos' coordinates, in the cache.
@Suite struct TownTests {
    private let test: TestCache
    private let cache: GalleryCache

    init() throws {
        test = try TestCache()
        let towns = TownTable(path: Built.towns)
        cache = try CacheFolder(path: test.folder.path("cache"), towns: towns, log: test.log).open(test.cache.address)
    }

    private func metadata(_ latitude: Double?, _ longitude: Double?) -> PhotoMetadata {
        var metadata = PhotoMetadata(format: "JPEG", width: 40, height: 30)
        (metadata.latitude, metadata.longitude) = (latitude, longitude)
        return metadata
    }

    /// Stores photos from Évora, from near Évora, from the ocean, and without coordinates.
    private func storeFour(in cache: GalleryCache) async throws {
        let places = [("a", 38.567, -7.9), ("b", 38.46, -7.9), ("c", 0, 0)]
        try await test.sync([
            TestCache.entry("a"), TestCache.entry("b"), TestCache.entry("c"), TestCache.entry("d"),
        ])
        for (id, latitude, longitude) in places {
            try await test.hold(id)
            #expect(try await cache.writer.store(metadata(latitude, longitude), of: test.key(id), edition: 1))
        }
        try await test.hold("d")
        #expect(try await cache.writer.store(metadata(nil, nil), of: test.key("d"), edition: 1))
    }

    private func found(_ text: String) throws -> [String] {
        let hits = try #require(try test.cache.read { try $0.photos(matching: PhotoFilter(text)) })
        return try ["a", "b", "c", "d"].filter { hits.contains(try test.key($0).rawValue) }
    }

    private func towns() throws -> [String?] {
        try ["a", "b", "c", "d"].map { id in try cache.read { try $0.town(of: test.key(id))?.text } }
    }

    @Test("The cache stores the town of a photo with coordinates, and a search finds its words")
    func stored() async throws {
        try await storeFour(in: cache)
        #expect(try towns() == ["Évora, Portugal", "12 km from Évora, Portugal", nil, nil])
        #expect(try cache.read { try $0.metadata(of: test.key("a"))?.metadata.town?.name } == "Évora, Portugal")
        for text in ["evora", "ÉVORA", "portu", "place:evora", "place:\"evora portugal\"", "Place:port"] {
            #expect(try found(text) == ["a", "b"], "\(text)")
        }
        #expect(try found("tag:evora").isEmpty && found("place:photo").isEmpty && found("km").isEmpty)
        // Equal metadata is not stored again.
        #expect(try await !cache.writer.store(metadata(38.567, -7.9), of: test.key("a"), edition: 1))
    }

    @Test("Vitrine finds the towns of photos whose metadata an older version stored")
    func missing() async throws {
        try await storeFour(in: test.cache)
        #expect(try towns() == [nil, nil, nil, nil] && found("evora").isEmpty)
        try await test.cache.writer.findMissingTowns()
        #expect(try towns() == [nil, nil, nil, nil], "this cache has no table of towns")
        try await cache.writer.findMissingTowns()
        #expect(try towns() == ["Évora, Portugal", "12 km from Évora, Portugal", nil, nil])
        #expect(try found("evora") == ["a", "b"] && found("photo").count == 4)
        #expect(try cache.read { try $0.connection.first(GalleryWriter.missingTowns, 9) { $0.int(0) } } == nil)
        #expect(try await cache.writer.transaction { try !PhotoText.repair($0) }, "the index matches the rows")
    }

    @Test("With a damaged table, photos have no towns, and a good table adds them later")
    func damaged() async throws {
        let towns = TownTable(path: test.folder.write("towns.table", "towns"))
        let caches = try CacheFolder(path: test.folder.path("cache"), towns: towns, log: test.log)
        let damaged = try caches.open(test.cache.address)
        try await storeFour(in: damaged)
        try await damaged.writer.findMissingTowns()
        #expect(try self.towns() == [nil, nil, nil, nil])
        #expect(try !damaged.read { try $0.hasTowns() })
        #expect(test.log.entries.count { $0.level == .error } == 1, "not one for each photo")
        try await cache.writer.findMissingTowns()
        #expect(try found("evora") == ["a", "b"])
        #expect(try cache.read { try $0.hasTowns() })
    }

    @Test("The search for missing towns reads only the photos that lack one")
    func index() throws {
        let plan = try test.cache.read {
            try $0.connection.map("EXPLAIN QUERY PLAN " + GalleryWriter.missingTowns, 9) { $0.text(3) }
        }
        #expect(plan.contains { $0.contains("metadata_without_town") }, "\(plan)")
    }
}
