import Model
import SQLite

/// What `vitrine cache check` puts right.
extension GalleryWriter {
    /// Compares the index of words with what the photos say, and makes it anew where it says something else. Returns whether
    /// it did.
    public func mendIndex() throws -> Bool {
        do {
            return try transaction(PhotoText.mend)
        } catch CacheError.database(.damaged) {
            // Then it is not the index that is damaged, and whoever looks through the database will say what is.
            return false
        }
    }

    /// Puts rows right that disagree with others. Returns how many there were.
    func mendRows() throws -> Int {
        try transaction { connection in
            // A row that belongs to no photo.
            var mended = try connection.run("DELETE FROM thumbnail WHERE photo NOT IN (SELECT key FROM photo)")
            mended += try connection.run("DELETE FROM metadata WHERE photo NOT IN (SELECT key FROM photo)")
            // A thumbnail that is not there is fetched again; one that nobody speaks of, too.
            mended += try connection.run(
                """
                UPDATE photo SET thumbnail_held = NULL, thumbnail_etag = NULL, thumbnail_last_modified = NULL
                WHERE thumbnail_held IS NOT NULL AND key NOT IN (SELECT photo FROM thumbnail)
                """)
            mended += try connection.run(
                "DELETE FROM thumbnail WHERE photo IN (SELECT key FROM photo WHERE thumbnail_held IS NULL)")
            // So is a photo that is said to be here and names no file, or the other way round.
            mended += try connection.run(
                "UPDATE photo SET \(Self.withoutFile) WHERE (photo_held IS NULL) <> (photo_file IS NULL)")
            mended += try connection.run(
                """
                UPDATE gallery SET photo_count = (SELECT count(*) FROM photo)
                WHERE photo_count <> (SELECT count(*) FROM photo)
                """)
            return mended
        }
    }
}
