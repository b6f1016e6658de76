import Files
import Model
import SQLite

/// The tables of a gallery's cache, and their migrations.
///
/// `PRAGMA user_version` contains the number of migrations that a file has had. A released migration never changes. New
/// migrations go to the end.
enum Schema {
    static var version: Int { migrations.count }

    /// The tables whose changes the writer publishes.
    static let tables = ["gallery", "photo", "thumbnail", "metadata", "album", "exported"]

    /// Migrates a database in one transaction, because each transaction waits for the disk. Returns the version that
    /// the database had before.
    ///
    /// A database of a newer Vitrine stays as it is; the caller must refuse it.
    static func migrate(_ writer: Writer) throws -> Int {
        let found = try writer.read { try version(of: $0) }
        guard found >= 0 else { throw SQLiteError.damaged(reason: "its version is \(found)") }
        guard found < version else { return found }
        try writer.transaction { connection in
            // Another process may have migrated the database meanwhile.
            let present = try Self.version(of: connection)
            for step in migrations.indices where step >= present { try migrate(connection, step) }
        }
        return found
    }

    /// Runs the first migrations in an empty database, by default all migrations.
    ///
    /// Other processes must not use the database meanwhile.
    static func migrate(_ connection: Connection, through count: Int = version) throws {
        try connection.transaction(writes: true) {
            for step in migrations.indices.prefix(count) { try migrate(connection, step) }
        }
    }

    private static func migrate(_ connection: Connection, _ step: Int) throws {
        if step == stepOfIDs {
            try connection.executeEditingSchema(migrations[step])
        } else {
            try connection.execute(migrations[step])
        }
        // Pragmas take no bound values. This number does not come from outside.
        try connection.execute("PRAGMA user_version = \(step + 1)")
    }

    static func version(of connection: Connection) throws -> Int {
        Int(try connection.first("PRAGMA user_version") { $0.int(0) } ?? 0)
    }

    /// The index of the migration that edits SQLite's own table of the schema.
    private static let stepOfIDs = 15

