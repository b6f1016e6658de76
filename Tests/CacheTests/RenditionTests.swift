import Foundation
import Glibc
import Model
import SQLite
import Testing

@testable import Cache

@Suite struct RenditionTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func thumbnail(_ id: String) throws -> StoredThumbnail? {
        try test.cache.read { try $0.thumbnail(of: try $0.photo(galleryID: id)!.key) }
    }

    @Test("BEHAVIOURS 3.1: thumbnails are in a table of their own")
    func ownTable() async throws {
        try await test.sync([TestCache.entry("a")])
        let key = try test.key("a")
        let changes = test.cache.changes()
        try await test.cache.writer.store(thumbnail: [1, 2, 3], of: key, edition: 1)
        let change = await changes.next()
        #expect(change?["thumbnail"] == .listed([key.rawValue]))
        #expect(try thumbnail("a")?.bytes == [1, 2, 3])
        #expect(try test.photo("a").thumbnail.isCurrent)
    }

    @Test("BEHAVIOURS 3.2: the states behind the three placeholders")
    func placeholders() async throws {
        try await test.sync([TestCache.entry("a")])
        let key = try test.key("a")
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1))
        let offline = Failure("the server cannot be reached", remedy: .time)
        try await test.cache.writer.recordTrouble(.putOff(offline), for: .thumbnail, of: key, edition: 1)
        #expect(try test.photo("a").thumbnail.trouble == .putOff(offline))
        #expect(try test.photo("a").thumbnail.isWanting)
        let gone = Failure("the server answered 404", remedy: .none)
        try await test.cache.writer.recordTrouble(.bad(gone), for: .thumbnail, of: key, edition: 1)
        #expect(try test.photo("a").thumbnail.trouble == .bad(gone))
        #expect(try !test.photo("a").thumbnail.isWanting)
    }

    @Test("A failed attempt that is recorded late does not count after a retry has stored the picture")
    func lateFailure() async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.hold("a")
        let late = RenditionState.Trouble.putOff(Failure("it cannot be written", remedy: .time))
        for rendition in Rendition.allCases {
            try await test.cache.writer.recordTrouble(late, for: rendition, of: test.key("a"), edition: 1)
            #expect(try test.photo("a")[rendition] == RenditionState(edition: 1, held: 1))
        }
        #expect(try test.cache.read { try $0.troubleCount() } == 0)
    }

    @Test("BEHAVIOURS 3.2: a bad thumbnail is tried again after a refresh")
    func badOnesAreRetried() async throws {
        try await test.sync([TestCache.entry("a")])
        let key = try test.key("a")
        let gone = Failure("the server answered 404", remedy: .none)
        for rendition in Rendition.allCases {
            try await test.cache.writer.recordTrouble(.bad(gone), for: rendition, of: key, edition: 1)
        }
        try await test.cache.writer.retry()
        #expect(try test.photo("a").thumbnail.isWanting && test.photo("a").original.isWanting)
    }

    @Test func undecodablePhotoIsFetchedAgainAfterARefresh() async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.hold("a")
        let key = try test.key("a")
        try await test.cache.writer.recordTrouble(
            .bad(Failure("no picture", remedy: .none)), for: .original, of: key, edition: 1)
        #expect(try !test.photo("a").original.isWanting)
        try await test.cache.writer.retry()
        #expect(try test.photo("a").original.isWanting && test.photo("a").original.held == nil)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/photos").isEmpty)
    }

    @Test("A command retries missing pictures of the named photos and kinds, but no photo that could not be decoded")
    func missingOnesAreRetried() async throws {
        try await test.sync(["a", "b", "c"].map { try TestCache.entry($0) })
        try await test.hold("c")
        let bad = RenditionState.Trouble.bad(Failure("it failed", remedy: .none))
        for id in ["a", "b", "c"] {
            try await test.cache.writer.recordTrouble(bad, for: .original, of: test.key(id), edition: 1)
        }
        try await test.cache.writer.recordTrouble(bad, for: .thumbnail, of: test.key("a"), edition: 1)
        try await test.cache.writer.retryMissing([.original], of: [test.key("a"), test.key("c")])
        #expect(try test.photo("a").original.isWanting && !test.photo("a").thumbnail.isWanting)
        #expect(try !test.photo("b").original.isWanting)
        #expect(try test.photo("c").original == RenditionState(edition: 1, held: 1, trouble: bad))
        // A thumbnail that has an address does not need the photo.
        try await test.cache.writer.retryMissing([.thumbnail])
        #expect(try !test.photo("b").original.isWanting)
        try await test.sync(["a", "b", "c"].map { try TestCache.entry($0) } + [TestCache.entry("d", thumbnail: nil)])
        try await test.cache.writer.recordTrouble(bad, for: .original, of: test.key("d"), edition: 1)
        try await test.cache.writer.retryMissing([.thumbnail])
        #expect(try test.photo("d").original.isWanting)
        try await test.cache.writer.retryMissing()
        #expect(try test.photo("a").thumbnail.isWanting && test.photo("b").original.isWanting)
        #expect(try test.photo("c").original == RenditionState(edition: 1, held: 1, trouble: bad))
    }

    @Test("A command does not retry a thumbnail that could not be decoded, but a refresh does")
    func undecodableThumbnail() async throws {
        try await test.sync([TestCache.entry("a"), TestCache.entry("b")])
        for id in ["a", "b"] { try await test.hold(id) }
        let key = try test.key("a")
        try await test.cache.writer.reject(try #require(try thumbnail("a")), of: key, reason: "no picture")
        let bad = RenditionState.Trouble.bad(Failure("no picture", remedy: .none))
        for _ in 0..<2 {
            #expect(try test.photo("a").thumbnail == RenditionState(edition: 1, trouble: bad))
            #expect(try !test.photo("a").thumbnail.isWanting && test.cache.read { try $0.counts().failed } == 1)
            #expect(try test.cache.read { try $0.troubles(photoLimit: 1).map(\.trouble) } == [bad])
            #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1, except: []) }.isEmpty)
            try await test.cache.writer.retryMissing([.thumbnail])
        }
        let byState = try test.cache.read { try PhotoQuery(order: PhotoOrder(.state), filter: .all).rows($0) }
        #expect(byState[1] == key.rawValue)
        try await test.cache.writer.retry()
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 2))
    }

    @Test("BEHAVIOURS 3.2: a failure never hides a good older thumbnail")
    func olderStays() async throws {
        try await test.sync([TestCache.entry("a", date: 1000)])
        try await test.hold("a")
        try await test.sync([TestCache.entry("a", date: 2000)])
        let photo = try test.photo("a")
        try await test.cache.writer.recordTrouble(
            .bad(Failure("404", remedy: .none)), for: .thumbnail, of: photo.key, edition: photo.thumbnail.edition)
        #expect(try test.photo("a").thumbnail.held != nil)
        #expect(try thumbnail("a")?.bytes == Array("thumbnail of a".utf8))
    }

    @Test("The description of an exported copy stays until the photo leaves the gallery")
    func exportedCopies() async throws {
        try await test.sync([TestCache.entry("a"), TestCache.entry("b")])
        try await test.hold("a")
        let key = try test.key("a")
        let stored = try #require(try test.cache.read { try $0.photoFile(of: key) })
        let copy = ExportedCopy(of: stored, ending: "jpg")
        // Other processes learn that no photo has changed.
        let changes = test.cache.changes()
        try await test.cache.writer.store([key: copy, PhotoKey(99): copy])
        let change = await changes.next()
        #expect(change?["exported"] == .listed([key.rawValue]) && change?["photo"] == nil)
        try await test.cache.writer.clear(photosOnly: true)
        #expect(try test.cache.read { try $0.exportedCopy(of: key) } == copy)
        try await test.sync([TestCache.entry("b")])
        let rest = try test.cache.read { try $0.connection.first("SELECT count(*) FROM exported") { $0.int(0) } }
        #expect(rest == 0)
    }

    @Test("A retry keeps a good older photo whose new edition could not be fetched")
    func olderPhotoStays() async throws {
        try await test.sync([TestCache.entry("a", date: 1000)])
        try await test.hold("a")
        let stored = try #require(try test.cache.read { try $0.photoFile(of: test.key("a")) })
        try await test.sync([TestCache.entry("a", date: 2000)])
        let key = try test.key("a")
        try await test.cache.writer.recordTrouble(
            .bad(Failure("the server answered 404", remedy: .none)), for: .original, of: key, edition: 2)
        #expect(try !test.photo("a").original.isWanting)
        try await test.cache.writer.retry()
        #expect(try test.photo("a").original.isWanting && test.photo("a").original.held == 1)
        #expect(try test.cache.read { try $0.photoFile(of: key) } == stored && test.cache.files.isIntact(stored))
    }

    @Test("BEHAVIOURS 3.2: the older thumbnail returns if the new one cannot be decoded")
    func rejected() async throws {
        try await test.sync([TestCache.entry("a", date: 1000)])
        try await test.hold("a")
        try await test.sync([TestCache.entry("a", date: 2000)])
        let photo = try test.photo("a")
        try await test.cache.writer.store(
            thumbnail: Array("garbage".utf8), of: photo.key, edition: photo.thumbnail.edition)
        #expect(try thumbnail("a") == StoredThumbnail(bytes: Array("garbage".utf8), isProven: false))
        let garbage = try #require(try thumbnail("a"))
        // Two drawings reject it at the same time.
        for _ in 0..<2 {
            try await test.cache.writer.reject(garbage, of: photo.key, reason: "it is no picture")
            #expect(try thumbnail("a") == StoredThumbnail(bytes: Array("thumbnail of a".utf8), isProven: true))
        }
        let state = try test.photo("a").thumbnail
        #expect(state.trouble == .bad(Failure("it is no picture", remedy: .none)))
        #expect(state.held != nil && !state.isCurrent)
    }

    @Test func aFirstThumbnailThatIsRejectedLeavesNone() async throws {
        try await test.sync([TestCache.entry("a")])
        let key = try test.key("a")
        try await test.cache.writer.store(thumbnail: [0], of: key, edition: 1)
        try await test.cache.writer.reject(try #require(try thumbnail("a")), of: key, reason: "it is no picture")
        #expect(try thumbnail("a") == nil)
        #expect(try test.photo("a").thumbnail.held == nil)
    }

    @Test func anAcceptedThumbnailReplacesTheOlderOne() async throws {
        try await test.sync([TestCache.entry("a", date: 1000)])
        try await test.hold("a")
        try await test.sync([TestCache.entry("a", date: 2000)])
        let photo = try test.photo("a")
        try await test.cache.writer.store(thumbnail: [7], of: photo.key, edition: photo.thumbnail.edition)
        try await test.cache.writer.accept(try #require(try thumbnail("a")), of: photo.key)
        #expect(try thumbnail("a") == StoredThumbnail(bytes: [7], isProven: true))
        #expect(try test.photo("a").thumbnail.isCurrent)
    }

    /// Newer bytes may arrive while the older ones are decoded.
    @Test func newerBytesAreNeitherAcceptedNorRejected() async throws {
        try await test.sync([TestCache.entry("a", date: 1000)])
        try await test.hold("a")
        let first = try #require(try thumbnail("a"))
        let key = try test.key("a")
        for (date, byte) in [(2000, 2), (3000, 3)] as [(Int64, UInt8)] {
            try await test.sync([TestCache.entry("a", date: date)])
            let edition = try test.photo("a").thumbnail.edition
            try await test.cache.writer.store(thumbnail: [byte], of: key, edition: edition)
        }
        let older = StoredThumbnail(bytes: [2], isProven: false)
        try await test.cache.writer.reject(older, of: key, reason: "it is no picture")
        try await test.cache.writer.accept(older, of: key)
        #expect(try thumbnail("a") == StoredThumbnail(bytes: [3], isProven: false))
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 3, held: 3))
        // The older one cannot be decoded either, so nothing returns.
        try await test.cache.writer.reject(first, of: key, reason: "it is no picture")
        #expect(try thumbnail("a")?.bytes == [3])
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 3, held: 3))
        try await test.cache.writer.reject(try #require(try thumbnail("a")), of: key, reason: "it is no picture")
        #expect(try thumbnail("a") == nil)
    }

    @Test("BEHAVIOURS 3.4: the file exists before its row, under a name that the cache chose")
    func fileFirst() async throws {
        try await test.sync([TestCache.entry("../../etc/passwd", photo: "/a/b/evil%2F..%2Fname.jpg")])
        let key = try test.key("../../etc/passwd")
        let partial = try test.cache.files.makePartial(of: key, edition: 1)
        partial.write("bytes")
        let folder = "cache/galleries/\(test.cache.id)"
        #expect(test.folder.entries("\(folder)/partial").count == 1)
        try await test.cache.writer.store(photo: partial, of: key, edition: 1)
        let stored = try #require(try test.cache.read { try $0.photoFile(of: key) })
        #expect(stored.size == 5 && test.cache.files.isIntact(stored))
        #expect(test.folder.entries("\(folder)/partial").isEmpty)
        #expect(test.folder.entries("\(folder)/photos") == [stored.name])
        #expect(stored.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    }

    @Test func aFileWithoutItsRowIsRemoved() async throws {
        try await test.sync([TestCache.entry("a")])
        let key = try test.key("a")
        try await test.cache.writer.transaction {
            try $0.execute(
                "CREATE TEMP TRIGGER t BEFORE UPDATE OF photo_file ON photo BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        await #expect(throws: CacheError.self) { try await test.store(photo: "bytes", of: key, edition: 1) }
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/photos").isEmpty)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/partial").isEmpty)
    }

    @Test func anAbandonedPartialFileRemovesItself() throws {
        var partial: PartialFile? = try test.cache.files.makePartial(of: PhotoKey(1), edition: 1)
        partial?.write("half")
        partial = nil
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/partial").isEmpty)
    }

    @Test("BEHAVIOURS 3.6: a missing or damaged file is detected")
    func broken() async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.hold("a")
        let key = try test.key("a")
        let stored = try #require(try test.cache.read { try $0.photoFile(of: key) })
        let path = test.cache.files.path(stored)
        #expect(test.cache.files.isIntact(stored))
        try Data("photo Of a".utf8).write(to: URL(fileURLWithPath: path))
        #expect(!test.cache.files.isIntact(stored))
        try FileManager.default.removeItem(atPath: path)
        #expect(!test.cache.files.isIntact(stored))
        try await test.cache.writer.dropPhotoFile(stored.name, of: key)
        #expect(try test.photo("a").original.isWanting)
        #expect(try test.cache.read { try $0.photoFile(of: key) } == nil)
    }

    @Test func confirmingAPictureMakesItCurrent() async throws {
        try await test.sync([TestCache.entry("a", date: 1000)])
        try await test.hold("a")
        try await test.sync([TestCache.entry("a", date: 2000)])
        let photo = try test.photo("a")
        #expect(try await test.cache.writer.confirm(.original, of: photo.key, edition: photo.original.edition))
        #expect(try test.photo("a").original.isCurrent)
        #expect(try await !test.cache.writer.confirm(.original, of: photo.key, edition: 99))
    }

    @Test("A search for missing pictures goes past any number of photos that are left out")
    func wantingGoesPastKnownPhotos() async throws {
        try await test.sync((1...1_200).map { try TestCache.entry("\($0)", date: Int64($0) * 1000) })
        let all = try test.cache.read { try $0.wanting(.thumbnail, limit: 2_000, except: []) }
        #expect(all.count == 1_200)
        let known = Set(all.prefix(1_100))
        for limit in [1, 10, 100] {
            let keys = try test.cache.read { try $0.wanting(.thumbnail, limit: limit, except: known) }
            #expect(keys == Array(all.dropFirst(1_100).prefix(limit)))
        }
        #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1, except: Set(all)) }.isEmpty)
    }

    @Test func wantingListsPicturesToFetch() async throws {
        try await test.sync((1...5).map { try TestCache.entry("\($0)", date: Int64($0) * 1000) })
        try await test.hold("2")
        let bad = try test.key("3")
        try await test.cache.writer.recordTrouble(
            .bad(Failure("x", remedy: .none)), for: .thumbnail, of: bad, edition: 1)
        let known = try test.key("1")
        let keys = try test.cache.read { try $0.wanting(.thumbnail, limit: 10, except: [known]) }
        #expect(try keys == [test.key("4"), test.key("5")])
        #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1, except: [known]) }.count == 1)
        // Starting after a photo, in order of date.
        let rest = { (last: PhotoKey?) in
            try test.cache.read { try $0.wanting(.thumbnail, limit: 10, after: last, except: []) }
        }
        #expect(try rest(known) == [test.key("4"), test.key("5")])
        #expect(try rest(try test.key("4")) == [test.key("5")])
        #expect(try rest(try test.key("5")).isEmpty && rest(PhotoKey(99)).isEmpty)
    }
}

