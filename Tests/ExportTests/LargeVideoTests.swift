import Glibc
import Logging
import Model
import Session
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Export

/// Saved videos that take much of the limit of the caches. The tests fulfil the wishes.
@Suite struct LargeVideoTests {
    private let folder = TestFolder()
    private let wishes = Wishes()
    private let cache: GalleryCache
    private let caches: CacheFolder
    private static let size = 30_000

    init() throws {
        caches = try CacheFolder(path: folder.path("cache"), limit: 100_000, log: Log())
        cache = try caches.open(Address("http://example.org/album/"))
    }

    private func sync(_ names: [String]) async throws -> [PhotoKey] {
        let draft = try cache.beginSync()
        try draft.add(
            names.map { name in
                GalleryEntry(
                    id: name, name: name, date: Timestamp(milliseconds: 1), dateOrigin: .modified,
                    photo: try cache.address.resolving(name), thumbnail: nil, revision: "1",
                    videoMilliseconds: name.hasSuffix(".mp4") ? 0 : nil)
            })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        return try names.map { name in try #require(try cache.read { try $0.photo(galleryID: name) }).key }
    }

    private func store(_ key: PhotoKey, size: Int = size) async throws {
        let partial = try cache.files.makePartial(of: key, edition: 1)
        let bytes = [UInt8](repeating: 7, count: size)
        #expect(write(partial.descriptor, bytes, bytes.count) == bytes.count)
        try await cache.writer.store(photo: partial, of: key, edition: 1)
    }

    private func export(_ keys: [PhotoKey], mayFetch: Bool = true) throws -> PhotoExport {
        let retries = RetryWatch(Activity()) { Timestamp(milliseconds: 0) }
        return try PhotoExport(
            keys, of: cache, to: folder.path("out"), mask: .ownerOnly, wishes: wishes, retries: mayFetch ? retries : nil
        )
    }

    private func isHeld(_ key: PhotoKey) throws -> Bool {
        try cache.read { try $0.photo(key)?.original.held } != nil
    }

    @Test("BEHAVIOURS 4.2: a large video leaves the cache once it is saved; smaller videos and photos stay")
    func leaves() async throws {
        let keys = try await sync(["large.mp4", "small.mp4", "large.jpg"])
        for key in keys { try await store(key, size: key == keys[1] ? 1_000 : Self.size) }
        // A copy for another program is no reason to fetch the video again.
        #expect(try await export(keys, mayFetch: false).run().exported == 3)
        #expect(try keys.map(isHeld) == [true, true, true])
        #expect(try await export(keys).run().exported == 3)
        #expect(try keys.map(isHeld) == [false, true, true])
        #expect(folder.entries("out").count == 3 && wishes.photos(of: cache.id).isEmpty)
    }

    @Test("BEHAVIOURS 4.2: a video that another export needs stays")
    func needed() async throws {
        let keys = try await sync(["large.mp4"])
        try await store(keys[0])
        let subject = Wish.Subject.picture(cache.id, keys[0], .original)
        wishes.hold(subject)
        #expect(try await export(keys).run().exported == 1)
        #expect(try isHeld(keys[0]) && wishes.photos(of: cache.id) == [keys[0]])
        wishes.release(subject)
        #expect(try await export(keys).run().exported == 1)
        #expect(try !isHeld(keys[0]))
    }

    @Test("BEHAVIOURS 4.2: a fetched video stays until the export has copied it, although the caches are cleaned")
    func waits() async throws {
        let keys = try await sync(["slow.jpg", "large.mp4"])
        let (caches, cache, wishes) = (caches, cache, wishes)
        // Serves the video first. The photo comes only after the cleaning.
        let serving = Task {
            for await snapshot in wishes.snapshots() {
                for key in keys.reversed() {
                    let subject = Wish.Subject.picture(cache.id, key, .original)
                    guard snapshot.wishes.contains(where: { $0.subject == subject }), wishes.isStanding(subject) else {
                        continue
                    }
                    try await store(key)
                    wishes.fulfil(subject)
                    if key == keys[1] {
                        await CacheCleaning(
                            caches, limit: 1, remembered: nil, wished: { wishes.photos(of: $0) },
                            now: Timestamp(milliseconds: 1), log: Log()
                        ).run()
                    }
                }
            }
        }
        defer { serving.cancel() }
        #expect(try await export(keys).run().exported == 2)
        #expect(folder.entries("out").count == 2 && wishes.photos(of: cache.id).isEmpty)
    }
}
