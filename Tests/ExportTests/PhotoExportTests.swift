import Foundation
import Session
import Logging
import Model
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Export

/// The tests fulfil the wishes; the cache, the wishes and the files are real.
@Suite struct PhotoExportTests {
    private let folder = TestFolder()
    private let wishes = Wishes()
    private let activity = Activity()
    private let cache: GalleryCache

    init() throws {
        cache = try CacheFolder(path: folder.path("cache"), log: Log()).open(
            Address("http://example.org/album/index.xml"))
    }

    private func sync(_ names: [String], date: Int64 = 1) async throws -> [PhotoKey] {
        let base = try Address("http://example.org/album/index.xml")
        let draft = try cache.beginSync()
        try draft.add(
            names.enumerated().map { number, name in
                GalleryEntry(
                    id: "\(number)", name: name, date: Timestamp(milliseconds: date),
                    photo: try base.resolving("\(number).jpg"), thumbnail: nil)
            })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        return try (0..<names.count).map { number in
            try #require(try cache.read { try $0.photo(galleryID: "\(number)") }).key
        }
    }

    private func contents(_ key: PhotoKey) -> [UInt8] { [0xFF, 0xD8, 0xFF, 0xE0] + Array("\(key.rawValue)".utf8) }

    private func store(_ key: PhotoKey, _ other: [UInt8]? = nil) async throws {
        let photo = try #require(try cache.read { try $0.photo(key) })
        let partial = try cache.files.makePartial(of: photo.key, edition: photo.original.edition)
        let bytes = other ?? contents(key)
        #expect(write(partial.descriptor, bytes, bytes.count) == bytes.count)
        #expect(
            try await cache.writer.store(
                photo: partial, of: key, edition: photo.original.edition, validators: Validators()))
    }

    private func file(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: folder.path("out/" + name)).map(Array.init)
    }

    private func export(_ keys: [PhotoKey], mayFetch: Bool = true) throws -> PhotoExport {
        try PhotoExport(
            keys, of: cache, to: folder.path("out"), mask: .ownerOnly, wishes: wishes, retries: mayFetch ? retries : nil
        )
    }

    /// The retries, at a time that does not change.
    private var retries: RetryWatch { RetryWatch(activity) { Timestamp(milliseconds: 10_000) } }

    /// Calls the body for each wish and then withdraws the wish.
    private func serve(_ body: @escaping @Sendable (PhotoKey) async throws -> Void) -> Task<Void, any Error> {
        Task { [wishes] in
            for await snapshot in wishes.snapshots() {
                for wish in snapshot.wishes where wishes.isStanding(wish.subject) {
                    guard case .picture(_, let key, .original) = wish.subject else { continue }
                    try await body(key)
                    wishes.fulfil(wish.subject)
                }
            }
        }
    }

    @Test("Cached photos are copied and missing ones are fetched") func copiesAndFetches() async throws {
        let keys = try await sync((0..<60).map { "Photo \($0)" })
        for key in keys[..<20] { try await store(key) }
        let most = Mutex(0)
        let serving = serve { [wishes] key in
            let count = keys.count { wishes.isStanding(.picture(cache.id, $0, .original)) }
            most.withLock { $0 = max($0, count) }
            try await store(key)
        }
        defer { serving.cancel() }
        let events = Mutex<[Int]>([])
        let report = try await export(keys).run { event in events.withLock { $0.append(event.number) } }
        #expect(report == PhotoExport.Report(exported: 60, failed: 0, left: 0))
        #expect(events.withLock { $0 } == Array(1...60))
        #expect(keys.enumerated().allSatisfy { file("Photo \($0).jpg") == contents($1) })
        #expect(folder.entries("out").count == 60 && wishes.isEmptyNow)
        #expect((2...16).contains(most.withLock { $0 }), "a few at a time, never all")
        // A second run finds all photos exported.
        let again = try await export(keys).run()
        #expect(again.exported == 60 && folder.entries("out").count == 60)
    }

    @Test("An export requests its photos after the thumbnails on the screen") func importance() async throws {
        let export = try export(try await sync(["Lake"]))
        let working = Task { try await export.run() }
        let snapshots = wishes.snapshots()
        var requested: [Wish] = []
        while requested.isEmpty { requested = await snapshots.next()?.wishes ?? [] }
        #expect(requested.allSatisfy { $0.importance < .visible })
        working.cancel()
        #expect(try await working.value.left == 1)
    }

    @Test("Photos with the same title get numbered files") func sameTitles() async throws {
        let keys = try await sync(["Lake", "LAKE", "Lake"])
        for key in keys { try await store(key) }
        for _ in 0..<2 {
            #expect(try await export(keys).run().exported == 3)
            #expect(folder.entries("out") == ["LAKE (2).jpg", "Lake (3).jpg", "Lake.jpg"])
        }
    }

    @Test("Photos with the same title keep their files when their order changes or another one arrives")
    func movedTitles() async throws {
        let first = try await sync(["Lake", "Lake"])
        for key in first { try await store(key) }
        #expect(try await export(first).run().exported == 2)
        // Another program passes the photos one by one, or in another order.
        let orders: [[PhotoKey]] = [first, [first[1], first[0]], [first[1]], [first[0]]]
        for keys in orders {
            #expect(try await export(keys).run() == PhotoExport.Report(exported: keys.count, failed: 0, left: 0))
        }
        let all = try await sync(["Lake", "Lake", "Lake"])
        try await store(all[2])
        let others: [[PhotoKey]] = [[all[2]], [all[2], all[0], all[1]], all]
        for keys in others {
            #expect(try await export(keys).run() == PhotoExport.Report(exported: keys.count, failed: 0, left: 0))
            #expect(folder.entries("out") == ["Lake (2).jpg", "Lake (3).jpg", "Lake.jpg"])
        }
        #expect(file("Lake.jpg") == contents(all[0]) && file("Lake (2).jpg") == contents(all[1]))
        #expect(file("Lake (3).jpg") == contents(all[2]))
        // A number counts, too, if no file has the name without a number.
        #expect(unlink(folder.path("out/Lake.jpg")) == 0)
        #expect(try await export([all[2], all[1]]).run().exported == 2)
        #expect(folder.entries("out") == ["Lake (2).jpg", "Lake (3).jpg"])
    }

    @Test("Photos with the same title and contents get a file each") func equalTwins() async throws {
        let keys = try await sync(["Lake", "Lake"])
        for key in keys { try await store(key, contents(keys[0])) }
        for order in [keys, [keys[1], keys[0]]] {
            #expect(try await export(order).run() == PhotoExport.Report(exported: 2, failed: 0, left: 0))
            #expect(folder.entries("out") == ["Lake (2).jpg", "Lake.jpg"])
        }
    }

    @Test("A photo that has left the cache is fetched only if the folder lacks its current edition")
    func droppedPhotos() async throws {
        let names = ["Lake", "Lake", "Hill", "Moor.JPG"]
        let keys = try await sync(names)
        for key in keys { try await store(key) }
        let all = PhotoExport.Report(exported: 4, failed: 0, left: 0)
        #expect(try await export(keys).run() == all)
        let fetched = Mutex<Set<PhotoKey>>([])
        let serving = serve { key in
            _ = fetched.withLock { $0.insert(key) }
            try await store(key)
        }
        defer { serving.cancel() }
        #expect(try await cache.writer.clear(photosOnly: true) == 4)
        let reversed: [PhotoKey] = keys.reversed()
        #expect(try await export(reversed).run() == all)
        #expect(try await export(keys, mayFetch: false).run() == all)
        #expect(fetched.withLock { $0 }.isEmpty && wishes.isEmptyNow)
        // The user has removed a file.
        #expect(unlink(folder.path("out/Lake (2).jpg")) == 0)
        #expect(try await export(keys).run() == all)
        #expect(fetched.withLock { $0 } == [keys[1]])
        // The user has changed a file.
        folder.write("out/Hill.jpg", "mine!")
        #expect(try await cache.writer.clear(photosOnly: true) == 1)
        #expect(try await export(keys).run() == PhotoExport.Report(exported: 3, failed: 1, left: 0))
        #expect(fetched.withLock { $0 } == [keys[1], keys[2]] && file("Hill.jpg") == Array("mine!".utf8))
        // The gallery has new editions of all photos.
        #expect(unlink(folder.path("out/Hill.jpg")) == 0)
        #expect(try await sync(names, date: 2) == keys)
        #expect(try await export(keys).run() == all)
        #expect(fetched.withLock { $0 } == Set(keys))
        #expect(folder.entries("out") == ["Hill.jpg", "Lake (2).jpg", "Lake.jpg", "Moor.JPG"])
    }

    @Test("A page that looks like a video is saved as a video") func pages() async throws {
        let keys = try await sync(["index.html", "GNUmakefile"])
        for key in keys { try await store(key, Array("<!--skip-->".utf8) + [UInt8](repeating: 0x20, count: 500)) }
        #expect(try await export(keys).run().exported == 2)
        #expect(folder.entries("out") == ["GNUmakefile.mp4", "index.html.mp4"])
    }

    @Test("Failed photos are reported with their reasons") func reportsFailures() async throws {
        let keys = try await sync(["bad", "late", "mine"])
        try await store(keys[2])
        folder.write("out/mine.jpg", "my own")
        let serving = serve { [cache] key in
            let photo = try #require(try cache.read { try $0.photo(key) })
            let failure = Failure("the server answered 404 (not found)", remedy: .none)
            try await cache.writer.recordTrouble(
                photo.name == "bad" ? .bad(failure) : .putOff(Failure("nobody answers", remedy: .time)), for: .original,
                of: key, edition: photo.original.edition)
        }
        defer { serving.cancel() }
        let reasons = Mutex<[String: String]>([:])
        let report = try await export(keys + [PhotoKey(999)]).run { event in
            guard case .failure(let error) = event.result else { return }
            reasons.withLock { $0[event.photo?.name ?? "?"] = "\(error)" }
        }
        #expect(report == PhotoExport.Report(exported: 0, failed: 4, left: 0))
        let texts = reasons.withLock { $0 }
        #expect(texts["bad"] == "The photo is not in the cache: the server answered 404 (not found).")
        #expect(texts["late"] == "The photo is not in the cache: nobody answers.")
        #expect(
            texts["mine"]?.hasSuffix("already exists with different content. Vitrine did not overwrite it.") == true)
        #expect(texts["?"] == "The photo is no longer in the gallery.")
    }

    /// Records that a request failed, and the time in seconds until its next attempt.
    private func putOff(_ key: PhotoKey, at time: Int64, for seconds: Double) {
        let last = Timestamp(milliseconds: time)
        activity.recordFailure(
            FailureReport(
                .picture(cache.id, key, .original), Failure("the server answered 500", remedy: .time), attempts: 3,
                first: last, last: last, next: Timestamp(milliseconds: 10_000).advanced(by: seconds)))
    }

    @Test("A photo that keeps failing is reported, and the others are exported", .unlessItHangs, arguments: [0, 7, 19])
    func keepsFailing(index: Int) async throws {
        let keys = try await sync((0..<20).map { "Photo \($0)" })
        let failing = Wish.Subject.picture(cache.id, keys[index], .original)
        // The failure of an earlier request says nothing about the export's request.
        putOff(keys[index], at: 1, for: 3_600)
        let attempts = Mutex(0)
        let serving = Task {
            for await snapshot in wishes.snapshots() {
                for wish in snapshot.wishes where wish.subject != failing && wishes.isStanding(wish.subject) {
                    try await store(try #require(wish.subject.photo))
                    wishes.fulfil(wish.subject)
                }
                guard snapshot.wishes.map(\.subject) == [failing] else { continue }
                // The second attempt follows within a second. The next one is far away.
                attempts.withLock { $0 += 1 }
                putOff(keys[index], at: 2, for: 1)
                putOff(keys[index], at: 3, for: 3_600)
            }
        }
        defer { serving.cancel() }
        let failures = Mutex<[String]>([])
        let report = try await export(keys).run { event in
            if let failure = event.failure(after: nil) { failures.withLock { $0.append(failure) } }
        }
        #expect(report == PhotoExport.Report(exported: 19, failed: 1, left: 0) && wishes.isEmptyNow)
        let failure = "“Photo \(index)”: The photo is not in the cache: the server answered 500."
        #expect(failures.withLock { $0 } == [failure] && attempts.withLock { $0 } > 0)
    }

    @Test("After an outage, an export waits for the photos that are tried again soon", .unlessItHangs)
    func outage() async throws {
        let keys = try await sync((0..<20).map { "Photo \($0)" })
        let serving = Task {
            var isDown = true
            for await snapshot in wishes.snapshots() {
                let standing = snapshot.wishes.map(\.subject).filter { wishes.isStanding($0) }.compactMap(\.photo)
                if isDown {
                    for key in standing { putOff(key, at: 1, for: 3_600) }
                    guard standing.count == 16 else { continue }
                    // The server answers again, and all requests are tried again soon.
                    isDown = false
                    for key in standing { putOff(key, at: 1, for: 1) }
                }
                // The last photo comes first.
                for key in standing.reversed() {
                    try await store(key)
                    wishes.fulfil(.picture(cache.id, key, .original))
                }
            }
        }
        defer { serving.cancel() }
        #expect(try await export(keys).run() == PhotoExport.Report(exported: 20, failed: 0, left: 0))
    }

    @Test("A photo that the user skips is requested once, and the export continues without it", .unlessItHangs)
    func skips() async throws {
        let keys = try await sync(["Lake", "Hill"])
        let requests = Mutex(0)
        let serving = serve { [wishes, cache] key in
            guard key == keys[0] else { return try await store(key) }
            requests.withLock { $0 += 1 }
            wishes.decline(.picture(cache.id, key, .original))
        }
        defer { serving.cancel() }
        let failures = Mutex<[String]>([])
        let report = try await export(keys).run { event in
            if let failure = event.failure(after: nil) { failures.withLock { $0.append(failure) } }
        }
        #expect(report == PhotoExport.Report(exported: 1, failed: 1, left: 0) && requests.withLock { $0 } == 1)
        #expect(failures.withLock { $0 } == ["“Lake”: The photo is not in the cache: you skipped it."])
    }

    /// As when a stored password is found after the server has asked for it.
    @Test("Failed photos are retried when a password is found") func retriesAfterPassword() async throws {
        let keys = try await sync((0..<20).map { "Photo \($0)" })
        let isAnswered = Mutex(false)
        let serving = serve { key in
            if isAnswered.withLock({ $0 }) { return try await store(key) }
            let edition = try #require(try cache.read { try $0.photo(key) }).original.edition
            let failure = Failure("a password is needed", remedy: .none)
            try await cache.writer.recordTrouble(.bad(failure), for: .original, of: key, edition: edition)
        }
        defer { serving.cancel() }
        let export = try PhotoExport(
            keys, of: cache, to: folder.path("out"), mask: .ownerOnly, wishes: wishes, retries: retries
        ) { [cache] in
            isAnswered.withLock { $0 = true }
            let failed = (try? cache.read { try $0.counts().failed }) ?? 0
            try? await cache.writer.retry()
            return failed > 0
        }
        #expect(try await export.run() == PhotoExport.Report(exported: 20, failed: 0, left: 0))
    }

    @Test("An offline export makes no wishes") func offline() async throws {
        let keys = try await sync(["here", "not here"])
        try await store(keys[0])
        let report = try await export(keys, mayFetch: false).run()
        #expect(report == PhotoExport.Report(exported: 1, failed: 1, left: 0) && wishes.isEmptyNow)
    }

    @Test("An export requests only the photos that it may fetch, such as those on the disk")
    func someFetched() async throws {
        let keys = try await sync(["here", "elsewhere"])
        let serving = serve { key in try await store(key) }
        defer { serving.cancel() }
        let export = try PhotoExport(
            keys, of: cache, to: folder.path("out"), mask: .ownerOnly, wishes: wishes,
            mayFetch: { $0 == keys[0] }, retries: retries)
        #expect(try await export.run() == PhotoExport.Report(exported: 1, failed: 1, left: 0))
        #expect(folder.entries("out") == ["here.jpg"])
    }

    /// During a fetch, the gallery announces the next edition.
    @Test("The export waits for the newest edition") func newestEdition() async throws {
        let keys = try await sync(["Lake"])
        let isFirst = Mutex(true)
        let serving = serve { key in
            try await store(key)
            guard
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }; return isFirst
                })
            else { return }
            _ = try await sync(["Lake"], date: 2)
        }
        defer { serving.cancel() }
        #expect(try await export(keys).run().exported == 1)
        #expect(try cache.read { try $0.photo(keys[0]) }?.original.isCurrent == true)
    }

    @Test(
        "BEHAVIOURS 5.8: A stopped export withdraws its wishes, reports the rest, and can be continued"
    )
    func stopped() async throws {
        let keys = try await sync((0..<40).map { "Photo \($0)" })
        for key in keys[..<10] { try await store(key) }
        let export = try export(keys)
        let events = Mutex(0)
        let snapshots = wishes.snapshots()
        let working = Task { try await export.run { _ in events.withLock { $0 += 1 } } }
        while let snapshot = await snapshots.next(), snapshot.wishes.count < 16 {}
        working.cancel()
        let report = try await working.value
        #expect(report.exported == 10 && report.failed == 0 && report.left == 30)
        let rest = try await export.rest()
        #expect(rest?.gallery == cache.address && rest?.folder == folder.path("out") && rest?.ids == [])
        #expect(events.withLock { $0 } == 10 && folder.entries("out").count == 10 && wishes.isEmptyNow)
        let serving = serve { try await store($0) }
        defer { serving.cancel() }
        #expect(try await self.export(keys).run().exported == 40)
    }
}

