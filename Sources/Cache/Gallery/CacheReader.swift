import Model
import SQLite

/// Reads a gallery's cache over a read-only connection.
///
/// The main actor has a reader of its own and calls it synchronously: reading the rows of a screen takes a fraction of
/// a millisecond. Other code borrows a reader from ``GalleryCache/read(_:)``.
public struct CacheReader {
    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Returns the gallery's own row in the database.
    public func gallery() throws -> GalleryRecord { try gallery(schema: Schema.version) }

    /// Returns the gallery's record from a database with this schema version.
    func gallery(schema: Int) throws -> GalleryRecord {
        let record = try connection.first(
            """
            SELECT address, photo_count, skipped, last_success, failure, failure_remedy, last_opened,
                   etag, last_modified, list_version, \(schema < 2 ? "0" : "is_kept"),
                   \(schema < 4 ? "NULL" : "seen_through"), \(schema < 5 ? "NULL" : "is_private"),
                   \(schema < 6 ? "0" : "was_public"), \(Self.hasPaths(schema: schema)),
                   \(schema < 8 ? "NULL" : "kind")
            FROM gallery
            """
        ) { row in
            GalleryRecord(
                address: try row.address(0),
                photoCount: row.count(1),
                skipped: row.count(2),
                lastSuccess: row.time(3),
                failure: row.optionalText(4).map {
                    Failure($0, remedy: Failure.Remedy(rawValue: row.count(5)) ?? .none)
                },
                lastOpened: row.time(6),
                validators: Validators(etag: row.optionalText(7), lastModified: row.optionalText(8)),
                listVersion: row.int(9),
                isKept: row.int(10) != 0,
                seenThrough: row.optionalInt(11).map { PhotoKey($0) },
                isPrivate: row.optionalInt(12).map { $0 != 0 }, wasPublic: row.int(13) != 0,
                hasPaths: row.optionalInt(14).map { $0 != 0 },
                storedKind: row.optionalText(15).flatMap(GalleryKind.init))
        }
        guard let record else { throw SQLiteError.damaged(reason: "the gallery's row is missing") }
        return record
    }

    private static func hasPaths(schema: Int) -> String {
        if schema < 7 { return "NULL" }
        return schema < 9 ? hasPaths.replacing(isPath, with: "revision IS NOT NULL") : hasPaths
    }

    /// The SQL expression that tells whether ids are paths. The answer is the same for all photos of a gallery, because
    /// each update replaces the list.
    static let hasPaths = "(SELECT \(isPath) FROM photo ORDER BY key DESC LIMIT 1)"
    private static let isPath = "revision IS NOT NULL AND library_part IS NULL"

    /// Returns the existing photos with these keys, in no particular order.
    ///
    /// One query reads up to ``windowLimit`` photos, more than any screen shows.
    public func photos(_ keys: some Collection<PhotoKey>) throws -> [Photo] {
        var photos: [Photo] = []
        photos.reserveCapacity(keys.count)
        try forEach("SELECT \(Self.photoColumns) FROM photo WHERE key IN (SELECT value FROM json_each(?))", of: keys) {
            photos.append(Self.photo($0))
        }
        return photos
    }

    /// Runs a query for many photos, ``windowLimit`` at a time. The query's only parameter is a list of keys.
    func forEach(_ sql: String, of keys: some Collection<PhotoKey>, row: (Row) throws -> Void) throws {
        var rest = keys.map(\.rawValue)[...]
        while !rest.isEmpty {
            let window = rest.prefix(Self.windowLimit)
            rest = rest.dropFirst(window.count)
            try connection.forEach(sql, window.keyList, row: row)
        }
    }

    /// Returns the photo with a key. Returns nil if the photo does not exist.
    public func photo(_ key: PhotoKey) throws -> Photo? {
        try connection.first("SELECT \(Self.photoColumns) FROM photo WHERE key = ?", key.rawValue, row: Self.photo)
    }

