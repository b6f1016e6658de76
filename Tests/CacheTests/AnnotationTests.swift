import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// The annotations of photos: stored with the list, searched, and sorted.
@Suite struct AnnotationTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func entry(_ id: String, _ annotations: PhotoAnnotations) throws -> GalleryEntry {
        var entry = try TestCache.entry(id)
        entry.annotations = annotations
        return entry
    }

    private func annotations(_ change: (inout PhotoAnnotations) -> Void) -> PhotoAnnotations {
        var annotations = PhotoAnnotations()
        change(&annotations)
        return annotations
    }

    /// Three photos: a lake with four stars, a street with two, and one without annotations.
    private func syncThree() async throws {
        let lake = annotations {
            ($0.rating, $0.isFavorite, $0.place) = (4, true, "New York")
            ($0.tags, $0.people, $0.description) = (["blue lake", "summer"], ["Anna Berg"], "The ferry\nat noon")
        }
        let street = annotations {
            ($0.rating, $0.place, $0.tags, $0.author) = (2, "York", ["Lakeland road", "new"], "Anna Smith")
        }
        try await test.sync([entry("lake", lake), entry("street", street), TestCache.entry("plain")])
    }

    private func found(_ text: String, among candidates: [String]? = nil) throws -> [String] {
        let candidates = try candidates.map { Set(try $0.map { try test.key($0).rawValue }) }
        let hits = try #require(try test.cache.read { try $0.hits(PhotoFilter(text), among: candidates) })
        return try ["lake", "plain", "street"].filter { hits.contains(try test.key($0).rawValue) }
    }

    @Test("An update stores the annotations, and changed ones affect no picture")
    func stored() async throws {
        try await syncThree()
        #expect(try test.cache.read { try $0.annotations(of: test.key("lake")) }.people == ["Anna Berg"])
        #expect(try test.cache.read { try $0.annotations(of: test.key("plain")) }.isEmpty)
        try await test.hold("plain")
        let summary = try await test.sync([
            entry("plain", annotations { $0.tags = ["found"] }), entry("lake", PhotoAnnotations()),
        ])
        #expect(summary == SyncSummary(changed: 2, removed: 1, total: 2))
        let photo = try test.photo("plain")
        #expect(photo.original.edition == 1 && photo.thumbnail.edition == 1)
        #expect(try test.cache.read { try $0.annotations(of: test.key("plain")) }.tags == ["found"])
        #expect(try test.cache.read { try $0.annotations(of: test.key("lake")) }.isEmpty)
    }

    @Test(
        "A search finds words of the annotations, and can be limited to one kind",
        arguments: [
            ("lake", ["lake", "street"]), ("anna", ["lake", "street"]), ("tag:lake", ["lake", "street"]),
            ("tag:blue", ["lake"]), ("TAG:Blü", ["lake"]), ("tag:\"blue lake\"", ["lake"]), ("tag:\"new lake\"", []),
            ("tag:new tag:lake", ["street"]), ("person:anna", ["lake"]), ("author:anna", ["street"]),
            ("place:york", ["lake", "street"]), ("place:\"new york\"", ["lake"]), ("place:new", ["lake"]),
            ("caption:noon", ["lake"]), ("caption:anna", []), ("rating:0", ["plain"]),
            ("rating:1", ["lake", "street"]),
            ("rating:3", ["lake"]), ("rating:5", []), ("is:favorite", ["lake"]),
            ("is:favorite rating:2 ferry", ["lake"]),
            ("rating:9", []), ("tag: blue", ["lake"]), ("is:fav blue", ["lake"]), ("blue rating:", ["lake"]),
            ("is:video", []), ("place:\"new", ["lake"]),
            ("photo", ["lake", "plain", "street"]),
        ])
    func searches(text: String, ids: [String]) async throws {
        try await syncThree()
        #expect(try found(text) == ids)
        #expect(try found(text, among: ["lake"]) == ids.filter { $0 == "lake" })
        #expect(try found(text, among: []).isEmpty)
    }

    /// Names and searches with the same letters, composed and decomposed: a Cyrillic, a Japanese and a Korean word.
    static let pairs: [(String, String)] = [
        ("\u{43C}\u{43E}\u{439}", "\u{43C}\u{43E}\u{438}\u{306}"),
        ("\u{30AC}\u{30E9}\u{30B9}", "\u{30AB}\u{3099}\u{30E9}\u{30B9}"),
        ("\u{C0AC}\u{C9C4}", "\u{1109}\u{1161}\u{110C}\u{1175}\u{11AB}"),
    ].flatMap { [($0.0, $0.0), ($0.0, $0.1), ($0.1, $0.0), ($0.1, $0.1)] }

    @Test("A search finds composed and decomposed letters alike", arguments: pairs)
    func spellings(name: String, search: String) async throws {
        let tagged = annotations { $0.tags = ["x", name + " 7"] }
        try await test.sync([
            entry("lake", tagged), TestCache.entry("plain", name: name), TestCache.entry("street"),
        ])
        #expect(try found(search) == ["lake", "plain"])
        #expect(try found("tag:" + search) == ["lake"])
        #expect(try found("7 " + search) == ["lake"])
        let marks = try test.cache.read { try $0.marks(of: PhotoFilter(search), in: name) }
        #expect(marks.first?.lowerBound == 0 && marks.last?.upperBound == name.utf8.count)
    }

    @Test("A search index that was built anew finds annotations, too")
    func rebuilt() async throws {
        try await syncThree()
        try await test.cache.writer.transaction { try PhotoText.rebuild($0) }
        #expect(try found("ferry") == ["lake"])
        try await test.sync([TestCache.entry("lake"), TestCache.entry("street"), TestCache.entry("plain")])
        #expect(try found("ferry").isEmpty && found("anna").isEmpty && found("rating:1").isEmpty)
        #expect(try await test.cache.writer.transaction { try !PhotoText.repair($0) })
    }

    @Test("A search such as tag:lake highlights nothing in names")
    func marks() async throws {
        try await syncThree()
        let name = "Lake with 4 tags"
        func marked(_ text: String) throws -> [Range<Int>] {
            try test.cache.read { try $0.marks(of: PhotoFilter(text), in: name) }
        }
        #expect(try marked("lake") == [0..<4])
        #expect(try marked("tag:lake rating:4 is:favorite").isEmpty)
        #expect(try marked("tag:x 4") == [10..<11])
    }

    @Test("Photos with the most stars come first, and photos without stars last")
    func sorted() async throws {
        try await syncThree()
        let rows = try test.cache.read { reader in
            try PhotoQuery(order: PhotoOrder(.rating), filter: .all).rows(reader)
        }
        #expect(try rows[0] == test.key("lake").rawValue && rows[2] == test.key("plain").rawValue)
    }

    @Test(
        "Searches for marks use indices",
        arguments: [
            "SELECT key FROM photo WHERE is_favorite", "SELECT key FROM photo WHERE video_milliseconds NOT NULL",
            "SELECT key FROM photo WHERE key NOT IN (SELECT key FROM photo WHERE rating <> 0)",
            "SELECT key FROM photo WHERE rating <> 0 AND rating >= 3",
            "SELECT key FROM photo WHERE rating <> 0 AND rating < 0",
            "SELECT id, own_rating FROM photo WHERE own_rating NOT NULL",
        ])
    func indices(query: String) throws {
        let plan = try test.cache.read { try $0.connection.map("EXPLAIN QUERY PLAN " + query) { $0.text(3) } }
        let steps = plan.filter { $0.hasPrefix("SCAN") || $0.hasPrefix("SEARCH") }
        #expect(!steps.isEmpty && steps.allSatisfy { $0.contains("USING") && $0.contains("INDEX") }, "\(plan)")
    }

    @Test(
        "After an update of Vitrine, lists are read whole, and the cache still knows that the server recognized the user"
    )
    func migration() throws {
        func facts(kind: String) throws -> [String?] {
            let connection = try Connection(path: ":memory:", access: .readWrite)
            try Schema.migrate(connection, through: 11)
            try connection.run(
                "INSERT INTO gallery (key, address, kind, etag) VALUES (1, 'http://localhost/', ?, 'g')", kind)
            try connection.execute(
                "INSERT INTO folder (path, etag, last_modified) VALUES (x'61', '5', NULL), (x'', '2024', 'signed in')")
            try connection.execute(Schema.migrations[11])
            return try connection.map("SELECT etag, last_modified FROM folder ORDER BY path") {
                [$0.optionalText(0), $0.optionalText(1)]
            }.flatMap { $0 } + connection.map("SELECT etag FROM gallery") { $0.optionalText(0) }
        }
        #expect(try facts(kind: "piwigo") == [nil, "signed in", "g"])
        #expect(try facts(kind: "webdav") == ["2024", "signed in", "5", nil, "g"])
        #expect(try facts(kind: "feed") == ["2024", "signed in", "5", nil, nil])
    }
}
