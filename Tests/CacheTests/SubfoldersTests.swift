import Foundation
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Folders of galleries whose photos' ids are paths.
@MainActor @Suite struct SubfoldersTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    /// An entry with a revision, as of a file; its id is its path.
    private static func file(_ path: String, date: Int64 = 0, revision: String = "1") throws -> GalleryEntry {
        let base = try Address("http://example.org/album/")
        return GalleryEntry(
            id: path, name: path, date: Timestamp(milliseconds: date), photo: try base.resolving("photo"),
            thumbnail: nil, revision: revision)
    }

    private func sync(_ paths: [String]) async throws {
        try await test.sync(paths.enumerated().map { try Self.file($1, date: Int64($0)) })
    }

    private func ids(_ results: FetchedResults) throws -> [String] {
        try results.photos(in: 0..<results.count).map { $0?.galleryID ?? "?" }
    }

    @Test("A folder has folders in natural order, with the number of photos below and the newest one")
    func contents() async throws {
        try await sync(["b10/x.jpg", "b2/y.jpg", "top.jpg", "b2/deep/er/z.jpg", "b2/a.jpg", "b2.jpg"])
        let all = try FetchedResults(of: test.cache)
        let top = try await all.subfolders(of: .top)
        #expect(top.map(\.path.text) == ["b2", "b10"])
        #expect(top.map(\.count) == [3, 1])
        #expect(try top.map(\.cover) == [test.key("b2/a.jpg"), test.key("b10/x.jpg")])
        #expect(top[0].newest == Timestamp(milliseconds: 4))
        let below = try await all.subfolders(of: FolderPath("b2"))
        #expect(below.map(\.path.text) == ["b2/deep"])
        #expect(try await all.subfolders(of: FolderPath("b2/deep/er")) == [])
        #expect(try await all.subfolders(of: FolderPath("none")) == [])
    }

    @Test("A list shows the photos in a folder itself, or also those below, in every order")
    func lists() async throws {
        try await sync(["b/2.jpg", "b/1.jpg", "b/c/3.jpg", "bb/4.jpg", "5.jpg"])
        let all = try FetchedResults(of: test.cache)
        func listed(_ folder: FolderFilter, _ order: PhotoOrder = PhotoOrder()) async throws -> [String] {
            try ids(try await all.arranged(order, filter: PhotoFilter(in: folder)))
        }
        let folder = FolderPath("b")
        #expect(try await listed(.own(folder)) == ["b/2.jpg", "b/1.jpg"])
        #expect(try await listed(.own(folder), PhotoOrder(.name)) == ["b/1.jpg", "b/2.jpg"])
        #expect(try await listed(.own(.top)) == ["5.jpg"])
        #expect(try await listed(.whole(folder)) == ["b/2.jpg", "b/1.jpg", "b/c/3.jpg"])
        #expect(try await listed(.whole(.top)).count == 5)
        #expect(try test.cache.read { try $0.keys(below: folder).count } == 3)
    }

    @Test func folderWithManyPhotosAndFoldersIsRead() async throws {
        let photos = (0..<3_000).map { "\($0).jpg" }
        let folders = (0..<300).map { "f\($0)" }
        try await sync(photos + folders.flatMap { folder in (0..<6).map { "\(folder)/\($0).jpg" } })
        let all = try FetchedResults(of: test.cache)
        let own = try await all.arranged(PhotoOrder(), filter: PhotoFilter(in: .own(.top)))
        #expect(try ids(own) == photos)
        #expect(try await all.subfolders(of: .top).map(\.path.text) == folders)
    }

    @Test("The newest photos are the same whether rows or the index of dates are read")
    func manyPhotos() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try Schema.migrate(connection)
        try connection.run(
            """
            INSERT INTO photo (id, name, name_key, date, photo_address)
            WITH RECURSIVE number (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number WHERE n < ?)
            SELECT 'f' || (n % 7) || '/' || n, '', x'', n * 7919 % 100000, '' FROM number
            """, 12_000)
        let folders = try CacheReader(connection).subfolders(of: .top)
        #expect(folders.map(\.path.text) == (0..<7).map { "f\($0)" })
        #expect(folders.reduce(0) { $0 + $1.count } == 12_001)
        for folder in folders {
            let newest = try connection.first(
                "SELECT date, key FROM photo WHERE id LIKE ? ORDER BY date DESC, key DESC LIMIT 1",
                folder.path.prefix + "%"
            ) { (Timestamp(milliseconds: $0.int(0)), PhotoKey($0.int(1))) }
            #expect(try #require(newest) == (folder.newest, folder.cover))
        }
    }

    @Test("Only a gallery whose ids are paths has folders")
    func folders() async throws {
        func hasFolders() throws -> Bool { try test.cache.read { try $0.hasFolders() } }
        #expect(try !hasFolders())
        try await test.sync([TestCache.entry("a/b")])
        #expect(try !hasFolders() && test.photo("a/b").folder == nil)
        try await test.sync([Self.file("a.jpg")])
        #expect(try !hasFolders() && test.photo("a.jpg").folder == .top)
        try await test.sync([Self.file("a.jpg"), Self.file("a/b.jpg")])
        #expect(try hasFolders() && test.photo("a/b.jpg").folder == FolderPath("a"))
    }

    @Test("Finding out that no photo is in a folder reads one entry of an index")
    func planOfHasFolders() async throws {
        let plan = try test.cache.read { reader in
            try reader.connection.map("EXPLAIN QUERY PLAN " + CacheReader.photoInFolder) { $0.text(3) }
        }
        #expect(
            plan == ["SCAN photo USING INDEX photo_in_folder"]
                || plan == ["SCAN photo USING COVERING INDEX photo_in_folder"])
        // The index has no entries for photos outside folders, so a scan of the index does not read them.
        try await test.sync((0..<5_000).map { try Self.file("\($0).jpg") })
        let pages = "SELECT count(*) FROM dbstat WHERE name = 'photo_in_folder'"
        #expect(try test.cache.read { try $0.connection.first(pages) { $0.int(0) } } == 1)
    }

    @Test("Folders whose names differ only in the Unicode form of an accent are two folders")
    func unicode() async throws {
        try await sync(["e\u{301}/a.jpg", "\u{E9}/b.jpg", "e/c.jpg"])
        let all = try await FetchedResults(of: test.cache).arranged(PhotoOrder(), sections: .folder)
        #expect(try await all.subfolders(of: .top).map(\.count) == [1, 1, 1])
        #expect((0..<3).map { all.section(at: $0)?.range.count } == [1, 1, 1])
    }

    @Test("A list by folder follows new photos and folders, and keeps natural order when reversed")
    func byFolder() async throws {
        try await sync(["a10/1.jpg", "a2/2.jpg", "3.jpg", "a2/4.jpg"])
        let flat = try FetchedResults(of: test.cache)
        let results = try await flat.arranged(PhotoOrder(.date, ascending: false), sections: .folder)
        #expect(try ids(results) == ["3.jpg", "a2/4.jpg", "a2/2.jpg", "a10/1.jpg"])
        #expect(results.section(at: 2) == PhotoSection(name: .folder(FolderPath("a2")), range: 1..<3))
        try await sync(["a10/1.jpg", "a2/2.jpg", "3.jpg", "a2/4.jpg", "a3/5.jpg", "a2/6.jpg"])
        guard case .rows(let rows)? = await results.nextDifference() else {
            Issue.record("there is no difference")
            return
        }
        #expect(rows.inserted == [1, 4])
        #expect(try ids(results) == ["3.jpg", "a2/6.jpg", "a2/4.jpg", "a2/2.jpg", "a3/5.jpg", "a10/1.jpg"])
        for index in 0..<results.count { #expect(results.index(of: try #require(results.key(at: index))) == index) }
        let found = try await results.arranged(results.order, filter: PhotoFilter("jpg"), sections: .folder)
        #expect(found.count == 6 && found.section(at: 5)?.name == .folder(FolderPath("a10")))
    }
}
