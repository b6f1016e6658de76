import Model
import SQLite

extension GalleryWriter {
    /// Makes the cache say what a gallery's new list says, in one transaction.
    ///
    /// - Parameters:
    ///   - skipped: entries that broke a rule; repeated ids are added to them.
    ///   - validators: what the server said of this list. Stored in the same transaction: a list without them would be
    ///     fetched once too often, they without the list would hide it for ever.
    ///   - isPrivate: whether it came from this machine or from the user's own network; nil if nobody has looked.
    ///   - isPublic: whether the gallery's own address led to a public one: see ``noteUnchanged(isPrivate:isPublic:at:)``.
    /// - Throws: ``CacheError/conflict`` if another process updated the list since the changes were worked out, and a
    ///   `CancellationError` if the task is cancelled before all of it is there; no row has changed then.
    public func commit(
        _ changes: SyncChanges, skipped: Int, validators: Validators, isPrivate: Bool? = nil,
        isPublic: Bool = false, at time: Timestamp
    ) throws -> SyncSummary {
        var summary = SyncSummary()
        let files = try stoppableTransaction { connection in
            // It may be done a second time.
            summary = SyncSummary()
            summary.changed = changes.altered
            let version = try connection.first("SELECT list_version FROM gallery") { $0.int(0) }
            guard version == changes.listVersion else { throw CacheError.conflict }
            let removed = try removePhotos(except: changes.seen, connection)
            try PhotoIndices.whileInserting(changes.added, into: connection) { areMany in
                let insertion = try PhotoInsertion(connection, areMany: areMany)
                let stamping = try connection.repeated("UPDATE photo SET entry_digest = ? WHERE key = ?")
                try changes.items.forEachPiece { piece in
                    while let item = piece.next() {
                        switch item.change {
                        case .add: try insertion.add(item)
                        case .alter(let key, let affects): try alter(key, item, affects, connection)
                        // The entry was written in another way, and means what it meant.
                        case .stamp(let key):
                            try stamping.set(0, to: item.digest)
                            try stamping.set(1, to: key)
                            try stamping.run()
                        }
                    }
                    try insertion.finishPiece()
                }
                summary.added = insertion.count
            }
            let repeated = changes.repeated + changes.added - summary.added
            summary.removed = removed.count
            summary.skipped = skipped + repeated
            summary.total = changes.seen.count + summary.added
            try connection.run(
                """
                UPDATE gallery SET photo_count = ?, skipped = ?, last_success = ?, failure = NULL,
                                   failure_remedy = NULL, etag = ?, last_modified = ?, is_private = ?,
                                   was_public = max(was_public, ?), list_version = list_version + ?
                """, summary.total, summary.skipped, time.milliseconds, validators.etag, validators.lastModified,
                isPrivate.map { $0 ? 1 : 0 }, isPublic ? 1 : 0,
                summary.removed + summary.changed + summary.added > 0 ? 1 : 0)
            return removed.files
        }
        room.noteWritten(changes.room)
        // After the commit: until then the rows name them.
        for name in files { self.files.remove(name) }
        return summary
    }

    /// A transaction that may take seconds, and is undone when the task that waits for it is cancelled.
    private func stoppableTransaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        do {
            return try transaction { connection in
                try connection.interrupting(when: { Task.isCancelled }) {
                    let result = try body(connection)
                    try Task.checkCancellation()
                    return result
                }
            }
        } catch CacheError.database(.interrupted) {
            throw CancellationError()
        }
    }

    /// Returns how many went, and the files that they named.
    private func removePhotos(
        except seen: KeySet, _ connection: Connection
    ) throws -> (count: Int, files: [String]) {
        // The rows that were seen are all there, since the list is the one that they were compared with: as many rows as
        // were seen are the same rows.
        let held = try connection.first("SELECT count(*) FROM photo") { Int($0.int(0)) }
        guard held != seen.count else { return (0, []) }
        var keys: [Int64] = []
        var files: [String] = []
        try connection.forEach("SELECT key, photo_file FROM photo") { row in
            guard !seen.contains(row.int(0)) else { return }
            keys.append(row.int(0))
            if let name = row.optionalText(1) { files.append(name) }
        }
        for key in keys {
            try PhotoText.remove(key, connection)
            try connection.run("DELETE FROM thumbnail WHERE photo = ?", key)
            try connection.run("DELETE FROM metadata WHERE photo = ?", key)
            try connection.run("DELETE FROM photo WHERE key = ?", key)
        }
        return (keys.count, files)
    }

    /// A new edition has no trouble yet, and what was said of the old bytes says nothing of the new ones if they lie
    /// elsewhere. What is held stays.
    private func alter(
        _ key: Int64, _ item: SyncItem, _ affects: Set<Rendition>, _ connection: Connection
    ) throws {
        for rendition in affects {
            let address: Borrowed? = (rendition == .original ? item.photo : item.thumbnail).map { Borrowed.text($0) }
            let column = { (name: String) in rendition.column(name) }
            try connection.run(
                """
                UPDATE photo SET \(column("edition")) = \(column("edition")) + 1,
                    \(column("trouble")) = NULL, \(column("reason")) = NULL,
                    \(column("etag")) = iif(\(column("address")) IS ?1, \(column("etag")), NULL),
                    \(column("last_modified")) = iif(\(column("address")) IS ?1, \(column("last_modified")), NULL),
                    \(column("address")) = ?1
                WHERE key = ?2
                """, address, key)
        }
        try PhotoText.whileChanging(key, connection) {
            try connection.run(
                "UPDATE photo SET name = ?, name_key = ?, date = ?, entry_digest = ? WHERE key = ?",
                Borrowed.text(item.name), Borrowed.blob(item.nameKey), item.date.milliseconds, item.digest, key)
        }
    }
}
