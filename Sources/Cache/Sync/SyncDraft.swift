import Model
import SQLite

/// The changes of a gallery's new list, computed while the list arrives.
///
///     let draft = try cache.beginSync()
///     for try await var entries in … { try draft.add(&entries) }
///     let summary = try await cache.writer.commit(draft.finish(), …)
///
/// The draft compares each entry with its row over a read-only connection, so a slow server blocks neither readers nor
/// writes. An unchanged entry costs one bit of memory. Changes go to a file on the disk, until
/// ``GalleryWriter/commit(_:skipped:validators:isPrivate:isPublic:at:)`` applies all of them in one transaction.
///
/// A draft serves one update and one task at a time.
public final class SyncDraft {
    /// The number of photos in the new list so far.
    public private(set) var count = 0
    private let reader: CacheReader
    private let folder: String
    private let scopes: [FolderScope]?
    private let mark: DamageMark
    private var listVersion: Int64
    /// Whether the cache was empty at the start, so that no lookup is necessary.
    private let isFirst: Bool
    private var spool: SyncSpool
    private var cursor = RowCursor()
    private var seen = KeySet()
    private var entry = EntryBytes()
    private let list: Address
    /// The base of the addresses; nil before the first photo of an empty cache.
    private var base: AddressBase?
    private var size = ListSize()
    /// The size of the photos that ``takeBeginning()`` has returned.
    private var takenSize: Int64 = 0
    private var altered = 0
    private var repeated = 0
    /// The number of lookups of a photo by its id.
    private var searches = 0

    /// The largest list that the draft accepts, in bytes; nil for no limit.
    private let limit: Int64?

    /// - Parameters:
    ///   - list: the address from which the list comes.
    ///   - limit: the largest list in bytes; nil for no limit.
    ///   - scopes: the folders that the list covers; nil for all folders.
    init(
        _ reader: CacheReader, folder: String, list: Address, limit: Int64? = nil,
        within scopes: [FolderScope]? = nil, _ mark: DamageMark
    ) throws {
        self.list = list
        self.scopes = scopes
        self.limit = limit
        self.reader = reader
        self.folder = folder
        self.mark = mark
        (listVersion, base) = try mark.watch {
            // Read in one transaction. If the list changes later, the commit fails.
            try reader.connection.transaction(writes: false) {
                let isEmpty = try reader.connection.first("SELECT key FROM photo LIMIT 1") { $0.int(0) } == nil
                return (try reader.gallery().listVersion, isEmpty ? nil : try AddressBase(reader.connection))
            }
        }
        isFirst = base == nil
        spool = try SyncSpool(folder: folder)
    }

    private var connection: Connection { reader.connection }

    /// The number of database queries so far. Tests check the number.
    var queries: Int { cursor.queries + searches }

    /// Compares entries with the cache. If several entries have the same id, only the first entry counts.
    public func add(_ entries: inout some WrittenEntries) throws {
        // One read transaction for all entries, because starting one is slow.
        try mark.watch {
            try connection.transaction(writes: false) {
                for index in 0..<entries.count { try add(index, of: &entries) }
                // The temporary file contains whole addresses, so it may be larger than the list in the database.
                if let limit, max(listSize, spool.bytes) > limit { throw CacheError.listTooLarge(limit: limit) }
            }
        }
    }

    /// Compares entries that were parsed from a list.
    public func add(_ entries: [GalleryEntry]) throws {
        var entries = entries
        try add(&entries)
    }

    /// Keeps the photos in an unread or unchanged part of the gallery.
    public func keep(_ part: FolderScope) throws {
        guard !isFirst else { return }
        try mark.watch {
            try reader.forEachKey(in: part) { if seen.insert($0) { count += 1 } }
        }
    }

