import Foundation
import Logging
import Model
import TestSupport
import Testing

@testable import Cache

/// Who comes and goes while there is cleaning.
extension CacheCleaningTests {
    /// Somebody comes while others are cleaned, and is gone when it is this one's turn.
    @Test(
        "BEHAVIOURS 4.2: who marks, looks at or fills a gallery while others are cleaned finds it as it was",
        arguments: 0..<3)
    func whoComesMeanwhileIsNotCleanedAway(what: Int) async throws {
        // There is no room for the first two; the third is given up whole.
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

    /// The same, between two of the steps that taking one gallery's photos has.
    @Test(arguments: [true, false]) func whoComesBetweenTwoStepsIsNotCleanedAway(isKept: Bool) async throws {
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
        // Who asks for it by name means it.
        try gallery.remove()
        #expect(try size("a") == 0)
    }

    /// Somebody opens a gallery while its database is being copied: it stays as it is, and whole.
    @Test func aDatabaseThatIsOpenedMeanwhileIsNotReplaced() async throws {
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

    /// Who opens a gallery in the moment of a step waits for its end, and does not fail.
    @Test(.unlessItHangs) func openingWaitsForAStep() async throws {
        try await make("a", opened: 10)
        let path = try folder.path(path("a"))
        let lock = try #require(try CacheLock.take(folder: path, .exclusive))
        #expect(try CacheLock.take(folder: path, .shared) == nil)
        let isHeld = Gate()
        Thread.detachNewThread {
            if (try? CacheLock.take(folder: path, .shared, patience: 3_000)) != nil { isHeld.open() }
        }
        // Two have the lock's file open: the other is there, and waits.
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
