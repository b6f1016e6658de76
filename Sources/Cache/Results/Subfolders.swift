import Model
import SQLite

/// A folder with photos, as one row in the list of its parent folder.
public struct Subfolder: Hashable, Sendable {
    /// The folder's path in the gallery.
    public let path: FolderPath
    /// The number of photos in the folder and in all folders below.
    public let count: Int
    /// The cover's date.
    public fileprivate(set) var newest: Timestamp
    /// The newest photo in the folder and below. Its thumbnail stands for the folder.
    ///
    /// A photo's thumbnail may show that the photo is older than its file. The photo stays the cover until a photo with
    /// a later date comes. Otherwise the next photo would become the cover, and Vitrine would fetch all photos.
    public fileprivate(set) var cover: PhotoKey
    /// The latest date of all covers so far.
    fileprivate var latest: Timestamp

    fileprivate mutating func show(_ photo: PhotoKey, _ date: Timestamp) {
        (newest, cover, latest) = (date, photo, max(latest, date))
    }
}

/// Changes of a gallery's photos since its folders were read.
public struct SubfolderChanges: Sendable {
    /// The known new and changed photos.
    fileprivate var photos: Set<PhotoKey> = []
    /// Whether other photos may have come or gone, too.
    fileprivate var includeOthers = false

    /// Creates an empty collection.
    public init() {}

    /// Adds the photos of a difference that the list has just applied.
    @MainActor public mutating func add(_ difference: Difference, of results: FetchedResults) {
        guard case .rows(let rows) = difference else { return addOthers() }
        if !rows.deleted.isEmpty || !rows.inserted.isEmpty { addOthers() }
        for index in rows.inserted + rows.moved.map(\.to) + rows.updated {
            if let key = results.key(at: index) { photos.insert(key) }
        }
    }

    /// Adds unknown photos, so that all folders are read again.
    public mutating func addOthers() { includeOthers = true }
}

/// Queries about folders, which use the index of ids. The photos in a folder and in all folders below are one range of
/// this index.
extension CacheReader {
    /// Whether the photos' ids are paths, and some photos are in subfolders.
    public func hasFolders() throws -> Bool {
        guard try connection.first("SELECT \(Self.hasPaths)", row: { $0.int(0) != 0 }) == true else { return false }
        return try connection.first(Self.photoInFolder) { _ in true } ?? false
    }

    /// The query that finds a photo in a subfolder. It reads the first entry of an index; a test checks its
    /// query plan.
    static let photoInFolder = "SELECT 1 FROM photo INDEXED BY photo_in_folder WHERE instr(id, '/') > 0 LIMIT 1"

    /// Returns the photos in a folder and in all folders below.
    public func keys(below folder: FolderPath) throws -> KeySet { try keys(below: [folder]) }

    /// Returns the photos in folders and in all folders below.
    public func keys(below folders: [FolderPath]) throws -> KeySet {
        var keys = KeySet()
        for folder in folders { try forEachKey(below: folder) { keys.insert($0) } }
        return keys
    }

    /// Returns the photos that a list of a folder shows. Returns nil for all photos of the gallery.
    ///
    /// - Parameter candidates: limits the result to these photos.
    func keys(in scope: FolderFilter, among candidates: Set<Int64>?) throws -> KeySet? {
        if scope == .whole(.top) { return nil }
        var keys = KeySet()
        if let candidates {
            try connection.forEach(
                "SELECT key, id FROM photo WHERE key IN (SELECT value FROM json_each(?))", candidates.keyList
            ) { if scope.contains(photo: $0.text(1)) { keys.insert($0.int(0)) } }
            return keys
        }
        switch scope {
        case .whole(let folder): return try self.keys(below: folder)
        case .own(let folder): try forEachChild(of: folder, photo: { keys.insert($0) }, subfolder: { _ in })
        }
        return keys
    }

