import Model
import SQLite
import Testing

@testable import Cache

/// Photos on servers that offer no thumbnails.
@Suite struct EmbeddedThumbnailTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func list(
        revision: String = "1", _ origin: DateOrigin = .modified, thumbnail: String? = nil, date: Int64 = 1_000
    ) async throws {
        var entry = try TestCache.entry("a", date: date, thumbnail: thumbnail)
        (entry.revision, entry.dateOrigin) = (revision, origin)
        try await test.sync([entry])
    }

    private func source() throws -> RenditionSource? {
        try test.cache.read { try $0.embeddedThumbnailSource(of: test.key("a")) }
    }

    private func wanting(_ rendition: Rendition) throws -> Int {
        try test.cache.read { try $0.wanting(rendition, limit: 9, except: []).count }
    }

    private func recordNoThumbnail(isSmall: Bool, edition: Int = 1) async throws -> Bool {
        try await test.cache.writer.recordNoThumbnail(
            of: test.key("a"), edition: edition, isSmall: isSmall, taken: nil)
    }

    @Test("First bytes are of use for a missing thumbnail without an address, if the list has revisions")
    func useful() async throws {
        try await list(revision: "", .stated)
        #expect(try source() == nil)
        try await list(thumbnail: "default")
        #expect(try source() == nil)
        try await list(revision: "2")
        let found = try #require(try source())
        #expect(found.address?.text == "http://example.org/album/images/a.jpg" && found.validators == Validators())
        let edition = try test.photo("a").thumbnail.edition
        #expect(found.state == RenditionState(edition: edition))
        try await test.store(photo: "photo", of: test.key("a"), edition: test.photo("a").original.edition)
        #expect(try source() == nil)
    }

    @Test("A photo that is gone is not fetched for its thumbnail either")
    func gone() async throws {
        try await list()
        try await test.cache.writer.recordTrouble(
            .bad(Failure("the server answered 404", remedy: .none)), for: .original, of: test.key("a"), edition: 1)
        #expect(try source() == nil)
    }

    @Test("A large photo without a thumbnail is no failure, and no request follows until its revision changes")
    func absent() async throws {
        try await list()
        #expect(try await recordNoThumbnail(isSmall: false))
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1, isAbsent: true))
        #expect(try source() == nil)
        #expect(try wanting(.thumbnail) == 0 && wanting(.original) == 1)
        #expect(try test.cache.read { try $0.wantingSource(of: test.key("a"), .thumbnail) } == nil)
        #expect(try test.cache.read { try $0.troubleCount() } == 0)
        #expect(try test.cache.read { try $0.troubles(photoLimit: 1) }.isEmpty)
        #expect(try test.cache.read { try $0.counts() } == (0, 0, 0))
        // The user's retry concerns failures.
        try await test.cache.writer.retry()
        #expect(try source() == nil)
        try await list(revision: "2")
        #expect(try source()?.state == RenditionState(edition: 2))
        #expect(try await !recordNoThumbnail(isSmall: false))
        #expect(try source() != nil)
    }

    @Test("The thumbnail of a large photo is made once the user has opened the photo", arguments: [false, true])
    func opened(isSmall: Bool) async throws {
        try await list()
        #expect(try await recordNoThumbnail(isSmall: isSmall))
        try await test.store(photo: "photo", of: test.key("a"), edition: 1)
        #expect(try test.cache.read { try $0.thumbnailsToMake() } == [test.key("a")])
        try await test.cache.writer.store(thumbnail: [1], of: test.key("a"), edition: 1)
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1, held: 1))
    }

    @Test("A small photo is fetched for its thumbnail")
    func small() async throws {
        try await list()
        #expect(try await recordNoThumbnail(isSmall: true))
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1))
        #expect(try source() == nil)
        #expect(try wanting(.thumbnail) == 1)
        #expect(try test.cache.read { try $0.wantingSource(of: test.key("a"), .thumbnail) } != nil)
        #expect(try test.cache.read { try $0.troubleCount() } == 0)
    }

    @Test("An embedded thumbnail that cannot be decoded is no failure")
    func undecodable() async throws {
        try await list()
        let key = try test.key("a")
        try await test.cache.writer.store(thumbnail: [1], of: key, edition: 1)
        try await test.cache.writer.reject(
            #require(try test.cache.read { try $0.thumbnail(of: key) }), of: key, reason: "it is no picture")
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1, isAbsent: true))
        try await test.store(photo: "photo", of: key, edition: 1)
        #expect(try test.cache.read { try $0.thumbnailsToMake() } == [key])
    }

    @Test("The time when a photo was taken replaces only the date of its file, or an unknown one")
    func dates() async throws {
        let taken = Timestamp(milliseconds: 5_000)
        for (origin, expected) in [(DateOrigin.modified, 5_000), (.unknown, 5_000), (.stated, 1_000), (.taken, 1_000)] {
            for isFound in [false, true] {
                try await list(revision: "\(origin) \(isFound)", origin)
                let (key, edition) = (try test.key("a"), try test.photo("a").thumbnail.edition)
                if isFound {
                    try await test.cache.writer.store(thumbnail: [1], of: key, edition: edition, taken: taken)
                } else {
                    try await test.cache.writer.recordNoThumbnail(
                        of: key, edition: edition, isSmall: false, taken: taken)
                }
                #expect(try test.photo("a").date.milliseconds == expected)
            }
        }
    }

    @Test("The next list does not replace the date by that of the file", arguments: [DateOrigin.modified, .unknown])
    func datesStay(origin: DateOrigin) async throws {
        try await list(origin)
        let taken = Timestamp(milliseconds: 5_000)
        try await test.cache.writer.store(thumbnail: [1], of: test.key("a"), edition: 1, taken: taken)
        try await list(origin, date: 2_000)
        #expect(try test.photo("a").date == taken && test.photo("a").thumbnail.isCurrent)
    }

    @Test("After an update of Vitrine, the absent thumbnails of HEIC photos are looked for again")
    func migration() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        let before = 14
        try Schema.migrate(connection, through: before)
        for (name, trouble) in [("a.HEIC", 3), ("b.hif", 3), ("c.heic", 1), ("d.avif", 4), ("e.jpg", 3), ("heic", 3)] {
            try connection.run(
                """
                INSERT INTO photo (id, name, name_key, date, date_origin, photo_address, entry_digest, thumbnail_trouble)
                VALUES (?1, ?1, x'', 0, 0, 'http://example.org/' || ?1, 0, ?2)
                """, name, trouble)
        }
        try connection.execute(Schema.migrations[before])
        let troubles = try connection.map("SELECT thumbnail_trouble FROM photo ORDER BY id") { $0.optionalInt(0) }
        #expect(troubles == [nil, nil, 1, 4, 3, 3])
        let plan = try connection.map("EXPLAIN QUERY PLAN " + Schema.migrations[before]) { $0.text(3) }
        #expect(plan.contains { $0.contains("thumbnail_in_trouble") }, "\(plan)")
    }
}
