import Model
import Testing

@testable import Cache

/// The albums that the cache of a gallery stores.
@Suite struct AlbumCacheTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func album(_ name: String, count: Int? = nil, cover: String? = nil) throws -> Album {
        Album(.album, at: try Address("http://example.org/albums/\(name)"), name: name, count: count, cover: cover)
    }

    private var stored: AlbumList {
        get throws { try test.cache.albums() }
    }

    private var writer: GalleryWriter { test.cache.writer }

    @Test("A new cache has no albums")
    func none() throws { #expect(try stored == AlbumList()) }

    @Test("An update replaces all albums, with their order and all facts")
    func replaced() async throws {
        let first = [
            Album(.favorites, at: try Address("http://example.org/favorites"), name: "Favorites"),
            try album("b", count: 7, cover: "x"), try album("a"),
            Album(.person, at: try Address("http://example.org/people/p"), name: "Cat"),
        ]
        try await writer.replaceAlbums(first, at: Timestamp(milliseconds: 5))
        #expect(try stored == AlbumList(albums: first, lastSuccess: Timestamp(milliseconds: 5)))
        let second = [try album("c"), try album("b", count: 8)]
        try await writer.replaceAlbums(second, trouble: "no people", at: Timestamp(milliseconds: 6))
        #expect(
            try stored == AlbumList(albums: second, lastSuccess: Timestamp(milliseconds: 6), trouble: "no people"))
    }

    @Test("A failure keeps the albums, and the next success removes the failure")
    func failure() async throws {
        let albums = [try album("a")]
        try await writer.replaceAlbums(albums, at: Timestamp(milliseconds: 5))
        try await writer.recordAlbumTrouble("the server is away")
        #expect(
            try stored
                == AlbumList(albums: albums, lastSuccess: Timestamp(milliseconds: 5), trouble: "the server is away"))
        // The gallery's own update has not failed.
        #expect(try test.cache.read { try $0.gallery() }.failure == nil)
        try await writer.replaceAlbums(albums, at: Timestamp(milliseconds: 6))
        #expect(try stored.trouble == nil)
    }

    @Test("The cache announces changed albums, and does not write unchanged ones again")
    func announced() async throws {
        let changes = test.cache.changes()
        let albums = [try album("a"), try album("b")]
        try await writer.replaceAlbums(albums, at: Timestamp(milliseconds: 5))
        #expect(await changes.next()?["album"] != nil)
        try await writer.replaceAlbums(albums, at: Timestamp(milliseconds: 6))
        let second = await changes.next()
        #expect(second?["album"] == nil && second?["gallery"] != nil)
        try await writer.replaceAlbums([], at: Timestamp(milliseconds: 7))
        #expect(await changes.next()?["album"] != nil)
    }

    @Test("A cover named by a photo's revision becomes that photo, and an unknown one none")
    func covers() async throws {
        var entries = try ["p", "q"].map { try TestCache.entry($0) }
        (entries[0].revision, entries[1].revision) = ("r1", "r3")
        try await test.sync(entries)
        let albums = [try album("a", cover: "r1"), try album("b", cover: "r2"), try album("c")]
        let resolved = try test.cache.read { try $0.resolvingCovers(of: albums) }
        #expect(resolved == [try album("a", cover: "p"), try album("b"), try album("c")])
        #expect(try test.cache.read { try $0.resolvingCovers(of: [albums[2]]) } == [albums[2]])
    }

    @Test("Clearing the cache removes the albums")
    func cleared() async throws {
        try await writer.replaceAlbums([try album("a")], trouble: "x", at: Timestamp(milliseconds: 5))
        try await writer.clear(photosOnly: true)
        #expect(try stored.albums.count == 1)
        try await writer.clear(photosOnly: false)
        #expect(try stored == AlbumList())
    }

    @Test("A name matches a search if each word of the search begins a word of the name")
    func matching() throws {
        func isMatch(_ name: String, _ search: String) throws -> Bool {
            try test.cache.read { try $0.matches(of: search, in: ["other", name]) } == [1]
        }
        #expect(try isMatch("Été à la plage", "ete pla"))
        #expect(try isMatch("IMG_2024", "2024"))
        for (name, search) in AnnotationTests.pairs { #expect(try isMatch(name, search)) }
        #expect(try !isMatch("Summer on the coast", "ummer"))
        #expect(try !isMatch("Summer on the coast", "summer winter"))
    }
}
