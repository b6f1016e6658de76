import Files
import Glibc
import Logging
import Model
import Numbers
import TestSupport
import Testing

@testable import Cache

/// The beginnings of photos that a killed process left.
@Suite struct AdoptedPartTests {
    private let folder = TestFolder()

    /// Opens the cache like a process of a run, with a photo in its list.
    private func open(run: UInt64?, photo id: String = "a") async throws -> GalleryCache {
        let caches = try CacheFolder(path: folder.path("cache"), run: run, log: Log())
        let cache = try caches.open(Address("http://example.org/album/index.xml"))
        let draft = try cache.beginSync()
        try draft.add([try TestCache.entry(id, date: 0)])
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 0))
        return cache
    }

    private func key(_ cache: GalleryCache) throws -> PhotoKey {
        try #require(try cache.read { try $0.photo(galleryID: "a") }).key
    }

    /// Leaves a part as a killed process does: with another name, which the end of this process's object does not remove.
    private func leavePart(
        in cache: GalleryCache, size: Int = 100_000, at address: Address? = nil, whole: ByteCount? = 200_000
    ) throws {
        let file = try cache.files.makePartial(of: key(cache), edition: 1)
        file.write(String(repeating: "x", count: size))
        let source = try #require(try cache.read { try $0.source(of: try key(cache), .original)?.address })
        cache.parts.writeNote(
            of: try key(cache), edition: 1,
            PartResumption(address: address ?? source, validator: "\"1\"", whole: whole), to: file)
        try #require(link(file.path, file.path + "k") == 0)
    }

    private func partials(_ cache: GalleryCache) -> Int {
        folder.entries("cache/galleries/\(cache.id)/partial").count
    }

    @Test("A process of the same run takes the part over")
    func sameRun() async throws {
        let cache = try await open(run: 7)
        try leavePart(in: cache)
        cache.adoptParts()
        let key = try key(cache)
        #expect(cache.parts.size(key, edition: 1) == 100_000 && partials(cache) == 1)
        let part = try #require(cache.parts.take(key, edition: 1))
        #expect(part.validator == "\"1\"" && part.whole == 200_000 && part.url.hasPrefix("http://example.org/"))
        // A stored photo has no note.
        let stored = try await cache.writer.store(photo: part.file, of: key, edition: 1)
        #expect(stored && FileNote.read(from: part.file.descriptor) == nil)
    }

    @Test("A part whose full length is unknown is taken over, too")
    func unknownLength() async throws {
        let cache = try await open(run: 7)
        try leavePart(in: cache, whole: nil)
        cache.adoptParts()
        let part = try #require(cache.parts.take(key(cache), edition: 1))
        #expect(part.size == 100_000 && part.whole == nil)
    }

    @Test("Parts of other runs, of other addresses and without a note are removed", arguments: [0, 1, 2, 3])
    func others(kind: Int) async throws {
        var cache = try await open(run: kind == 3 ? nil : 7)
        switch kind {
        case 0: try leavePart(in: cache)
        case 1: try leavePart(in: cache, at: Address("http://example.org/another.jpg"))
        case 2: folder.write("cache/galleries/\(cache.id)/partial/x", "abc")
        default: try leavePart(in: cache)
        }
        // After another start, the machine may have lost power.
        if kind == 0 { cache = try await open(run: 8) }
        cache.adoptParts()
        #expect(try cache.parts.size(key(cache), edition: 1) == 0 && partials(cache) == 0)
    }

    @Test("A part that a process is writing is not taken over")
    func inUse() async throws {
        let cache = try await open(run: 7)
        let file = try cache.files.makePartial(of: key(cache), edition: 1)
        cache.adoptParts()
        #expect(partials(cache) == 1)
        withExtendedLifetime(file) {}
    }
}