    /// The SQL of each migration.
    ///
    /// A photo's row contains the state of its renditions, so that reading a part of a list is one query over one
    /// table. The pictures' bytes are large and rarely needed, so they are in another table.
    static let migrations = [
        """
        CREATE TABLE gallery (
            key INTEGER PRIMARY KEY CHECK (key = 1),
            address TEXT NOT NULL,
            -- Counts the updates that changed the list, to detect two updates at once.
            list_version INTEGER NOT NULL DEFAULT 0,
            photo_count INTEGER NOT NULL DEFAULT 0,
            skipped INTEGER NOT NULL DEFAULT 0,
            last_opened INTEGER,
            last_success INTEGER,
            -- The last attempt's failure; NULL after a success.
            failure TEXT,
            failure_remedy INTEGER,
            -- The server's validators for the list in these rows.
            etag TEXT,
            last_modified TEXT
        );
        CREATE TABLE photo (
            -- AUTOINCREMENT: a number is never reused for another photo.
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
            -- A newer picture that has not been decoded yet. It replaces `data` once it has.
            unproven BLOB
        );
        """,
        """
        -- A digest of the entry as the gallery wrote it. It detects unchanged entries without parsing.
        ALTER TABLE photo ADD COLUMN entry_digest INTEGER;
        -- Whether the user marked the gallery to be kept, whatever space it takes.
        ALTER TABLE gallery ADD COLUMN is_kept INTEGER NOT NULL DEFAULT 0;
        -- Metadata of photos that are or were in the cache.
        CREATE TABLE metadata (
            photo INTEGER PRIMARY KEY,
            -- The edition of the photo that contained it.
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
            -- The words to search.
            words TEXT NOT NULL
        );
        -- The changes of the last commits, for other processes that use the cache; see Announcements.
        CREATE TABLE announcement (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            changes TEXT NOT NULL
        );
        CREATE VIEW photo_words AS
            SELECT photo.key AS key, photo.name AS name, metadata.words AS words
            FROM photo LEFT JOIN metadata ON metadata.photo = photo.key;
        -- "the "delete" command" needs the old words; see PhotoText. Positions of words (detail) would take most of the
        -- space; the screen finds its marks when it draws.
        CREATE VIRTUAL TABLE photo_text USING fts5(
            name, words, content = 'photo_words', content_rowid = 'key', columnsize = 0, detail = none,
            prefix = '1 2', tokenize = 'unicode61 remove_diacritics 2'
        );
        INSERT INTO photo_text (photo_text) VALUES ('rebuild');
        """,
        """
        -- Failures by reason. Photos without trouble are not in these indices.
        CREATE INDEX thumbnail_in_trouble ON photo (thumbnail_trouble, thumbnail_reason)
            WHERE thumbnail_trouble IS NOT NULL;
        CREATE INDEX photo_in_trouble ON photo (photo_trouble, photo_reason) WHERE photo_trouble IS NOT NULL;
        """,
        """
        -- The last photo present when the user left the gallery; later ones are new. NULL before the first time, and then
        -- no photo counts as new.
        ALTER TABLE gallery ADD COLUMN seen_through INTEGER;
        """,
        """
        -- Whether the list in these rows came from this machine or a private network. NULL if unknown.
        ALTER TABLE gallery ADD COLUMN is_private INTEGER;
        """,
        """
        -- Whether the gallery's address has ever led to a public server. Then it must not lead to a private one.
        ALTER TABLE gallery ADD COLUMN was_public INTEGER NOT NULL DEFAULT 0;
        UPDATE gallery SET was_public = 1 WHERE is_private = 0;
        """,
        """
        -- A text that changes with the photo's bytes, such as an ETag, or a file's size and time. NULL if unknown.
        ALTER TABLE photo ADD COLUMN revision TEXT;
        -- The origin of the date; see DateOrigin.
        ALTER TABLE photo ADD COLUMN date_origin INTEGER NOT NULL DEFAULT 0;
        -- The id of a photo with a revision is its path, so that a search finds folders, too.
        DROP VIEW photo_words;
        CREATE VIEW photo_words AS
            SELECT photo.key AS key, iif(photo.revision IS NULL, photo.name, photo.id) AS name, metadata.words AS words
            FROM photo LEFT JOIN metadata ON metadata.photo = photo.key;
        """,
        """
        -- The kind of place that the address leads to, and its outermost folder; see ListSource. NULL if unknown.
        ALTER TABLE gallery ADD COLUMN kind TEXT;
        ALTER TABLE gallery ADD COLUMN root TEXT;
        -- The folders of the server, with its validators for their lists.
        CREATE TABLE folder (
            path BLOB PRIMARY KEY,
            etag TEXT,
            last_modified TEXT
        ) WITHOUT ROWID;
        """,
        """
        -- The part of a photo library that contains the photo, such as its month. NULL in other galleries.
        ALTER TABLE photo ADD COLUMN library_part TEXT;
        -- The id of a photo in a library is no path.
        DROP VIEW photo_words;
        CREATE VIEW photo_words AS
            SELECT photo.key AS key, iif(photo.revision IS NULL OR photo.library_part IS NOT NULL, photo.name, photo.id) AS name,
                   metadata.words AS words
            FROM photo LEFT JOIN metadata ON metadata.photo = photo.key;
        -- The photos whose ids contain a slash. Without this index, the search for the first of them would read all ids.
        CREATE INDEX photo_in_folder ON photo (key) WHERE instr(id, '/') > 0;
        """,
        """
        -- A blurred picture of the photo as a ThumbHash in Base64. NULL if the gallery has none.
        ALTER TABLE photo ADD COLUMN thumbhash TEXT;
        -- In galleries of Immich, the revision consisted of the checksum and the blurred picture.
        UPDATE photo SET thumbhash = nullif(substr(revision, instr(revision, ' ') + 1), ''),
                         revision = substr(revision, 1, instr(revision, ' ') - 1)
            WHERE (SELECT kind FROM gallery) = 'immich' AND instr(revision, ' ') > 0;
        """,
        """
        -- The albums, people and favorites of the server; see AlbumList.
        CREATE TABLE album (
            position INTEGER PRIMARY KEY,
            -- The address of the gallery that the album is.
            address TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            -- The server's number of photos. NULL if unknown.
            photo_count INTEGER,
            -- The id of a photo. NULL if unknown.
            cover TEXT
        );
        -- The time of the last successful update of the albums. NULL before the first.
        ALTER TABLE gallery ADD COLUMN albums_updated INTEGER;
        -- The reason why albums are missing. NULL if none are.
        ALTER TABLE gallery ADD COLUMN albums_trouble TEXT;
        -- The name of the album that the gallery itself is. NULL if unknown.
        ALTER TABLE gallery ADD COLUMN album_name TEXT;
        """,
        """
        -- The annotations in the gallery's list, such as tags; see PhotoAnnotations. NULL if there are none.
        ALTER TABLE photo ADD COLUMN annotations TEXT;
        ALTER TABLE photo ADD COLUMN rating INTEGER
            GENERATED ALWAYS AS (length(annotations) - length(ltrim(annotations, '*'))) VIRTUAL;
        ALTER TABLE photo ADD COLUMN is_favorite INTEGER
            GENERATED ALWAYS AS (substr(ltrim(annotations, '*'), 1, 1) = '+') VIRTUAL;
        -- The length of the video in milliseconds, 0 if unknown. NULL for a photo.
        ALTER TABLE photo ADD COLUMN video_milliseconds INTEGER;
        CREATE INDEX photo_by_rating ON photo (rating) WHERE rating > 0;
        CREATE INDEX photo_favorite ON photo (key) WHERE is_favorite;
        CREATE INDEX photo_video ON photo (key) WHERE video_milliseconds NOT NULL;
        DROP VIEW photo_words;
        CREATE VIEW photo_words AS
            SELECT photo.key AS key, iif(photo.revision IS NULL OR photo.library_part IS NOT NULL, photo.name, photo.id) AS name,
                   iif(photo.annotations IS NULL, metadata.words,
                       photo.annotations || char(10) || ifnull(metadata.words, '')) AS words
            FROM photo LEFT JOIN metadata ON metadata.photo = photo.key;
        -- The next update reads whole lists, which brings the annotations and videos. The row of the root stays, because it
        -- states whether the server recognized the user; a guest's view must not remove the user's photos.
        DELETE FROM folder WHERE path <> x'' AND (SELECT kind FROM gallery) IN ('immich', 'photoprism', 'piwigo');
        UPDATE folder SET etag = NULL WHERE (SELECT kind FROM gallery) IN ('immich', 'photoprism', 'piwigo');
        UPDATE gallery SET etag = NULL, last_modified = NULL WHERE kind IS NULL OR kind IN ('list', 'feed');
        """,
        """
        -- The user's own rating, a copy of that in the RatingFile. NULL if the user has not rated the photo.
        ALTER TABLE photo ADD COLUMN own_rating INTEGER;
        -- The user's own rating, or else that in the gallery's list. The column is virtual, so no row changes.
        DROP INDEX photo_by_rating;
        ALTER TABLE photo DROP COLUMN rating;
        ALTER TABLE photo ADD COLUMN rating INTEGER
            GENERATED ALWAYS AS (ifnull(own_rating, length(annotations) - length(ltrim(annotations, '*')))) VIRTUAL;
        CREATE INDEX photo_by_rating ON photo (rating) WHERE rating <> 0;
        CREATE INDEX photo_rated ON photo (key) WHERE own_rating NOT NULL;
        -- The stamp of the RatingFile that the rows match. NULL if there is no such file.
        ALTER TABLE gallery ADD COLUMN rating_stamp TEXT;
        """,
        """
        -- The town at or near the coordinates, and its distance in kilometres. The name is NULL before Vitrine has searched for
        -- a town, and empty if no town is near.
        ALTER TABLE metadata ADD COLUMN town TEXT;
        ALTER TABLE metadata ADD COLUMN town_distance INTEGER;
        CREATE INDEX metadata_without_town ON metadata (photo) WHERE town IS NULL AND latitude NOT NULL AND longitude NOT NULL;
        -- The length of a video in milliseconds, its coding and its frames a second. NULL for a picture.
        ALTER TABLE metadata ADD COLUMN length INTEGER;
        ALTER TABLE metadata ADD COLUMN codec TEXT;
        ALTER TABLE metadata ADD COLUMN frame_rate REAL;
        -- The next update reads whole lists, which brings the videos of folders on servers.
        UPDATE folder SET etag = NULL, last_modified = NULL
            WHERE (SELECT kind FROM gallery) IN ('web', 'webdav', 'nextcloud', 's3');
        """,
        """
        -- Earlier versions did not look for the thumbnails in HEIC and AVIF photos, which therefore counted as absent.
        UPDATE photo SET thumbnail_trouble = NULL
            WHERE thumbnail_trouble = 3 AND (photo_address LIKE '%.heic' OR photo_address LIKE '%.heif'
                                             OR photo_address LIKE '%.hif' OR photo_address LIKE '%.avif');
        """,
        """
        -- Large updates build the index of ids anew, which SQLite does not permit for the index of a UNIQUE column. So that
        -- index becomes an ordinary one. Its pages stay as they are.
        UPDATE sqlite_schema SET sql = replace(sql, 'id TEXT NOT NULL UNIQUE', 'id TEXT NOT NULL')
            WHERE type = 'table' AND name = 'photo';
        UPDATE sqlite_schema SET name = 'photo_by_id', sql = 'CREATE UNIQUE INDEX photo_by_id ON photo (id)'
            WHERE name = 'sqlite_autoindex_photo_1';
        """,
        """
        -- The photos that stay in the user's folder. Each start looks for those whose metadata is unread.
        CREATE INDEX photo_in_place ON photo (key) WHERE photo_file = 'original';
        """,
        """
        -- The common beginning of the addresses of photos and thumbnails; see AddressBase.
        ALTER TABLE gallery ADD COLUMN address_base TEXT NOT NULL DEFAULT '';
        """,
        """
        -- The collation of the sort keys of the photos' names; see NaturalKey. NULL if unknown.
        ALTER TABLE gallery ADD COLUMN collation TEXT;
        -- The next update reads whole lists, because Nextcloud's dates are by the camera's clock now, and the rules have
        -- changed that decide which pictures of a feed are photos.
        UPDATE folder SET etag = NULL, last_modified = NULL WHERE (SELECT kind FROM gallery) = 'nextcloud';
        UPDATE gallery SET etag = NULL, last_modified = NULL WHERE kind = 'feed';
        """,
        """
        -- The files that exports copied to folders of the user; see ExportedCopy. The rows stay when the cache drops the files.
        CREATE TABLE exported (
            photo INTEGER PRIMARY KEY,
            -- The edition of the photo that the file contained.
            edition INTEGER NOT NULL,
            size INTEGER NOT NULL,
            digest INTEGER NOT NULL,
            -- The ending of the copy's name.
            ending TEXT NOT NULL
        );
        """,
    ]
}

