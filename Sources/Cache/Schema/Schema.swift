import SQLite

/// The tables of a gallery's cache, and how an older cache becomes a newer one.
///
/// `PRAGMA user_version` counts the migrations that a file has been through. A migration that was ever released is never
/// edited: what comes later is a new one at the end.
enum Schema {
    static var version: Int { migrations.count }

    static let tables = ["gallery", "photo", "thumbnail", "metadata"]

    /// Brings a database up to date, each step a transaction of its own.
    ///
    /// Returns the version that was found; a database of a newer Vitrine is not touched, and the caller must refuse it.
    static func migrate(_ writer: Writer) throws -> Int {
        let found = try writer.read { try version(of: $0) }
        guard found >= 0 else { throw SQLiteError.damaged(reason: "its version is \(found)") }
        guard found < version else { return found }
        for step in found..<version {
            try writer.transaction { connection in
                // Another process may have taken this step while this one waited for the lock.
                guard try Self.version(of: connection) == step else { return }
                try migrate(connection, step)
            }
        }
        return found
    }

    /// Takes an empty database that nobody else knows through so many migrations, all of them by default.
    static func migrate(_ connection: Connection, through count: Int = version) throws {
        for step in migrations.indices.prefix(count) { try migrate(connection, step) }
    }

    private static func migrate(_ connection: Connection, _ step: Int) throws {
        try connection.execute(migrations[step])
        // A pragma takes no bound value; this one is a number of ours.
        try connection.execute("PRAGMA user_version = \(step + 1)")
    }

    static func version(of connection: Connection) throws -> Int {
        Int(try connection.first("PRAGMA user_version") { $0.int(0) } ?? 0)
    }

    /// Editions, what is held of them and what stands in the way are columns of the photo's row, so that a window of a
    /// list is one query over one table; the pictures' bytes, large and rarely needed, lie elsewhere.
    private static let migrations = [
        """
        CREATE TABLE gallery (
            key INTEGER PRIMARY KEY CHECK (key = 1),
            address TEXT NOT NULL,
            -- Counts the updates that changed the list: two syncs at once are noticed by it.
            list_version INTEGER NOT NULL DEFAULT 0,
            photo_count INTEGER NOT NULL DEFAULT 0,
            skipped INTEGER NOT NULL DEFAULT 0,
            last_opened INTEGER,
            last_success INTEGER,
            -- How the last attempt failed; NULL after a success.
            failure TEXT,
            failure_remedy INTEGER,
            -- What the server said of the list that these rows came from.
            etag TEXT,
            last_modified TEXT
        );
        CREATE TABLE photo (
            -- AUTOINCREMENT: a number is never given to another photo, so nobody who holds one can be misled.
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            name_key BLOB NOT NULL,
            date INTEGER NOT NULL,
            thumbnail_address TEXT,
            thumbnail_edition INTEGER NOT NULL DEFAULT 1,
            thumbnail_held INTEGER,
            thumbnail_trouble INTEGER,
            thumbnail_reason TEXT,
            thumbnail_etag TEXT,
            thumbnail_last_modified TEXT,
            photo_address TEXT NOT NULL,
            photo_edition INTEGER NOT NULL DEFAULT 1,
            photo_held INTEGER,
            photo_trouble INTEGER,
            photo_reason TEXT,
            photo_etag TEXT,
            photo_last_modified TEXT,
            photo_file TEXT,
            photo_size INTEGER,
            photo_digest INTEGER
        );
        CREATE INDEX photo_by_date ON photo (date);
        CREATE INDEX photo_by_name ON photo (name_key);
        CREATE TABLE thumbnail (
            photo INTEGER PRIMARY KEY,
            data BLOB NOT NULL,
            -- A newer one that nobody has managed to decode yet. It takes the place of `data` when somebody has.
            unproven BLOB
        );
        """,
        """
        -- Of the entry as the gallery wrote it: a list that comes again is compared by it, without being taken apart.
        ALTER TABLE photo ADD COLUMN entry_digest INTEGER;
        -- Whether the user wants to have it here whatever room it takes.
        ALTER TABLE gallery ADD COLUMN is_kept INTEGER NOT NULL DEFAULT 0;
        -- What photos that are here, or once were, say of themselves.
        CREATE TABLE metadata (
            photo INTEGER PRIMARY KEY,
            -- The edition of the photo that said it.
            edition INTEGER NOT NULL,
            format TEXT NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            orientation INTEGER,
            taken_at TEXT,
            camera TEXT,
            lens TEXT,
            exposure REAL,
            aperture REAL,
            iso INTEGER,
            focal_length REAL,
            latitude REAL,
            longitude REAL,
            title TEXT,
            description TEXT,
            -- What of it is searched.
            words TEXT NOT NULL
        );
        -- What the last commits touched, for other processes that have the cache open: see Announcement.
        CREATE TABLE announcement (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            changes TEXT NOT NULL
        );
        CREATE VIEW photo_words AS
            SELECT photo.key AS key, photo.name AS name, metadata.words AS words
            FROM photo LEFT JOIN metadata ON metadata.photo = photo.key;
        -- "the "delete" command" takes the words that were there: see PhotoText. Where in a name a word stands is not kept
        -- (detail): that takes most of the room, and marks on the screen are found when they are drawn.
        CREATE VIRTUAL TABLE photo_text USING fts5(
            name, words, content = 'photo_words', content_rowid = 'key', columnsize = 0, detail = none,
            prefix = '1 2', tokenize = 'unicode61 remove_diacritics 2'
        );
        INSERT INTO photo_text (photo_text) VALUES ('rebuild');
        """,
        """
        -- What failed, by reason. Photos that are well are not in there.
        CREATE INDEX thumbnail_in_trouble ON photo (thumbnail_trouble, thumbnail_reason)
            WHERE thumbnail_trouble IS NOT NULL;
        CREATE INDEX photo_in_trouble ON photo (photo_trouble, photo_reason) WHERE photo_trouble IS NOT NULL;
        """,
        """
        -- The last photo that there was when the user left the gallery; those behind it are new to him. NULL as long as he has
        -- not left it once: then all would be new, and so nothing is.
        ALTER TABLE gallery ADD COLUMN seen_through INTEGER;
        """,
        """
        -- Whether the list that these rows came from was sent by this machine or from the user's own network. NULL: nobody has
        -- looked.
        ALTER TABLE gallery ADD COLUMN is_private INTEGER;
        """,
        """
        -- Whether the gallery's own address has ever led to a public one. It must not lead to a private one then.
        ALTER TABLE gallery ADD COLUMN was_public INTEGER NOT NULL DEFAULT 0;
        UPDATE gallery SET was_public = 1 WHERE is_private = 0;
        """,
    ]
}

