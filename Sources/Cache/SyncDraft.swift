import Model
import SQLite

/// What a new list would change in the cache, worked out while the list is still coming.
///
/// Entries go in as they are read; each is compared with its photo's row, over a read-only connection, so neither
/// readers nor other writes wait for a slow server. What is equal leaves one number behind; what differs is kept until
/// ``GalleryWriter/commit(_:skipped:validators:at:)`` applies it, all of it or nothing.
///
///     let draft = try cache.beginSync()
///     for try await entries in … { try draft.add(entries) }
///     let summary = try await cache.writer.commit(draft.changes, …)
///
/// One draft serves one update and belongs to one task at a time.
public final class SyncDraft {
    /// What was found so far.
    public private(set) var changes: SyncChanges
    private var addedIDs: Set<String> = []
    private let connection: Connection

    init(_ reader: CacheReader) throws {
        connection = reader.connection
        changes = SyncChanges(listVersion: try reader.gallery().listVersion)
    }

    /// Compares entries with what is there. Of entries with the same id the first counts.
    public func add(_ entries: [GalleryEntry]) throws {
        // One read transaction a batch: it is taken and given back once, not once an entry.
        try connection.transaction(writes: false) {
            for entry in entries { try add(entry) }
        }
    }

    private func add(_ entry: GalleryEntry) throws {
        let isKnown: Bool? = try connection.first(
            "SELECT key, name, date, photo_address, thumbnail_address FROM photo WHERE id = ?", entry.id
        ) { row in
            guard changes.seen.insert(row.int(0)).inserted else { return false }
            if let change = Self.change(from: row, to: entry) { changes.altered.append(change) }
            return true
        }
        switch isKnown {
        case true?: break
        case false?: changes.repeated += 1
        case nil:
            if addedIDs.insert(entry.id).inserted { changes.added.append(entry) } else { changes.repeated += 1 }
        }
    }

    /// Columns: key, name, date, photo's address, thumbnail's address.
    private static func change(from row: Row, to entry: GalleryEntry) -> SyncChanges.Alteration? {
        let isRedated = row.int(2) != entry.date.milliseconds
        let isPhotoMoved = row.text(3) != entry.photo.text
        let isThumbnailMoved = row.optionalText(4) != entry.thumbnail?.text
        var affects: Set<Rendition> = []
        if isRedated || isPhotoMoved { affects.insert(.photo) }
        // A thumbnail that the gallery does not have is made from the photo, and made anew with it.
        if isRedated || isThumbnailMoved || (isPhotoMoved && entry.thumbnail == nil) { affects.insert(.thumbnail) }
        guard !affects.isEmpty || row.text(1) != entry.name else { return nil }
        return SyncChanges.Alteration(key: row.int(0), entry: entry, affects: affects)
    }
}