    /// Calls `body` for the photos in a part of the gallery.
    ///
    /// If the part is a folder without the folders below, the method does not read the photos below.
    func forEachKey(in part: FolderScope, _ body: (Int64) -> Void) throws {
        let folder = FolderPath(String(decoding: part.folder.utf8.dropLast(), as: UTF8.self))
        // The path of a folder without a name would be that of the outermost folder.
        guard !part.isDeep, folder.prefix.utf8.elementsEqual(part.folder.utf8) else {
            return try connection.forEachNumber(
                "key", "FROM photo WHERE \(part.condition)", part.folder, part.end, body: body)
        }
        try forEachChild(of: folder, photo: body, subfolder: { _ in })
    }

    private func forEachKey(below folder: FolderPath, _ body: (Int64) -> Void) throws {
        guard !folder.isTop else { return try connection.forEachNumber("key", "FROM photo", body: body) }
        try connection.forEachNumber(
            "key", "FROM photo WHERE id >= ? AND id < ?", folder.prefix, folder.end, body: body)
    }

    /// Calls `photo` for a folder's own photos, and `subfolder` for its subfolders.
    ///
    /// The method skips a subfolder by searching for the first id after it, so the cost does not depend on the photos
    /// below.
    private func forEachChild(
        of folder: FolderPath, photo: (Int64) -> Void, subfolder: (FolderPath) -> Void
    ) throws {
        // The length grows while only photos follow. A folder makes the rest of a piece useless.
        var pieceLength = Self.leastPiece
        var next: String? = folder.prefix
        while let start = next {
            var found = 0
            next = nil
            var skipped: FolderPath?
            try connection.forEach("SELECT key, id FROM photo WHERE id >= ? ORDER BY id LIMIT ?", start, pieceLength) {
                found += 1
                let id = $0.text(1)
                guard skipped == nil, folder.contains(photo: id) else { return }
                skipped = folder.child(containing: id)
                if skipped == nil { photo($0.int(0)) }
                // Continue at the smallest text after this id.
                next = id + "\u{0}"
            }
            if let skipped {
                subfolder(skipped)
                next = skipped.end
                pieceLength = Self.leastPiece
            } else {
                if found < pieceLength { next = nil }
                pieceLength = min(pieceLength * 2, Self.mostPiece)
            }
            // Ids that are no text, and invalid texts, would make this loop endless.
            if let next, !start.utf8.lexicographicallyPrecedes(next.utf8) {
                throw SQLiteError.damaged(reason: "a photo’s id is not text")
            }
        }
    }

    private static let leastPiece = 4
    private static let mostPiece = 1_024

    /// Returns the folders directly in a folder after changes, in natural order.
    ///
    /// - Parameter known: the folders before the changes.
    func subfolders(
        of folder: FolderPath, after changes: SubfolderChanges, of known: [Subfolder]
    ) throws -> [Subfolder] {
        var folders = changes.includeOthers ? try subfolders(of: folder, keeping: known) : known
        let indices = Dictionary(
            folders.indices.map { (folders[$0].path, $0) }, uniquingKeysWith: { first, _ in first })
        var photos: [(folder: Int, photo: Cover)] = []
        try forEach(
            "SELECT date, key, id FROM photo WHERE key IN (SELECT value FROM json_each(?))", of: changes.photos
        ) { row in
            guard let index = folder.child(containing: row.text(2)).flatMap({ indices[$0] }) else { return }
            let photo = Self.cover(row)
            // The cover's new date is known before other photos are compared with it.
            if photo.key == folders[index].cover { folders[index].show(photo.key, photo.date) }
            photos.append((index, photo))
        }
        for (index, photo) in photos
        where (photo.date, photo.key) > (folders[index].newest, folders[index].cover) {
            folders[index].show(photo.key, photo.date)
        }
        return folders
    }

