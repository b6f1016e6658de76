import Foundation
import Logging
import Model
import TestSupport
import Testing

@testable import Cache

/// Galleries that are opened or changed during the cleaning.
extension CacheCleaningTests {
    /// A gallery is used while others are cleaned, and closed before its turn.
    @Test(
        "BEHAVIOURS 4.2: a gallery marked, opened or filled while others are cleaned stays as it was",
        arguments: 0..<3)
    func galleriesUsedMeanwhileStay(what: Int) async throws {
        // The first two are over the limit; the third is removed whole.
        try await make("a", opened: 91, photos: 2)
        let (limit, remembered): (Int64?, [Address]?) = what < 2 ? (0, nil) : (nil, [])
        let cleaning = CacheCleaning(try caches(), limit: limit, remembered: remembered, now: now, log: log)
        await cleaning.takeStock()
        do {
            let cache = try caches().open(address("a"))
            switch what {
            case 0: try await cache.writer.toggleKept()
            case 1: try await cache.writer.recordOpened(at: time(0))
            default:
                _ = try await cache.writer.commit(
                    cache.beginSync().finish(), skipped: 0, validators: Validators(), at: time(1))
            }
            await cache.writer.close()
        }
        await cleaning.clean()
        #expect(try size("a") > 0)
        if what < 2 { #expect(try counts("a") == [2, 2, 2]) }
        #expect(log.entries.allSatisfy { $0.level != .error })
    }

    /// The same, between two steps that remove photos of one gallery.
    @Test(arguments: [true, false]) func galleriesUsedBetweenTwoStepsStay(isKept: Bool) async throws {
        try await make("a", opened: 10)
        let gallery = try #require(try caches().gallery(address("a")))
        try gallery.dropPhotos(gallery.photosByAge().prefix(3).map(\.name)) { _ in }
        do {
            let cache = try caches().open(address("a"))
            if isKept { try await cache.writer.toggleKept() } else { try await cache.writer.recordOpened(at: now) }
            await cache.writer.close()
        }
        let refused = CacheError.locked(path: gallery.folder)
        #expect(throws: refused) { try gallery.dropPhotos(gallery.photosByAge().map(\.name)) { _ in } }
        #expect(throws: refused) { _ = try gallery.dropThumbnails(1) }
        #expect(throws: refused) { try gallery.shrink() }
        #expect(throws: refused) { try gallery.removeIfUnused() }
        #expect(try counts("a") == [20, 17, 20])
        // Removing a cache by name ignores the mark.
        try gallery.remove()
        #expect(try size("a") == 0)
    }

    /// A gallery is opened while its database is copied.
    @Test("A database opened while it is copied is not replaced") func databaseOpenedDuringCopy() async throws {
        try await make("a", opened: 10)
        let gallery = try #require(try caches().gallery(address("a")))
        #expect(try gallery.dropThumbnails(100) == 20)
        let before = gallery.databaseSize
        let cache = try caches().open(address("a"))
        #expect(throws: CacheError.locked(path: gallery.folder)) { try gallery.shrink() }
        #expect(throws: CacheError.locked(path: gallery.folder)) { _ = try gallery.dropThumbnails(1) }
        #expect(throws: CacheError.locked(path: gallery.folder)) { try gallery.dropPhotos(["1-1-x"]) { _ in } }
        try await cache.writer.recordOpened(at: now)
        #expect(try cache.read { try $0.gallery().lastOpened } == now)
        #expect(try gallery.databaseSize >= before && folder.entries(path("a") + "/partial").isEmpty)
        try await expectWell("a")
    }

    /// The opening waits for the end of the step and does not fail.
    @Test("Opening a gallery waits for a step of the cleaning", .unlessItHangs) func openingWaits() async throws {
        try await make("a", opened: 10)
        let path = try folder.path(path("a"))
        let lock = try #require(try CacheLock.take(folder: path, .exclusive))
        #expect(try CacheLock.take(folder: path, .shared) == nil)
        let isHeld = Gate()
        Thread.detachNewThread {
            if (try? CacheLock.take(folder: path, .shared, patience: 3_000)) != nil { isHeld.open() }
        }
        // Two descriptors of the lock file mean that the other side waits.
        while try descriptors(of: path + "/lock") < 2 { await Task.yield() }
        _ = consume lock
        #expect(isHeld.wait())
    }

    private func descriptors(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
