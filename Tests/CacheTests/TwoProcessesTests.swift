import Foundation
import Logging
import Model
import TestSupport
import Testing

@testable import Cache
@testable import SQLite

/// One cache opened twice, as by a browser and an update in another process.
@Suite struct TwoProcessesTests {
    private let folder = TestFolder()
    private let log = Log()
    private let ours: GalleryCache
    private let theirs: GalleryCache

    init() throws {
        let address = try Address("http://example.org/album/index.xml")
        ours = try CacheFolder(path: folder.path("cache"), log: log).open(address)
        theirs = try CacheFolder(path: folder.path("cache"), log: Log()).open(address)
    }

    private func sync(_ ids: [String], into cache: GalleryCache) async throws {
        try await TestCache.sync(ids.map { try TestCache.entry($0) }, into: cache)
    }

    @Test(.unlessItHangs) func commitsOfAnotherProcessArePublished() async throws {
        let changes = ours.changes()
        try await sync(["a", "b"], into: theirs)
        let change = await changes.next()
        // As rows, so that a list of a million need not be reloaded for two.
        let keys = try ["a", "b"].compactMap { id in try theirs.read { try $0.photo(galleryID: id)?.key.rawValue } }
        #expect(change?["photo"] == .listed(Set(keys)) && change?["gallery"] == .listed([1]))
        #expect(try ours.read { try $0.photo(galleryID: "a") } != nil)
    }

    @Test("Commits of another process are published even if the system has no watch left", .unlessItHangs)
    func withoutWatch() async throws {
        // A file that is gone cannot be watched, like all files if there is no watch left.
        unlink(ours.folder + "/lock")
        let changes = (ours.changes(), ours.changes())
        try await sync(["a"], into: theirs)
        #expect(await changes.0.next()?["photo"] != nil)
        try await sync(["a", "b"], into: theirs)
        #expect(await changes.0.next()?["photo"] != nil)
        #expect(log.entries.count { $0.message.contains("no file watch left") } == 1)
    }

    @Test("Many galleries share one descriptor that reports the commits of other processes", .unlessItHangs)
    func manyGalleries() async throws {
        let caches = try CacheFolder(path: folder.path("many"), log: Log())
        let galleries = try (0..<30).map { try caches.open(Address("http://example.org/\($0)/index.xml")) }
        let changes = galleries.map { $0.changes() }
        #expect(try Self.descriptors(watching: galleries) == 1)
        let other = try CacheFolder(path: folder.path("many"), log: Log()).open(galleries[29].address)
        try await sync(["a"], into: other)
        let change = await changes[29].next()
        #expect(change?["photo"] != nil)
    }

