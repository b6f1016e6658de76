import Model
import SQLite

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