    /// Returns the library part, such as a month, that contains a photo. Returns an empty text if the photo has no
    /// part, and nil if there is no such photo.
    public func libraryPart(ofPhoto id: String) throws -> String? {
        try connection.first("SELECT ifnull(library_part, '') FROM photo WHERE id = ?", id) { $0.text(0) }
    }

    /// Returns the photo with an identifier from the gallery's list. Returns nil if there is no such photo.
    public func photo(galleryID: String) throws -> Photo? {
        try connection.first("SELECT \(Self.photoColumns) FROM photo WHERE id = ?", galleryID, row: Self.photo)
    }

    /// Returns the photos that match a filter. Returns nil if all photos match.
    public func photos(matching filter: PhotoFilter) throws -> KeySet? { try hits(filter) }

    /// Calls `body` for every photo that matches a filter, in order of date.
    public func forEachPhoto(matching filter: PhotoFilter = .all, _ body: (Photo) throws -> Void) throws {
        let found = try photos(matching: filter)
        try connection.forEach("SELECT \(Self.photoColumns) FROM photo ORDER BY date, key") { row in
            if found?.contains(row.int(0)) != false { try body(Self.photo(row)) }
        }
    }

    /// The maximum number of keys that one query reads.
    private static let windowLimit = 512

    static let photoColumns = """
        key, id, name, date, thumbnail_edition, thumbnail_held, thumbnail_trouble, thumbnail_reason, \
        photo_edition, photo_held, photo_trouble, photo_reason, photo_size, \
        photo_file IS '\(StoredPhoto.inPlace)', \(isPath), thumbhash, \(videoLength), rating, \(isRemoteVideo), \
        thumbnail_address IS NULL
        """

    /// The SQL expression for the length of a video. The video's own metadata may state a length that the list lacks.
    private static let videoLength = """
        iif(video_milliseconds = 0, \
            ifnull((SELECT length FROM metadata WHERE metadata.photo = photo.key), 0), video_milliseconds)
        """
    /// The SQL condition for photos whose original is a video on a server.
    fileprivate static let isRemoteVideo =
        "(video_milliseconds IS NOT NULL AND \(isPath) AND \(AddressBase.whole("photo_address")) NOT GLOB 'file:*')"

    static func photo(_ row: Row) -> Photo {
        let id = row.text(1)
        let isRemoteVideo = row.int(18) != 0
        var thumbnail = renditionState(row, from: 4)
        // Vitrine does not fetch such a video to make its thumbnail.
        if isRemoteVideo, row.int(19) != 0 { thumbnail.isAbsent = true }
        return Photo(
            key: PhotoKey(row.int(0)), galleryID: id, name: row.text(2),
            date: row.time(3) ?? .unknown,
            thumbnail: thumbnail, original: renditionState(row, from: 8), size: row.size(12),
            isInPlace: row.int(13) != 0,
            folder: row.int(14) != 0 ? FolderPath(ofPhoto: id) : nil, thumbhash: row.optionalText(15),
            videoMilliseconds: row.optionalCount(16), isRemoteVideo: isRemoteVideo,
            rating: Rating(row.int(17)))
    }

    /// Reads a rendition's state from four consecutive columns: edition, cached edition, trouble and reason.
    private static func renditionState(_ row: Row, from column: Int) -> RenditionState {
        RenditionState(
            edition: row.small(column), held: row.isNull(column + 1) ? nil : row.small(column + 1),
            trouble: TroubleCode.trouble(row.optionalInt(column + 2), reason: row.text(column + 3)),
            isAbsent: row.optionalInt(column + 2) == TroubleCode.absent)
    }
}

extension CacheReader {
    /// Returns the size of the database in bytes, without its free space and its log.
    func usedBytes() throws -> Int64 {
        let pages = "pragma_page_count, pragma_freelist_count, pragma_page_size"
        return try connection.first("SELECT (page_count - freelist_count) * page_size FROM \(pages)") { $0.int(0) } ?? 0
    }
}

extension CacheReader {
    /// Returns a rendition's address, state and validators. Returns nil if the photo does not exist.
    public func source(of key: PhotoKey, _ rendition: Rendition) throws -> RenditionSource? {
        try source(of: key, rendition) { _ in true }
    }

