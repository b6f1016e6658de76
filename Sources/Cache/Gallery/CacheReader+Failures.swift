import Model
import SQLite

/// What of a gallery could not be had. Partial indices hold these photos and no others, so that a million that are well cost
/// nothing.
extension CacheReader {
    /// How many thumbnails and photos are put off or bad. Counted up to a limit, so that it can be asked for a status line.
    public func troubleCount(limit: Int = 1_000) throws -> Int {
        try Rendition.allCases.reduce(0) { count, rendition in
            guard count < limit else { return count }
            let more = try connection.first(
                "SELECT count(*) FROM (SELECT 1 FROM photo WHERE \(rendition.column("trouble")) IS NOT NULL LIMIT ?)",
                limit - count
            ) { Int($0.int(0)) }
            return count + (more ?? 0)
        }
    }

    /// Thumbnails and photos that are put off or bad, by reason, the most frequent first. Takes as long as there are such
    /// photos: not for the main actor.
    ///
    /// - Parameters:
    ///   - limit: how many reasons.
    ///   - photoLimit: how many photos of each are named.
    public func troubles(limit: Int = 32, photoLimit: Int) throws -> [TroubleGroup] {
        let groups = try Rendition.allCases.flatMap { try troubles(of: $0, limit: limit, photoLimit: photoLimit) }
        return Array(groups.sorted { $0.count > $1.count }.prefix(limit))
    }

    private func troubles(of rendition: Rendition, limit: Int, photoLimit: Int) throws -> [TroubleGroup] {
        let (trouble, reason) = (rendition.column("trouble"), rendition.column("reason"))
        let found = try connection.map(
            """
            SELECT \(trouble), \(reason), count(*) FROM photo WHERE \(trouble) IS NOT NULL
            GROUP BY \(trouble), \(reason) ORDER BY count(*) DESC LIMIT ?
            """, limit
        ) { (code: $0.int(0), reason: $0.optionalText(1), count: Int($0.int(2))) }
        return try found.compactMap { group in
            guard let meaning = TroubleCode.trouble(group.code, reason: group.reason ?? "") else { return nil }
            let photos = try connection.map(
                """
                SELECT \(Self.photoColumns) FROM photo WHERE \(trouble) = ? AND \(reason) IS ? ORDER BY key LIMIT ?
                """, group.code, group.reason, photoLimit, row: Self.photo)
            return TroubleGroup(rendition: rendition, trouble: meaning, count: group.count, photos: photos)
        }
    }
}
