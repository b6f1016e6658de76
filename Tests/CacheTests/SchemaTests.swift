import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

@Suite struct SchemaTests {
    @Test("BEHAVIOURS 4.3: a cache of an older version is migrated with all of its contents")
    func migration() throws {
        let folder = TestFolder()
        let caches = try CacheFolder(path: folder.path("caches"), log: Log())
        let address = try Address("http://localhost/index.xml")
        let path = folder.path("caches/galleries/\(GalleryID(address))")
        try PrivateFolder.make(path)
        let old = try Connection(path: path + "/gallery.sqlite", access: .readWrite)
        try Schema.migrate(old, through: 1)
        try old.execute(
            """
            INSERT INTO gallery (key, address, photo_count) VALUES (1, '\(address.text)', 1);
            INSERT INTO photo (id, name, name_key, date, photo_address)
            VALUES ('a', 'Zoë on the Äolus', X'61', 1000, 'http://localhost/a.jpg');
            """)
        let cache = try caches.open(address)
        #expect(!cache.wasSetAside)
        let photo = try #require(try cache.read { try $0.photo(galleryID: "a") })
        #expect(photo.name == "Zoë on the Äolus")
        // The user has not left the gallery yet, so no photo is new.
        #expect(try cache.read { try $0.gallery() }.isNew(photo.key) == false)
        // Its words are found, also without accents.
        let found = try cache.read { reader in
            try reader.connection.map("SELECT rowid FROM photo_text WHERE photo_text MATCH ?", "zoe aol*") { $0.int(0) }
        }
        #expect(found == [photo.key.rawValue])
    }
}
