import Model
import SQLite

extension GalleryWriter {
    /// Applies the changes of a new list in one transaction.
    ///
    /// If the changes are only the beginning of a first list, the method only adds photos. The gallery then still
    /// counts as never updated. If the changes are not the whole list, a part of the photos may come from an earlier
    /// list. So the gallery stays public if it was, until a whole list comes from a private network.
    ///
    /// - Parameters:
    ///   - skipped: the number of invalid entries. The method adds the number of repeated ids. Changes to a part of the
    ///     list never lower the number in the gallery's record.
    ///   - validators: the server's validators for the list, which the same transaction stores. Vitrine would fetch a
    ///     new list with old validators once too often. With new validators and an old list, Vitrine would never fetch
    ///     the changes.
    ///   - isPrivate: whether the list came from this machine or a private network; nil if unknown.
    ///   - isPublic: whether the address led to a public server; see ``recordUnchanged(isPrivate:isPublic:at:)``.
    ///   - source: the place from which the list came; nil to keep the stored one.
    ///   - removesSource: whether to remove the stored source and its name, because the photos come from a local folder.
    /// - Throws: ``CacheError/conflict`` if another process changed the list meanwhile; `CancellationError` if the task
    ///   is cancelled. Then nothing has changed.
    public func commit(
        _ changes: SyncChanges, skipped: Int, validators: Validators, isPrivate: Bool? = nil,
        isPublic: Bool = false, source: ListSource? = nil, removesSource: Bool = false, at time: Timestamp
    ) throws -> SyncSummary {
        var summary = SyncSummary()
        let files: [String] = try cancellableTransaction { connection in
            // The body may run a second time.
            summary = SyncSummary()
            summary.changed = changes.altered
            let version = try connection.first("SELECT list_version FROM gallery") { $0.int(0) }
            guard version == changes.listVersion else { throw CacheError.conflict }
            let gone =
                changes.isBeginning
                ? [] : try photos(except: changes.seen, within: changes.scopes, connection)
            let indices = try PhotoIndices(
                added: changes.added, altered: changes.altered, removed: gone.count, connection)
            try indices.drop(connection)
            let files = try remove(gone, connection, indices)
            try NameKeys.renew(before: changes, isIndexed: !indices.areRebuilt, connection)
            try changes.base?.store(connection)
            let base = try AddressBase(connection)
            let insertion = try PhotoInsertion(connection, indices, base)
            let stamping = try connection.repeated("UPDATE photo SET entry_digest = ? WHERE key = ?")
            try changes.items.forEachPiece { piece in
                while let item = piece.next() {
                    switch item.change {
                    case .add: try insertion.add(item)
                    case .alter(let key, let affects): try alter(key, item, affects, connection, indices, base)
                    // The entry is written differently but means the same.
                    case .stamp(let key):
                        try stamping.set(0, to: item.digest)
                        try stamping.set(1, to: key)
                        try stamping.run()
                    }
                }
                try insertion.finishPiece()
            }
            summary.added = insertion.count - (try indices.rebuild(connection))
            try takeRatings(areNew: summary.added > 0, connection)
            let repeated = changes.repeated + changes.added - summary.added
            summary.removed = gone.count
            summary.skipped = skipped + repeated
            summary.total =
                changes.scopes == nil ? changes.seen.count + summary.added : try Self.countPhotos(connection)
            if removesSource { try ListSource.remove(connection, withName: true) }
            try source?.store(connection)
            guard !changes.isBeginning, !changes.isIncomplete else {
                try connection.run(
                    """
                    UPDATE gallery SET photo_count = ?1, list_version = list_version + 1,
                                       is_private = ifnull(min(is_private, ?2), ifnull(is_private, ?2)),
                                       was_public = max(was_public, ?3)
                    """, summary.total, isPrivate.map { $0 ? 1 : 0 }, isPublic ? 1 : 0)
                return files
            }
            // The other parts of the list still have the entries that an earlier update skipped.
            try connection.run(
                """
                UPDATE gallery SET photo_count = ?, skipped = max(?, iif(?, skipped, 0)), last_success = ?,
                                   failure = NULL, failure_remedy = NULL, etag = ?, last_modified = ?, is_private = ?,
                                   was_public = max(was_public, ?), list_version = list_version + ?
                """, summary.total, summary.skipped, changes.scopes?.isEmpty == false ? 1 : 0, time.milliseconds,
                validators.etag, validators.lastModified, isPrivate.map { $0 ? 1 : 0 }, isPublic ? 1 : 0,
                summary.removed + summary.changed + summary.added > 0 ? 1 : 0)
            return files
        }
        space.recordWritten(changes.size)
        // Remove the files after the commit, because the rows name the files until then.
        for name in files { self.files.remove(name) }
        return summary
    }