    /// Keeps the cached photos, except those that their part no longer contains.
    ///
    /// - Parameter members: the parts that may have lost photos, each with the ids of the photos that it still has.
    public func keepAll(exceptOutside members: [String: Set<String>]) throws {
        guard !isFirst else { return }
        try mark.watch {
            try connection.transaction(writes: false) {
                var gone = KeySet()
                if let first = members.keys.min(), let last = members.keys.max() {
                    // An index for this rare search would enlarge each cache.
                    try connection.forEach(
                        "SELECT key, id, library_part FROM photo WHERE library_part BETWEEN ? AND ?", first, last
                    ) { row in
                        if members[row.text(2)]?.contains(row.text(1)) == false { gone.insert(row.int(0)) }
                    }
                }
                // A photo in `gone` stays if this update added it, because it has moved to another part.
                try connection.forEach("SELECT key FROM photo") { row in
                    if !gone.contains(row.int(0)), seen.insert(row.int(0)) { count += 1 }
                }
            }
        }
    }

    /// Whether any entry so far is new or differs from its photo.
    public var hasChanges: Bool { spool.bytes > 0 }

    /// Returns all changes. The caller must not add entries after this call.
    ///
    /// - Parameters:
    ///   - parts: the parts that were read whole; nil if the whole list was read.
    ///   - keepsOthers: whether photos that were not added stay in the gallery.
    public func finish(onlyWithin parts: [FolderScope]? = nil, keepsOthers: Bool = false) throws -> SyncChanges {
        SyncChanges(
            listVersion: listVersion, seen: seen, items: try spool.finish(), altered: altered,
            added: count - seen.count, repeated: repeated, size: size.changed - takenSize, base: isFirst ? base : nil,
            isIncomplete: parts != nil, scopes: keepsOthers ? [] : parts ?? scopes)
    }

    /// Returns the photos so far, to commit them before the list ends. Returns nil unless the cache was empty.
    ///
    /// Call ``resume(after:)`` after the commit.
    public func takeBeginning() throws -> SyncChanges? {
        guard isFirst, count > seen.count else { return nil }
        let beginning = SyncChanges(
            listVersion: listVersion, seen: seen, items: try spool.finish(), altered: 0, added: count - seen.count,
            repeated: repeated, size: size.changed - takenSize, base: base, isBeginning: true)
        takenSize = size.changed
        spool = try SyncSpool(folder: folder)
        return beginning
    }

    /// Continues after the commit of the list's beginning. The committed photos count as seen.
    public func resume(after beginning: SyncSummary) throws {
        try mark.watch {
            try connection.transaction(writes: false) {
                listVersion = try reader.gallery().listVersion
                seen = KeySet()
                try connection.forEach("SELECT key FROM photo") { seen.insert($0.int(0)) }
            }
        }
        // If the counts differ, another process changed the list, too.
        guard seen.count == beginning.total else { throw CacheError.conflict }
        count = seen.count
        repeated = 0
    }

    /// The estimated size of the whole list in the database, in bytes.
    var listSize: Int64 { size.list(photos: count) }

    private func add(_ index: Int, of entries: inout some WrittenEntries) throws {
        if !isFirst, let digest = entries.digest(at: index), let key = try cursor.take(digest, connection) {
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
            if case .stamp = change {} else { recordSize() }
            try spool.append(change, entry)
        case nil:
            // The commit detects a repeated id.
            count += 1
            recordSize()
            try spool.append(.add, entry)
        }
    }

    /// Adds the current entry to the size of the list.
    private func recordSize() {
        let base = base ?? AddressBase(list: list, first: entry[.photo])
        self.base = base
        size.add(entry, base)
    }

    /// The result of comparing an entry with its photo.
    private enum Comparison {
        case repeated
        case unchanged
        case changed(SyncItem.Change)
    }

    /// Compares the current entry with the photo of the same id. Returns nil if there is no such photo.
    private func search() throws -> Comparison? {
        searches += 1
        var row: Int64?
        let comparison: Comparison? = try entry.bytes.withUnsafeBytes { bytes in
            try connection.first(
                """
                SELECT key, name, date, \(AddressBase.whole("photo_address")), \(AddressBase.whole("thumbnail_address")),
                       entry_digest, revision, date_origin, library_part, thumbhash, annotations, video_milliseconds
                FROM photo WHERE id = ?
                """,
                Borrowed.text(UnsafeRawBufferPointer(rebasing: bytes[entry.range(of: .id)]))
            ) { found in
                row = found.int(0)
                guard seen.insert(found.int(0)) else { return .repeated }
                return change(of: found).map { .changed($0) } ?? .unchanged
            }
        }
        if let row { try cursor.follow(row, connection) }
        return comparison
    }

