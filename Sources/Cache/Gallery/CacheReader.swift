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
    private static let windowLimit = 512

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
    private static func renditionState(_ row: Row, from column: Int) -> RenditionState {
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

extension CacheReader {
    /// What it takes to fetch a rendition, or nil if the photo is gone.
    public func source(of key: PhotoKey, _ rendition: Rendition) throws -> RenditionSource? {
        try source(of: key, rendition) { _ in true }
    }

    /// The same, or nil if it is not wanting: it is here, or was given up. Then its address is not even read.
    public func wantingSource(of key: PhotoKey, _ rendition: Rendition) throws -> RenditionSource? {
        try source(of: key, rendition, where: \.isWanting)
    }

    private func source(
        of key: PhotoKey, _ rendition: Rendition, where isMeant: (RenditionState) -> Bool
    ) throws -> RenditionSource? {
        let sql = rendition == .thumbnail ? Self.thumbnailSource : Self.photoSource
        return try connection.first(sql, key.rawValue) { row in
            let state = Self.renditionState(row, from: 1)
            guard isMeant(state) else { return nil }
            return RenditionSource(
                address: row.isNull(0) ? nil : try row.address(0), state: state,
                validators: Validators(etag: row.optionalText(5), lastModified: row.optionalText(6)))
        } ?? nil
    }

    /// Asked several times for each thumbnail of an update.
    private static let thumbnailSource = sourceQuery(.thumbnail)
    private static let photoSource = sourceQuery(.original)

    private static func sourceQuery(_ rendition: Rendition) -> String {
        let columns = ["address", "edition", "held", "trouble", "reason", "etag", "last_modified"]
        return "SELECT \(columns.map(rendition.column).joined(separator: ", ")) FROM photo WHERE key = ?"
    }

    /// The bytes of a photo's thumbnail; the unproven ones, where newer ones wait for somebody to decode them.
    public func thumbnail(of key: PhotoKey) throws -> StoredThumbnail? {
        try connection.first("SELECT data, unproven FROM thumbnail WHERE photo = ?", key.rawValue) { row in
            if let unproven = row.optionalBlob(1) { return StoredThumbnail(bytes: unproven, isProven: false) }
            return StoredThumbnail(bytes: row.blob(0), isProven: true)
        }
    }

    /// The file that holds a photo, or nil if none does.
    public func photoFile(of key: PhotoKey) throws -> StoredPhoto? {
        try connection.first(
            """
            SELECT photo_file, photo_size, photo_digest, photo_held FROM photo
            WHERE key = ? AND photo_file IS NOT NULL
            """, key.rawValue
        ) { Self.storedPhoto($0) }
    }

    /// Whether a photo's row names a file. The file's name begins with the photo's number, so the table is not searched.
    func isNamed(_ file: String) throws -> Bool {
        guard let key = PhotoFiles.key(in: file) else { return false }
        return try connection.first(Self.isNamed, key.rawValue, file) { _ in true } ?? false
    }

    /// Asked once for each file.
    static let isNamed = "SELECT 1 FROM photo WHERE key = ? AND photo_file = ?"

    /// Photos that are here and whose thumbnail has to be made from them, because the gallery has none.
    public func thumbnailsToMake() throws -> [PhotoKey] {
        try connection.map("SELECT key FROM photo WHERE \(Self.needsThumbnail)") { PhotoKey($0.int(0)) }
    }

    /// The file that a photo's thumbnail has to be made from, and the edition that the thumbnail is then of; nil if there
    /// is nothing to make, or nothing to make it from.
    public func thumbnailToMake(of key: PhotoKey) throws -> (edition: Int, from: StoredPhoto)? {
        try connection.first(
            """
            SELECT photo_file, photo_size, photo_digest, photo_held, thumbnail_edition FROM photo
            WHERE key = ? AND \(Self.needsThumbnail)
            """, key.rawValue
        ) { (Int($0.int(4)), Self.storedPhoto($0)) }
    }

    /// An older photo would make an older thumbnail, and one that was no picture before is none now.
    private static let needsThumbnail = """
        thumbnail_address IS NULL AND thumbnail_held IS NOT thumbnail_edition \
        AND photo_file IS NOT NULL AND photo_held = photo_edition \
        AND thumbnail_trouble IS NOT \(TroubleCode.bad) AND photo_trouble IS NOT \(TroubleCode.bad)
        """

    /// Columns: file, size, digest, held.
    private static func storedPhoto(_ row: Row) -> StoredPhoto {
        StoredPhoto(name: row.text(0), size: row.int(1), digest: row.int(2), edition: Int(row.int(3)))
    }

    /// How many photos have each rendition here, and how many of them failed.
    public func counts() throws -> (thumbnails: Int, photos: Int, failed: Int) {
        try connection.first(
            """
            SELECT count(thumbnail_held), count(photo_held),
                   total(thumbnail_trouble IS NOT NULL OR photo_trouble IS NOT NULL)
            FROM photo
            """
        ) { (Int($0.int(0)), Int($0.int(1)), Int($0.int(2))) } ?? (0, 0, 0)
    }

    /// Photos whose rendition is wanting and could be fetched, the oldest first.
    ///
    /// - Parameters:
    ///   - last: the photo to go on after; nil for the beginning. If it is gone, so is the place, and none are found.
    ///   - known: photos to pass over, because they are being seen to already.
    public func wanting(
        _ rendition: Rendition, limit: Int, after last: PhotoKey? = nil, except known: Set<PhotoKey>
    ) throws -> [PhotoKey] {
        var place = (date: Int64.min, key: Int64.min)
        if let key = last?.rawValue {
            guard let date = try connection.first("SELECT date FROM photo WHERE key = ?", key, row: { $0.int(0) })
            else { return [] }
            place = (date, key)
        }
        let held = rendition.column("held")
        var keys: [PhotoKey] = []
        try connection.forEach(
            """
            SELECT key FROM photo
            WHERE (date, key) > (?, ?) AND (\(held) IS NULL OR \(held) <> \(rendition.column("edition")))
              AND (\(rendition.column("trouble")) IS NULL OR \(rendition.column("trouble")) = \(TroubleCode.putOff))
            ORDER BY date, key LIMIT ?
            """, place.date, place.key, limit + known.count
        ) { row in
            let key = PhotoKey(row.int(0))
            if keys.count < limit, !known.contains(key) { keys.append(key) }
        }
        return keys
    }
}

extension Rendition {
    /// The columns of the two renditions differ in their prefix alone.
    func column(_ name: String) -> String {
        switch self {
        case .thumbnail: "thumbnail_" + name
        case .original: "photo_" + name
        }
    }
}

extension CacheReader {
    /// What a photo says of itself, if it was ever here and has been read; of which edition, it says too.
    public func metadata(of key: PhotoKey) throws -> StoredMetadata? {
        try connection.first(
            "SELECT edition, \(Self.metadataColumns) FROM metadata WHERE photo = ?", key.rawValue
        ) { row in
            var metadata = PhotoMetadata(format: row.text(1), width: Int(row.int(2)), height: Int(row.int(3)))
            metadata.orientation = row.optionalInt(4).map(Int.init)
            metadata.takenAt = row.optionalText(5)
            metadata.camera = row.optionalText(6)
            metadata.lens = row.optionalText(7)
            metadata.exposure = row.optionalDouble(8)
            metadata.aperture = row.optionalDouble(9)
            metadata.iso = row.optionalInt(10).map(Int.init)
            metadata.focalLength = row.optionalDouble(11)
            metadata.latitude = row.optionalDouble(12)
            metadata.longitude = row.optionalDouble(13)
            metadata.title = row.optionalText(14)
            metadata.description = row.optionalText(15)
            return StoredMetadata(metadata: metadata, edition: Int(row.int(0)))
        }
    }

    static let metadataColumns = """
        format, width, height, orientation, taken_at, camera, lens, exposure, aperture, iso, focal_length, latitude, \
        longitude, title, description
        """

    /// Of these photos those that are here and have not been asked yet what they say of themselves.
    ///
    /// Asked by number: it costs what the photos cost that are asked for, however many the gallery has.
    public func unread(_ keys: some Collection<PhotoKey>) throws -> [PhotoKey] {
        var unread: [PhotoKey] = []
        try forEach(Self.unread, of: keys) { unread.append(PhotoKey($0.int(0))) }
        return unread
    }

    /// One that was no picture before is none now.
    static let unread = """
        SELECT photo.key FROM photo LEFT JOIN metadata ON metadata.photo = photo.key
        WHERE photo.key IN (SELECT value FROM json_each(?)) AND photo.photo_file IS NOT NULL
          AND photo.photo_held IS NOT metadata.edition AND photo.photo_trouble IS NOT \(TroubleCode.bad)
        """
}

extension GalleryCache {
    /// Photos that are here and have not been asked yet what they say of themselves.
    ///
    /// Found by their files, whose names tell whose they are: of a million photos few are here.
    public func unreadPhotos() throws -> [PhotoKey] {
        let keys = Set(PrivateFolder.entries(files.photosFolder).compactMap(PhotoFiles.key))
        return try read { try $0.unread(keys.sorted()) }
    }
}

/// What it takes to fetch one rendition of one photo.
public struct RenditionSource: Hashable, Sendable {
    /// Where it lies; nil for the thumbnail of a photo that has none of its own.
    public let address: Address?
    /// What is wanted and what is here.
    public let state: RenditionState
    /// What the server said of the bytes that are held, if they came from this address.
    public let validators: Validators
}

/// A thumbnail's bytes as they lie in the cache.
public struct StoredThumbnail: Hashable, Sendable {
    /// An encoded picture from a stranger.
    public let bytes: [UInt8]
    /// Whether nothing better waits behind it. Unproven bytes hide an older thumbnail, which comes back if they turn
    /// out to be no picture: see ``GalleryWriter/accept(_:of:)`` and ``GalleryWriter/reject(_:of:reason:)``.
    public let isProven: Bool
}

/// The file of a photo, as its row names it.
public struct StoredPhoto: Hashable, Sendable {
    /// The name inside the photos folder; made by the cache, nothing in it came from outside.
    public let name: String
    /// Its length when it was stored.
    public let size: Int64
    /// A digest of its bytes when it was stored: tells a picture that was always broken from one that broke here.
    public let digest: Int64
    /// The edition it holds.
    public let edition: Int
}

/// What a photo says of itself, as it lies in the cache.
public struct StoredMetadata: Hashable, Sendable {
    /// What it says.
    public let metadata: PhotoMetadata
    /// The edition of the photo that said it.
    public let edition: Int
}

extension Collection where Element == Int64 {
    /// As one bound value, however many they are: `key IN (SELECT value FROM json_each(?))`.
    var keyList: String { "[" + map(String.init).joined(separator: ",") + "]" }
}