/// Whether a database is what the migrations made of it, and its numbers are such as a cache gives out.
///
/// It looks at the schema and at the ends of indices, and so costs the same for ten photos and for a million.
enum SchemaCheck {
    /// No cache has given out more numbers than this; lists keep a table that is as long as the largest.
    static let rows = 1...Int64(Int32.max)
    /// Thirty thousand years, before and after 1970: more than a gallery can write, and nothing overflows.
    private static let latest: Int64 = 1_000_000_000_000_000

    /// Throws ``SQLiteError/damaged(reason:)`` if it is not.
    static func check(_ connection: Connection) throws {
        let expected = try Connection(path: ":memory:", access: .readWrite)
        try Schema.migrate(expected)
        let missing = try layout(expected, of: "main").subtracting(layout(connection, of: "main"))
        guard missing.isEmpty else {
            throw SQLiteError.damaged(reason: "it has no \(missing.map(name(of:)).sorted().joined(separator: ", no "))")
        }
        // Its columns are asked of the index itself: so it can be opened.
        try connection.execute("SELECT name, words FROM photo_text LIMIT 0")
        guard try hasBelievableNumbers(connection) else {
            throw SQLiteError.damaged(reason: "it holds numbers that no cache gives out")
        }
    }

    /// Whether a copy of a database has all of the tables, columns and indices that the database is to have.
    static func isLaidOutAs(_ copy: Connection, _ schema: String) throws -> Bool {
        try layout(copy, of: "main").subtracting(layout(copy, of: schema)).isEmpty
    }

    /// Every table, index and column, and of views how they are made: they are code that a damaged page changes. The columns of
    /// the index of words only it knows itself, and it may be damaged.
    private static func layout(_ connection: Connection, of schema: String) throws -> Set<String> {
        let parts = try connection.map(
            """
            SELECT type || ' ' || name || iif(type = 'view', ': ' || sql, '') FROM \(schema).sqlite_schema UNION ALL
            SELECT t.name || '.' || c.name || ' ' || c.type
            FROM \(schema).sqlite_schema AS t, pragma_table_info(t.name, ?) AS c
            WHERE t.type = 'table' AND t.name NOT GLOB 'photo_text*'
            """, schema
        ) { $0.text(0) }
        return Set(parts)
    }

    /// A part without how it is made, which nobody wants to read.
    private static func name(of part: String) -> Substring { part.prefix { $0 != ":" } }

    private static func hasBelievableNumbers(_ connection: Connection) throws -> Bool {
        // One minimum or maximum a query: then SQLite goes to the end of the index and takes it from there.
        try connection.first(
            """
            SELECT ifnull((SELECT min(key) FROM photo) >= ?1, 1) AND ifnull((SELECT max(key) FROM photo) <= ?2, 1)
               AND ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name = 'photo') <= ?2, 1)
               AND ifnull((SELECT max(key) FROM announcement) > 0, 1)
               AND ifnull((SELECT min(date) FROM photo) >= -?3, 1) AND ifnull((SELECT max(date) FROM photo) <= ?3, 1)
               AND NOT EXISTS (SELECT 1 FROM gallery WHERE abs(ifnull(last_opened, 0)) > ?3
                                                        OR abs(ifnull(last_success, 0)) > ?3)
            """, rows.lowerBound, rows.upperBound, latest
        ) { $0.int(0) != 0 } ?? false
    }
}
