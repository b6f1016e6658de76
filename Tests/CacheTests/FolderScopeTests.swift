import Model
import SQLite
import Testing

@testable import Cache

/// Updates of single folders. The photos of all others stay.
@Suite struct FolderScopeTests {
    private let test: TestCache
    /// The names of the folders sort directly before and after `a/`.
    private static let all = ["x.jpg", "a/1", "a/2", "a/b/3", "a/b/c/4", "a./5", "a0/6", "b/7"]

    init() async throws {
        test = try TestCache()
        try await test.sync(Self.all.map { try TestCache.entry($0) })
    }

    /// Updates some folders, which have only these photos now. Returns what changed.
    private func update(_ scopes: (String, isDeep: Bool)..., to ids: [String] = []) async throws -> SyncSummary {
        try await TestCache.sync(
            ids.map { try TestCache.entry($0) }, into: test.cache,
            within: scopes.map { FolderScope(folder: $0.0, isDeep: $0.isDeep) })
    }

    private func expect(without gone: Set<String>) throws {
        var ids: Set<String> = []
        try test.cache.read { try $0.forEachPhoto { ids.insert($0.galleryID) } }
        #expect(ids == Set(Self.all).subtracting(gone))
        #expect(try test.cache.read { try $0.gallery().photoCount } == ids.count)
    }

    @Test("A folder alone loses its own photos only")
    func alone() async throws {
        let summary = try await update(("a/", isDeep: false), to: ["a/1"])
        #expect(summary == SyncSummary(removed: 1, total: 7))
        try expect(without: ["a/2"])
    }

    @Test("A folder with those below loses their photos, too, and no neighbour does")
    func deep() async throws {
        let summary = try await update(("a/", isDeep: true), to: ["a/b/3"])
        #expect(summary == SyncSummary(removed: 3, total: 5))
        try expect(without: ["a/1", "a/2", "a/b/c/4"])
    }

    @Test("The gallery's own folder alone has only the photos without a path")
    func top() async throws {
        #expect(try await update(("", isDeep: false)) == SyncSummary(removed: 1, total: 7))
        try expect(without: ["x.jpg"])
    }

    @Test("Finding the photos of a folder alone does not read the photos in the folders below")
    func costOfAFolderAlone() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try Schema.migrate(connection)
        let insertion = "INSERT INTO photo (id, name, name_key, date, photo_address)"
        try connection.run(
            """
            \(insertion)
            WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < ?)
            SELECT 'a/b/' || n, '', x'', n, '' FROM number
            """, 60_000)
        try connection.run("\(insertion) SELECT value, '', x'', 0, '' FROM json_each(?)", #"["x", "a/y", "/z", "w"]"#)
        // SQLite calls this function after each 100,000 steps of a statement.
        var pauses = 0
        func pause() -> Bool {
            pauses += 1
            return false
        }
        for (folder, photos) in [("", [60_001, 60_004]), ("a/", [60_002]), ("c/", [])] as [(String, Set<Int64>)] {
            var found: Set<Int64> = []
            try connection.interrupting(when: pause) {
                try CacheReader(connection).forEachKey(in: FolderScope(folder: folder, isDeep: false)) {
                    found.insert($0)
                }
            }
            #expect(found == photos && pauses == 0, "\(folder)")
        }
        // The name of this folder is empty.
        var found: Set<Int64> = []
        try CacheReader(connection).forEachKey(in: FolderScope(folder: "/", isDeep: false)) { found.insert($0) }
        #expect(found == [60_003])
    }

    @Test("Several folders are updated at once, and their new photos are added")
    func several() async throws {
        let summary = try await update(
            ("b/", isDeep: false), ("a/b/", isDeep: false), to: ["b/7", "b/8", "a/b/9"])
        #expect(summary == SyncSummary(added: 2, removed: 1, total: 9))
        #expect(try test.cache.read { try $0.gallery().photoCount } == 9)
        #expect(try test.cache.read { try $0.photo(galleryID: "a/b/3") } == nil)
        #expect(try test.cache.read { try $0.photo(galleryID: "a/b/c/4") } != nil)
    }

    @Test("A folder loses its photos, too, if its name ends with a letter that joins the slash")
    func joinedSlash() async throws {
        let ids = ["a\u{600}/1", "a\u{600}/2"]
        #expect("\u{600}/".count == 1)
        try await test.sync((Self.all + ids).map { try TestCache.entry($0, photo: "x.jpg", thumbnail: nil) })
        #expect(try await update(("a\u{600}/", isDeep: true)) == SyncSummary(removed: 2, total: 8))
        try expect(without: [])
    }

    @Test("An update of a folder keeps the number of entries that were skipped elsewhere")
    func skippedEntries() async throws {
        let entries = try Self.all.map { try TestCache.entry($0) }
        func update(skipping skipped: Int, within scopes: [FolderScope]?) async throws -> Int {
            try await TestCache.sync(entries, into: test.cache, within: scopes, skipped: skipped)
            return try test.cache.read { try $0.gallery().skipped }
        }
        let folder = [FolderScope(folder: "a/", isDeep: false)]
        #expect(try await update(skipping: 2, within: nil) == 2)
        #expect(try await update(skipping: 0, within: folder) == 2)
        #expect(try await update(skipping: 3, within: folder) == 3)
        #expect(try await update(skipping: 0, within: nil) == 0)
        // A feed keeps all other photos, but its list was read whole.
        #expect(try await update(skipping: 4, within: []) == 4)
        #expect(try await update(skipping: 1, within: []) == 1)
    }

    @Test("The whole gallery as one folder is a complete list")
    func whole() async throws {
        #expect(try await update(("", isDeep: true), to: ["a/1"]) == SyncSummary(removed: 7, total: 1))
        try expect(without: Set(Self.all).subtracting(["a/1"]))
    }
}