    /// Returns a rendition's address, state and validators. Returns nil if no request would help, because the rendition
    /// is current, bad or absent. Most calls do not read the address.
    public func wantingSource(of key: PhotoKey, _ rendition: Rendition) throws -> RenditionSource? {
        try source(of: key, rendition, where: \.isWanting)
    }

    /// Returns the source of a thumbnail in a photo's first bytes. The source has the photo's address.
    ///
    /// Returns nil if the thumbnail is current, unavailable or has an address, or if the photo is cached. Vitrine
    /// fetches photos without a revision whole, because nothing shows that the server has replaced one.
    public func embeddedThumbnailSource(of key: PhotoKey) throws -> RenditionSource? {
        try connection.first(Self.embeddedThumbnailSource, key.rawValue) { row in
            let state = Self.renditionState(row, from: 1)
            guard state.isWanting else { return nil }
            return RenditionSource(address: try row.address(0), state: state, validators: Validators())
        } ?? nil
    }

    private static let embeddedThumbnailSource = """
        SELECT \(AddressBase.whole("photo_address")),
               thumbnail_edition, thumbnail_held, thumbnail_trouble, thumbnail_reason
        FROM photo
        WHERE key = ? AND thumbnail_address IS NULL AND revision IS NOT NULL
          AND photo_held IS NOT photo_edition AND photo_trouble IS NOT \(TroubleCode.bad)
          AND thumbnail_trouble IS NOT \(TroubleCode.inSmallPhoto) AND NOT \(isRemoteVideo)
        """

    private func source(
        of key: PhotoKey, _ rendition: Rendition, where isMeant: (RenditionState) -> Bool
    ) throws -> RenditionSource? {
        let sql = rendition == .thumbnail ? Self.thumbnailSource : Self.photoSource
        return try connection.first(sql, key.rawValue) { row in
            var state = Self.renditionState(row, from: 1)
            if row.int(7) != 0, row.isNull(0) { state.isAbsent = true }
            guard isMeant(state) else { return nil }
            return RenditionSource(
                address: row.isNull(0) ? nil : try row.address(0), state: state,
                validators: Validators(etag: row.optionalText(5), lastModified: row.optionalText(6)))
        } ?? nil
    }

    /// The query for thumbnails, stored because it runs several times per thumbnail.
    private static let thumbnailSource = sourceQuery(.thumbnail)
    private static let photoSource = sourceQuery(.original)

    private static func sourceQuery(_ rendition: Rendition) -> String {
        let columns = ["edition", "held", "trouble", "reason", "etag", "last_modified"]
        let names = columns.map(rendition.column).joined(separator: ", ")
        let address = AddressBase.whole(rendition.column("address"))
        return "SELECT \(address), \(names), \(isRemoteVideo) FROM photo WHERE key = ?"
    }

    /// Returns a photo's newest thumbnail, even if Vitrine has not decoded it yet.
    public func thumbnail(of key: PhotoKey) throws -> StoredThumbnail? {
        try connection.first("SELECT data, unproven FROM thumbnail WHERE photo = ?", key.rawValue) { row in
            if let unproven = row.optionalBlob(1) { return StoredThumbnail(bytes: unproven, isProven: false) }
            return StoredThumbnail(bytes: row.blob(0), isProven: true)
        }
    }

    /// Returns the file of a photo. Returns nil if the photo is not cached.
    public func photoFile(of key: PhotoKey) throws -> StoredPhoto? {
        try connection.first(
            "SELECT \(Self.storedColumns) FROM photo WHERE key = ? AND photo_file IS NOT NULL", key.rawValue
        ) { try Self.storedPhoto($0) }
    }

    /// Whether a photo's row names a file. The file name contains the row number, so the check is one lookup.
    func isNamed(_ file: String) throws -> Bool {
        guard let key = PhotoFiles.key(in: file) else { return false }
        return try connection.first(Self.isNamed, key.rawValue, file) { _ in true } ?? false
    }

