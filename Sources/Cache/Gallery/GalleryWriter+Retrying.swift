import Model
import SQLite

extension GalleryWriter {
    /// Gives everything that was marked bad another chance. What the user asks for with a refresh.
    ///
    /// A photo that came and could not be decoded is dropped, to be fetched again: the server may have mended it. What was
    /// bad is wanted as a new edition, so that nothing that is known of the old bytes is held against the new ones.
    ///
    /// - Parameter keys: the photos to retry; nil for all.
    public func retry(_ keys: [PhotoKey]? = nil) throws {
        let list = keys?.map(\.rawValue).keyList
        let undecodable = try transaction { connection in
            let isMeant =
                "photo_trouble = ?1 AND photo_file IS NOT NULL AND (?2 IS NULL OR key IN (SELECT value FROM json_each(?2)))"
            let names = try connection.map(
                "SELECT photo_file FROM photo WHERE \(isMeant)", TroubleCode.bad, list
            ) { $0.text(0) }
            try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE \(isMeant)", TroubleCode.bad, list)
            for rendition in Rendition.allCases {
                let (trouble, edition) = (rendition.column("trouble"), rendition.column("edition"))
                try connection.run(
                    """
                    UPDATE photo SET \(edition) = \(edition) + (\(trouble) = \(TroubleCode.bad)), \(trouble) = NULL,
                                     \(rendition.column("reason")) = NULL
                    WHERE \(trouble) IS NOT NULL
                          AND (?1 IS NULL OR key IN (SELECT value FROM json_each(?1)))
                    """, list)
            }
            return names
        }
        for name in undecodable { files.remove(name) }
    }
}
