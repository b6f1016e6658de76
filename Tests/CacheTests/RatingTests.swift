import Foundation
import Logging
import Model
import TestSupport
import Testing

@testable import Cache

/// The user's own ratings: kept in a file, copied into the rows.
@Suite struct RatingTests {
    private let folder = TestFolder()
    private let address: Address

    init() throws { address = try Address("http://example.org/album/index.xml") }

    /// The path of the gallery's file in the test's folder.
    private var file: String { "data/ratings/\(GalleryID(address))" }

    private func open(_ name: String = "cache") throws -> GalleryCache {
        try CacheFolder(path: folder.path(name), ratings: folder.path("data/ratings"), log: Log()).open(address)
    }

    private func sync(_ ids: [String], _ cache: GalleryCache, rating: Int = 0) async throws {
        let draft = try cache.beginSync()
        try draft.add(
            ids.map { id in
                var entry = try TestCache.entry(id, photo: "photo.jpg", thumbnail: nil)
                entry.annotations.rating = rating
                return entry
            })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
    }

    private func rate(_ id: String, _ rating: Rating?, _ cache: GalleryCache) async throws {
        let key = try #require(try cache.read { try $0.photo(galleryID: id) }).key
        #expect(try await cache.writer.rate([key], rating) == 1)
    }

    private func rating(_ id: String, _ cache: GalleryCache) throws -> Int? {
        try cache.read { try $0.photo(galleryID: id) }?.rating.value
    }

    private func found(_ text: String, _ cache: GalleryCache) throws -> [String] {
        let hits = try #require(try cache.read { try $0.hits(PhotoFilter(text)) })
        return try cache.read { reader in
            var ids: [String] = []
            try reader.forEachPhoto { if hits.contains($0.key.rawValue) { ids.append($0.galleryID) } }
            return ids.sorted()
        }
    }

    @Test("The user's rating replaces that of the gallery, until the user removes it")
    func replaces() async throws {
        let cache = try open()
        try await sync(["a", "b", "c"], cache, rating: 3)
        try await rate("a", Rating(5), cache)
        try await rate("b", .rejected, cache)
        #expect(try ["a", "b", "c"].map { try rating($0, cache) } == [5, -1, 3])
        #expect(try found("rating:4", cache) == ["a"])
        #expect(try found("rating:1", cache) == ["a", "c"])
        #expect(try found("is:rejected", cache) == ["b"])
        #expect(try found("rating:0", cache).isEmpty)
        let order = try cache.read { try PhotoQuery(order: PhotoOrder(.rating), filter: .all).rows($0) }
        let keys = try ["a", "c", "b"].map { id in try cache.read { try $0.photo(galleryID: id)!.key.rawValue } }
        #expect((0..<3).map { order[$0] } == keys)
        try await rate("a", nil, cache)
        #expect(try rating("a", cache) == 3)
    }

    @Test("A rating stays through updates, and when its photo leaves the gallery and comes back")
    func updates() async throws {
        let cache = try open()
        try await sync(["a", "b"], cache)
        try await rate("a", Rating(4), cache)
        try await sync(["a", "b", "c"], cache, rating: 1)
        #expect(try rating("a", cache) == 4)
        try await sync(["b"], cache)
        try await sync(["a", "b"], cache)
        #expect(try rating("a", cache) == 4)
    }

    @Test("Ratings outlive the cache, and a cache takes up ratings of another machine")
    func outliveTheCache() async throws {
        let first = try open()
        try await sync(["2024/lake \\n.jpg", "line\nbreak"], first)
        try await rate("2024/lake \\n.jpg", Rating(4), first)
        try await rate("line\nbreak", .rejected, first)
        let second = try open("another cache")
        try await sync(["2024/lake \\n.jpg", "line\nbreak"], second)
        #expect(try rating("2024/lake \\n.jpg", second) == 4 && rating("line\nbreak", second) == -1)
        try await rate("2024/lake \\n.jpg", nil, second)
        try await rate("line\nbreak", Rating(1), second)
        // The first cache notices the changed file when the user opens the gallery.
        try await first.writer.recordOpened(at: Timestamp(milliseconds: 2))
        #expect(try rating("2024/lake \\n.jpg", first) == 0 && rating("line\nbreak", first) == 1)
    }

    @Test(
        "An update without changes takes up ratings of another program, and so does a command",
        arguments: [true, false])
    func changedElsewhere(isUpdate: Bool) async throws {
        let first = try open()
        try await sync(["a", "b"], first)
        let second = try open("another cache")
        try await sync(["a", "b"], second)
        try await rate("a", Rating(4), second)
        if isUpdate {
            try await first.writer.recordUnchanged(at: Timestamp(milliseconds: 2))
        } else {
            await first.writer.adoptRatings()
        }
        #expect(try rating("a", first) == 4 && rating("b", first) == 0)
        // Nothing is written if the file is the same.
        let changes = first.changes()
        await first.writer.adoptRatings()
        #expect(changes.unfinished == nil)
    }

    @Test("Names that only look alike have ratings of their own, and no name forges the line of another")
    func bytes() async throws {
        let ids = ["\u{E9}.jpg", "e\u{301}.jpg", "a\r\n5 b.jpg", "b.jpg", "c\\\u{301}"]
        let first = try open()
        try await sync(ids, first)
        for (number, id) in ids.enumerated() where id != "b.jpg" { try await rate(id, Rating(number + 1), first) }
        let second = try open("another cache")
        try await sync(ids, second)
        #expect(try ids.map { try rating($0, second) } == [1, 2, 3, 0, 5])
    }

    @Test("An empty file counts as missing, and lines of a later version stay")
    func unknownLines() async throws {
        let cache = try open()
        try await sync(["a"], cache)
        try await rate("a", Rating(2), cache)
        folder.write(file, "")
        try await cache.writer.recordOpened(at: Timestamp(milliseconds: 2))
        #expect(try rating("a", cache) == 2)
        folder.write(file, "# \(address.textWithoutSecrets)\n9 later\n1 a\n")
        try await rate("a", Rating(3), cache)
        #expect(
            try String(contentsOfFile: folder.path(file), encoding: .utf8)
                == "# \(address.textWithoutSecrets)\n9 later\n3 a\n")
    }

    @Test("A missing file is made from the rows, and the file of another gallery stays as it is")
    func missingFile() async throws {
        let cache = try open()
        try await sync(["a", "b"], cache)
        try await rate("a", Rating(2), cache)
        unlink(folder.path(file))
        try await rate("b", Rating(3), cache)
        #expect(try String(contentsOfFile: folder.path(file), encoding: .utf8).hasSuffix("\n2 a\n3 b\n"))
        folder.write(file, "# http://elsewhere.example/\n5 a\n")
        try await cache.writer.recordOpened(at: Timestamp(milliseconds: 2))
        #expect(try rating("a", cache) == 2)
        await #expect(throws: CacheError.self) { try await rate("b", Rating(1), cache) }
        #expect(try rating("b", cache) == 3)
    }

    @Test("Lines that are no ratings are ignored", arguments: ["6 a", "x", "", "4", "-2 a", "four a", "\u{0} a"])
    func strangeLines(line: String) async throws {
        let cache = try open()
        folder.write(file, "# \(address.textWithoutSecrets)\n\(line)\n1 b\n")
        try await sync(["a", "b"], cache)
        #expect(try rating("a", cache) == 0 && rating("b", cache) == 1)
    }
}
