import Model
import SQLite

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