@Suite struct DroppingTests {
    private let test: TestCache

    init() async throws {
        test = try TestCache()
        try await test.sync(["a", "b", "c"].map { try TestCache.entry($0) })
        for id in ["a", "b"] { try await test.hold(id) }
    }

    private func path(_ id: String) throws -> String? {
        let key = try test.key(id)
        return try test.cache.read { try $0.photoFile(of: key) }.map { test.cache.files.path($0) }
    }

    @Test func droppingPhotosRemovesTheirFilesOnly() async throws {
        let gone = try #require(try path("a"))
        let keys = try ["a", "c"].map { try test.key($0) }
        #expect(try await test.cache.writer.dropPhotos(keys) == 1)
        #expect(access(gone, F_OK) != 0)
        #expect(try path("a") == nil && test.photo("a").original.isWanting && test.photo("a").size == nil)
        #expect(try test.photo("a").thumbnail.isCurrent)
        #expect(try access(#require(try path("b")), F_OK) == 0)
        #expect(try await test.cache.writer.dropPhotos(keys) == 0)
    }

    @Test func renewedPicturesStayUntilNewOnesArrive() async throws {
        let before = try test.photo("a")
        try await test.cache.writer.recordTrouble(
            .bad(Failure("gone", remedy: .none)), for: .original, of: try test.key("c"), edition: 1)
        try await test.cache.writer.refetch(["a", "c"].map { try test.key($0) })
        for rendition in Rendition.allCases {
            let state = try test.photo("a")[rendition]
            #expect(state.isWanting && state.held == before[rendition].held)
            let key = try test.key("a")
            let source = try #require(try test.cache.read { try $0.wantingSource(of: key, rendition) })
            // The request asks the server whether the picture is current.
            #expect(source.validators != Validators())
        }
        #expect(try path("a") != nil)
        #expect(try test.photo("c").original.trouble == nil && test.photo("c").original.isWanting)
        #expect(try test.photo("b").original.isCurrent)
        // It is.
        let state = try test.photo("a").original
        #expect(try await test.cache.writer.confirm(.original, of: try test.key("a"), edition: state.edition))
        #expect(try test.photo("a").original.isCurrent && path("a") != nil)
    }
}
