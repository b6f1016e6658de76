import Model
import Testing

@testable import Cache

@Suite struct SyncTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func entry(
        _ id: String, name: String? = nil, date: Int64? = nil, photo: String? = nil, thumbnail: String? = "default"
    ) throws -> GalleryEntry {
        try TestCache.entry(id, name: name, date: date, photo: photo, thumbnail: thumbnail)
    }

    @Test("A draft has changes as soon as an entry is new or differs from its photo")
    func draftChanges() async throws {
        try await test.sync([TestCache.entry("a")])
        for entry in [try TestCache.entry("b"), try TestCache.entry("a", name: "another")] {
            let draft = try test.cache.beginSync()
            #expect(!draft.hasChanges)
            if entry.id == "b" { try draft.add([try TestCache.entry("a")]) }
            #expect(!draft.hasChanges)
            try draft.add([entry])
            #expect(draft.hasChanges)
        }
    }

    @Test func firstListFillsTheCache() async throws {
        let summary = try await test.sync([entry("a"), entry("b"), entry("c")])
        #expect(summary == SyncSummary(added: 3, changed: 0, removed: 0, skipped: 0, total: 3))
        #expect(try test.cache.read { try $0.gallery().photoCount } == 3)
        #expect(try test.photo("a").name == "Photo a")
    }

    @Test("BEHAVIOURS 1.5: the first of several entries with the same id counts")
    func repeatedIDs() async throws {
        let summary = try await test.sync([
            entry("a", name: "first"), entry("b"), entry("a", name: "second"), entry("b"),
        ])
        #expect(summary.skipped == 2 && summary.total == 2)
        #expect(try test.photo("a").name == "first")
        // The same if the rows exist already.
        let again = try await test.sync([entry("a", name: "third"), entry("b"), entry("a", name: "fourth")])
        #expect(again.skipped == 1)
        #expect(try test.photo("a").name == "third")
    }

    @Test("BEHAVIOURS 1.7: an empty list removes every row")
    func emptyList() async throws {
        try await test.sync([entry("a"), entry("b")])
        try await test.hold("a")
        let summary = try await test.sync([])
        #expect(summary.removed == 2)
        #expect(try test.cache.read { try $0.gallery().photoCount } == 0)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/photos").isEmpty)
    }

    @Test("BEHAVIOURS 2.5: a photo missing from the list loses its row, thumbnail and file")
    func absent() async throws {
        try await test.sync([entry("a"), entry("b")])
        try await test.hold("a")
        try await test.hold("b")
        let key = try test.key("a")
        try await test.sync([entry("b")])
        #expect(try test.cache.read { try $0.photo(key) } == nil)
        #expect(try test.cache.read { try $0.thumbnail(of: key) } == nil)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/photos").count == 1)
    }

    @Test("BEHAVIOURS 2.5: a new name changes one row and makes nothing wanting")
    func renamed() async throws {
        try await test.sync([entry("a"), entry("b")])
        try await test.hold("a")
        let before = try test.photo("a")
        let changes = test.cache.changes()
        let summary = try await test.sync([entry("a", name: "New name"), entry("b")])
        #expect(summary.changed == 1 && summary.added == 0 && summary.removed == 0)
        #expect(await changes.next()?["photo"] == .listed([before.key.rawValue]))
        let after = try test.photo("a")
        #expect(after.name == "New name" && after.key == before.key)
        #expect(after.thumbnail == before.thumbnail && after.original == before.original)
        #expect(after.thumbnail.isCurrent && after.original.isCurrent)
    }

    @Test("Photos that arrive after the user has left are new, even if earlier ones are removed")
    func newSinceTheLastVisit() async throws {
        try await test.sync([entry("a"), entry("b")])
        let isNew = { id in
            let key = try self.test.key(id)
            return try self.test.cache.read { try $0.gallery() }.isNew(key)
        }
        #expect(try !isNew("a") && !isNew("b"))
        try await test.cache.writer.recordLeft()
        try await test.sync([entry("a"), entry("c")])
        #expect(try !isNew("a") && isNew("c"))
        try await test.cache.writer.recordLeft()
        try await test.sync([entry("a"), entry("b")])
        #expect(try !isNew("a") && isNew("b"))
    }

    @Test("BEHAVIOURS 2.5: a new date makes both renditions wanting")
    func redated() async throws {
        try await test.sync([entry("a", date: 1000)])
        try await test.hold("a")
        try await test.sync([entry("a", date: 2000)])
        let photo = try test.photo("a")
        #expect(photo.thumbnail.isWanting && photo.original.isWanting)
        // The bytes may still be current, which the server can confirm.
        let source = try #require(try test.cache.read { try $0.source(of: photo.key, .thumbnail) })
        #expect(source.validators.etag == "\"t\"")
    }

    @Test("BEHAVIOURS 2.5: a new address makes only that rendition wanting", arguments: Rendition.allCases)
    func moved(rendition: Rendition) async throws {
        try await test.sync([entry("a")])
        try await test.hold("a")
        try await test.sync([
            rendition == .original ? entry("a", photo: "other.jpg") : entry("a", thumbnail: "other.jpg")
        ])
        let photo = try test.photo("a")
        let other: Rendition = rendition == .original ? .thumbnail : .original
        #expect(photo[rendition].isWanting && !photo[other].isWanting)
        let source = try #require(try test.cache.read { try $0.source(of: photo.key, rendition) })
        #expect(source.address?.path.hasSuffix("/other.jpg") == true)
        #expect(source.validators == Validators(), "validators belong to one address")
    }

    @Test func aThumbnailMadeFromThePhotoChangesWithIt() async throws {
        try await test.sync([entry("a", thumbnail: nil)])
        try await test.hold("a")
        try await test.sync([entry("a", photo: "other.jpg", thumbnail: nil)])
        #expect(try test.photo("a").thumbnail.isWanting)
    }

    @Test("BEHAVIOURS 2.6: the old picture stays until the new one has arrived")
    func oldStays() async throws {
        try await test.sync([entry("a", date: 1000)])
        try await test.hold("a")
        try await test.sync([entry("a", date: 2000)])
        let photo = try test.photo("a")
        #expect(photo.thumbnail.held != nil && photo.original.held != nil)
        #expect(try test.cache.read { try $0.thumbnail(of: photo.key) }?.bytes == Array("thumbnail of a".utf8))
        let old = try #require(try test.cache.read { try $0.photoFile(of: photo.key) })
        #expect(test.cache.files.isIntact(old))
        // The new one is complete, so the old one is removed.
        try await test.store(photo: "newer", of: photo.key, edition: photo.original.edition)
        let new = try #require(try test.cache.read { try $0.photoFile(of: photo.key) })
        #expect(test.cache.files.isIntact(new) && !test.cache.files.isIntact(old))
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/photos") == [new.name])
    }

    @Test("BEHAVIOURS 2.6: stale bytes are never stored")
    func stale() async throws {
        try await test.sync([entry("a", date: 1000)])
        let begun = try test.photo("a")
        try await test.sync([entry("a", date: 2000)])
        let stored = try await test.cache.writer.store(
            thumbnail: [1], of: begun.key, edition: begun.thumbnail.edition)
        #expect(!stored)
        #expect(try await !test.store(photo: "stale", of: begun.key, edition: begun.original.edition))
        #expect(try test.cache.read { try $0.thumbnail(of: begun.key) } == nil)
        #expect(try test.cache.read { try $0.photoFile(of: begun.key) } == nil)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/photos").isEmpty)
        // The same for a removed photo.
        try await test.sync([])
        #expect(try await !test.store(photo: "stale", of: begun.key, edition: begun.original.edition))
    }

    @Test("BEHAVIOURS 2.7: validators are stored with their list; a 304 changes the date only")
    func validators() async throws {
        let validators = Validators(etag: "W/\"1\"", lastModified: "Sun, 30 Jul 2006 07:47:17 GMT")
        try await test.sync([entry("a")], validators: validators, at: 10)
        #expect(try test.cache.read { try $0.gallery().validators } == validators)
        let changes = test.cache.changes()
        try await test.cache.writer.recordUnchanged(at: Timestamp(milliseconds: 20))
        let change = await changes.next()
        #expect(change?["photo"] == nil && change?["gallery"] == .listed([1]))
        let record = try test.cache.read { try $0.gallery() }
        #expect(record.lastSuccess == Timestamp(milliseconds: 20) && record.validators == validators)
    }

    /// A host name may lead elsewhere next time, so only the list itself proves that it came from a private network.
    @Test func theOriginOfTheListIsStored() async throws {
        let (tag, time) = (Validators(etag: "\"1\""), Timestamp(milliseconds: 20))
        let held = { (isPrivate: Bool?) in
            try await test.cache.writer.commit(
                try test.cache.beginSync().finish(), skipped: 0, validators: tag, isPrivate: isPrivate, at: time)
        }
        for (first, then, isPrivate, validators) in [
            (nil, nil, nil, tag), (nil, true, true, tag), (nil, false, false, tag), (true, true, true, tag),
            (true, nil, true, tag), (true, false, false, tag), (false, false, false, tag),
            (false, true, false, Validators()),
        ] as [(Bool?, Bool?, Bool?, Validators)] {
            _ = try await held(first)
            #expect(try test.cache.read { try $0.gallery() }.isPrivate == first)
            try await test.cache.writer.recordUnchanged(isPrivate: then, at: time)
            let record = try test.cache.read { try $0.gallery() }
            #expect(record.isPrivate == isPrivate && record.validators == validators, "\(first as Any), \(then as Any)")
        }
    }

    @Test func aFailureKeepsTheTimeOfTheLastSuccess() async throws {
        try await test.sync([entry("a")], at: 10)
        try await test.cache.writer.recordSyncFailure(Failure("the server answered 404", remedy: .none))
        let status = try test.cache.read { try $0.gallery().status }
        #expect(status.state == .failed(Failure("the server answered 404", remedy: .none)))
        #expect(status.lastSuccess == Timestamp(milliseconds: 10))
        try await test.sync([entry("a")], at: 30)
        #expect(try test.cache.read { try $0.gallery().status.state } == .updated)
    }

    @Test func anEqualListWritesNoRow() async throws {
        let entries = try (0..<50).map { try entry("\($0)") }
        try await test.sync(entries)
        let changes = test.cache.changes()
        let summary = try await test.sync(entries)
        #expect(summary == SyncSummary(added: 0, changed: 0, removed: 0, skipped: 0, total: 50))
        #expect(await changes.next()?["photo"] == nil)
    }

    /// The list is so large that its indices are rebuilt afterwards.
    @Test func aLargeListIsIndexedLikeASmallOne() async throws {
        let indices = "SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name)"
        let before = try test.cache.read { try $0.connection.first(indices) { $0.text(0) } }
        let entries = try (0..<25_000).map { try entry("\($0)", date: Int64($0 &* 7_919 % 25_000)) }
        #expect(try await test.sync(entries + [entry("7", name: "again")]).skipped == 1)
        #expect(try test.cache.read { try $0.connection.first(indices) { $0.text(0) } } == before)
        #expect(try await test.cache.writer.complaints().isEmpty)
        #expect(try test.photo("7").name == "Photo 7")
    }

    @Test("Sort keys of another collation are made anew when the list has new photos", arguments: [1, 2_500])
    func otherCollation(newPhotos: Int) async throws {
        let entries = try (0..<5_000 + newPhotos).map { try entry("\($0)") }
        try await test.sync(Array(entries.prefix(5_000)))
        let indices = "SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name)"
        let before = try test.cache.read { try $0.connection.first(indices) { $0.text(0) } }
        try await storeForeignKeys(of: "xx_XX.UTF-8")
        try await test.sync(Array(entries.prefix(5_000)))
        #expect(try foreignKeys() == 5_000)
        try await test.sync(entries)
        #expect(try foreignKeys() == 0)
        let names = try test.cache.read { reader in
            try reader.connection.map("SELECT name FROM photo ORDER BY name_key, key") { $0.text(0) }
        }
        #expect(names == entries.map(\.name))
        #expect(try test.cache.read { try $0.connection.first(indices) { $0.text(0) } } == before)
        #expect(try await test.cache.writer.complaints().isEmpty)
    }

    @Test("Sort keys of an unknown collation are made anew once, although the list has not changed")
    func unknownCollation() async throws {
        try await test.sync([entry("a"), entry("b")])
        for name in [nil, NaturalKey.collation] as [String?] {
            try await storeForeignKeys(of: name)
            try await test.sync([entry("a"), entry("b")])
            #expect(try foreignKeys() == (name == nil ? 0 : 2))
        }
    }

    /// Gives all photos a sort key that no name has in this process's collation.
    private func storeForeignKeys(of collation: String?) async throws {
        try await test.cache.writer.transaction { connection in
            try connection.run("UPDATE photo SET name_key = x'FF'")
            try connection.run("UPDATE gallery SET collation = ?", collation)
        }
    }

    private func foreignKeys() throws -> Int64? {
        try test.cache.read { reader in
            try reader.connection.first("SELECT count(*) FROM photo WHERE name_key = x'FF'") { $0.int(0) }
        }
    }

    @Test func theSlowerOfTwoUpdatesFails() async throws {
        let slow = try test.cache.beginSync()
        try slow.add([entry("slow")])
        try await test.sync([entry("fast")])
        do {
            _ = try await test.cache.writer.commit(
                slow.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
            Issue.record("the slower sync was committed")
        } catch {
            #expect(error as? CacheError == .conflict)
        }
        #expect(try test.photo("fast").name == "Photo fast")
    }

    @Test func aDraftWithoutCommitChangesNothing() async throws {
        try await test.sync([entry("a")])
        let draft = try test.cache.beginSync()
        try draft.add([entry("b"), entry("c")])
        #expect(try test.cache.read { try $0.gallery().photoCount } == 1)
    }
}