    /// Runs a transaction that may take seconds. If the task is cancelled, the transaction is rolled back.
    private func cancellableTransaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
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

    /// Returns all photos that are not in the new list.
    private func photos(
        except seen: KeySet, within scopes: [FolderScope]?, _ connection: Connection
    ) throws -> [PhotoKey] {
        // The changes were compared with this version of the list, so all seen rows exist. If the counts agree, no
        // photo must be removed.
        if scopes == nil, try Self.countPhotos(connection) == seen.count { return [] }
        var keys: [PhotoKey] = []
        for scope in scopes ?? [FolderScope(folder: "", isDeep: true)] {
            try CacheReader(connection).forEachKey(in: scope) { if !seen.contains($0) { keys.append(PhotoKey($0)) } }
        }
        return keys
    }

    /// Removes photos. Returns their files.
    private func remove(_ keys: [PhotoKey], _ connection: Connection, _ indices: PhotoIndices) throws -> [String] {
        let reader = CacheReader(connection)
        var files: [String] = []
        try reader.forEach(Self.files, of: keys) { files.append($0.text(0)) }
        if !indices.areRebuilt { for key in keys { try PhotoText.remove(key.rawValue, connection) } }
        for (table, column) in [("thumbnail", "photo"), ("metadata", "photo"), ("exported", "photo"), ("photo", "key")]
        {
            let deletion = "DELETE FROM \(table) WHERE \(column) IN (SELECT value FROM json_each(?))"
            try reader.forEach(deletion, of: keys) { _ in }
        }
        return files
    }

    /// The query of the cached files of some photos.
    private static let files = """
        SELECT photo_file FROM photo WHERE photo_file NOT NULL AND key IN (SELECT value FROM json_each(?))
        """

    fileprivate static func countPhotos(_ connection: Connection) throws -> Int {
        try connection.first("SELECT count(*) FROM photo") { Int($0.int(0)) } ?? 0
    }

    /// Updates a photo's row. A rendition with a new edition loses its recorded failure, and its validators if the
    /// address changed.
    ///
    /// The cached pictures stay.
    private func alter(
        _ key: Int64, _ item: SyncItem, _ affects: Set<Rendition>, _ connection: Connection, _ indices: PhotoIndices,
        _ base: AddressBase
    ) throws {
        if affects.contains(.original) {
            // If the photo stays in the user's folder and its address changes, the row must forget the file at the old
            // address.
            try connection.run(
                """
                UPDATE photo SET \(Self.withoutFile)
                WHERE key = ? AND photo_file = ? AND \(AddressBase.whole("photo_address")) IS NOT ?
                """, key, StoredPhoto.inPlace, Borrowed.text(item.photo))
        }
        for rendition in affects {
            let address = rendition == .original ? item.photo : item.thumbnail
            let column = { (name: String) in rendition.column(name) }
            let whole = AddressBase.whole(column("address"))
            try connection.run(
                """
                UPDATE photo SET \(column("edition")) = \(column("edition")) + 1,
                    \(column("trouble")) = NULL, \(column("reason")) = NULL,
                    \(column("etag")) = iif(\(whole) IS ?1, \(column("etag")), NULL),
                    \(column("last_modified")) = iif(\(whole) IS ?1, \(column("last_modified")), NULL),
                    \(column("address")) = ?2
                WHERE key = ?3
                """, address.map { Borrowed.text($0) }, address.map { Borrowed.text(base.stored($0)) }, key)
        }
        func change() throws {
            try connection.run(
                """
                UPDATE photo SET name = ?1, name_key = ?2, entry_digest = ?3, revision = ?4, library_part = ?10,
                                 thumbhash = ?11, annotations = ?12, video_milliseconds = ?13,
                                 date = iif(date_origin = ?5 AND ?6, date, ?7),
                                 date_origin = iif(date_origin = ?5 AND ?6, date_origin, ?8)
                WHERE key = ?9
                """, Borrowed.text(item.name), Borrowed.blob(item.nameKey), item.digest,
                item.revision.map { Borrowed.text($0) }, DateOrigin.taken.rawValue,
                affects.contains(.original) ? 0 : 1, item.date.milliseconds, item.dateOrigin.rawValue, key,
                item.libraryPart.map { Borrowed.text($0) }, item.thumbhash.map { Borrowed.text($0) },
                item.annotations.map { Borrowed.text($0) }, item.videoMilliseconds)
        }
        if indices.areRebuilt { try change() } else { try PhotoText.whileChanging(key, connection, change) }
    }
}