/// The command that continues an export.
@Suite struct ExportRestTests {
    private let folder = TestFolder()

    /// Returns the command's ids for an export of these photos that stopped after `count`.
    private func ids(_ names: [String], of numbers: [Int], after count: Int) async throws -> [String]? {
        try await rest(names, of: numbers, after: count).ids
    }

    /// Returns the command's ids, and the number of statements that read them.
    private func rest(
        _ names: [String], of numbers: [Int], after count: Int
    ) async throws -> (ids: [String]?, statements: Int) {
        let base = try Address("http://example.org/album/index.xml")
        let cache = try CacheFolder(path: folder.path("cache"), log: Log()).open(base)
        let draft = try cache.beginSync()
        for (number, name) in names.enumerated() {
            try draft.add([
                GalleryEntry(
                    id: "\(number)", name: name, date: Timestamp(milliseconds: Int64(number)),
                    photo: try base.resolving("\(number).jpg"), thumbnail: nil)
            ])
        }
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        let keys = try numbers.map { number in
            try #require(try cache.read { try $0.photo(galleryID: "\(number)") }).key
        }
        var left = KeySet()
        for key in keys[count...] { left.insert(key) }
        // The calls follow each other, so all use the same connection.
        let before = try cache.read { $0.connection.work.statements }
        let rest = try ExportRest(keys, left: left, of: cache, folder: "/out")
        return (rest?.ids, try cache.read { $0.connection.work.statements } - before)
    }

