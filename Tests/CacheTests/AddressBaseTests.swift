import Model
import SQLite
import Testing

@testable import Cache

/// The common beginning of a gallery's addresses, which its rows do not repeat.
@Suite struct AddressBaseTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    /// The texts of the columns: the address of each photo and of its thumbnail, "-" for no thumbnail.
    private func stored() throws -> [String] {
        try test.cache.read { reader in
            try reader.connection.map(
                "SELECT photo_address || ' ' || ifnull(thumbnail_address, '-') FROM photo ORDER BY id"
            ) { $0.text(0) }
        }
    }

    private func base() throws -> String {
        try test.cache.read { reader in
            try #require(try reader.connection.first("SELECT address_base FROM gallery") { $0.text(0) })
        }
    }

    private func addresses(of id: String) throws -> [String?] {
        let key = try test.key(id)
        return try test.cache.read { reader in
            try Rendition.allCases.map { try reader.source(of: key, $0)?.address?.text }.sorted { $0 ?? "" < $1 ?? "" }
        }
    }

    @Test("Rows do not repeat the folder of the gallery, and addresses are read whole")
    func shortened() async throws {
        try await test.sync([TestCache.entry("a"), TestCache.entry("b", photo: "b.jpg", thumbnail: nil)])
        #expect(try base() == "http://example.org/album/")
        #expect(try stored() == ["images/a.jpg thumbnails/a.jpg", "b.jpg -"])
        #expect(
            try addresses(of: "a")
                == ["http://example.org/album/images/a.jpg", "http://example.org/album/thumbnails/a.jpg"])
        #expect(try addresses(of: "b") == [nil, "http://example.org/album/b.jpg"])
    }

    @Test(
        "An address is stored whole if it is elsewhere, or if its end has a colon",
        arguments: [
            "https://example.org/album/x.jpg", "http://other.example/album/x.jpg", "http://example.org/x.jpg",
            "http://example.org/album/10:30.jpg", "http://example.org/album/x?from=http://example.org/album/y",
            "http://example.org/album/",
        ])
    func whole(address: String) async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.sync([TestCache.entry("a"), TestCache.entry("b", photo: address, thumbnail: address)])
        #expect(try stored() == ["images/a.jpg thumbnails/a.jpg", "\(address) \(address)"])
        #expect(try addresses(of: "b") == [address, address])
    }

    @Test("An unchanged list changes no row, and a moved photo has its new address")
    func laterLists() async throws {
        let list = try ["a", "b", "c"].map { try TestCache.entry($0) }
        try await test.sync(list)
        #expect(try await test.sync(list).changed == 0)
        var moved = list
        moved[0] = try TestCache.entry("a", photo: "other/a.jpg")
        moved[1] = try TestCache.entry("b", photo: "https://other.example/b.jpg")
        #expect(try await test.sync(moved).changed == 2)
        #expect(
            try stored() == [
                "other/a.jpg thumbnails/a.jpg", "https://other.example/b.jpg thumbnails/b.jpg",
                "images/c.jpg thumbnails/c.jpg",
            ])
        #expect(try await test.sync(moved).changed == 0)
    }

    @Test("Photos in one folder do not make that folder the base, because a later list may have others")
    func folders() async throws {
        let draft = try test.cache.beginSync()
        try draft.add([TestCache.entry("a", photo: "2023/a.jpg", thumbnail: nil)])
        let first = try #require(try draft.takeBeginning())
        let summary = try await test.cache.writer.commit(
            first, skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        try draft.resume(after: summary)
        try draft.add([TestCache.entry("b", photo: "2024/b.jpg", thumbnail: nil)])
        _ = try await test.cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 2))
        #expect(try base() == "http://example.org/album/")
        #expect(try stored() == ["2023/a.jpg -", "2024/b.jpg -"])
    }

    @Test("The base is the folder of the address from which the list came, after a redirect for example")
    func redirected() async throws {
        let draft = try test.cache.beginSync(from: Address("https://example.org/files/list.xml?page=1"))
        try draft.add([TestCache.entry("a", photo: "https://example.org/files/2023/a.jpg", thumbnail: nil)])
        _ = try await test.cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        #expect(try base() == "https://example.org/files/" && stored() == ["2023/a.jpg -"])
    }

    @Test("The base is the server of the first photo if that is outside the folder of the list")
    func elsewhere() async throws {
        try await test.sync([
            TestCache.entry("a", photo: "https://cdn.example/p/1.jpg", thumbnail: "https://cdn.example/t/1.jpg"),
            TestCache.entry("b", photo: "https://cdn.example/p/2.jpg"),
        ])
        #expect(try base() == "https://cdn.example/")
        #expect(
            try stored() == ["p/1.jpg t/1.jpg", "p/2.jpg http://example.org/album/thumbnails/b.jpg"])
    }

    @Test("The base stays while the gallery has photos, and an emptied gallery gets another")
    func lifetime() async throws {
        try await test.sync([TestCache.entry("a")])
        let elsewhere = try TestCache.entry("b", photo: "https://cdn.example/b.jpg", thumbnail: nil)
        try await test.sync([elsewhere])
        #expect(try base() == "http://example.org/album/" && stored() == ["https://cdn.example/b.jpg -"])
        try await test.sync([])
        try await test.sync([elsewhere])
        #expect(try base() == "https://cdn.example/" && stored() == ["b.jpg -"])
    }

    @Test("Rows of a cache without a base keep their whole addresses, and later rows get them, too")
    func olderCache() async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.cache.writer.transaction { connection in
            try connection.execute(
                """
                UPDATE photo SET photo_address = \(AddressBase.whole("photo_address")),
                                 thumbnail_address = \(AddressBase.whole("thumbnail_address"));
                UPDATE gallery SET address_base = '';
                """)
        }
        #expect(try await test.sync([TestCache.entry("a"), TestCache.entry("b", thumbnail: nil)]).changed == 0)
        #expect(
            try stored() == [
                "http://example.org/album/images/a.jpg http://example.org/album/thumbnails/a.jpg",
                "http://example.org/album/images/b.jpg -",
            ])
    }

    @Test(
        "The base of an address is a folder or a server",
        arguments: [
            ("https://a/b/c.xml", "https://a/b/1.jpg", "https://a/b/"),
            ("https://a/b/c.xml", "https://a/c/1.jpg", "https://a/"),
            ("https://a/c.xml", "https://b:8080/c/1.jpg?x=/y", "https://b:8080/"),
            ("http://a/b/c.xml", "https://a/b/1.jpg", "https://a/"),
            ("file:///a/b/c.xml", "file:///a/b/1.jpg", "file:///a/b/"),
            ("file:///a/b/c.xml", "file:///c/1.jpg", "file:///"),
            ("https://a/b/c.xml", "nothing", ""),
        ])
    func bases(list: String, first: String, expected: String) async throws {
        let base = AddressBase(list: try Address(list), first: Array(first.utf8)[...])
        try await test.cache.writer.transaction { try base.store($0) }
        #expect(try self.base() == expected)
    }

    @Test("With a base that is too long for an address, shortened addresses count as absent")
    func longBase() async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.cache.writer.transaction { connection in
            try connection.run(
                "UPDATE gallery SET address_base = ?", "http://example.org/" + String(repeating: "a", count: 9_000))
        }
        let key = try test.key("a")
        #expect(try test.cache.read { try $0.source(of: key, .original)?.address } == nil)
    }

    // MARK: - Sizes

    private let long = String(repeating: "long/", count: 200)

    @Test("The estimated size of a list contains addresses as they are stored")
    func sizes() throws {
        func size(_ photo: String) throws -> Int64 {
            let draft = try test.cache.beginSync(from: Address("http://example.org/\(long)list.xml"))
            try draft.add((0..<10).map { try TestCache.entry("\($0)", photo: photo, thumbnail: nil) })
            return draft.listSize
        }
        let short = try size("http://example.org/\(long)a.jpg")
        #expect(short < 10 * 200)
        // These addresses are stored whole.
        #expect(try size("http://example.org/\(long)a:1.jpg") > short + 10 * 1_000)
        #expect(try size("http://other.example/\(long)a.jpg") > short + 10 * 1_000 - 10 * 20)
    }

    @Test("The temporary file of an update is no larger than the limit, whatever the size of the list in the database")
    func temporaryFile() throws {
        let caches = try CacheFolder(path: test.folder.path("small"), limit: 1_000_000, log: test.log)
        let draft = try caches.open(Address("http://example.org/album/index.xml")).beginSync(
            from: Address("http://example.org/\(long)list.xml"))
        #expect(throws: CacheError.listTooLarge(limit: 1_000_000)) {
            for id in 0..<2_000 {
                try draft.add([TestCache.entry("\(id)", photo: "http://example.org/\(long)\(id).jpg", thumbnail: nil)])
            }
        }
        #expect((800...1_000).contains(draft.count))
    }

    @Test("Only new and changed photos count as written, and each of them once")
    func written() async throws {
        let list = try (0..<100).map { try TestCache.entry("\($0)") }
        let draft = try test.cache.beginSync()
        var sizes: [Int64] = []
        for part in [list[..<50], list[50..<75]] {
            try draft.add(Array(part))
            let beginning = try #require(try draft.takeBeginning())
            sizes.append(beginning.size)
            let summary = try await test.cache.writer.commit(
                beginning, skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
            try draft.resume(after: summary)
        }
        try draft.add(Array(list[75...]))
        let rest = try draft.finish()
        sizes.append(rest.size)
        _ = try await test.cache.writer.commit(
            rest, skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 2))
        #expect(sizes[0] > sizes[1] && abs(sizes[1] - sizes[2]) < 100)
        let again = try test.cache.beginSync()
        try again.add(list)
        #expect(try again.finish().size == 0)
    }
}