    /// Returns the folders directly in a folder, in natural order.
    ///
    /// - Parameter known: the folders of an earlier call, whose covers stay.
    func subfolders(of folder: FolderPath, keeping known: [Subfolder] = []) throws -> [Subfolder] {
        // Read in one transaction, so that all queries see the same state.
        try connection.transaction(writes: false) {
            var paths: [FolderPath] = []
            try forEachChild(of: folder, photo: { _ in }, subfolder: { paths.append($0) })
            // For each photo, the index of its folder in `paths`.
            var owners = KeyTable()
            var counts = [Int](repeating: 0, count: paths.count)
            for (index, path) in paths.enumerated() {
                try forEachKey(below: path) {
                    owners[$0] = UInt64(index)
                    counts[index] += 1
                }
            }
            let covers =
                counts.reduce(0, +) <= Self.few
                ? try paths.map(cover) : try covers(owners, counts.count { $0 > 0 }, of: paths.count)
            let kept = Dictionary(known.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
            let found = try paths.indices.compactMap { index in
                try covers[index].map { try subfolder(paths[index], counts[index], $0, keeping: kept[paths[index]]) }
            }
            return found.map { (key: NaturalKey.bytes(of: $0.path.name), folder: $0) }.sorted { left, right in
                left.key == right.key
                    ? left.folder.path.text.utf8.lexicographicallyPrecedes(right.folder.path.text.utf8)
                    : left.key.lexicographicallyPrecedes(right.key)
            }.map(\.folder)
        }
    }

    private typealias Cover = (date: Timestamp, key: PhotoKey)

    /// Returns a folder with its newest photo, or with its known cover if no photo with a later date came.
    private func subfolder(
        _ path: FolderPath, _ count: Int, _ newest: Cover, keeping known: Subfolder?
    ) throws -> Subfolder {
        var folder = Subfolder(path: path, count: count, newest: newest.date, cover: newest.key, latest: newest.date)
        guard let known, newest.date <= known.latest else { return folder }
        let cover = try connection.first(
            "SELECT date, key FROM photo WHERE key = ?", known.cover.rawValue, row: Self.cover)
        guard let cover else { return folder }
        folder.latest = known.latest
        folder.show(cover.key, cover.date)
        return folder
    }

    /// The maximum number of photos whose rows are read for their dates. With more photos, reading the index of dates
    /// is faster.
    private static let few = 10_000

    /// Returns the newest photo in a folder and in all folders below. Reads the rows of all these photos.
    ///
    /// The plus sign in the SQL keeps SQLite from reading the index of dates instead.
    private func cover(of folder: FolderPath) throws -> Cover? {
        try connection.first(
            "SELECT date, key FROM photo WHERE id >= ? AND id < ? ORDER BY +date DESC, key DESC LIMIT 1",
            folder.prefix, folder.end, row: Self.cover)
    }

    /// Returns the newest photo of each folder. Reads the index of dates, latest date first, and stops when the newest
    /// photo of each folder is known.
    private func covers(_ owners: KeyTable, _ wanted: Int, of count: Int) throws -> [Cover?] {
        var covers = [Cover?](repeating: nil, count: count)
        var last: Cover = (Timestamp(milliseconds: .max), PhotoKey(.max))
        var (missing, pieceLength) = (wanted, Self.mostPiece)
        while missing > 0 {
            var found = 0
            try connection.forEach(
                "SELECT date, key FROM photo WHERE (date, key) < (?, ?) ORDER BY date DESC, key DESC LIMIT ?",
                last.date.milliseconds, last.key.rawValue, pieceLength
            ) { row in
                found += 1
                last = Self.cover(row)
                guard let owner = owners[last.key.rawValue].map({ Int($0) }), covers[owner] == nil else { return }
                covers[owner] = last
                missing -= 1
            }
            guard found == pieceLength else { break }
            pieceLength *= 2
        }
        return covers
    }

    private static func cover(_ row: Row) -> Cover {
        (Timestamp(milliseconds: row.int(0)), PhotoKey(row.int(1)))
    }
}

extension FolderPath {
    /// The smallest string after the ids of all photos in the folder and below. The gallery's own folder has no such
    /// string.
    fileprivate var end: String { text + "0" }
}
