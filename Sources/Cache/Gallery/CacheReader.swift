import Model
import SQLite

/// Everything that can be asked of a gallery's cache. It can change nothing: its connection is read-only.
///
/// The main actor has one of its own and asks it synchronously, as a window of rows costs a fraction of a millisecond;
/// other work borrows one with ``GalleryCache/read(_:)``.
public struct CacheReader {
    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// What is known of the gallery as a whole.
    public func gallery() throws -> GalleryRecord { try gallery(schema: Schema.version) }

    /// The same of a database that may be of an older version: one that is looked at, and not opened.
    func gallery(schema: Int) throws -> GalleryRecord {
        let record = try connection.first(
            """
            SELECT address, photo_count, skipped, last_success, failure, failure_remedy, last_opened,
                   etag, last_modified, list_version, \(schema < 2 ? "0" : "is_kept"),
                   \(schema < 4 ? "NULL" : "seen_through"), \(schema < 5 ? "NULL" : "is_private"),
                   \(schema < 6 ? "0" : "was_public")
            FROM gallery
            """
        ) { row in
            GalleryRecord(
                address: try row.address(0),
                photoCount: Int(row.int(1)),
                skipped: Int(row.int(2)),
                lastSuccess: row.optionalInt(3).map(Timestamp.init(milliseconds:)),
                failure: row.optionalText(4).map {
                    Failure($0, remedy: Failure.Remedy(rawValue: Int(row.int(5))) ?? .none)
                },
                lastOpened: row.optionalInt(6).map(Timestamp.init(milliseconds:)),
                validators: Validators(etag: row.optionalText(7), lastModified: row.optionalText(8)),
                listVersion: row.int(9),
                isKept: row.int(10) != 0,
                seenThrough: row.optionalInt(11).map { PhotoKey($0) },
                isPrivate: row.optionalInt(12).map { $0 != 0 }, wasPublic: row.int(13) != 0)
        }
        guard let record else { throw SQLiteError.damaged(reason: "the gallery's own row is missing") }
        return record
    }

    /// The photos of these keys, as far as they exist, in no order.
    ///
    /// One query for up to ``windowLimit`` of them, which is more than any screen shows.
    public func photos(_ keys: some Collection<PhotoKey>) throws -> [Photo] {
        var photos: [Photo] = []
        photos.reserveCapacity(keys.count)
        try forEach("SELECT \(Self.photoColumns) FROM photo WHERE key IN (SELECT value FROM json_each(?))", of: keys) {
            photos.append(Self.photo($0))
        }
        return photos
    }

    /// Asks a question of many photos, ``windowLimit`` of them at a time: the query's one value is the list of their keys.
    func forEach(_ sql: String, of keys: some Collection<PhotoKey>, row: (Row) throws -> Void) throws {
        var rest = keys.map(\.rawValue)[...]
        while !rest.isEmpty {
            let window = rest.prefix(Self.windowLimit)
            rest = rest.dropFirst(window.count)
            try connection.forEach(sql, window.keyList, row: row)
        }
    }

    /// One photo, or nil if it is gone.
    public func photo(_ key: PhotoKey) throws -> Photo? {
        try connection.first("SELECT \(Self.photoColumns) FROM photo WHERE key = ?", key.rawValue, row: Self.photo)
    }

    /// The photo that the gallery calls by this id.
    public func photo(galleryID: String) throws -> Photo? {
        try connection.first("SELECT \(Self.photoColumns) FROM photo WHERE id = ?", galleryID, row: Self.photo)
    }

    /// Hands out every photo, the oldest first. For lists that are written, not shown.
    public func forEachPhoto(_ body: (Photo) throws -> Void) throws {
        try connection.forEach("SELECT \(Self.photoColumns) FROM photo ORDER BY date, key") {
            try body(Self.photo($0))
        }
    }

    /// How many keys one query of ``photos(_:)`` takes.
    static let windowLimit = 512

    static let photoColumns = """
        key, id, name, date, thumbnail_edition, thumbnail_held, thumbnail_trouble, thumbnail_reason, \
        photo_edition, photo_held, photo_trouble, photo_reason, photo_size
        """

    static func photo(_ row: Row) -> Photo {
        Photo(
            key: PhotoKey(row.int(0)), galleryID: row.text(1), name: row.text(2),
            date: Timestamp(milliseconds: row.int(3)),
            thumbnail: renditionState(row, from: 4), original: renditionState(row, from: 8),
            size: row.optionalInt(12))
    }

    /// Reads edition, held, trouble and reason from four columns in that order.
    static func renditionState(_ row: Row, from column: Int) -> RenditionState {
        RenditionState(
            edition: Int(row.int(column)), held: row.optionalInt(column + 1).map(Int.init),
            trouble: TroubleCode.trouble(row.optionalInt(column + 2), reason: row.text(column + 3)))
    }
}

extension CacheReader {
    /// Bytes in the database's file that nothing is in.
    func freeBytes() throws -> Int64 {
        try connection.first("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size") {
            $0.int(0)
        } ?? 0
    }
}

extension Row {
    /// The column as an address. It was one when it was stored.
    func address(_ column: Int) throws -> Address {
        do { return try Address(text(column)) } catch {
            throw SQLiteError.damaged(reason: "“\(Address.withoutCredentials(text(column)))” is no address")
        }
    }
}