    /// Returns how many descriptors of this process watch the locks of these galleries.
    private static func descriptors(watching galleries: [GalleryCache]) throws -> Int {
        let files = try galleries.map { gallery in
            var status = stat()
            try #require(stat(gallery.folder + "/lock", &status) == 0)
            return " ino:\(String(status.st_ino, radix: 16)) "
        }
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").count { name in
            // Other tests may close their descriptors meanwhile.
            let watched = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)) ?? ""
            return watched.contains("inotify wd:") && files.contains { watched.contains($0) }
        }
    }

    @Test("Only one process updates a gallery at a time, and the second waits for its turn", .unlessItHangs)
    func turns() async throws {
        var turn = try await GalleryCache.takeTurns(of: [ours]) { _ in Issue.record("it waits for itself") }.first?.turn
        #expect(try UpdateTurn(folder: theirs.folder) == nil)
        let isSecond = Gate()
        let second = Task { [theirs] in try await GalleryCache.takeTurns(of: [theirs]) { _ in isSecond.open() } }
        while !isSecond.isOpen { await Task.yield() }
        #expect(try UpdateTurn(folder: ours.folder) == nil && turn != nil)
        turn = nil
        let last = try await second.value
        #expect(try UpdateTurn(folder: ours.folder) == nil)
        withExtendedLifetime(last) {}
    }

    @Test("A cancellation ends the wait for a turn", .unlessItHangs)
    func cancelledTurn() async throws {
        let turn = try await GalleryCache.takeTurns(of: [ours])
        let isSecond = Gate()
        let second = Task { [theirs] in try await GalleryCache.takeTurns(of: [theirs]) { _ in isSecond.open() } }
        while !isSecond.isOpen { await Task.yield() }
        second.cancel()
        await #expect(throws: CancellationError.self) { _ = try await second.value }
        withExtendedLifetime(turn) {}
    }

    @Test(
        "A commit announces up to 1,000 rows one by one, and more as many", .unlessItHangs, arguments: [1_000, 1_001])
    func longCommits(count: Int) async throws {
        let changes = ours.changes()
        try await sync((0..<count).map { "\($0)" }, into: theirs)
        let rows = try #require(await changes.next()?["photo"])
        if case .listed(let listed) = rows {
            #expect(listed.count == 1_000 && count == 1_000)
        } else {
            #expect(count == 1_001)
        }
    }

    @Test func ownCommitsArePublishedOnce() async throws {
        try await sync(["a"], into: ours)
        #expect(try await !ours.writer.announceOthers())
        // The first commit counts once.
        try await theirs.writer.announceOthers()
        try await sync(["b"], into: theirs)
        #expect(try await !theirs.writer.announceOthers())
    }

    @Test(.unlessItHangs) func missingTooManyCommitsReloadsEverything() async throws {
        for number in 0..<300 { try await sync(["\(number)"], into: theirs) }
        let changes = ours.changes()
        try await ours.writer.announceOthers()
        #expect(changes.unfinished?["photo"] == .many)
        // Commits by a tool without announcements are noticed, too.
        let second = ours.changes()
        let tool = try Connection(path: ours.folder + "/gallery.sqlite", access: .readWrite)
        try tool.execute("UPDATE photo SET date = 7")
        try await ours.writer.announceOthers()
        #expect(second.unfinished?["photo"] == .many)
        // Alternating commits are published once to each other.
        let later = ours.changes()
        try await sync(["x"], into: theirs)
        try await ours.writer.recordOpened(at: Timestamp(milliseconds: 1))
        let key = try #require(try ours.read { try $0.photo(galleryID: "x") }?.key)
        let rows = try #require(later.unfinished?["photo"])
        guard case .listed(let keys) = rows else { return #expect(rows == .listed([key.rawValue])) }
        #expect(keys.contains(key.rawValue))
        // The end of an update empties the log, which is not a change.
        await theirs.writer.close()
        #expect(try await !ours.writer.announceOthers())
    }

    /// A list on the screen follows, and its photos keep their identity.
    @MainActor @Test(.unlessItHangs) func listsFollow() async throws {
        try await sync(["a", "b"], into: ours)
        let results = try FetchedResults(of: ours)
        let key = try #require(try ours.read { try $0.photo(galleryID: "b") }?.key)
        try await sync(["b", "c", "d"], into: theirs)
        while results.count != 3 || results.index(of: key) == nil {
            guard await results.nextDifference() != nil else { break }
        }
        #expect(results.count == 3)
        #expect(try results.photo(key)?.galleryID == "b")
    }

    @Test("A rating waits for a long transaction of another process, but not at the end of the program", .unlessItHangs)
    func longTransactions() async throws {
        try await sync(["a"], into: ours)
        let key = try #require(try ours.read { try $0.photo(galleryID: "a") }?.key)
        // The timeout stands for the five seconds after which SQLite gives up.
        try await ours.writer.transaction { try $0.execute("PRAGMA busy_timeout = 20") }
        let other = try Connection(path: ours.folder + "/gallery.sqlite", access: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        let rating = Task { [ours] in try await ours.writer.rate([key], Rating(4)) }
        while !log.entries.contains(where: { $0.message.contains("waiting until another process") }) {
            await Task.yield()
        }
        try other.execute("COMMIT")
        #expect(try await rating.value == 1)
        try other.execute("BEGIN IMMEDIATE")
        ours.writer.stopWaiting()
        await #expect(throws: CacheError.database(.locked)) { try await ours.writer.recordLeft() }
    }

    /// Two updates of one list: the second finds that the list has changed.
    @Test func theSlowerUpdateFails() async throws {
        let draft = try ours.beginSync()
        try draft.add([TestCache.entry("slow")])
        try await sync(["fast"], into: theirs)
        await #expect(throws: CacheError.conflict) {
            try await ours.writer.commit(
                draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        }
    }
}
