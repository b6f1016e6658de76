import Model
import SQLite

extension GalleryWriter {
    /// Drops the files of some photos, whatever the gallery says of them. What they said of themselves stays, and they are
    /// fetched again when they are wanted.
    ///
    /// Returns how many were here.
    @discardableResult
    public func dropPhotos(_ keys: [PhotoKey]) throws -> Int {
        let list = keys.map(\.rawValue).keyList
        let names = try transaction { connection in
            let isMeant = "photo_file IS NOT NULL AND key IN (SELECT value FROM json_each(?))"
            let names = try connection.map("SELECT photo_file FROM photo WHERE \(isMeant)", list) { $0.text(0) }
            try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE \(isMeant)", list)
            return names
        }
        for name in names { files.remove(name) }
        return names.count
    }

    /// Takes what is here of some photos for out of date, although the gallery says nothing of the kind: the user does.
    ///
    /// It stays, and is shown, until what is fetched takes its place; or the server says that it is right after all, of which
    /// it is asked as of any other edition. What stood in the way is forgotten.
    public func refetch(_ keys: [PhotoKey]) throws {
        let list = keys.map(\.rawValue).keyList
        try transaction { connection in
            for rendition in Rendition.allCases {
                let edition = rendition.column("edition")
                try connection.run(
                    """
                    UPDATE photo SET \(edition) = \(edition) + 1, \(rendition.column("trouble")) = NULL,
                                     \(rendition.column("reason")) = NULL
                    WHERE key IN (SELECT value FROM json_each(?))
                    """, list)
            }
        }
    }
}
