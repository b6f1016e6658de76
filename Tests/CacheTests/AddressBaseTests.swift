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

    @Test("The base is the folder of the source if that is longer than the gallery's")
    func source() async throws {
        let root = try Address("http://example.org/album/files/")
        try await TestCache.sync(
            [TestCache.entry("a", photo: "files/2023/a.jpg", thumbnail: nil)], into: test.cache,
            source: ListSource(kind: .webDAV, root: root))
        #expect(try base() == root.text)
    }

    @Test("The base is what all addresses share if they are outside the gallery's folder")
    func elsewhere() async throws {
        let photos = ["https://cdn.example/p/1.jpg", "https://cdn.example/p/2.jpg"]
        try await test.sync([
            TestCache.entry("a", photo: photos[0], thumbnail: "https://cdn.example/t/1.jpg"),
            TestCache.entry("b", photo: photos[1], thumbnail: nil),
        ])
        #expect(try base() == "https://cdn.example/")
        #expect(try stored() == ["p/1.jpg t/1.jpg", "p/2.jpg -"])
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
        "The common beginning of addresses ends with a slash",
        arguments: [
            (["https://a/b/c/1.jpg", "https://a/b/c/2.jpg"], "https://a/b/c/"),
            (["https://a/b/c/1.jpg", "https://a/b/d/1.jpg"], "https://a/b/"),
            (["https://a/bc/1.jpg", "https://a/bd/1.jpg"], "https://a/"),
            (["https://a/1.jpg", "https://b/1.jpg"], "https://"),
            (["https://a/1.jpg", "http://a/1.jpg"], ""),
            (["https://a/b?of=/c/d", "https://a/b?of=/c/e"], "https://a/"),
            (["https://a/b/", "https://a/b"], "https://a/"),
            (["https://a/b/c", "https://a/b/"], "https://a/b/"),
        ])
    func common(addresses: [String], expected: String) {
        for list in [addresses, addresses.reversed()] {
            var beginning = CommonBeginning(of: Array(list[0].utf8))
            for address in list { beginning.shorten(toMatch: Array(address.utf8)[...]) }
            #expect(String(decoding: beginning.bytes, as: UTF8.self) == expected)
        }
    }
}