    /// The query of `isNamed(_:)`, which runs once per file. A test checks its query plan.
    static let isNamed = "SELECT 1 FROM photo WHERE key = ? AND photo_file = ?"

    /// Returns cached photos that need a thumbnail from Vitrine, because the gallery has none.
    public func thumbnailsToMake() throws -> [PhotoKey] {
        try connection.map("SELECT key FROM photo WHERE \(Self.needsThumbnail)") { PhotoKey($0.int(0)) }
    }

    /// Returns the file for making a photo's thumbnail, and the thumbnail's edition. The result is nil if a thumbnail
    /// is not necessary or not possible.
    public func thumbnailToMake(of key: PhotoKey) throws -> (edition: Int, from: StoredPhoto)? {
        try connection.first(
            "SELECT \(Self.storedColumns), thumbnail_edition FROM photo WHERE key = ? AND \(Self.needsThumbnail)",
            key.rawValue
        ) { ($0.small(5), try Self.storedPhoto($0)) }
    }

    /// The SQL condition for photos that need a thumbnail from their file. The file must be current and readable.
    private static let needsThumbnail = """
        thumbnail_address IS NULL AND thumbnail_held IS NOT thumbnail_edition \
        AND photo_file IS NOT NULL AND photo_held = photo_edition \
        AND ifnull(thumbnail_trouble NOT IN \(TroubleCode.allBad), TRUE) AND photo_trouble IS NOT \(TroubleCode.bad)
        """

    /// The columns of a ``StoredPhoto``.
    static let storedColumns =
        "photo_file, photo_size, photo_digest, photo_held, \(AddressBase.whole("photo_address"))"

    /// Makes a stored photo from a row that begins with ``storedColumns``.
    static func storedPhoto(_ row: Row) throws -> StoredPhoto {
        let name = row.text(0)
        guard StoredPhoto.isName(name) else {
            throw SQLiteError.damaged(reason: "“\(name)” is not the name of a photo's file")
        }
        return StoredPhoto(
            name: name, size: row.size(1) ?? 0, digest: row.int(2), edition: row.small(3),
            original: name == StoredPhoto.inPlace ? try row.address(4) : nil)
    }

    /// Returns the numbers of cached thumbnails, cached photos, and failed photos.
    public func counts() throws -> (thumbnails: Int, photos: Int, failed: Int) {
        try connection.first(
            """
            SELECT count(thumbnail_held), count(photo_held),
                   total(ifnull(thumbnail_trouble <= \(TroubleCode.bad), 0) OR photo_trouble IS NOT NULL)
            FROM photo
            """
        ) { ($0.count(0), $0.count(1), $0.count(2)) } ?? (0, 0, 0)
    }

    /// Returns photos whose rendition is missing and can be fetched, oldest first. Leaves out videos on a server,
    /// except thumbnails that the server offers.
    ///
    /// - Parameters:
    ///   - last: the photo after which to continue; nil for the beginning. If it was removed, the result is empty.
    ///   - known: photos to skip, because requests already fetch them.
    public func wanting(
        _ rendition: Rendition, limit: Int, after last: PhotoKey? = nil, except known: Set<PhotoKey>
    ) throws -> [PhotoKey] {
        var start = (date: Int64.min, key: Int64.min)
        if let key = last?.rawValue {
            guard let date = try connection.first("SELECT date FROM photo WHERE key = ?", key, row: { $0.int(0) })
            else { return [] }
            start = (date, key)
        }
        let (held, page) = (rendition.column("held"), max(limit, 512))
        var (keys, count) = ([PhotoKey](), page)
        // Read in pages, because the rows of all known photos may come first.
        while keys.count < limit, count == page {
            let before = start
            count = 0
            try connection.forEach(
                """
                SELECT key, date FROM photo
                WHERE (date, key) > (?, ?) AND (\(held) IS NULL OR \(held) <> \(rendition.column("edition")))
                  AND (\(rendition.column("trouble")) IS NULL
                       OR \(rendition.column("trouble")) IN (\(TroubleCode.putOff), \(TroubleCode.inSmallPhoto)))
                  AND NOT (\(Self.isRemoteVideo)\(rendition == .original ? "" : " AND thumbnail_address IS NULL"))
                ORDER BY date, key LIMIT ?
                """, start.date, start.key, page
            ) { row in
                let key = PhotoKey(row.int(0))
                (start, count) = ((row.int(1), key.rawValue), count + 1)
                if keys.count < limit, !known.contains(key) { keys.append(key) }
            }
            guard count == 0 || start > before else {
                throw SQLiteError.damaged(reason: "a date is not a whole number")
            }
        }
        return keys
    }
}

