import Concurrency
import Logging
import Model
import Numbers
import Session
import Synchronization
import TestSupport
import Testing

@testable import Cache

/// The caches' limit while a gallery is open.
@Suite struct CacheSpaceTests {
    private let folder = TestFolder()
    private let log = Log()
    private let now = Timestamp(milliseconds: 4_000_000_000_000)

    /// An open gallery with photos of 10,000 bytes and thumbnails of 5,000.
    private func open(_ photos: Int, limit: Int64? = nil) async throws -> (caches: CacheFolder, cache: GalleryCache) {
        let caches = try CacheFolder(path: folder.path("cache"), limit: limit, log: log)
        let cache = try caches.open(Address("http://example.org/album/index.xml"))
        let draft = try cache.beginSync()
        try draft.add((0..<photos).map { try TestCache.entry("\($0)", date: Int64($0) * 1_000) })
        _ = try await cache.writer.commit(draft.finish(), skipped: 0, validators: Validators(), at: now)
        for index in 0..<photos { try await fill(index, cache) }
        return (caches, cache)
    }

    private func fill(_ index: Int, _ cache: GalleryCache) async throws {
        let key = try key(index, cache)
        let partial = try cache.files.makePartial(of: key, edition: 1)
        partial.write(String(repeating: "x", count: 10_000))
        try await cache.writer.store(photo: partial, of: key, edition: 1)
        try await cache.writer.store(
            thumbnail: [UInt8](repeating: UInt8(index % 256), count: 5_000), of: key, edition: 1)
    }

    private func key(_ index: Int, _ cache: GalleryCache) throws -> PhotoKey {
        try #require(try cache.read { try $0.photo(galleryID: "\(index)") }).key
    }

    private func held(_ rendition: Rendition, _ cache: GalleryCache) throws -> [Int] {
        var held: [Int] = []
        try cache.read {
            try $0.forEachPhoto { photo in
                let state = rendition == .original ? photo.original : photo.thumbnail
                if state.held != nil, let index = Int(photo.galleryID) { held.append(index) }
            }
        }
        return held.sorted()
    }

    private func size(_ cache: GalleryCache) throws -> Int64 {
        let gallery = ClosedGalleryCache(folder: cache.folder)
        return try gallery.photosSize + cache.read { try $0.usedBytes() }
    }

    private func cleaning(_ caches: CacheFolder, limit: Int64, wished: Set<PhotoKey> = []) -> CacheCleaning {
        CacheCleaning(caches, limit: limit, remembered: nil, wished: { _ in wished }, now: now, log: log)
    }

    @Test("BEHAVIOURS 4.2: an open gallery gives up unwanted photos, the oldest first")
    func photosFirst() async throws {
        let (caches, cache) = try await open(40)
        let before = try size(cache)
        let wished = try Set((0..<5).map { try key($0, cache) })
        let limit = before - 100_000
        await cleaning(caches, limit: limit, wished: wished).run()
        // Below the limit, so that the next picture requires no cleaning.
        #expect(try size(cache) <= CacheBudget.part(97, of: limit))
        let photos = try held(.original, cache)
        #expect(Array(photos.prefix(5)) == Array(0..<5) && photos.last == 39 && photos.count < 31)
        #expect(try held(.thumbnail, cache).count == 40)
    }

    @Test("Of large files, only those that are larger than the limit are given up")
    func largerFiles() async throws {
        let (_, cache) = try await open(3)
        #expect(try await cache.writer.freeSpace(fromPhotos: 1, largerThan: 10_000, except: []) == 0)
        #expect(try await cache.writer.freeSpace(fromPhotos: 1, largerThan: 9_999, except: [key(0, cache)]) == 10_000)
        #expect(try held(.original, cache) == [0, 2])
        #expect(try await cache.writer.freeSpace(fromPhotos: 20_000, except: []) == 20_000)
        #expect(try held(.original, cache).isEmpty)
    }

