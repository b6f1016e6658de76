import Model
import Testing

@testable import Cache

/// The beginning of a new list, which is committed before the list ends, and parts that an update keeps unread.
@Suite struct ListBeginningTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func commit(_ changes: SyncChanges, etag: String) async throws -> SyncSummary {
        try await test.cache.writer.commit(
            changes, skipped: 0, validators: Validators(etag: etag), at: Timestamp(milliseconds: 5))
    }

    private func ids() throws -> Set<String> {
        var ids: Set<String> = []
        try test.cache.read { try $0.forEachPhoto { ids.insert($0.galleryID) } }
        return ids
    }

    @Test("The first photos of a new list are rows before the list ends, and the rest follows")
    func beginning() async throws {
        let draft = try test.cache.beginSync()
        try draft.add(["a", "b", "a"].map { try TestCache.entry($0) })
        let first = try await commit(try #require(try draft.takeBeginning()), etag: "first")
        #expect(first.total == 2 && first.skipped == 1)
        let record = try test.cache.read { try $0.gallery() }
        // The list is not complete, so nothing may count as fetched.
        #expect(record.photoCount == 2 && record.lastSuccess == nil && record.validators == Validators())
        #expect(record.listVersion == 1)
        try draft.resume(after: first)
        #expect(try draft.takeBeginning() == nil)
        try draft.add(["c", "b"].map { try TestCache.entry($0) })
        let last = try await commit(draft.finish(), etag: "last")
        #expect(last.total == 3 && last.added == 1 && last.removed == 0 && last.skipped == 1)
        let complete = try test.cache.read { try $0.gallery() }
        #expect(complete.photoCount == 3 && complete.lastSuccess != nil && complete.validators.etag == "last")
        #expect(try ids() == ["a", "b", "c"])
    }

    @Test("The beginning of a public list makes the gallery public, and only a whole private list undoes it")
    func originOfBeginning() async throws {
        func commit(_ changes: SyncChanges, isPrivate: Bool?, isPublic: Bool) async throws -> SyncSummary {
            try await test.cache.writer.commit(
                changes, skipped: 0, validators: Validators(), isPrivate: isPrivate, isPublic: isPublic,
                at: Timestamp(milliseconds: 5))
        }
        let record = { [test] in try test.cache.read { try $0.gallery() } }
        let draft = try test.cache.beginSync()
        try draft.add([TestCache.entry("a")])
        _ = try await commit(try #require(try draft.takeBeginning()), isPrivate: false, isPublic: true)
        #expect(try record().isPrivate == false && record().wasPublic && record().lastSuccess == nil)
        for (isPrivate, isWhole, expected) in [
            (nil, false, false), (true, false, false), (true, true, true), (nil, false, true), (false, false, false),
        ] as [(Bool?, Bool, Bool)] {
            let next = try test.cache.beginSync()
            try next.add([TestCache.entry("a")])
            let changes = try next.finish(onlyWithin: isWhole ? nil : [])
            _ = try await commit(changes, isPrivate: isPrivate, isPublic: false)
            #expect(try record().isPrivate == expected && record().wasPublic)
        }
    }

    @Test("Without new photos there is no beginning, and neither has a known list one")
    func noBeginning() async throws {
        #expect(try test.cache.beginSync().takeBeginning() == nil)
        try await test.sync([TestCache.entry("a")])
        let draft = try test.cache.beginSync()
        try draft.add([TestCache.entry("b")])
        #expect(try draft.takeBeginning() == nil)
    }

    @Test("If another program changes the list after its beginning, the update ends")
    func conflict() async throws {
        let draft = try test.cache.beginSync()
        try draft.add([TestCache.entry("a")])
        let first = try await commit(try #require(try draft.takeBeginning()), etag: "first")
        try await test.sync([TestCache.entry("a"), TestCache.entry("x")])
        #expect(throws: CacheError.conflict) { try draft.resume(after: first) }
    }

    @Test("The photos of a part that an update did not read stay")
    func keptPart() async throws {
        try await test.sync(["a/1", "a/b/2", "c/3", "4"].map { try TestCache.entry($0) })
        for (isDeep, expected) in [(true, ["a/1", "a/b/2", "5"]), (false, ["a/1", "5"])] {
            let draft = try test.cache.beginSync()
            // It is kept once, however often it is named.
            for _ in 0..<2 { try draft.keep(FolderScope(folder: "a/", isDeep: isDeep)) }
            try draft.add([TestCache.entry("5")])
            let summary = try await commit(draft.finish(), etag: "x")
            #expect(try ids() == Set(expected) && summary.total == expected.count && summary.skipped == 0)
        }
        // A new list has no photos to keep.
        let other = try TestCache()
        let draft = try other.cache.beginSync()
        try draft.keep(FolderScope(folder: "a/", isDeep: true))
        #expect(try draft.finish().seen.isEmpty)
    }

    @Test("If most names change, the search finds the new ones")
    func manyNames() async throws {
        let ids = (0..<3_000).map { "\($0)" }
        try await test.sync(ids.map { try TestCache.entry($0, name: "owl \($0)") })
        let summary = try await test.sync(ids.map { try TestCache.entry($0, name: "fox \($0)") })
        #expect(summary.changed == 3_000)
        let found = { (text: String) in
            try test.cache.read { try $0.photos(matching: PhotoFilter(text)) }?.count
        }
        #expect(try found("fox") == 3_000 && found("owl") == 0)
        #expect(try await test.cache.writer.transaction { try !PhotoText.repair($0) }, "the index matches the rows")
    }
}