extension Rendition {
    /// Returns the name of the rendition's column for a value, such as `thumbnail_held`.
    func column(_ name: String) -> String {
        switch self {
        case .thumbnail: "thumbnail_" + name
        case .original: "photo_" + name
        }
    }
}

extension CacheReader {
    /// Returns a photo's annotations, such as its description and tags.
    public func annotations(of key: PhotoKey) throws -> PhotoAnnotations {
        let text = try connection.first("SELECT annotations FROM photo WHERE key = ?", key.rawValue) { $0.text(0) }
        return PhotoAnnotations(text: text ?? "")
    }

    /// Returns a photo's metadata and its edition. Returns nil if Vitrine has not read the metadata of any edition.
    public func metadata(of key: PhotoKey) throws -> StoredMetadata? {
        try connection.first(
            "SELECT edition, \(Self.metadataColumns), town, town_distance FROM metadata WHERE photo = ?", key.rawValue
        ) { row in
            var metadata = PhotoMetadata(format: row.text(1), width: row.count(2), height: row.count(3))
            metadata.orientation = row.optionalCount(4)
            metadata.takenAt = row.optionalText(5)
            metadata.camera = row.optionalText(6)
            metadata.lens = row.optionalText(7)
            metadata.exposure = row.optionalDouble(8)
            metadata.aperture = row.optionalDouble(9)
            metadata.iso = row.optionalCount(10)
            metadata.focalLength = row.optionalDouble(11)
            metadata.latitude = row.optionalDouble(12)
            metadata.longitude = row.optionalDouble(13)
            metadata.title = row.optionalText(14)
            metadata.description = row.optionalText(15)
            metadata.videoMilliseconds = row.optionalCount(16)
            metadata.codec = row.optionalText(17)
            metadata.frameRate = row.optionalDouble(18)
            metadata.town = Self.town(row, from: 19)
            return StoredMetadata(metadata: metadata, edition: row.small(0))
        }
    }

    /// Returns the town at or near a photo's coordinates. Returns nil if the town is unknown.
    public func town(of key: PhotoKey) throws -> Town? {
        try connection.first("SELECT town, town_distance FROM metadata WHERE photo = ?", key.rawValue) {
            Self.town($0, from: 0)
        } ?? nil
    }

    /// Returns whether Vitrine knows the town of any photo.
    public func hasTowns() throws -> Bool {
        try connection.first("SELECT 1 FROM metadata WHERE town <> '' LIMIT 1") { _ in true } ?? false
    }

    private static func town(_ row: Row, from column: Int) -> Town? {
        guard let name = row.optionalText(column), !name.isEmpty else { return nil }
        return Town(name: name, distance: row.count(column + 1))
    }

    static let metadataColumns = """
        format, width, height, orientation, taken_at, camera, lens, exposure, aperture, iso, focal_length, latitude, \
        longitude, title, description, length, codec, frame_rate
        """

    /// Returns the given photos that are cached but whose metadata Vitrine has not read.
    ///
    /// The cost depends on the number of keys, not on the number of photos in the gallery.
    public func unread(_ keys: some Collection<PhotoKey>) throws -> [PhotoKey] {
        var unread: [PhotoKey] = []
        try forEach(Self.unread, of: keys) { unread.append(PhotoKey($0.int(0))) }
        return unread
    }