    @Test("BEHAVIOURS 4.2: then it gives up thumbnails; wanted pictures and the list stay")
    func thumbnailsThen() async throws {
        let (caches, cache) = try await open(60)
        let wished = try Set((20..<25).map { try key($0, cache) })
        let limit = try size(cache) - 700_000
        await cleaning(caches, limit: limit, wished: wished).run()
        #expect(try held(.original, cache) == Array(20..<25))
        let thumbnails = try held(.thumbnail, cache)
        #expect(thumbnails.count < 60 && Set(thumbnails).isSuperset(of: 20..<25))
        await cleaning(caches, limit: 1, wished: wished).run()
        #expect(try held(.original, cache) == Array(20..<25) && held(.thumbnail, cache) == Array(20..<25))
        #expect(try cache.read { try $0.gallery() }.photoCount == 60)
    }

    @Test("After a cleaning at the limit, and only then, space is short for pictures off the screen")
    func shortAfterCleaning() async throws {
        let (caches, cache) = try await open(40)
        let size = try size(cache)
        caches.space.setLimit(size + 10_000)
        await cleaning(caches, limit: size + 10_000).run()
        #expect(!caches.space.isShort)
        caches.space.setLimit(size - 100_000)
        await cleaning(caches, limit: size - 100_000).run()
        #expect(caches.space.isShort)
        caches.space.setLimit(2 * size)
        await cleaning(caches, limit: 2 * size).run()
        #expect(!caches.space.isShort)
        // Before pictures off the screen are fetched, 90 % of the limit is too much.
        let rest = try self.size(cache)
        caches.space.setLimit(rest + 10_000)
        await cleaning(caches, limit: rest + 10_000).run(forBulkFetches: true)
        #expect(caches.space.isShort)
    }

    @Test("After the user has made space, the caches are measured again", .timeLimit(.minutes(1)))
    func roomByTheUser() async throws {
        let (caches, cache) = try await open(40)
        let limit = try size(cache) + 10_000
        caches.space.setLimit(limit)
        await cleaning(caches, limit: limit).run(forBulkFetches: true)
        try #require(caches.space.isShort)
        let measured = CoalescingStream<Signal>()
        let relay = caches.space.relayWrites { if $0.isCountDue { measured.send(Signal()) } }
        try await cache.writer.toggleKept()
        _ = await measured.next()
        try await caches.discard(cache.address)
        _ = await measured.next()
        await cleaning(caches, limit: limit).run(forBulkFetches: true)
        #expect(!caches.space.isShort)
        withExtendedLifetime(relay) {}
    }

    @Test("BEHAVIOURS 4.2: an open gallery that nothing needs makes space for bulk fetches, like a closed one")
    func unneeded() async throws {
        let (caches, cache) = try await open(40)
        let limit = try size(cache) * 100 / 92
        caches.space.setLimit(limit)
        func clean(needed: Set<Rendition>) async {
            await CacheCleaning(
                caches, limit: limit, remembered: nil, needed: { _ in needed }, now: now, log: log
            ).run(forBulkFetches: true)
        }
        await clean(needed: [.thumbnail, .original])
        #expect(try caches.space.isShort && held(.original, cache).count == 40)
        await clean(needed: [.thumbnail])
        #expect(try !caches.space.isShort && size(cache) < CacheBudget.part(86, of: limit))
        #expect(try held(.original, cache).count < 40 && held(.thumbnail, cache).count == 40)
    }