    @Test("The rest of a long export is read in a few statements")
    func long() async throws {
        let names = (0..<2_000).map { "Photo \($0)" }
        let part = try await rest(names, of: Array(1..<2_000), after: 1)
        #expect(part.ids == (2..<2_000).map(String.init) && part.statements <= 10)
        let whole = try await rest(names, of: (0..<2_000).reversed(), after: 1)
        #expect(whole.ids == [] && whole.statements <= 10)
        let inOrder = try await rest(names, of: Array(0..<2_000), after: 1)
        #expect(inOrder.ids == [] && inOrder.statements <= 2)
    }

    @Test("The whole gallery needs no ids, in whatever order it was chosen")
    func whole() async throws {
        #expect(try await ids(["a", "b", "c"], of: [0, 1, 2], after: 1) == [])
        #expect(try await ids(["a", "b", "c"], of: [2, 0, 1], after: 1) == [])
    }

    @Test("Part of a gallery is continued with the remaining ids")
    func some() async throws {
        #expect(try await ids(["a", "b", "c", "d"], of: [0, 1, 3], after: 1) == ["1", "3"])
        #expect(try await ids(["a", "b", "c", "d"], of: [0, 1, 3], after: 3) == nil)
    }

    @Test("If a remaining photo shares a title with an exported one, all ids are listed in order")
    func twins() async throws {
        let names = ["Lake", "b", "LAKE.jpg", "d"]
        #expect(try await ids(names, of: [0, 1, 2], after: 1) == ["0", "1", "2"])
        #expect(try await ids(names, of: [1, 0, 2], after: 1) == ["0", "2"])
        // Without ids the gallery's order would reverse the numbers.
        #expect(try await ids(names, of: [2, 1, 0, 3], after: 1) == ["2", "1", "0", "3"])
    }
}

extension Wishes {
    /// Whether there are no wishes.
    fileprivate var isEmptyNow: Bool { snapshots().unfinished?.wishes.isEmpty != false }
}