    /// Returns the change that the current entry makes to a row. Returns nil for no change. The row has the columns of
    /// ``search()``.
    private func change(of row: Row) -> SyncItem.Change? {
        let digest = row.optionalInt(5)
        if let digest, digest == entry.digest { return nil }
        func differs(_ column: Int, _ part: EntryBytes.Part) -> Bool {
            !row.text(column).utf8.elementsEqual(entry[part])
        }
        let isRevised = differs(6, .revision)
        // The date in the photo's metadata is better than that of its file.
        let isReplaceable = entry.dateOrigin == .modified || entry.dateOrigin == .unknown
        let keepsDate = isReplaceable && row.int(7) == DateOrigin.taken.rawValue && !isRevised
        let isRedated = !keepsDate && row.int(2) != entry.date.milliseconds
        let isPhotoMoved = differs(3, .photo)
        // An empty text means no address, because an address has a scheme.
        let isThumbnailNew = differs(4, .thumbnail) || differs(9, .thumbhash)
        var affects: Set<Rendition> = []
        if isRevised || isRedated || isPhotoMoved { affects.insert(.original) }
        // Without an address the thumbnail is made from the photo, so it changes with the photo.
        if isRevised || isRedated || isThumbnailNew || (isPhotoMoved && !entry.hasThumbnail) {
            affects.insert(.thumbnail)
        }
        if !affects.isEmpty || differs(1, .name) || differs(8, .libraryPart) || differs(10, .annotations)
            || row.optionalInt(11) != entry.videoMilliseconds.map({ Int64($0) })
        {
            return .alter(row.int(0), affects: affects)
        }
        return entry.digest == nil ? nil : .stamp(row.int(0))
    }
}

/// The estimated size of a list in the database.
private struct ListSize {
    /// The bytes of new and changed texts, and of their entries in indices.
    private var texts: Int64 = 0
    /// The number of new and changed photos.
    private var changes: Int64 = 0

    /// The estimated bytes of a row and its index entries, without its texts.
    private static let rowOverhead: Int64 = 100

    /// Adds a new or changed entry.
    mutating func add(_ entry: EntryBytes, _ base: AddressBase) {
        let (photo, thumbnail) = (entry.range(of: .photo), entry.range(of: .thumbnail))
        // Each text but the addresses is in an index, too. The name's sort key is in its row and in an index.
        let others = 2 * (entry.bytes.count - photo.count - thumbnail.count + entry.range(of: .name).count)
        let addresses = entry.bytes.withUnsafeBytes { bytes in
            base.stored(UnsafeRawBufferPointer(rebasing: bytes[photo])).count
                + base.stored(UnsafeRawBufferPointer(rebasing: bytes[thumbnail])).count
        }
        texts += Int64(others + addresses)
        changes += 1
    }

    /// The bytes of all new and changed photos.
    var changed: Int64 { texts + changes * Self.rowOverhead }

    /// Returns the bytes of a list with a number of photos. The texts of unchanged photos do not count.
    func list(photos: Int) -> Int64 { texts + max(changes, Int64(photos)) * Self.rowOverhead }
}

/// All changes that a new list makes to a gallery.
public struct SyncChanges: Sendable {
    /// The version of the cached list with which the entries were compared. The commit fails if the cached list has
    /// changed since.
    let listVersion: Int64
    /// The rows that stay in the gallery. The commit removes all other rows.
    let seen: KeySet
    /// The new and changed photos.
    let items: SpooledItems
    /// The number of changed photos.
    let altered: Int
    /// The number of new entries, including entries that repeat an id.
    let added: Int
    /// The number of entries that repeat the id of an earlier entry.
    let repeated: Int
    /// The estimated size of the items in the database, in bytes.
    let size: Int64
    /// The base of a first list's addresses; nil for a later or empty list.
    let base: AddressBase?
    /// Whether these changes are only the beginning of a list. The commit then removes no rows, and the update
    /// continues.
    var isBeginning = false
    /// Whether parts of the list could not be read. The update is then not complete.
    var isIncomplete = false
    /// The folders that the list covers; nil for all folders. The commit removes no photo in other folders.
    var scopes: [FolderScope]?
}