    /// The query of `unread(_:)`, which skips unreadable photos. A test checks its query plan.
    static let unread = """
        SELECT photo.key FROM photo LEFT JOIN metadata ON metadata.photo = photo.key
        WHERE photo.key IN (SELECT value FROM json_each(?)) AND photo.photo_file IS NOT NULL
          AND photo.photo_held IS NOT metadata.edition AND photo.photo_trouble IS NOT \(TroubleCode.bad)
        """

    /// The query for photos in the user's folder with unread metadata. A test checks its query plan.
    static let unreadInPlace = """
        SELECT photo.key FROM photo LEFT JOIN metadata ON metadata.photo = photo.key
        WHERE photo.photo_file = '\(StoredPhoto.inPlace)' AND photo.photo_held IS NOT metadata.edition
          AND photo.photo_trouble IS NOT \(TroubleCode.bad)
        """
}

extension GalleryCache {
    /// Returns all cached photos whose metadata Vitrine has not read.
    ///
    /// This method lists the photo files instead of the rows, because few of a million photos may be cached. It
    /// searches the rows for photos in the user's folder only if the gallery is a list file. In other local galleries,
    /// the metadata comes with the thumbnails.
    public func unreadPhotos() throws -> [PhotoKey] {
        let keys = Set(PrivateFolder.entries(files.photosFolder).compactMap(PhotoFiles.key))
        return try read { reader in
            let copies = try reader.unread(keys.sorted())
            guard address.scheme == .file, try reader.gallery().hasPaths == false else { return copies }
            return try copies + reader.connection.map(CacheReader.unreadInPlace) { PhotoKey($0.int(0)) }
        }
    }
}

/// The data for fetching a rendition of a photo.
public struct RenditionSource: Hashable, Sendable {
    /// The rendition's address; nil if the gallery has no thumbnail for the photo.
    public let address: Address?
    /// The state of the rendition, with its editions in the list and in the cache.
    public let state: RenditionState
    /// The server's validators for the cached bytes, if they came from this address.
    public let validators: Validators
}

/// A thumbnail in the cache.
public struct StoredThumbnail: Hashable, Sendable {
    /// The bytes of the picture file. The bytes are untrusted.
    public let bytes: [UInt8]
    /// Whether Vitrine has decoded the picture before.
    ///
    /// If a picture that was never decoded turns out to be bad, the cache restores an older one: see
    /// ``GalleryWriter/accept(_:of:)`` and ``GalleryWriter/reject(_:of:reason:)``.
    public let isProven: Bool
}

/// A photo's file in the cache.
public struct StoredPhoto: Hashable, Sendable {
    /// The file's name in the photos' folder, or ``inPlace``.
    public let name: String
    /// The file's size in bytes when it was stored.
    public let size: Int64
    /// The file's digest when it was stored; for the user's own file, its modification time. The number tells whether a
    /// bad picture has changed on the disk since then.
    public let digest: Int64
    /// The photo's edition that the file contains.
    public let edition: Int
    /// The address of the user's own file; nil if the cache has a copy.
    public let original: Address?

    init(name: String, size: Int64, digest: Int64, edition: Int, original: Address? = nil) {
        self.name = name
        self.size = size
        self.digest = digest
        self.edition = edition
        self.original = original
    }

    /// The stored file name of a photo that stays in the user's folder. No file of the cache has this name.
    static let inPlace = "original"
    /// Whether Vitrine itself could have stored a text as the name of a photo's file.
    static func isName(_ text: String) -> Bool { text == inPlace || PhotoFiles.isName(text) }
}

/// A photo's metadata in the cache.
public struct StoredMetadata: Hashable, Sendable {
    /// The metadata.
    public let metadata: PhotoMetadata
    /// The photo's edition that contained the metadata.
    public let edition: Int
}

extension Collection where Element == Int64 {
    /// The numbers as a JSON list, which a query binds as one value. `key IN (SELECT value FROM json_each(?))` reads
    /// the list.
    var keyList: String { "[" + map(String.init).joined(separator: ",") + "]" }
}