    @Test("A screen needs both renditions of its gallery, and a request those that it fetches, or a command holds")
    func neededRenditions() throws {
        let (wishes, id) = (Wishes(), GalleryID(try Address("http://example.org/album/")))
        let other = GalleryID(try Address("http://example.org/other/"))
        let screen = wishes.makeWisher()
        wishes.ask(for: .list(id))
        #expect(wishes.renditions(of: id).isEmpty)
        wishes.state([Wish(.picture(id, PhotoKey(1), .thumbnail), importance: .visible)], by: screen)
        #expect(wishes.renditions(of: id) == [.thumbnail, .original] && wishes.renditions(of: other).isEmpty)
        wishes.withdraw(screen)
        wishes.ask(for: .everyPicture(id, .thumbnail))
        wishes.hold(.everyPicture(other, .original))
        #expect(wishes.renditions(of: id) == [.thumbnail] && wishes.renditions(of: other) == [.original])
        wishes.fulfil(.everyPicture(id, .thumbnail))
        wishes.release(.everyPicture(other, .original))
        #expect(wishes.renditions(of: id).isEmpty && wishes.renditions(of: other).isEmpty)
    }

    @Test("BEHAVIOURS 4.2: a gallery that a screen opens during the cleaning keeps its pictures")
    func neededMeanwhile() async throws {
        let (caches, cache) = try await open(40)
        let limit = try size(cache) * 100 / 92
        let isMeasured = Mutex(false)
        await CacheCleaning(
            caches, limit: limit, remembered: nil,
            needed: { _ in
                isMeasured.withLock { isMeasured -> Set<Rendition> in
                    defer { isMeasured = true }
                    return isMeasured ? [.thumbnail, .original] : []
                }
            }, now: now, log: log
        ).run(forBulkFetches: true)
        #expect(try held(.original, cache).count == 40 && held(.thumbnail, cache).count == 40)
    }

    @Test("BEHAVIOURS 4.2: a gallery that another process needs comes last, too", .unlessItHangs)
    func neededElsewhere() async throws {
        let (caches, cache) = try await open(40)
        let wishes = Wishes()
        let photo = try key(0, cache)
        wishes.state(
            [Wish(.picture(cache.id, photo, .thumbnail), importance: .visible)], by: wishes.makeWisher())
        let others = try CacheFolder(path: folder.path("cache"), log: log)
        let other = try others.open(cache.address)
        let limit = try size(cache) * 100 / 95
        func clean() async {
            await CacheCleaning(
                others, limit: limit, remembered: nil, needed: { _ in [] }, now: now, log: log
            ).run(forBulkFetches: true)
        }
        let showing = Task { await caches.showNeeds(of: wishes) }
        while other.neededElsewhere.count < 2 { await Task.yield() }
        #expect(cache.neededElsewhere.isEmpty)
        await clean()
        #expect(try held(.original, cache).count == 40 && held(.thumbnail, cache).count == 40)
        showing.cancel()
        await showing.value
        cache.setNeeded([.thumbnail])
        await clean()
        #expect(try held(.original, cache).count < 40 && held(.thumbnail, cache).count == 40)
    }

    @Test("Space is short from the byte that reaches the limit")
    func exactlyAtTheLimit() throws {
        let space = try CacheFolder(path: folder.path("cache"), limit: 1_000, log: log).space
        space.recordCount(400, isCleaned: true)
        space.recordWritten(599)
        #expect(!space.isShort)
        space.recordWritten(1)
        #expect(space.isShort)
    }

    @Test("Pictures fetched again after a cleaning reuse the space in the database")
    func reuse() async throws {
        let (caches, cache) = try await open(60)
        await cleaning(caches, limit: 1).run()
        let before = ClosedGalleryCache(folder: cache.folder).databaseSize
        for index in 0..<60 { try await fill(index, cache) }
        await cache.writer.close()
        #expect(ClosedGalleryCache(folder: cache.folder).databaseSize <= before)
    }

    @Test("An open gallery marked to be kept gives up nothing")
    func kept() async throws {
        let (caches, cache) = try await open(5)
        try await cache.writer.toggleKept()
        await cleaning(caches, limit: 1).run()
        #expect(try held(.original, cache).count == 5)
    }

