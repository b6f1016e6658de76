import Glibc
import Model
import SQLite

/// The result of checking and repairing a gallery's cache.
public struct CacheCheck: Equatable, Sendable {
    /// The faults that SQLite found in the database.
    public var complaints: [String] = []
    /// Whether the search index was damaged and has been rebuilt.
    public var isIndexRepaired = false
    /// The number of photos whose file was missing or changed. Vitrine fetches these photos again on demand.
    public var brokenFiles = 0
    /// The number of removed files that no database row names.
    public var orphans = 0
    /// The number of inconsistent database rows that were repaired.
    public var brokenRows = 0
    /// The number of photos with an intact file.
    public var goodFiles = 0
}

extension GalleryCache {
    /// Checks the database, the search index and all photo files, and repairs them.
    public func check() async throws -> CacheCheck {
        var check = CacheCheck()
        // First, because a wrong index can be rebuilt and is no reason to set the database aside.
        check.isIndexRepaired = try await writer.repairIndex()
        check.complaints = try await writer.complaints()
        // A damaged database is set aside at the next start, so repairs would be useless.
        if check.complaints.isEmpty { check.brokenRows = try await writer.repairRows() }
        let stored = try read { reader in
            try reader.connection.map(
                "SELECT \(CacheReader.storedColumns), key FROM photo WHERE photo_file IS NOT NULL"
            ) { row in (PhotoKey(row.int(5)), try CacheReader.storedPhoto(row)) }
        }
        for (key, photo) in stored {
            if files.isIntact(photo) {
                check.goodFiles += 1
            } else {
                check.brokenFiles += 1
                try await writer.dropPhotoFile(photo.name, of: key)
            }
        }
        check.orphans = try sweep()
        return check
    }
}

/// The repairs that `vitrine cache check` makes.
extension GalleryWriter {
    /// Rebuilds the search index if it does not match the photos. Returns true if it rebuilt the index.
    public func repairIndex() throws -> Bool {
        do {
            return try transaction(PhotoText.repair)
        } catch CacheError.database(.damaged) {
            // The damage is not in the index. The check of the database will find it.
            return false
        }
    }

    /// Repairs inconsistent rows. Returns the number of repaired rows.
    fileprivate func repairRows() throws -> Int {
        try transaction { connection in
            // Rows of removed photos.
            var repaired = try connection.run("DELETE FROM thumbnail WHERE photo NOT IN (SELECT key FROM photo)")
            repaired += try connection.run("DELETE FROM metadata WHERE photo NOT IN (SELECT key FROM photo)")
            // A missing thumbnail is fetched again, and so is an unexpected one.
            repaired += try connection.run(
                """
                UPDATE photo SET thumbnail_held = NULL, thumbnail_etag = NULL, thumbnail_last_modified = NULL
                WHERE thumbnail_held IS NOT NULL AND key NOT IN (SELECT photo FROM thumbnail)
                """)
            repaired += try connection.run(
                "DELETE FROM thumbnail WHERE photo IN (SELECT key FROM photo WHERE thumbnail_held IS NULL)")
            // A photo that is held without a file, or has a file without being held, is fetched again, too.
            repaired += try connection.run(
                "UPDATE photo SET \(Self.withoutFile) WHERE (photo_held IS NULL) <> (photo_file IS NULL)")
            repaired += try connection.run(
                """
                UPDATE gallery SET photo_count = (SELECT count(*) FROM photo)
                WHERE photo_count <> (SELECT count(*) FROM photo)
                """)
            return repaired
        }
    }
}
