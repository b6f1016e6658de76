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
///     let summary = try await cache.writer.commit(draft, …)
///
/// One draft serves one update and belongs to one task at a time.
public final class SyncDraft {
    /// An entry whose photo is known and looks different now.
    struct Change {
        let key: Int64
        let entry: GalleryEntry
        /// What has to be fetched anew.
        let affects: Set<Rendition>
    }

    /// The list that the draft was compared with; if another one is there by the time of the commit, it is void.
    let listVersion: Int64
    private(set) var seen: Set<Int64> = []
    private(set) var changes: [Change] = []
    private(set) var additions: [GalleryEntry] = []
    private var addedIDs: Set<String> = []
    /// Entries whose id had come before.
    public private(set) var repeated = 0
    private let connection: Connection

    init(_ reader: CacheReader) throws {
        connection = reader.connection
        listVersion = try reader.gallery().listVersion
    }

    /// Entries that were taken so far.
    public var count: Int { seen.count + additions.count }

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
            guard seen.insert(row.int(0)).inserted else { return false }
            if let change = Self.change(from: row, to: entry) { changes.append(change) }
            return true
        }
        switch isKnown {
        case true?: break
        case false?: repeated += 1
        case nil: if addedIDs.insert(entry.id).inserted { additions.append(entry) } else { repeated += 1 }
        }
    }

    /// Columns: key, name, date, photo's address, thumbnail's address.
    private static func change(from row: Row, to entry: GalleryEntry) -> Change? {
        let isRedated = row.int(2) != entry.date.milliseconds
        let isPhotoMoved = row.text(3) != entry.photo.text
        let isThumbnailMoved = row.optionalText(4) != entry.thumbnail?.text
        var affects: Set<Rendition> = []
        if isRedated || isPhotoMoved { affects.insert(.photo) }
        // A thumbnail that the gallery does not have is made from the photo, and made anew with it.
        if isRedated || isThumbnailMoved || (isPhotoMoved && entry.thumbnail == nil) { affects.insert(.thumbnail) }
        guard !affects.isEmpty || row.text(1) != entry.name else { return nil }
        return Change(key: row.int(0), entry: entry, affects: affects)
    }
}
