import Model
import SQLite

extension GalleryWriter {
    /// Keeps what a photo of this edition says of itself.
    ///
    /// Returns false, and keeps nothing, if another edition is held by now, or none, or if it is all known already. It stays
    /// when the photo's file goes to make room, until another edition is here and has been read.
    @discardableResult
    public func store(_ metadata: PhotoMetadata, of key: PhotoKey, edition: Int) throws -> Bool {
        try transaction { connection in
            let held = try connection.first("SELECT photo_held FROM photo WHERE key = ?", key.rawValue) {
                $0.optionalInt(0)
            }
            guard held == Int64(edition),
                try CacheReader(connection).metadata(of: key)
                    != StoredMetadata(metadata: metadata, edition: edition)
            else { return false }
            try PhotoText.whileChanging(key.rawValue, connection) {
                try insert(metadata, of: key, edition: edition, connection)
            }
            return true
        }
    }

    private func insert(
        _ metadata: PhotoMetadata, of key: PhotoKey, edition: Int, _ connection: Connection
    ) throws {
        try connection.run(
            """
            INSERT INTO metadata (photo, edition, \(CacheReader.metadataColumns), words)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (photo) DO UPDATE SET
                edition = excluded.edition, format = excluded.format, width = excluded.width, height = excluded.height,
                orientation = excluded.orientation, taken_at = excluded.taken_at, camera = excluded.camera,
                lens = excluded.lens, exposure = excluded.exposure, aperture = excluded.aperture, iso = excluded.iso,
                focal_length = excluded.focal_length, latitude = excluded.latitude, longitude = excluded.longitude,
                title = excluded.title, description = excluded.description, words = excluded.words
            """, key.rawValue, edition, metadata.format, metadata.width, metadata.height, metadata.orientation,
            metadata.takenAt, metadata.camera, metadata.lens, metadata.exposure, metadata.aperture, metadata.iso,
            metadata.focalLength, metadata.latitude, metadata.longitude, metadata.title, metadata.description,
            metadata.words)
    }
}
