import Model
import Testing

@testable import Cache

/// The metadata of photos in the cache.
@Suite struct MetadataTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private var fox: PhotoMetadata {
        var metadata = PhotoMetadata(format: "JPEG", width: 6_000, height: 4_000)
        metadata.orientation = 6
        metadata.takenAt = "2006-07-30T07:47:17"
        metadata.camera = "FUJIFILM X-T4"
        metadata.lens = "XF50mmF2 R WR"
        metadata.exposure = 1.0 / 250
        metadata.aperture = 2.8
        metadata.iso = 400
        metadata.focalLength = 50
        metadata.latitude = -12.5
        metadata.longitude = 45.25
        metadata.title = "A fox"
        metadata.description = "In Ægir’s garden"
        return metadata
    }

    private func metadata(_ id: String) throws -> StoredMetadata? {
        try test.cache.read { try $0.metadata(of: test.key(id)) }
    }

    /// Returns the ids of photos that match these words of the index's syntax.
    private func found(_ words: String) throws -> [String] {
        try test.cache.read { reader in
            try reader.connection.map(
                "SELECT id FROM photo WHERE key IN (SELECT rowid FROM photo_text WHERE photo_text MATCH ?) ORDER BY id",
                words.split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
            ) { $0.text(0) }
        }
    }

    private func holdFox() async throws {
        try await test.sync([TestCache.entry("a", date: 1_000), TestCache.entry("b", date: 2_000)])
        try await test.hold("a")
        #expect(try await test.cache.writer.store(fox, of: test.key("a"), edition: 1))
    }

    @Test func everyFieldIsStored() async throws {
        try await holdFox()
        #expect(try metadata("a") == StoredMetadata(metadata: fox, edition: 1))
        #expect(try metadata("b") == nil)
        // Missing fields stay missing and do not become zeros.
        try await test.hold("b")
        let plain = PhotoMetadata(format: "PNG", width: 1, height: 2)
        #expect(try await test.cache.writer.store(plain, of: test.key("b"), edition: 1))
        #expect(try metadata("b") == StoredMetadata(metadata: plain, edition: 1))
    }

    @Test("A search for captions finds the description in the photo's file, but no other metadata")
    func captions() async throws {
        try await holdFox()
        for (text, isFound) in [("caption:gard", true), ("caption:fox", false), ("tag:garden", false)] {
            let hits = try #require(try test.cache.read { try $0.photos(matching: PhotoFilter(text)) })
            #expect(try hits.contains(test.key("a").rawValue) == isFound, "\(text)")
            #expect(try !hits.contains(test.key("b").rawValue))
        }
    }

    @Test("The length, the coding and the frames a second of a video are stored, and its row has the length")
    func videos() async throws {
        var film = try TestCache.entry("a", date: 1_000)
        film.videoMilliseconds = 0
        var known = try TestCache.entry("b", date: 2_000)
        known.videoMilliseconds = 5_000
        try await test.sync([film, known])
        var metadata = PhotoMetadata(format: "MP4", width: 1_920, height: 1_080)
        metadata.videoMilliseconds = 63_000
        metadata.codec = "H.264"
        metadata.frameRate = 29.97
        for id in ["a", "b"] { try await test.hold(id) }
        let changes = test.cache.changes()
        for id in ["a", "b"] {
            #expect(try await test.cache.writer.store(metadata, of: test.key(id), edition: 1))
        }
        // The row of the first one shows another length now.
        #expect(await changes.next()?["photo"] == .listed([try test.key("a").rawValue]))
        #expect(try self.metadata("a")?.metadata == metadata)
        // The list's length is more important.
        #expect(try ["a", "b"].map { try test.photo($0).videoMilliseconds } == [63_000, 5_000])
        #expect(try found("H 264") == ["a", "b"])
    }

    @Test func metadataBelongsToTheHeldEdition() async throws {
        try await test.sync([TestCache.entry("a", date: 1_000)])
        let key = try test.key("a")
        #expect(try await !test.cache.writer.store(fox, of: key, edition: 1), "nothing is held yet")
        try await test.hold("a")
        #expect(try await !test.cache.writer.store(fox, of: key, edition: 2))
        #expect(try await !test.cache.writer.store(fox, of: PhotoKey(99), edition: 1))
        #expect(try metadata("a") == nil && found("fox").isEmpty)
        #expect(try await test.cache.writer.store(fox, of: key, edition: 1))
        // Unchanged metadata is not published.
        let changes = test.cache.changes()
        #expect(try await !test.cache.writer.store(fox, of: key, edition: 1))
        try await test.cache.writer.recordOpened(at: Timestamp(milliseconds: 1))
        #expect(await changes.next()?["metadata"] == nil)
    }

    @Test func changesArePublished() async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.hold("a")
        let (changes, key) = (test.cache.changes(), try test.key("a"))
        try await test.cache.writer.store(fox, of: key, edition: 1)
        #expect(await changes.next()?["metadata"] == .listed([key.rawValue]))
    }

    @Test(arguments: [
        "fox", "fujifilm", "x-t4", "xf50mmf2", "f2.8", "f/2.8", "50mm", "50 mm", "iso400", "ISO 400", "1/250", "1/250s",
        "ægir", "garden photo",
    ])
    func foundBy(words: String) async throws {
        try await holdFox()
        #expect(try found(words) == ["a"])
    }

    @Test(arguments: ["f4", "iso800", "35mm", "6000", "1/60"]) func notFoundBy(words: String) async throws {
        try await holdFox()
        #expect(try found(words).isEmpty)
    }

    @Test func numbersAreSpelledInEveryUsualWay() {
        var metadata = PhotoMetadata(format: "JPEG", width: 1, height: 1)
        #expect(metadata.words.isEmpty)
        metadata.aperture = 0.95
        metadata.focalLength = 10.5
        metadata.exposure = 2.5
        #expect(metadata.words == "f0.95\nf/0.95\n10.5mm\n10.5 mm\n2.5s\n2.5 s")
        // No value in a file overflows.
        for number in [Double.nan, .infinity, -1, 1e300, 1e-300] {
            (metadata.aperture, metadata.focalLength, metadata.exposure) = (number, number, number)
            _ = metadata.words
        }
    }

    @Test func renamingAPhotoKeepsItsWords() async throws {
        try await holdFox()
        try await test.sync([TestCache.entry("a", name: "Renamed", date: 1_000), TestCache.entry("b", date: 2_000)])
        #expect(try found("renamed iso400") == ["a"])
        #expect(try await test.cache.check().complaints.isEmpty)
    }

    @Test func removingAPhotoRemovesItsMetadata() async throws {
        try await holdFox()
        let key = try test.key("a")
        try await test.sync([TestCache.entry("b", date: 2_000)])
        #expect(try test.cache.read { try $0.metadata(of: key) } == nil && found("fox").isEmpty)
    }

    @Test func metadataStaysWhenTheFileIsRemovedForSpace() async throws {
        try await holdFox()
        #expect(try await test.cache.writer.clear(photosOnly: true) == 1)
        #expect(try metadata("a")?.metadata == fox && found("fox") == ["a"])
        // If the same file comes again, its metadata is known.
        try await test.store(photo: "photo of a", of: test.key("a"), edition: 1)
        #expect(try test.cache.unreadPhotos().isEmpty)
    }

    @Test func aNewEditionReplacesTheMetadataOnceItIsHere() async throws {
        try await holdFox()
        try await test.sync([TestCache.entry("a", date: 5_000), TestCache.entry("b", date: 2_000)])
        // The older one is still shown.
        #expect(try metadata("a")?.metadata == fox && test.cache.unreadPhotos().isEmpty)
        let key = try test.key("a")
        try await test.store(photo: "another photo of a", of: key, edition: 2)
        #expect(try test.cache.unreadPhotos() == [key])
        var owl = PhotoMetadata(format: "PNG", width: 10, height: 10)
        owl.title = "An owl"
        #expect(try await !test.cache.writer.store(owl, of: key, edition: 1))
        #expect(try await test.cache.writer.store(owl, of: key, edition: 2))
        #expect(try metadata("a") == StoredMetadata(metadata: owl, edition: 2))
        #expect(try found("fox").isEmpty && found("owl") == ["a"])
        #expect(try test.cache.unreadPhotos().isEmpty)
    }

    /// A 304 means that the metadata has not changed either.
    @Test func confirmedPhotosAreNotReadAgain() async throws {
        try await holdFox()
        try await test.sync([TestCache.entry("a", date: 5_000), TestCache.entry("b", date: 2_000)])
        let key = try test.key("a")
        #expect(try await test.cache.writer.confirm(.original, of: key, edition: 2))
        #expect(try metadata("a") == StoredMetadata(metadata: fox, edition: 2))
        #expect(try test.cache.unreadPhotos().isEmpty)
        #expect(try await !test.cache.writer.confirm(.original, of: key, edition: 9))
        #expect(try metadata("a")?.edition == 2)
    }

    @Test func unreadablePhotosAreNotReadAtEachStart() async throws {
        try await test.sync([TestCache.entry("a")])
        try await test.hold("a")
        let key = try test.key("a")
        #expect(try test.cache.unreadPhotos() == [key])
        try await test.cache.writer.recordTrouble(
            .bad(Failure("no picture", remedy: .none)), for: .original, of: key, edition: 1)
        #expect(try test.cache.unreadPhotos().isEmpty)
    }

    /// It runs for each photo that arrives, so it must not scan the table.
    @Test func findingUnreadPhotosReadsNoTable() throws {
        let plan = try test.cache.read { reader in
            try reader.connection.map("EXPLAIN QUERY PLAN " + CacheReader.unread, "[1]") { $0.text(3) }
        }
        #expect(plan.contains { $0.contains("SEARCH photo USING INTEGER PRIMARY KEY") })
        #expect(plan.contains { $0.contains("SEARCH metadata USING INTEGER PRIMARY KEY") })
        #expect(plan.allSatisfy { !$0.contains("SCAN photo") && !$0.contains("SCAN metadata") }, "\(plan)")
    }

    /// It runs at each start, when the first frame needs the processors.
    @Test func findingUnreadPhotosInPlaceUsesTheirIndex() throws {
        let plan = try test.cache.read { reader in
            try reader.connection.map("EXPLAIN QUERY PLAN " + CacheReader.unreadInPlace) { $0.text(3) }
        }
        #expect(plan.contains { $0.contains("USING INDEX photo_in_place") }, "\(plan)")
    }
}
