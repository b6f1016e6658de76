import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Real databases with random damage. None ends the program. Each opens unchanged or repaired, or is set aside, at the
/// latest at its second opening.
@Suite(.serialized) struct MutationTests {
    /// 150 fixed mutations by default; `VITRINE_MUTATIONS=2000` runs as many others.
    private let more = Int(ProcessInfo.processInfo.environment["VITRINE_MUTATIONS"] ?? "")
    private let folder = TestFolder()
    private let address: Address
    private let path: String
    private let good: String

    init() async throws {
        address = try Address("http://example.org/index.xml")
        path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        good = folder.path("good")
        let cache = try open()
        try await sync(cache, 0..<120)
        for id in 0..<20 {
            let photo = try #require(try cache.read { try $0.photo(galleryID: "\(id)") })
            try await cache.writer.store(
                thumbnail: [UInt8](repeating: UInt8(id), count: 3_000), of: photo.key, edition: photo.thumbnail.edition)
            try await cache.writer.describe(photo.key)
        }
        await cache.writer.close()
        // Some of it is in the log.
        try await sync(cache, 10..<140)
        try FileManager.default.createDirectory(atPath: good, withIntermediateDirectories: true)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: good + "/database" + suffix)
        }
    }

    private func open() throws -> GalleryCache {
        try CacheFolder(path: folder.path("cache"), log: Log()).open(address)
    }

    private func sync(_ cache: GalleryCache, _ ids: Range<Int>) async throws {
        let draft = try cache.beginSync()
        try draft.add(ids.map { try TestCache.entry("\($0)", name: "Photo \($0) of \(ids.lowerBound)") })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
    }

    /// Uses the cache like a browser. Returns whether it was set aside.
    private func use(after mutation: DatabaseMutation) async throws -> Bool {
        let cache = try open()
        let rows = try cache.read { try PhotoQuery(order: PhotoOrder(), filter: .all).firstRows(50, $0) }
        _ = try cache.read { try $0.photos((0..<rows.count).map { PhotoKey(rows[$0]) }) }
        _ = try cache.read { try PhotoQuery(order: PhotoOrder(.name), filter: .all).rows($0) }
        _ = try cache.read { try PhotoQuery(order: PhotoOrder(.size), filter: PhotoFilter("photo 1")).rows($0) }
        _ = try cache.read { try $0.thumbnail(of: PhotoKey(3)) }
        try await sync(cache, 30..<160)
        // Damage that no check finds may hide a photo from an update. The next one brings it back.
        if try count(cache) != 130 { try await sync(cache, 30..<160) }
        #expect(try count(cache) == 130, "\(mutation)")
        return cache.wasSetAside
    }

    private func count(_ cache: GalleryCache) throws -> Int { try cache.read { try $0.gallery().photoCount } }

    private func search(_ words: String, _ reader: CacheReader) throws -> [Int64] {
        try reader.connection.map("SELECT rowid FROM photo_text WHERE photo_text MATCH ?", words) { $0.int(0) }
    }

    /// The first pages of the search index's tables and of the metadata.
    private func interestingPages() throws -> [Int] {
        try Connection(path: path, access: .readOnly).map(
            """
            SELECT rootpage FROM sqlite_schema
            WHERE rootpage > 0 AND (name GLOB 'photo_text*' OR name IN ('metadata', 'photo', 'announcement'))
            """
        ) { Int($0.int(0)) - 1 }
    }

    @Test("BEHAVIOURS 4.3: a database with any damage opens, is repaired, or is set aside")
    func mutations() async throws {
        let pages = try interestingPages()
        let sizes = ["", "-wal"].map { suffix in
            (FileManager.default.contents(atPath: good + "/database" + suffix) ?? Data()).count
        }
        #expect(sizes[0] > 100_000 && sizes[1] > 4_096)
        var counts = (unharmed: 0, secondTime: 0, setAside: 0, newer: 0)
        let rounds = more ?? 150
        var numbers = SeededNumbers(areMore: more != nil)
        for round in 0..<rounds {
            let hasLog = Bool.random(using: &numbers)
            try? FileManager.default.removeItem(atPath: folder.path("cache/galleries"))
            try PrivateFolder.make(folder.path("cache/galleries/\(GalleryID(address))"))
            for suffix in hasLog ? ["", "-wal"] : [""] {
                try FileManager.default.copyItem(atPath: good + "/database" + suffix, toPath: path + suffix)
            }
            let mutation = DatabaseMutation.random(
                size: sizes[0], logSize: hasLog ? sizes[1] : 0, pages: pages, using: &numbers)
            try mutation.apply(to: path)
            do {
                if try await use(after: mutation) { counts.setAside += 1 } else { counts.unharmed += 1 }
                continue
            } catch CacheError.newerSchema {
                counts.newer += 1
                continue
            } catch {
                counts.secondTime += 1
            }
            do {
                if try await use(after: mutation) { counts.setAside += 1 }
            } catch {
                Issue.record("round \(round), \(hasLog ? "with its log" : "alone"), \(mutation): \(error)")
            }
        }
        print("SEEN: of \(rounds) mutations", counts)
    }
}

extension GalleryWriter {
    /// Stores a photo's metadata.
    fileprivate func describe(_ key: PhotoKey) throws {
        try transaction { connection in
            try PhotoText.whileChanging(key.rawValue, connection) {
                try connection.run(
                    """
                    INSERT INTO metadata (photo, edition, format, width, height, camera, words)
                    VALUES (?, 1, 'JPEG', 1600, 1200, 'Vitrine 1', 'vitrine lens number ' || ?1)
                    """, key.rawValue)
            }
        }
    }
}
