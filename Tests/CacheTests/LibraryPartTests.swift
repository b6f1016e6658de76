import Model
import Testing

@testable import Cache

/// Photos of a library, and their removal by the library's parts. Their ids are not paths.
@Suite struct LibraryPartTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func entry(_ id: String, in part: String, name: String? = nil) throws -> GalleryEntry {
        var entry = try TestCache.entry(id, name: name)
        (entry.revision, entry.libraryPart) = ("r", part)
        return entry
    }

    /// Updates some photos, and removes those that some parts lack.
    private func update(_ entries: [GalleryEntry], _ members: [String: Set<String>]) async throws -> SyncSummary {
        let draft = try test.cache.beginSync()
        try draft.add(entries)
        try draft.keepAll(exceptOutside: members)
        return try await test.cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 2))
    }

    private func ids() throws -> [String] {
        var ids: [String] = []
        try test.cache.read { try $0.forEachPhoto { ids.append($0.galleryID) } }
        return ids.sorted()
    }

    @Test("The id of a photo with a part is not a path, and a search finds its name")
    func names() async throws {
        try await test.sync([
            entry("f00/a", in: "2024-05", name: "Harbour.jpg"), entry("f00/b", in: "2024-06", name: "Other.jpg"),
        ])
        #expect(try test.photo("f00/a").folder == nil)
        #expect(try test.cache.read { try $0.gallery() }.hasPaths == false)
        #expect(try test.cache.read { try $0.hits(PhotoFilter("harbour"))?.count } == 1)
        #expect(try test.cache.read { try $0.hits(PhotoFilter("f00"))?.count } == 0)
        #expect(try test.cache.read { try $0.libraryPart(ofPhoto: "f00/a") } == "2024-05")
        #expect(try test.cache.read { try $0.libraryPart(ofPhoto: "f00/c") } == nil)
    }

    @Test("Only photos that are missing in the parts that were read are removed")
    func removal() async throws {
        let all = try ["a", "b", "c"].map { try entry($0, in: "2024-05") } + [entry("d", in: "2024-06")]
        try await test.sync(all + [entry("e", in: "2023-01")])
        #expect(try await update([], [:]) == SyncSummary(total: 5))
        let summary = try await update([entry("f", in: "2024-05")], ["2024-05": ["a", "c", "f"], "2023-01": []])
        #expect(summary == SyncSummary(added: 1, removed: 2, total: 4))
        #expect(try ids() == ["a", "c", "d", "f"])
    }

    @Test("A photo that moves to another part stays")
    func moved() async throws {
        try await test.sync([entry("a", in: "2024-05"), entry("b", in: "2024-05")])
        let key = try test.key("a")
        let summary = try await update([entry("a", in: "2024-06")], ["2024-05": ["b"], "2024-06": ["a"]])
        #expect(summary == SyncSummary(changed: 1, total: 2))
        #expect(try test.key("a") == key)
        #expect(try test.cache.read { try $0.libraryPart(ofPhoto: "a") } == "2024-06")
        // The pictures are the same.
        #expect(try test.photo("a").thumbnail.edition == 1)
    }

    @Test("Another blurred picture means another thumbnail, but not another photo")
    func thumbhashes() async throws {
        func entry(_ thumbhash: String) throws -> GalleryEntry {
            var entry = try self.entry("a", in: "2024-05")
            entry.thumbhash = thumbhash
            return entry
        }
        try await test.sync([entry("")])
        #expect(try test.photo("a").thumbhash == nil)
        for thumbhash in ["AAAA", "BBBB", "BBBB", ""] { try await test.sync([entry(thumbhash)]) }
        #expect(try test.photo("a").thumbhash == nil)
        try await test.sync([entry("CCCC")])
        let photo = try test.photo("a")
        #expect(photo.thumbhash == "CCCC" && photo.thumbnail.edition == 5 && photo.original.edition == 1)
    }
}