/// A folder as a part of a gallery. The photos' ids are paths.
public struct FolderScope: Hashable, Sendable {
    /// The beginning of the ids, with a slash at its end; empty for the gallery's own folder.
    let folder: String
    /// Whether the folders below this folder belong to the part.
    let isDeep: Bool

    /// Creates a part.
    public init(folder: String, isDeep: Bool) {
        (self.folder, self.isDeep) = (folder, isDeep)
    }

    /// The folder's name, as log messages show it.
    public var name: String { folder.isEmpty ? "the folder" : folder }

    /// The SQL condition for the photos in the part. The parameters are ``folder`` and ``end``.
    ///
    /// The outermost folder has no range of ids. A condition for all folders would make SQLite scan all photos even for
    /// an inner folder.
    var condition: String {
        let range = folder.isEmpty ? "?1 = '' AND ?2 = ''" : "id >= ?1 AND id < ?2"
        return isDeep ? range : range + " AND instr(substr(id, length(?1) + 1), '/') = 0"
    }

    /// The smallest string after all ids in the folder. In ASCII, the digit `0` comes directly after the slash.
    ///
    /// Some letters form one character with a slash, so this property replaces the last byte.
    var end: String { folder.isEmpty ? "" : String(decoding: folder.utf8.dropLast(), as: UTF8.self) + "0" }
}

/// The numbers of photos that an update added, changed and removed.
public struct SyncSummary: Hashable, Sendable {
    /// The number of new photos.
    public var added = 0
    /// The number of photos with another name, date, address or other property.
    public var changed = 0
    /// The number of removed photos.
    public var removed = 0
    /// The number of entries that are invalid or repeat an id.
    public var skipped = 0
    /// The number of all photos in the gallery.
    public var total = 0
}

/// Reads the photos' rows in the order of their keys, while the list arrives.
///
/// An updated list usually keeps its order, which is the order of the keys. So the next row usually belongs to the next
/// entry. Equal digests confirm this. One query reads up to a few thousand rows.
private struct RowCursor {
    /// The smallest and largest number of rows to read at once. The number grows while the rows match.
    private static let windows = 16...4_096

    private var keys: [Int64] = []
    private var digests: [Int64?] = []
    /// The index of the next row in the window.
    private var index = 0
    private var size = Self.windows.lowerBound
    /// Whether the window contains the table's last row.
    private var isLast = false
    /// Whether an entry did not match the next row in this window.
    private var hasMissed = false
    /// The row of the last entry that was found by its id.
    private var elsewhere: Int64?
    /// The number of windows read.
    private(set) var queries = 0

    /// If the next row has this digest, returns its key and advances. Otherwise returns nil.
    mutating func take(_ digest: Int64, _ connection: Connection) throws -> Int64? {
        if index == keys.count, !isLast { try readWindow(after: keys.last ?? .min, connection) }
        guard index < keys.count, digests[index] == digest else {
            hasMissed = true
            return nil
        }
        defer { index += 1 }
        return keys[index]
    }

    /// Continues after a row that was found by its entry's id.
    mutating func follow(_ key: Int64, _ connection: Connection) throws {
        if let found = indexInWindow(of: key) {
            index = found + 1
        } else if let elsewhere, key == elsewhere + 1 {
            // Two consecutive entries match rows elsewhere, so the list continues there. A single such entry may be a
            // photo that has moved; then the list continues here.
            size = Self.windows.lowerBound
            isLast = false
            try readWindow(after: key, connection)
        }
        elsewhere = key
    }

    /// Returns the index of a row in the rest of the window. Returns nil if the row is not there.
    private func indexInWindow(of key: Int64) -> Int? {
        var (low, high) = (index, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? low : nil
    }

    private mutating func readWindow(after key: Int64, _ connection: Connection) throws {
        size = hasMissed ? Self.windows.lowerBound : min(size * 2, Self.windows.upperBound)
        hasMissed = false
        index = 0
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