/// The sort keys of the names in the rows.
///
/// They depend on the locale of the process that made them.
private enum NameKeys {
    /// The number of rows to read at once.
    private static let rowsAtOnce = 4_096

    /// Makes all keys anew if a process with another collation made them.
    ///
    /// The order by name needs keys of one collation, but a job of cron may update the gallery in another locale than the
    /// user's. An update without new and changed photos adds no keys, so it leaves the keys of another collation as they
    /// are. Keys of an unknown collation may be a mixture.
    ///
    /// - Parameter isIndexed: whether the database has the index of names now.
    static func renew(before changes: SyncChanges, isIndexed: Bool, _ connection: Connection) throws {
        let stored: String? = try connection.first("SELECT collation FROM gallery") { $0.optionalText(0) } ?? nil
        let current = NaturalKey.collation
        guard stored != current, stored == nil || changes.added > 0 || changes.altered > 0 else { return }
        var maker = NaturalKey()
        var last = Int64.min
        var (isDropped, isAtEnd) = (false, false)
        while !isAtEnd {
            let before = last
            var count = 0
            var renewed: [(row: Int64, key: [UInt8])] = []
            try connection.forEach(
                "SELECT key, name, name_key FROM photo WHERE key > ? ORDER BY key LIMIT ?", before, rowsAtOnce
            ) { row in
                (last, count) = (row.int(0), count + 1)
                maker.make(of: Array(row.text(1).utf8)[...])
                if maker.bytes != row.blob(2) { renewed.append((last, maker.bytes)) }
            }
            if isIndexed, !isDropped, !renewed.isEmpty {
                // Usually most keys change, and building an index is faster than changing most of its entries.
                try connection.execute("DROP INDEX photo_by_name")
                isDropped = true
            }
            for (row, key) in renewed { try connection.run("UPDATE photo SET name_key = ? WHERE key = ?", key, row) }
            // In a forged table, the numbers of the rows might not increase.
            isAtEnd = count < rowsAtOnce || last <= before
        }
        if isDropped { try connection.execute("CREATE INDEX photo_by_name ON photo (name_key)") }
        try connection.run("UPDATE gallery SET collation = ?", current)
    }
}

/// Inserts new photos. If there are many photos, inserts several rows per statement.
///
/// Starting a statement takes about as long as inserting a row.
private final class PhotoInsertion {
    /// The number of inserted photos. While ids are indexed, an item with a repeated id is not inserted.
    private(set) var count = 0
    private let connection: Connection
    private let indices: PhotoIndices
    private let base: AddressBase
    private let single: RepeatedStatement
    private let multiple: RepeatedStatement
    /// The items for the next statement.
    private var waiting: [SyncItem] = []

    private static let rows = 16
    private static let columns = [
        "id", "name", "name_key", "date", "date_origin", "thumbnail_address", "photo_address", "entry_digest",
        "revision", "library_part", "thumbhash", "annotations", "video_milliseconds",
    ]

    init(_ connection: Connection, _ indices: PhotoIndices, _ base: AddressBase) throws {
        (self.connection, self.indices, self.base) = (connection, indices, base)
        single = try connection.repeated(Self.statement(rows: 1, indices))
        multiple = try connection.repeated(Self.statement(rows: Self.rows, indices))
    }

    func add(_ item: SyncItem) throws {
        guard indices.areRebuilt else { return try insert(item) }
        waiting.append(item)
        guard waiting.count == Self.rows else { return }
        for (row, item) in waiting.enumerated() { try set(item, at: row, of: multiple) }
        count += try multiple.run()
        waiting.removeAll(keepingCapacity: true)
    }

    /// Inserts the waiting items. Call this method before the items' bytes become invalid.
    func finishPiece() throws {
        for item in waiting { try insert(item) }
        waiting.removeAll(keepingCapacity: true)
    }

