import Model
import SQLite

extension GalleryWriter {
    /// Makes the cache say what a gallery's new list says, in one transaction.
    ///
    /// - Parameters:
    ///   - skipped: entries that broke a rule; repeated ids are added to them.
    ///   - validators: what the server said of this list. Stored in the same transaction: a list without them would be
    ///     fetched once too often, they without the list would hide it for ever.
    /// - Throws: ``CacheError/conflict`` if another process updated the list since the changes were worked out.
    public func commit(
        _ changes: SyncChanges, skipped: Int, validators: Validators, at time: Timestamp
    ) throws -> SyncSummary {
        var summary = SyncSummary()
        summary.skipped = skipped + changes.repeated
        summary.added = changes.added.count
        summary.changed = changes.altered.count
        summary.total = changes.count
        let (removed, files) = try transaction { connection in
            let version = try connection.first("SELECT list_version FROM gallery") { $0.int(0) }
            guard version == changes.listVersion else { throw CacheError.conflict }
            let removed = try removePhotos(except: changes.seen, connection)
            for change in changes.altered { try apply(change, connection) }
            for entry in changes.added { try insert(entry, connection) }
            let differs = removed.count + changes.altered.count + changes.added.count > 0
            try connection.run(
                """
                UPDATE gallery SET photo_count = ?, skipped = ?, last_success = ?, failure = NULL,
                                   failure_remedy = NULL, etag = ?, last_modified = ?,
                                   list_version = list_version + ?
                """, changes.count, summary.skipped, time.milliseconds, validators.etag, validators.lastModified,
                differs ? 1 : 0)
            return (removed.count, removed.compactMap(\.file))
        }
        summary.removed = removed
        // After the commit: until then the rows name them.
        for name in files { self.files.remove(name) }
        return summary
    }

    private func removePhotos(
        except seen: Set<Int64>, _ connection: Connection
    ) throws -> [(key: Int64, file: String?)] {
        var gone: [(key: Int64, file: String?)] = []
        try connection.forEach("SELECT key, photo_file FROM photo") { row in
            if !seen.contains(row.int(0)) { gone.append((row.int(0), row.optionalText(1))) }
        }
        for photo in gone {
            try connection.run("DELETE FROM thumbnail WHERE photo = ?", photo.key)
            try connection.run("DELETE FROM photo WHERE key = ?", photo.key)
        }
        return gone
    }

    /// A new edition has no trouble yet, and what was said of the old bytes says nothing of the new ones if they lie
    /// elsewhere. What is held stays.
    private func apply(_ change: SyncChanges.Alteration, _ connection: Connection) throws {
        let entry = change.entry
        for rendition in change.affects {
            let address = rendition == .photo ? entry.photo : entry.thumbnail
            let column = { (name: String) in rendition.column(name) }
            try connection.run(
                """
                UPDATE photo SET \(column("edition")) = \(column("edition")) + 1,
                    \(column("trouble")) = NULL, \(column("reason")) = NULL,
                    \(column("etag")) = iif(\(column("address")) IS ?1, \(column("etag")), NULL),
                    \(column("last_modified")) = iif(\(column("address")) IS ?1, \(column("last_modified")), NULL),
                    \(column("address")) = ?1
                WHERE key = ?2
                """, address?.text, change.key)
        }
        try connection.run(
            "UPDATE photo SET name = ?, name_key = ?, date = ? WHERE key = ?",
            entry.name, NaturalKey.bytes(of: entry.name), entry.date.milliseconds, change.key)
    }

    private func insert(_ entry: GalleryEntry, _ connection: Connection) throws {
        try connection.run(
            """
            INSERT INTO photo (id, name, name_key, date, thumbnail_address, photo_address) VALUES (?, ?, ?, ?, ?, ?)
            """, entry.id, entry.name, NaturalKey.bytes(of: entry.name), entry.date.milliseconds,
            entry.thumbnail?.text, entry.photo.text)
    }
}