    @Test("Thumbnails farthest from the wanted ones go first, and only as many as needed")
    func farthestThumbnailsFirst() async throws {
        let (_, cache) = try await open(20)
        let wished = try Set((8..<11).map { try key($0, cache) })
        #expect(try await cache.writer.freeSpace(fromThumbnails: 25_000, except: wished) == 25_000)
        #expect(try held(.thumbnail, cache) == Array(2..<17))
        #expect(try await cache.writer.freeSpace(fromThumbnails: 0, except: wished) == 0)
        #expect(try await cache.writer.freeSpace(fromThumbnails: .max, except: wished) == 60_000)
        #expect(try held(.thumbnail, cache) == Array(8..<11) && held(.original, cache).count == 20)
    }

    @Test("Only a photo of more than a quarter of the limit is removed after its export, and the caches are counted")
    func exportedPhoto() async throws {
        let (caches, cache) = try await open(3, limit: 40_000)
        var alarms = caches.space.alarms().makeAsyncIterator()
        #expect(try await !cache.writer.dropLargePhoto(key(1, cache)))
        let partial = try cache.files.makePartial(of: key(1, cache), edition: 1)
        partial.write(String(repeating: "x", count: 10_001))
        try await cache.writer.store(photo: partial, of: key(1, cache), edition: 1)
        #expect(try await cache.writer.dropLargePhoto(key(1, cache)))
        #expect(await alarms.next() != nil)
        #expect(try await !cache.writer.dropLargePhoto(key(1, cache)))
        #expect(try held(.original, cache) == [0, 2])
        let (_, unlimited) = try await open(3)
        #expect(try await !unlimited.writer.dropLargePhoto(key(1, unlimited)))
    }

    @Test("Another process gets each measurement, the present one at once, and counts what it writes itself")
    func measurementsForOthers() {
        let (own, other) = (CacheSpace(limit: 1_000_000), CacheSpace(limit: 1_000_000))
        own.recordCount(500_000, isCleaned: false)
        own.recordWritten(1_000)
        let seen = Mutex<[CacheSpace.Measurement]>([])
        let relay = own.relayMeasurements { measurement in
            seen.withLock { $0.append(measurement) }
            other.adopt(measurement)
        }
        #expect(seen.withLock { $0 } == [CacheSpace.Measurement(size: 501_000, isShort: false)])
        own.recordCount(950_000, isCleaned: true)
        #expect(seen.withLock { $0.last } == CacheSpace.Measurement(size: 950_000, isShort: true) && other.isShort)
        own.recordCount(100_000, isCleaned: true)
        #expect(!other.isShort && seen.withLock { $0.count } == 3)
        withExtendedLifetime(relay) {}
    }

    @Test("Another process gets each number of written bytes, and requests for a measurement")
    func writesForOthers() async {
        let (own, other) = (CacheSpace(limit: 1_000_000), CacheSpace(limit: 1_000_000))
        let seen = Mutex<[CacheSpace.Written]>([])
        let relay = own.relayWrites { written in
            seen.withLock { $0.append(written) }
            other.adopt(written)
        }
        let forwarded = Mutex<[CacheSpace.Written]>([])
        let second = other.relayWrites { written in forwarded.withLock { $0.append(written) } }
        let alarms = other.alarms()
        own.recordWritten(7)
        own.requestCount()
        // A request passes no bytes on again.
        let expected = [CacheSpace.Written(bytes: 7), CacheSpace.Written(bytes: 0, isCountDue: true)]
        #expect(seen.withLock { $0 } == expected)
        #expect(forwarded.withLock { $0 } == [expected[0], CacheSpace.Written(bytes: 0), expected[1]])
        alarms.finish()
        #expect(await alarms.next() != nil)
        withExtendedLifetime((relay, second)) {}
    }

    @Test("Written bytes add up, and a due measurement stays due")
    func mergedWrites() {
        var written = CacheSpace.Written(bytes: 5, isCountDue: true)
        written.merge(CacheSpace.Written(bytes: .max))
        #expect(written == CacheSpace.Written(bytes: ByteCount(Int64.max).int64, isCountDue: true))
        var second = CacheSpace.Written(bytes: 5)
        second.merge(CacheSpace.Written(bytes: 6))
        #expect(second == CacheSpace.Written(bytes: 11))
    }

