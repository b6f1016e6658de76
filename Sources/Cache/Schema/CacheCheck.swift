import Glibc
import Model
import SQLite

/// What a look at a gallery's cache found, and what it mended.
public struct CacheCheck: Equatable, Sendable {
    /// What SQLite complains of.
    public var complaints: [String] = []
    /// Whether the index of words was damaged; it is made anew.
    public var isIndexMended = false
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
        check.isIndexMended = try await writer.mendIndex()
        check.complaints = try await writer.complaints()
        // A damaged one is set aside at the next start; there is nothing in it to be relied on.
        if check.complaints.isEmpty { check.brokenRows = try await writer.mendRows() }
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
                try await writer.forgetPhotoFile(photo.name, of: key)
            }
        }
        check.orphans = try sweep()
        return check
    }
}