/// Checks that a database has the layout of the migrations, and plausible numbers.
///
/// The check reads the schema and the ends of indices, so its cost does not depend on the number of photos.
enum SchemaCheck {
    /// The plausible row numbers. Lists allocate tables as long as the largest number, so the number must be limited.
    static let rows = 1...Int64(Int32.max)
    /// The latest plausible date, 30,000 years from 1970, in milliseconds. Sums of such dates do not overflow.
    static let latest: Int64 = 1_000_000_000_000_000
    /// The largest plausible number of bytes, and the largest plausible number of an announcement. Sums of 500,000 such
    /// numbers do not overflow.
    static let largest: Int64 = 1 << 44

    /// The digest of the layout that the migrations make.
    static let usualLayout = "8eec880ac1e9967cbd8ed6a34000d58a"

    /// Throws ``SQLiteError/damaged(reason:)`` if the check fails.
    static func check(_ connection: Connection) throws {
        let found = try layout(connection, of: "main")
        // Running all migrations takes as long as most of the rest of a start, so they run only for an unusual layout.
        if digest(of: found) != usualLayout {
            let missing = try layoutOfMigrations().subtracting(found)
            guard missing.isEmpty else {
                throw SQLiteError.damaged(
                    reason: "it has no \(missing.map(name(of:)).sorted().joined(separator: ", no "))")
            }
        }
        // Opens the full-text index, which checks its columns, and compiles the formulas of the computed columns.
        try connection.execute("SELECT name, words FROM photo_text LIMIT 0; SELECT * FROM photo LIMIT 0")
        guard try hasPlausibleNumbers(connection) else {
            throw SQLiteError.damaged(reason: "it contains implausible numbers")
        }
    }

