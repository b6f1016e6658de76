#if DEBUG || FUZZING
    import Model
    import SQLite
    import Session
    import Synchronization

    @testable import Cache

    /// Rows of a cache, which the fetcher writes and the screens read.
    extension FuzzTarget {
        static let rows = [row]

        private static let row = FuzzTarget("rows") { bytes in
            try database.withLock { try $0.read(bytes) }
        }

        private static let database = Mutex(RowDatabase())
    }

    /// A database of a few photos. Each input writes values of any type into its columns, and is undone.
    ///
    /// An input consists of parts: two bytes choose table and column, one the type, one the length of the value that follows.
    private struct RowDatabase {
        private static let tables = ["gallery", "photo", "thumbnail", "metadata", "album", "folder", "announcement"]

        /// The database with its columns by table; nil if SQLite refuses to make it, which ends the program at the first input.
        private let contents: (connection: Connection, columns: [[String]])?

        init() { contents = try? Self.make() }

        private static func make() throws -> (Connection, [[String]]) {
            let connection = try Connection(path: ":memory:", access: .readWrite)
            try Schema.migrate(connection)
            try connection.execute(
                """
                INSERT INTO gallery (key, address, kind, root) VALUES
                    (1, 'https://photos.test/index.xml', 'immich', 'https://photos.test/');
                INSERT INTO photo (id, name, name_key, date, photo_address, photo_file, photo_held, photo_size, revision) VALUES
                    ('a/1.jpg', 'One', 'one', 1, 'https://photos.test/1', '1-1-abc', 1, 9, 'r'),
                    ('a/b/2.mp4', 'Two', 'two', 2, 'https://photos.test/2', NULL, NULL, NULL, 'r'),
                    ('3.jpg', 'Three', 'three', 3, 'https://photos.test/3', 'original', 1, 9, 'r');
                INSERT INTO thumbnail (photo, data) VALUES (1, x'00'), (2, x'01');
                INSERT INTO metadata (photo, edition, format, width, height, words) VALUES (1, 1, 'JPEG', 9, 9, 'a');
                INSERT INTO album (position, address, kind, name) VALUES (1, 'https://photos.test/a', 'album', 'A');
                INSERT INTO folder (path, etag) VALUES (x'612F', 'e');
                INSERT INTO announcement (changes) VALUES ('photo:1');
                """)
            var columns: [[String]] = []
            for table in tables {
                columns.append(try connection.map("SELECT name FROM pragma_table_info(?)", table) { $0.text(0) })
                try connection.execute("CREATE TABLE kept_\(table) AS SELECT * FROM \(table)")
            }
            return (connection, columns)
        }

        func read(_ bytes: [UInt8]) throws {
            guard let (connection, columns) = contents else { fatalError("no database") }
            var touched: Set<Int> = []
            var rest = bytes[...]
            while rest.count >= 4 {
                let head = Array(rest.prefix(4))
                let value = Array(rest.dropFirst(4).prefix(Int(head[3])))
                rest = rest.dropFirst(4 + value.count)
                let table = Int(head[0] &- 0x61) % Self.tables.count
                let column = columns[table][Int(head[1] &- 0x61) % columns[table].count]
                touched.insert(table)
                try? write(value, as: head[2], to: "UPDATE OR IGNORE \(Self.tables[table]) SET \(column) =", connection)
            }
            use(CacheReader(connection))
            for table in touched {
                let (name, list) = (Self.tables[table], columns[table].joined(separator: ", "))
                try connection.execute(
                    "DELETE FROM \(name); INSERT INTO \(name) (\(list)) SELECT \(list) FROM kept_\(name)")
            }
        }

        private func write(_ value: [UInt8], as type: UInt8, to update: String, _ connection: Connection) throws {
            let bits = value.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            switch (type &- 0x61) % 6 {
            case 0: try connection.run("\(update) ?", Int64(bitPattern: bits))
            case 1: try connection.run("\(update) ?", Double(bitPattern: bits))
            case 2: try connection.run("\(update) CAST(? AS TEXT)", value)
            case 3: try connection.run("\(update) ?", value)
            case 4: try connection.run("\(update) ?", [.min, .max, 0, -1, 1 << 31, 1 << 53][Int(bits % 6)] as Int64)
            default: try connection.run("\(update) NULL")
            }
        }

        /// Reads as screens and commands do. Each part may fail.
        private func use(_ reader: CacheReader) {
            let keys = (1...3).map { PhotoKey($0) }
            let gallery = try? reader.gallery()
            let timers = [gallery?.lastSuccess, gallery?.lastOpened].compactMap { $0 }
            require(timers.allSatisfy { abs($0.milliseconds) <= SchemaCheck.latest }, "an implausible time")
            require((0...Int(Int32.max)).contains(gallery?.photoCount ?? 0), "an implausible number of photos")
            for photo in (try? reader.photos(keys)) ?? [] {
                require((0...SchemaCheck.largest).contains(photo.size ?? 0), "an implausible size")
                _ = (
                    photo.date.iso8601, LocalDay(of: photo.date).moments(of: .month), photo.folder?.names,
                    photo.isVideoFile
                )
            }
            for key in keys {
                for rendition in Rendition.allCases { _ = try? reader.wantingSource(of: key, rendition) }
                _ = (
                    try? reader.embeddedThumbnailSource(of: key), try? reader.thumbnail(of: key),
                    try? reader.videoPage(of: key)
                )
                if let stored = try? reader.photoFile(of: key) {
                    require(!stored.name.utf8.contains(UInt8(ascii: "/")), "a file's name is a path")
                }
                _ = (try? reader.thumbnailToMake(of: key), try? reader.annotations(of: key), try? reader.town(of: key))
                if let metadata = try? reader.metadata(of: key)?.metadata {
                    let words = MetadataText(metadata)
                    _ = (words.size, words.exposure, words.aperture, words.sensitivity, metadata.words)
                }
            }
            if let own = try? Address("https://photos.test/index.xml") {
                let credentials = CredentialStore()
                let isOwn = { (address: Address) in
                    address.origin.map { credentials.isNamedByUser($0, in: own) } ?? false
                }
                let albums = (try? reader.albums(where: isOwn).albums) ?? []
                require(albums.allSatisfy { $0.address.host == own.host }, "an album of another server")
            }
            _ = (
                try? reader.counts(), try? reader.source(), try? reader.subfolders(of: .top), try? reader.troubleCount()
            )
            _ = (try? reader.troubles(photoLimit: 9), try? reader.thumbnailsToMake(), try? reader.unread(keys))
            for criterion in PhotoOrder.Criterion.allCases {
                for isByFolder in [false, true] {
                    let query = PhotoQuery(order: PhotoOrder(criterion), filter: .all, isByFolder: isByFolder)
                    _ = try? query.rows(reader)
                }
            }
            for rendition in Rendition.allCases { _ = try? reader.wanting(rendition, limit: 2, except: [keys[0]]) }
        }
    }
#endif