    @Test("The same limit again is no reason to measure, and neither are bytes before the first measurement")
    func sameLimit() async {
        let space = CacheSpace(limit: 600_000)
        let alarms = space.alarms()
        space.setLimit(600_000)
        space.recordWritten(5_000_000)
        alarms.finish()
        #expect(await alarms.next() == nil)
    }

    @Test("A changed limit is counted at once, and holds for later bytes")
    func changedLimit() async throws {
        let space = CacheSpace(limit: nil)
        var iterator = space.alarms().makeAsyncIterator()
        space.recordCount(500_000, isCleaned: false)
        space.setLimit(600_000)
        #expect(await iterator.next() != nil && space.limit == 600_000)
        space.recordCount(500_000, isCleaned: false)
        space.recordWritten(100_000)
        #expect(await iterator.next() != nil && space.isShort)
        space.setLimit(nil)
        #expect(await iterator.next() != nil && !space.isShort)
    }

    @Test("Caches are counted after enough bytes were written, not after each picture")
    func alarms() async throws {
        let space = CacheSpace(limit: 1_000_000)
        let alarms = space.alarms()
        // Unknown before the first count.
        space.recordWritten(5_000_000)
        space.recordCount(500_000, isCleaned: false)
        space.recordWritten(300_000)
        #expect(!space.isShort)
        space.recordWritten(200_000)
        var iterator = alarms.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        // The closed caches gave up everything, and that is not enough for pictures off the screen.
        space.recordCount(950_000, isCleaned: true)
        #expect(space.isShort)
        space.recordWritten(60_000)
        #expect(await iterator.next() != nil)
        // Wanted pictures exceed the limit, which must not cause a count for each picture.
        space.recordCount(1_200_000, isCleaned: true)
        let more = CacheSpace(limit: 1_000_000)
        #expect(!more.isShort)
        space.recordWritten(29_000)
        space.recordCount(100_000, isCleaned: true)
        #expect(!space.isShort)
        // Bytes written during a count are included.
        space.recordWritten(100_000)
        let before = space.written
        space.recordWritten(850_000)
        space.recordCount(200_000, before: before, isCleaned: true)
        space.recordWritten(1)
        #expect(space.isShort)
    }

    @Test("BEHAVIOURS 4.2: a list larger than the limit is refused before any change")
    func largeList() async throws {
        let (_, cache) = try await open(3, limit: 1_000_000)
        let draft = try cache.beginSync()
        let long = String(repeating: "long ", count: 200)
        let error = try #require(throws: CacheError.self) {
            for start in stride(from: 0, to: 10_000, by: 100) {
                try draft.add((start..<start + 100).map { try TestCache.entry("n\($0)", name: "\(long)\($0)") })
            }
        }
        #expect(error == .listTooLarge(limit: 1_000_000) && !error.isTransient)
        #expect(draft.count <= 500)
        #expect(try cache.read { try $0.gallery() }.photoCount == 3)
        #expect(try held(.original, cache).count == 3)
    }

    @Test("The estimated size of a list is close to its actual size")
    func reckoning() async throws {
        let (_, cache) = try await open(0)
        let before = ClosedGalleryCache(folder: cache.folder).databaseSize
        let draft = try cache.beginSync()
        try draft.add((0..<20_000).map { try TestCache.entry("\($0)", name: "A photo of summer, number \($0)") })
        let reckoned = draft.listSize
        _ = try await cache.writer.commit(draft.finish(), skipped: 0, validators: Validators(), at: now)
        await cache.writer.close()
        let taken = ClosedGalleryCache(folder: cache.folder).databaseSize - before
        #expect(taken > reckoned / 2 && taken < reckoned * 3 / 2, "reckoned \(reckoned), taken \(taken)")
    }
}
