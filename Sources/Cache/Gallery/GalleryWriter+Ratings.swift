import Model
import SQLite

/// The user's own ratings. A change goes to the ratings' file first, and then to the rows.
extension GalleryWriter {
    /// Rates photos, or removes the user's own rating. Returns the number of rated photos.
    ///
    /// - Parameter rating: the rating; nil to use the rating in the gallery's list.
    @discardableResult
    public func rate(_ keys: [PhotoKey], _ rating: Rating?) throws -> Int {
        let ids = try read { connection in
            try connection.map(
                "SELECT id FROM photo WHERE key IN (SELECT value FROM json_each(?))", keys.map(\.rawValue).keyList
            ) { $0.text(0) }
        }
        guard !ids.isEmpty else { return 0 }
        let change = try ratingFile?.change(from: { try read(Self.ownRatings) }) { ratings in
            for id in ids { ratings[Array(id.utf8)] = rating }
        }
        try transaction { connection in
            for id in ids { try Self.setRating(rating, of: id, connection) }
            guard let change else { return }
            // If another process has changed the file meanwhile, the next opening reads the file.
            try connection.run(
                "UPDATE gallery SET rating_stamp = ? WHERE rating_stamp IS ?", change.after, change.before)
        }
        return ids.count
    }

    /// Copies the ratings of a changed file into the rows.
    ///
    /// Call this method before a command reads ratings. An error does not stop the command: the method logs the error,
    /// and the rows keep their ratings.
    public func adoptRatings() {
        do {
            guard !isFrozen, let stamp = ratingFile?.stamp, try read(Self.knownStamp) != stamp else { return }
            try transaction { try takeRatings(areNew: false, $0) }
        } catch {
            log.error(.cache, "\(error)")
        }
    }

    /// Copies the ratings of the file into the rows, if necessary. This is necessary if the file has changed or photos
    /// are new.
    ///
    /// - Parameter areNew: whether the rows may lack ratings, because photos are new.
    func takeRatings(areNew: Bool, _ connection: Connection) throws {
        guard let stamp = ratingFile?.stamp else { return }
        let known = try Self.knownStamp(connection)
        guard areNew || stamp != known, let contents = readRatings() else { return }
        var rest = contents.ratings
        for (id, rating) in try Self.ownRatings(connection) {
            if rest[id] == rating {
                rest[id] = nil
            } else if rest[id] == nil {
                try Self.setRating(nil, of: String(decoding: id, as: UTF8.self), connection)
            }
        }
        for (id, rating) in rest { try Self.setRating(rating, of: String(decoding: id, as: UTF8.self), connection) }
        if contents.stamp != known { try connection.run("UPDATE gallery SET rating_stamp = ?", contents.stamp) }
    }

    /// Reads the file. An unreadable file does not stop an update: the method logs the error, and the rows keep their
    /// ratings.
    private func readRatings() -> RatingFile.Contents? {
        do { return try ratingFile?.read() } catch { log.error(.cache, "\(error)") }
        return nil
    }

    /// Returns the stamp of the file that the rows match.
    private static func knownStamp(_ connection: Connection) throws -> String? {
        try connection.first("SELECT rating_stamp FROM gallery") { $0.text(0) }
    }

    private static func ownRatings(_ connection: Connection) throws -> RatingFile.Ratings {
        var ratings: RatingFile.Ratings = [:]
        try connection.forEach("SELECT id, own_rating FROM photo WHERE own_rating NOT NULL") { row in
            ratings[Array(row.text(0).utf8)] = Rating(row.int(1))
        }
        return ratings
    }

    private static func setRating(_ rating: Rating?, of id: String, _ connection: Connection) throws {
        try connection.run(
            "UPDATE photo SET own_rating = ?1 WHERE id = ?2 AND own_rating IS NOT ?1", rating?.value, id)
    }
}

extension CacheReader {
    /// Returns the user's own rating of a photo. Returns nil if the photo has none.
    public func ownRating(of key: PhotoKey) throws -> Rating? {
        try connection.first("SELECT own_rating FROM photo WHERE key = ? AND own_rating NOT NULL", key.rawValue) {
            Rating($0.int(0))
        }
    }
}
