import Glibc
import Model
import SQLite

/// What a look at a gallery's cache found, and what it mended.
public struct CacheCheck: Equatable, Sendable {
    /// What SQLite complains of.
    public var complaints: [String] = []
    /// Whether the index of words was damaged; it is made anew.
    public var isIndexRepaired = false
    /// Photos whose file was missing or not what was stored; they are fetched again when they are wanted.
    public var brokenFiles = 0
    /// Files that belonged to nothing; they are removed.
    public var orphans = 0
    /// Rows that disagreed with others; they are put right.
    public var brokenRows = 0
    /// Photos whose file is there and right.
    public var goodFiles = 0
}

extension GalleryCache {
    /// Verifies the database, its rows against each other and against the files, the index of words against the rows, and the
    /// files against the rows, and mends what can be mended. Reads every photo.
    public func check() async throws -> CacheCheck {
        var check = CacheCheck()
        // Before the database is looked through: a wrong index is made anew, and no reason to set everything aside.
        check.isIndexRepaired = try await writer.repairIndex()
        check.complaints = try await writer.complaints()
        // A damaged one is set aside at the next start; there is nothing in it to be relied on.
        if check.complaints.isEmpty { check.brokenRows = try await writer.repairRows() }
        let stored = try read { reader in
            try reader.connection.map(
                "SELECT key, photo_file, photo_size, photo_digest, photo_held FROM photo WHERE photo_file IS NOT NULL"
            ) { row in
                (
                    PhotoKey(row.int(0)),
                    StoredPhoto(name: row.text(1), size: row.int(2), digest: row.int(3), edition: Int(row.int(4)))
                )
            }
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

/// What `vitrine cache check` puts right.
extension GalleryWriter {
    /// Compares the index of words with what the photos say, and makes it anew where it says something else. Returns whether
    /// it did.
    public func repairIndex() throws -> Bool {
        do {
            return try transaction(PhotoText.repair)
        } catch CacheError.database(.damaged) {
            // Then it is not the index that is damaged, and whoever looks through the database will say what is.
            return false
        }
    }

    /// Puts rows right that disagree with others. Returns how many there were.
    fileprivate func repairRows() throws -> Int {
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