    private func insert(_ item: SyncItem) throws {
        try set(item, at: 0, of: single)
        guard try single.run() > 0 else { return }
        count += 1
        if !indices.areRebuilt { try PhotoText.add(connection.lastInsertedRow, connection) }
    }

    private func set(_ item: SyncItem, at row: Int, of statement: RepeatedStatement) throws {
        let first = row * Self.columns.count
        try statement.set(first, to: .text(item.id))
        try statement.set(first + 1, to: .text(item.name))
        try statement.set(first + 2, to: .blob(item.nameKey))
        try statement.set(first + 3, to: item.date.milliseconds)
        try statement.set(first + 4, to: item.dateOrigin.rawValue)
        try statement.set(first + 5, to: item.thumbnail.map { .text(base.stored($0)) })
        try statement.set(first + 6, to: .text(base.stored(item.photo)))
        try statement.set(first + 7, to: item.digest)
        try statement.set(first + 8, to: item.revision.map { .text($0) })
        try statement.set(first + 9, to: item.libraryPart.map { .text($0) })
        try statement.set(first + 10, to: item.thumbhash.map { .text($0) })
        try statement.set(first + 11, to: item.annotations.map { .text($0) })
        try statement.set(first + 12, to: item.videoMilliseconds)
    }

    private static func statement(rows: Int, _ indices: PhotoIndices) -> String {
        let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        return """
            INSERT INTO photo (\(columns.joined(separator: ", ")))
            VALUES \(Array(repeating: row, count: rows).joined(separator: ", "))
            \(indices.hasIDs ? "ON CONFLICT (id) DO NOTHING" : "")
            """
    }
}

/// The indices of the table of photos during an update. A large update drops the indices, and then builds new ones.
///
/// New and changed rows belong to random positions of each index, so a large update would write most pages repeatedly.
/// Building an index sorts its rows and writes each page once.
private struct PhotoIndices {
    /// Whether the update builds the indices anew, because it has many changes. If not, each change also updates the
    /// search index.
    let areRebuilt: Bool
    /// Whether ids are indexed during the update, so that SQLite detects repeated ids.
    let hasIDs: Bool

    /// The number of changes that justify a rebuild of the indices.
    private static let manyRows = 2_000
    /// The maximum number of rows per change for a rebuild of the indices. Updating the indices for a row takes about
    /// as long as rebuilding them for seven rows.
    private static let rowsPerChange = 4

    /// Decides which indices to rebuild, by the numbers of rows and changes. Changed rows keep their ids, so only new
    /// rows matter for the index of ids.
    ///
    /// - Parameter removed: the number of rows that the update has yet to remove.
    init(added: Int, altered: Int, removed: Int, _ connection: Connection) throws {
        let changes = added + altered + removed
        // Without many changes, the number of photos does not matter.
        let photos = changes < Self.manyRows ? Int.max : try GalleryWriter.countPhotos(connection) - removed
        func areMany(_ count: Int) -> Bool { count >= Self.manyRows && photos <= count * Self.rowsPerChange }
        areRebuilt = areMany(changes)
        hasIDs = !areMany(added)
    }

    /// Drops the indices before a large update. Call this method in the transaction of the update.
    func drop(_ connection: Connection) throws {
        if areRebuilt { try connection.execute("DROP INDEX photo_by_date; DROP INDEX photo_by_name;") }
        if !hasIDs { try connection.execute("DROP INDEX photo_by_id") }
    }

    /// Builds the dropped indices, with the same SQL as the migrations. Returns the number of removed rows, which
    /// repeated the id of an earlier row.
    func rebuild(_ connection: Connection) throws -> Int {
        guard areRebuilt else { return 0 }
        let repeated = try hasIDs ? 0 : indexIDs(connection)
        try connection.execute(
            """
            CREATE INDEX photo_by_date ON photo (date);
            CREATE INDEX photo_by_name ON photo (name_key);
            """)
        try PhotoText.rebuild(connection)
        return repeated
    }

    private func indexIDs(_ connection: Connection) throws -> Int {
        let index = "CREATE UNIQUE INDEX photo_by_id ON photo (id)"
        do {
            try connection.execute(index)
            return 0
        } catch SQLiteError.constraint {
            let count = try connection.run(
                """
                DELETE FROM photo WHERE key IN (
                    SELECT key FROM (SELECT key, row_number() OVER (PARTITION BY id ORDER BY key) AS number FROM photo)
                    WHERE number > 1)
                """)
            try connection.execute(index)
            return count
        }
    }
}
