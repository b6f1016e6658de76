import Model
import SQLite

/// What a new list would change in the cache, worked out while the list is still coming.
///
/// Entries go in as they are read; each is compared with its photo's row, over a read-only connection, so neither
/// readers nor other writes wait for a slow server. What is equal leaves one bit behind; what differs lies on the disk until
/// ``GalleryWriter/commit(_:skipped:validators:at:)`` applies it, all of it or nothing.
///
///     let draft = try cache.beginSync()
///     for try await var entries in … { try draft.add(&entries) }
///     let summary = try await cache.writer.commit(draft.finish(), …)
///
/// One draft serves one update and belongs to one task at a time.
public final class SyncDraft {
    /// Photos that have come so far.
    public private(set) var count = 0
    private let connection: Connection
    private let mark: DamageMark
    private let listVersion: Int64
    /// Nothing need be looked for where there is nothing.
    private let isFirst: Bool
    private let spool: SyncSpool
    private var walk = RowWalk()
    private var seen = KeySet()
    private var entry = EntryBytes()
    private var altered = 0
    private var repeated = 0
    /// Entries that were looked for by their id.
    private var searches = 0

    /// Bytes that a list may take; nil for any number.
    private let limit: Int64?

    /// Bytes that a row and its places in the indices take beside its texts.
    private static let rowRoom: Int64 = 150

    /// - Parameter limit: bytes that a list may take in the cache; nil for any number.
    init(_ reader: CacheReader, folder: String, limit: Int64? = nil, _ mark: DamageMark) throws {
        self.limit = limit
        connection = reader.connection
        self.mark = mark
        (listVersion, isFirst) = try mark.watch {
            // Of one moment: rows that come later make this draft void.
            try reader.connection.transaction(writes: false) {
                (
                    try reader.gallery().listVersion,
                    try reader.connection.first("SELECT key FROM photo LIMIT 1") { $0.int(0) } == nil
                )
            }
        }
        spool = try SyncSpool(folder: folder)
    }

    /// How many queries it has taken so far.
    var queries: Int { walk.queries + searches }

    /// Compares entries with what is there. Of entries with the same id the first counts.
    public func add(_ entries: inout some WrittenEntries) throws {
        // One read transaction a batch: it is taken and given back once, not once an entry.
        try mark.watch {
            try connection.transaction(writes: false) {
                for index in 0..<entries.count { try add(index, of: &entries) }
                if let limit, listRoom > limit { throw CacheError.listTooLarge(limit: limit) }
            }
        }
    }

    /// Compares entries that have been taken apart.
    public func add(_ entries: [GalleryEntry]) throws {
        var entries = entries
        try add(&entries)
    }

    /// What all that was added changes. Nothing may be added any more.
    public func finish() throws -> SyncChanges {
        SyncChanges(
            listVersion: listVersion, seen: seen, items: try spool.finish(), altered: altered,
            added: count - seen.count, repeated: repeated, room: spool.bytes * 2)
    }

    /// About how many bytes the list takes in the database, with what is unchanged of it. Each byte of a text is there about
    /// twice: in its row, and in an index or among the words that are searched.
    var listRoom: Int64 { spool.bytes * 2 + Int64(count) * Self.rowRoom }

    private func add(_ index: Int, of entries: inout some WrittenEntries) throws {
        if !isFirst, let digest = entries.digest(at: index), let key = try walk.take(digest, connection) {
            if seen.insert(key) { count += 1 } else { repeated += 1 }
            return
        }
        guard entries.read(index, into: &entry) else { return }
        switch isFirst ? nil : try search() {
        case .repeated: repeated += 1
        case .unchanged: count += 1
        case .changed(let change):
            count += 1
            if case .alter = change { altered += 1 }
            try spool.append(change, entry)
        case nil:
            // Whether it came before is found out when it is stored.
            count += 1
            try spool.append(.add, entry)
        }
    }

    /// What became of an entry whose photo there is.
    private enum Known {
        case repeated
        case unchanged
        case changed(SyncItem.Change)
    }

    /// Looks for the photo of the entry at hand; nil if there is none.
    private func search() throws -> Known? {
        searches += 1
        var row: Int64?
        let known: Known? = try entry.bytes.withUnsafeBytes { bytes in
            try connection.first(
                "SELECT key, name, date, photo_address, thumbnail_address, entry_digest FROM photo WHERE id = ?",
                Borrowed.text(UnsafeRawBufferPointer(rebasing: bytes[entry.range(of: .id)]))
            ) { found in
                row = found.int(0)
                guard seen.insert(found.int(0)) else { return .repeated }
                return change(of: found).map { .changed($0) } ?? .unchanged
            }
        }
        if let row { try walk.follow(row, connection) }
        return known
    }

    /// What the entry at hand changes of its photo. Columns: key, name, date, photo's address, thumbnail's address, digest.
    private func change(of row: Row) -> SyncItem.Change? {
        let digest = row.optionalInt(5)
        if let digest, digest == entry.digest { return nil }
        func differs(_ column: Int, _ part: EntryBytes.Part) -> Bool {
            !row.text(column).utf8.elementsEqual(entry[part])
        }
        let isRedated = row.int(2) != entry.date.milliseconds
        let isPhotoMoved = differs(3, .photo)
        // An address has at least a scheme, so no text is none.
        let isThumbnailMoved = differs(4, .thumbnail)
        var affects: Set<Rendition> = []
        if isRedated || isPhotoMoved { affects.insert(.original) }
        // A thumbnail that the gallery does not have is made from the photo, and made anew with it.
        if isRedated || isThumbnailMoved || (isPhotoMoved && !entry.hasThumbnail) { affects.insert(.thumbnail) }
        if !affects.isEmpty || differs(1, .name) { return .alter(row.int(0), affects: affects) }
        return entry.digest == nil ? nil : .stamp(row.int(0))
    }
}