    /// Whether an attached database has all tables, columns and indices of the main database.
    static func isLaidOutAs(_ copy: Connection, _ schema: String) throws -> Bool {
        try layout(copy, of: "main").subtracting(layout(copy, of: schema)).isEmpty
    }

    /// Returns the layout that the migrations make.
    static func layoutOfMigrations() throws -> Set<String> {
        let database = try Connection(path: ":memory:", access: .readWrite)
        try Schema.migrate(database)
        return try layout(database, of: "main")
    }

    /// Returns a digest of a layout.
    static func digest(of layout: Set<String>) -> String {
        ByteDigest.md5.digits(of: Array(layout.sorted().joined(separator: "\n").utf8))
    }

    /// Returns all tables, indices, columns and views, as texts. The text of a view contains its SQL, which a damaged
    /// page could change.
    ///
    /// The columns of the full-text index are left out, because only the index knows them and it may be damaged.
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

    /// Returns a part's name without the SQL of a view.
    private static func name(of part: String) -> Substring { part.prefix { $0 != ":" } }

    private static func hasPlausibleNumbers(_ connection: Connection) throws -> Bool {
        // One minimum or maximum per query, because SQLite then reads only the end of the index.
        try connection.first(
            """
            SELECT ifnull((SELECT min(key) FROM photo) >= ?1, 1) AND ifnull((SELECT max(key) FROM photo) <= ?2, 1)
               AND ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name = 'photo') <= ?2, 1)
               AND ifnull((SELECT max(key) FROM announcement) BETWEEN 1 AND ?4, 1)
               AND ifnull((SELECT min(date) FROM photo) >= -?3, 1) AND ifnull((SELECT max(date) FROM photo) <= ?3, 1)
               AND NOT EXISTS (SELECT 1 FROM gallery WHERE abs(ifnull(last_opened, 0)) > ?3
                                                        OR abs(ifnull(last_success, 0)) > ?3)
            """, rows.lowerBound, rows.upperBound, latest, largest
        ) { $0.int(0) != 0 } ?? false
    }
}

