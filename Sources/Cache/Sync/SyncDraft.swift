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

/// What a new list changes in the cache.
public struct SyncChanges: Sendable {
    /// The list that this was compared with; if another one is there by the time of the commit, it is void.
    let listVersion: Int64
    /// Rows that the new list has too. The others go.
    let seen: KeySet
    /// Photos that are new, and those that look different now.
    let items: SpooledItems
    /// How many of the items look different now.
    let altered: Int
    /// How many are new, some of which may turn out to be repeated.
    let added: Int
    /// Entries whose id had come before.
    let repeated: Int
    /// Bytes that the items take in the database, as far as that can be told.
    let room: Int64
}

/// What an update did.
public struct SyncSummary: Hashable, Sendable {
    /// Photos that are new.
    public var added = 0
    /// Photos whose name, date or address changed.
    public var changed = 0
    /// Photos that are gone.
    public var removed = 0
    /// Entries that broke a rule, or repeated an id.
    public var skipped = 0
    /// Photos that the gallery has now.
    public var total = 0
}

/// The rows of photos in the order of their keys, beside which a list is read.
///
/// Lists mostly come in the order in which they came first, and that is the order of the keys: so the row of the next entry
/// is mostly the next row, and its digest says whether it is. A few thousand rows are looked at with one query.
private struct RowWalk {
    /// Rows of one query, at first and at most: they become more as long as they are the right ones.
    private static let windows = 16...4_096

    private var keys: [Int64] = []
    private var digests: [Int64?] = []
    /// The row that comes next, in the window.
    private var place = 0
    private var size = Self.windows.lowerBound
    /// Whether there are no rows beyond the window.
    private var isLast = false
    /// Whether an entry was not the one that came next, since the window was read.
    private var hasMissed = false
    /// The row of the entry that was found elsewhere last.
    private var elsewhere: Int64?
    /// How many windows have been read.
    private(set) var queries = 0

    /// Takes the next row if it has this digest, and returns its key.
    mutating func take(_ digest: Int64, _ connection: Connection) throws -> Int64? {
        if place == keys.count, !isLast { try readWindow(after: keys.last ?? .min, connection) }
        guard place < keys.count, digests[place] == digest else {
            hasMissed = true
            return nil
        }
        defer { place += 1 }
        return keys[place]
    }

    /// Goes on behind a row whose entry came although it was not the next one.
    mutating func follow(_ key: Int64, _ connection: Connection) throws {
        if let found = window(of: key) {
            place = found + 1
        } else if let elsewhere, key == elsewhere + 1 {
            // The second one in a row that lies elsewhere: there is where the list goes on. One alone may be a photo that
            // was put in front, and the list goes on where it was.
            size = Self.windows.lowerBound
            isLast = false
            try readWindow(after: key, connection)
        }
        elsewhere = key
    }

    /// Where in the rest of the window a row is.
    private func window(of key: Int64) -> Int? {
        var (low, high) = (place, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? low : nil
    }

    private mutating func readWindow(after key: Int64, _ connection: Connection) throws {
        size = hasMissed ? Self.windows.lowerBound : min(size * 2, Self.windows.upperBound)
        hasMissed = false
        place = 0
        keys.removeAll(keepingCapacity: true)
        digests.removeAll(keepingCapacity: true)
        queries += 1
        try connection.forEach(
            "SELECT key, entry_digest FROM photo WHERE key > ? ORDER BY key LIMIT ?", key, size
        ) { row in
            keys.append(row.int(0))
            digests.append(row.optionalInt(1))
        }
        isLast = keys.count < size
    }
}
