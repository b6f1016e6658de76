import Foundation
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Rows that a compromised fetcher writes. They may be refused, but they lead nowhere and end nothing.
@Suite(.timeLimit(.minutes(5))) struct HostileRowsTests {
    private let test: TestCache
    private let victim: String

    init() async throws {
        test = try TestCache()
        victim = test.folder.write("victim", "precious")
        try await test.sync(["a/1", "a/2", "b/3"].map { try TestCache.entry($0) })
        for id in ["a/1", "a/2"] { try await test.hold(id) }
        try await test.cache.writer.replaceAlbums(
            [Album(.album, at: try Address("http://example.org/albums/1"), name: "One", count: 7)],
            at: Timestamp(milliseconds: 5))
        var metadata = PhotoMetadata(format: "JPEG", width: 4_000, height: 3_000)
        (metadata.latitude, metadata.longitude, metadata.iso) = (47, 8, 100)
        for id in ["a/1", "a/2"] { try await test.cache.writer.store(metadata, of: test.key(id), edition: 1) }
        try execute("UPDATE photo SET revision = id, photo_trouble = 2, video_milliseconds = 5 WHERE id <> 'a/2'")
        #expect(try test.cache.read { try $0.hasFolders() })
    }

    private func execute(_ script: String) throws {
        let path = test.folder.path("cache/galleries/\(test.cache.id)/gallery.sqlite")
        try Connection(path: path, access: .readWrite).execute(script)
    }

    @Test(
        "A row that names another file neither opens nor removes it",
        arguments: [
            "../../../../victim", "1-1-x/../../../../../victim", "/etc/hostname", "..", ".", "", "1-1-x\n", "x",
        ])
    func otherFiles(name: String) async throws {
        let key = try test.key("a/1")
        mkdir(test.folder.path("cache/galleries/\(test.cache.id)/photos/1-1-x"), 0o700)
        let plant = {
            try Connection(
                path: test.folder.path("cache/galleries/\(test.cache.id)/gallery.sqlite"), access: .readWrite
            ).run("UPDATE photo SET photo_file = ?, photo_trouble = 2 WHERE id = 'a/1'", name)
        }
        let steps: [@Sendable (GalleryWriter) async throws -> Void] = [
            { try await $0.dropPhotoFile(name, of: key) }, { _ = try await $0.dropPhotos([key]) },
            { try await $0.retry() }, { _ = try await $0.clear(photosOnly: true) },
        ]
        for step in steps {
            _ = try plant()
            #expect(throws: CacheError.self) { try test.cache.read { try $0.photoFile(of: key) } }
            try await step(test.cache.writer)
            // A check repairs the row.
            _ = try plant()
            #expect(try await test.cache.check().complaints.isEmpty)
            #expect(try test.cache.read { try $0.photoFile(of: key) } == nil)
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        }
    }

    @Test("A path that is not a regular file is not a photo")
    func namedPipe() throws {
        let stored = try #require(try test.cache.read { try $0.photoFile(of: test.key("a/1")) })
        let path = test.cache.files.path(stored)
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: (any Error).self) { try test.cache.files.open(stored) }
    }

    @Test(
        "Albums on other servers and in folders are left out, and passwords in their addresses too",
        arguments: [
            ("file:///", 0), ("https://example.org/albums/1", 1), ("https://example.org:8443/albums/1", 1),
            ("http://other.example/albums/1", 0),
            ("http://example.org:81/x", 0), ("http://me:s3cret@example.org/albums/2", 1),
        ])
    func otherAlbums(address: String, count: Int) throws {
        try execute("UPDATE album SET address = '\(address)'")
        let albums = try test.cache.albums().albums
        #expect(albums.count == count && albums.allSatisfy { $0.address.credentials == nil })
    }

    @Test(
        "An id that is no text ends the search for folders",
        arguments: ["CAST('a/b' AS BLOB)", "CAST(x'FF2F61' AS TEXT)"])
    func idsOfOtherTypes(id: String) throws {
        try execute(
            "UPDATE photo SET id = \(id) WHERE id = 'b/3'; UPDATE OR IGNORE photo SET id = x'612F' WHERE id = 'a/2'")
        _ = try? test.cache.read { try $0.subfolders(of: .top) }
    }

    @Test("Dates with fractions end the search for missing pictures")
    func fractions() async throws {
        try await test.sync((0..<600).map { try TestCache.entry("c\($0)") })
        try execute("UPDATE photo SET date = 5.5")
        #expect(throws: CacheError.self) {
            try test.cache.read { reader in
                try reader.wanting(.thumbnail, limit: 9, except: Set((1...700).map { PhotoKey($0) }))
            }
        }
    }

    /// Values at the ends of each type, for every column of every table.
    private static let values = [
        "9223372036854775807", "-9223372036854775808", "0", "-1", "2147483648", "1e308", "-1e308", "0.5", "NULL", "''",
        "'\u{1B}[2J\u{301}/..'", "x'FF00'", "zeroblob(100000)",
    ]

    @Test("Any value in any column ends nothing", arguments: Schema.tables + ["folder", "announcement"])
    func anyValue(table: String) async throws {
        try execute(
            "INSERT INTO folder (path, etag) VALUES (x'', 'e'); INSERT INTO exported VALUES (1, 1, 4, 5, 'jpg')")
        let path = test.folder.path("cache/galleries/\(test.cache.id)/gallery.sqlite")
        let columns = try Connection(path: path, access: .readOnly).map("SELECT name FROM pragma_table_info(?)", table)
        {
            $0.text(0)
        }
        #expect(columns.count > 1)
        for (number, column) in columns.enumerated() {
            for value in Self.values {
                try execute("CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM \(table)")
                let names = columns.joined(separator: ", ")
                // A constraint may refuse the value.
                try? execute("UPDATE OR IGNORE \(table) SET \(column) = \(value)")
                await use(number)
                try execute("DELETE FROM \(table); INSERT INTO \(table) (\(names)) SELECT \(names) FROM kept")
                try execute("DROP TABLE kept")
            }
        }
        #expect(try test.cache.read { try $0.photo(test.key("a/1"))?.name } == "Photo a/1")
    }

    /// Uses the cache as screens and commands do. Each part may fail.
    private func use(_ number: Int) async {
        let keys = (1...3).map { PhotoKey($0) }
        let cache = test.cache
        let parts: [(CacheReader) throws -> Void] = [
            { _ = try $0.gallery().status }, { _ = try $0.photos(keys) }, { _ = try $0.photo(galleryID: "a/1") },
            { reader in
                for key in keys {
                    for rendition in Rendition.allCases { _ = try? reader.source(of: key, rendition) }
                    _ = try? reader.embeddedThumbnailSource(of: key)
                    _ = try? reader.thumbnail(of: key)
                    _ = try? reader.photoFile(of: key).map { try cache.files.open($0) }.map { close($0) }
                    _ = try? reader.thumbnailToMake(of: key)
                    _ = try? reader.exportedCopy(of: key)
                    _ = try? reader.annotations(of: key)
                    _ = try? reader.videoPage(of: key)
                    if let metadata = try? reader.metadata(of: key)?.metadata {
                        let words = MetadataText(metadata)
                        _ = (words.size, words.exposure, words.aperture, words.sensitivity, metadata.words)
                    }
                }
            },
            { _ = try $0.counts() }, { _ = try $0.wanting(.thumbnail, limit: 9, except: [keys[0]]) },
            { _ = try $0.thumbnailsToMake() }, { _ = try $0.unread(keys) },
            { _ = try $0.albums(where: cache.isNamedByUser) },
            { _ = try $0.source() }, { _ = try $0.subfolders(of: .top) }, { _ = try $0.troubles(photoLimit: 9) },
            { _ = try $0.troubleCount() }, { _ = try $0.usedBytes() }, { try $0.forEachPhoto { _ = $0.date.iso8601 } },
        ]
        for part in parts { _ = try? cache.read(part) }
        await MainActor.run {
            for rule in SectionRule.allCases {
                guard let results = try? FetchedResults(of: cache, sections: rule) else { continue }
                for index in 0..<min(3, results.count) { _ = results.section(at: index) }
                _ = try? results.photos(in: 0..<min(3, results.count))
            }
        }
        let closed = ClosedGalleryCache(folder: cache.folder)
        _ = (closed.databaseSize, closed.thumbnailsSize, closed.photosSize, closed.canShrink, closed.touched)
        _ = try? await cache.writer.freeSpace(fromThumbnails: 1, except: [keys[0]])
        _ = try? await cache.writer.recordOpened(at: Timestamp(milliseconds: Int64(number)))
    }
}