/// Values of columns, limited to plausible bounds. Another process may have written any number into an open database,
/// and Vitrine reads closed databases without a check.
extension Row {
    /// Returns the column's moment, at most 30,000 years from 1970. Returns nil for a missing value.
    func time(_ column: Int) -> Timestamp? {
        optionalInt(column).map { Timestamp(milliseconds: min(max($0, -SchemaCheck.latest), SchemaCheck.latest)) }
    }

    /// Returns the column as a count. The result is not negative and has at most 31 bits.
    func count(_ column: Int) -> Int { Int(min(max(0, int(column)), SchemaCheck.rows.upperBound)) }

    /// Returns the column as a count, like ``count(_:)``. Returns nil for a missing value.
    func optionalCount(_ column: Int) -> Int? { isNull(column) ? nil : count(column) }

    /// Returns the column's number of bytes, which is not negative. Returns nil for a missing value.
    func size(_ column: Int) -> Int64? { optionalInt(column).map { min(max(0, $0), SchemaCheck.largest) } }

    /// Returns the column's number, which may be negative, with at most 31 bits.
    func small(_ column: Int) -> Int { Int(Int32(clamping: int(column))) }

    /// Returns the column's string as an address. Only valid addresses are stored, so an invalid one means that the
    /// database is damaged.
    func address(_ column: Int) throws -> Address {
        do { return try Address(text(column)) } catch {
            throw SQLiteError.damaged(reason: "“\(Address.withoutCredentials(text(column)))” is not an address")
        }
    }
}
