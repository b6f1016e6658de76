import Model
import SQLite

/// What a new list would change in the cache, worked out while the list is still coming.
///
/// Entries go in as they are read; each is compared with its photo's row, over a read-only connection, so neither
/// readers nor other writes wait for a slow server. What is equal leaves one bit behind; what differs lies on the disk until
/// ``GalleryWriter/commit(_:skipped:validators:at:)`` applies it, all of it or nothing.
///
///     let draft = try cache.beginSync()
///     for try await entries in … { try draft.add(entries) }
///     let summary = try await cache.writer.commit(draft.finish(), …)
///
/// One draft serves one update and belongs to one task at a time.
public final class SyncDraft {
    /// Photos that have come so far.
    public private(set) var count = 0
    private let connection: Connection
    private let mark: DamageMark
    private let listVersion: Int64
    private let spool: SyncSpool
    private var seen = KeySet()
    private var altered = 0
    private var repeated = 0

    init(_ reader: CacheReader, folder: String, _ mark: DamageMark) throws {
        connection = reader.connection
        self.mark = mark
        listVersion = try mark.watch { try reader.gallery().listVersion }
        spool = try SyncSpool(folder: folder)
    }

    /// Compares entries with what is there. Of entries with the same id the first counts.
    public func add(_ entries: [GalleryEntry]) throws {
        // One read transaction a batch: it is taken and given back once, not once an entry.
        try mark.watch {
            try connection.transaction(writes: false) {
                for entry in entries { try add(entry) }
            }
        }
    }

    /// What all that was added changes. Nothing may be added any more.
    public func finish() throws -> SyncChanges {
        SyncChanges(
            listVersion: listVersion, seen: seen, items: try spool.finish(), altered: altered,
            added: count - seen.count, repeated: repeated)
    }

    private func add(_ entry: GalleryEntry) throws {
        let known: Known? = try connection.first(
            "SELECT key, name, date, photo_address, thumbnail_address FROM photo WHERE id = ?", entry.id
        ) { row in
            guard seen.insert(row.int(0)) else { return .repeated }
            return Self.change(from: row, to: entry).map { .altered($0) } ?? .unchanged
        }
        switch known {
        case .repeated: repeated += 1
        case .unchanged: count += 1
        case .altered(let item):
            count += 1
            altered += 1
            try spool.append(item)
        case nil:
            // Whether it came before is found out when it is stored.
            count += 1
            try spool.append(SyncItem(entry))
        }
    }

    /// What became of an entry whose photo there is.
    private enum Known {
        case repeated
        case unchanged
        case altered(SyncItem)
    }

    /// Columns: key, name, date, photo's address, thumbnail's address.
    private static func change(from row: Row, to entry: GalleryEntry) -> SyncItem? {
        let isRedated = row.int(2) != entry.date.milliseconds
        let isPhotoMoved = row.text(3) != entry.photo.text
        let isThumbnailMoved = row.optionalText(4) != entry.thumbnail?.text
        var affects: Set<Rendition> = []
        if isRedated || isPhotoMoved { affects.insert(.photo) }
        // A thumbnail that the gallery does not have is made from the photo, and made anew with it.
        if isRedated || isThumbnailMoved || (isPhotoMoved && entry.thumbnail == nil) { affects.insert(.thumbnail) }
        guard !affects.isEmpty || row.text(1) != entry.name else { return nil }
        return SyncItem(entry, key: row.int(0), affects: affects)
    }
}
