import Model
import Testing

@testable import Cache

/// The folders of a gallery on a server, with their validators.
@Suite struct ListSourceTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func folder(_ path: String, _ etag: String) -> ListSource.Folder {
        ListSource.Folder(path: Array(path.utf8), validators: Validators(etag: etag))
    }

    private func source(_ folders: ListSource.Folder..., name: String? = nil) throws -> ListSource {
        ListSource(
            kind: .webDAV, root: try Address("http://example.org/dav/"), folders: folders, galleryName: name)
    }

    /// Commits a list without photos. Returns the rows that SQLite wrote for it.
    @discardableResult
    private func store(_ source: ListSource) async throws -> Int64 {
        let before = try await test.cache.writer.rowsWritten
        try await TestCache.sync([], into: test.cache, source: source)
        return try await test.cache.writer.rowsWritten - before
    }

    private func stored() throws -> Set<ListSource.Folder> {
        Set(try #require(try test.cache.read { try $0.source() }).folders)
    }

    @Test("New folders are added, changed ones replaced, and missing ones removed")
    func folders() async throws {
        #expect(try test.cache.read { try $0.source() } == nil)
        try await store(source(folder("", "1"), folder("a/", "1"), folder("b/", "1")))
        #expect(try stored() == [folder("", "1"), folder("a/", "1"), folder("b/", "1")])
        try await store(source(folder("", "2"), folder("a/", "1"), folder("c/", "1")))
        #expect(try stored() == [folder("", "2"), folder("a/", "1"), folder("c/", "1")])
    }

    @Test("Folders that did not change are not written again")
    func unchanged() async throws {
        let folders = (0..<100).map { folder("\($0)/", "1") }
        let same = ListSource(kind: .webDAV, root: try Address("http://example.org/dav/"), folders: folders)
        // The first commit also stores the collation of the names.
        try await store(source())
        let first = try await store(same)
        let second = try await store(same)
        #expect(first - second == 100)
        var other = same
        other.folders[7].validators.etag = "2"
        // One row goes, and one comes.
        #expect(try await store(other) - second == 2)
        #expect(try stored() == Set(other.folders))
    }

    private func name() throws -> String? {
        try test.cache.read { reader in
            try reader.connection.first("SELECT album_name FROM gallery") { $0.optionalText(0) } ?? nil
        }
    }

    @Test("A list without a name keeps the gallery's name")
    func names() async throws {
        try await store(source(name: "Summer"))
        #expect(try name() == "Summer")
        try await store(source())
        #expect(try name() == "Summer")
        try await store(source(name: "Autumn"))
        #expect(try name() == "Autumn")
    }
}
