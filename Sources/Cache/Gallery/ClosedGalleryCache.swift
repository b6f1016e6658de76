import Files
import Glibc
import Model
import Numbers
import SQLite

/// A gallery's cache on the disk, without an open connection.
public struct ClosedGalleryCache: Sendable {
    /// The gallery's record; nil if the database does not exist yet or is unreadable.
    public let record: GalleryRecord?
    /// The reason why the cache is unreadable; nil if it is readable.
    public let trouble: CacheError?
    /// The path of the cache's folder.
    public let folder: String

    /// The name of the cache's folder.
    var name: String {
        String(folder[(folder.lastIndex(of: "/").map { folder.index(after: $0) } ?? folder.startIndex)...])
    }

    /// Whether the cache's folder exists but has no contents yet.
    public var isEmpty: Bool { record == nil && trouble == nil }

    /// - Parameter isAlone: whether this process holds the exclusive lock.
    init(folder: String, isAlone: Bool = false) {
        self.folder = folder
        do {
            record = try Self.record(folder, isAlone: isAlone)
            trouble = nil
        } catch {
            record = nil
            trouble = error
        }
    }

    private static func record(_ folder: String, isAlone: Bool) throws(CacheError) -> GalleryRecord? {
        do throws(CacheError) {
            return try record(folder, FrozenDatabase(path: folder + "/gallery.sqlite").access)
        } catch .full {
            // The disk has no space for the file that readers share. With an exclusive lock, the database can be read
            // without that file. Cleaning needs the record to decide what to remove.
            let lock = isAlone ? nil : try CacheLock.take(folder: folder, .exclusive, patience: 0)
            guard isAlone || lock != nil, FrozenDatabase(path: folder + "/gallery.sqlite").isComplete else {
                throw .full
            }
            defer { withExtendedLifetime(lock) {} }
            return try record(folder, .frozen)
        }
    }

    /// The usual limit for the time of all statements. Statements that read few rows take milliseconds.
    static let patience: Duration = .seconds(2)

    /// Opens a cache's database, and calls `body`. Interrupts statements that take too long.
    ///
    /// The fetcher reads strangers' bytes and can write any database. A forged view could run for ever.
    ///
    /// - Parameter patience: the longest time for all statements.
    static func withDatabase<Result>(
        in folder: String, _ access: Connection.Access = .readOnly, within patience: Duration = Self.patience,
        _ body: (Connection) throws -> Result
    ) throws -> Result {
        let connection = try Connection(path: folder + "/gallery.sqlite", access: access, patience: 200)
        let start = ContinuousClock.now
        return try connection.interrupting(when: { ContinuousClock.now - start > patience }) { try body(connection) }
    }

    private static func record(_ folder: String, _ access: Connection.Access) throws(CacheError) -> GalleryRecord? {
        try PrivateFolder.check(folder)
        let path = folder + "/gallery.sqlite"
        var status = stat()
        // A process may have ended right after it created the folder.
        if lstat(path, &status) != 0, errno == ENOENT { return nil }
        do {
            // A process that ended while it wrote has left a journal. Only a writing connection can roll it back.
            if Glibc.access(path + "-journal", F_OK) == 0 {
                let connection = try Connection(path: path, access: .readWrite, patience: 200)
                _ = try connection.first("SELECT 1 FROM sqlite_schema") { _ in true }
            }
            return try withDatabase(in: folder, access) { connection in
                let version = try Schema.version(of: connection)
                guard version <= Schema.version else { throw CacheError.newerSchema(path: path) }
                if version == 0, try connection.first("SELECT 1 FROM sqlite_schema", row: { _ in true }) == nil {
                    return nil
                }
                guard version > 0 else { throw SQLiteError.damaged(reason: "its version is \(version)") }
                guard try connection.first("SELECT 1 FROM gallery", row: { _ in true }) != nil else { return nil }
                return try CacheReader(connection).gallery(schema: version)
            }
        } catch let error as CacheError {
            throw error
        } catch let error as SQLiteError {
            throw CacheError(error)
        } catch {
            throw .database(.other(reason: "\(error)"))
        }
    }

    /// Whether the cache belongs to the gallery at an address. For an unreadable cache, the folder's name decides.
    public func isOf(_ address: Address) -> Bool {
        record.map { $0.address == address } ?? folder.hasSuffix("/\(GalleryID(address))")
    }

    /// Removes the whole cache, readable or not. Throws if a process uses the cache.
    public func remove() throws(CacheError) {
        try remove { true }
    }

    /// Removes the whole cache if its record has not changed since this value was created.
    func removeIfUnused() throws(CacheError) {
        try remove { ClosedGalleryCache(folder: folder, isAlone: true).record == record }
    }

    /// Whether the user opened the gallery after this value was created, or marked it to be kept.
    ///
    /// - Parameter isAlone: whether this process holds the exclusive lock.
    private func wasUsed(isAlone: Bool) -> Bool {
        let now = ClosedGalleryCache(folder: folder, isAlone: isAlone).record
        return now?.isKept == true || now?.lastOpened != record?.lastOpened
    }

    /// - Parameter isMeant: decides, under the exclusive lock, whether to remove the cache.
    private func remove(if isMeant: () -> Bool) throws(CacheError) {
        try PrivateFolder.check(folder)
        guard let lock = try CacheLock.take(folder: folder, .exclusive), isMeant() else { throw .locked(path: folder) }
        defer { withExtendedLifetime(lock) {} }
        for name in ["photos", "partial"] { Self.removeFolder("\(folder)/\(name)") }
        // Remove the lock's file last, so that no process fills the folder again before the folder is removed.
        for file in PrivateFolder.entries(folder) where file != "lock" { unlink("\(folder)/\(file)") }
        unlink(folder + "/lock")
        // If a lock exists again, another process has just created a new cache.
        guard rmdir(folder) == 0 || access(folder + "/lock", F_OK) == 0 else {
            throw .file(folder)
        }
    }

    /// Removes a folder of files. If a link has this path, removes the link and does not follow it.
    private static func removeFolder(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        for file in PrivateFolder.entries(path) { unlink("\(path)/\(file)") }
        rmdir(path)
    }
}

/// The sizes of a cache's parts.
extension ClosedGalleryCache {
    /// The size of the database in bytes, with its log, the list, metadata and thumbnails.
    public var databaseSize: Int64 {
        Self.sum(files { $0.hasPrefix("gallery.sqlite") && !$0.hasPrefix(Self.setAsidePrefix) }.map(\.size))
    }

    /// The total size of the thumbnails within the database, in bytes. Computing the size reads all thumbnails.
    public var thumbnailsSize: Int64 {
        // A gallery may have a million thumbnails.
        number("SELECT total(length(data)) + total(length(unproven)) FROM thumbnail", within: .seconds(60))
            .map { Int64(clamped: $0) } ?? 0
    }

    /// The total size of the photos in bytes, including partial files.
    public var photosSize: Int64 { Self.sum(photoSizes) }

    /// The sizes of the photos and partial files in bytes.
    var photoSizes: [Int64] {
        ["photos", "partial"].flatMap { name in
            PrivateFolder.entries("\(folder)/\(name)").map { Self.size("\(folder)/\(name)/\($0)") }
        }
    }

    /// The total size of the databases that were set aside, in bytes.
    public var setAsideSize: Int64 { Self.sum(setAside.map(\.size)) }

    var setAside: [CacheInventory.SetAside] {
        files { $0.hasPrefix(Self.setAsidePrefix) }.map { name, size in
            // The name contains the time.
            let digits = name.dropFirst(Self.setAsidePrefix.count).prefix { $0.isASCII && $0.isNumber }
            return CacheInventory.SetAside(
                name: name, size: size,
                time: Int64(digits).map(Timestamp.init(milliseconds:)) ?? Self.time("\(folder)/\(name)"))
        }
    }

    /// The time of the last commit, according to the files' modification times.
    var touched: Timestamp { max(Self.time(folder + "/lock"), Self.time(folder + "/gallery.sqlite")) }

    /// Whether the database has thumbnails, or more than a quarter of it is free space.
    var canShrink: Bool { canShrink(within: Self.patience) }

    /// Returns ``canShrink``, or false if the database is unreadable or the queries take too long.
    ///
    /// - Parameter patience: the longest time for each of the two queries.
    func canShrink(within patience: Duration) -> Bool {
        [
            "SELECT EXISTS (SELECT 1 FROM thumbnail)",
            "SELECT freelist_count * 4 > page_count FROM pragma_freelist_count, pragma_page_count",
        ].contains { number($0, within: patience) ?? 0 > 0 }
    }

    private static let setAsidePrefix = "gallery.sqlite.damaged-"

    private func files(_ isMeant: (String) -> Bool) -> [(name: String, size: Int64)] {
        PrivateFolder.entries(folder).filter(isMeant).map { ($0, Self.size("\(folder)/\($0)")) }
    }

    /// Returns the number that a query selects from the database. Returns nil if the database is unreadable, or if the
    /// query takes too long.
    private func number(_ sql: String, within patience: Duration) -> Double? {
        guard record != nil else { return nil }
        return try? Self.withDatabase(in: folder, within: patience) { connection in
            try connection.first(sql) { $0.optionalDouble(0) ?? 0 }
        }
    }

    static func size(_ path: String) -> Int64 {
        var status = stat()
        // A file with holes may have any length.
        return lstat(path, &status) == 0 ? min(Int64(status.st_size), SchemaCheck.largest) : 0
    }

    /// Returns the sum of sizes, limited like a single size.
    static func sum(_ sizes: some Sequence<Int64>) -> Int64 { sizes.reduce(0) { min($0 + $1, SchemaCheck.largest) } }

    static func time(_ path: String) -> Timestamp {
        var status = stat()
        guard lstat(path, &status) == 0 else { return Timestamp(milliseconds: 0) }
        // The fetcher can give a file any time.
        let latest = SchemaCheck.latest / 1_000
        let seconds = min(max(Int64(status.st_mtim.tv_sec), -latest), latest)
        return Timestamp(milliseconds: seconds * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000)
    }
}

/// Removes parts of a cache that no process uses, in short steps.
///
/// Another process that opens the cache waits for one step at most. Each step takes the exclusive lock. A step fails if
/// a process uses the cache. It also fails if the user opened the gallery or marked it to be kept after this value was
/// created.
extension ClosedGalleryCache {
    /// Returns the names and sizes of the photo files, the oldest first.
    func photosByAge() -> [(name: String, size: Int64)] { Self.photosByAge(in: folder + "/photos") }

    /// Returns the names and sizes of the photo files in a folder, the oldest first.
    static func photosByAge(in folder: String) -> [(name: String, size: Int64)] {
        PrivateFolder.entries(folder)
            .map { (name: $0, time: time("\(folder)/\($0)"), key: PhotoFiles.key(in: $0)?.rawValue ?? 0) }
            .sorted { ($0.time, $0.key, $0.name) < ($1.time, $1.key, $1.name) }
            .map { ($0.name, size("\(folder)/\($0.name)")) }
    }

    /// Removes photos with these file names. The photos' metadata stays, and Vitrine fetches the photos again on
    /// demand.
    ///
    /// The rows change first, so an interruption leaves orphans, which are removed later. If the disk is too full to
    /// change the rows, the method removes the files first; a row without its file causes a new fetch.
    ///
    /// - Parameters:
    ///   - patience: the longest time for all statements.
    ///   - onFailure: called for each file that cannot be removed.
    func dropPhotos(
        _ names: [String], within patience: Duration = Self.patience, onFailure: (CacheError) -> Void
    ) throws {
        try withExclusiveLock {
            guard try hasFolder("photos") else { return }
            do {
                try clearRows(of: names, within: patience)
            } catch let error where CacheError(thrown: error) == .full {
                for name in names { removeFile("\(folder)/photos/\(name)", onFailure) }
                return try clearRows(of: names, within: patience)
            }
            for name in names { removeFile("\(folder)/photos/\(name)", onFailure) }
        }
    }

    private func clearRows(of names: [String], within patience: Duration) throws {
        guard record != nil else { return }
        let sql = "UPDATE photo SET \(GalleryWriter.withoutFile) WHERE key = ? AND photo_file = ?"
        try Self.withDatabase(in: folder, .readWrite, within: patience) { connection in
            try connection.transaction(writes: true) {
                for name in names {
                    guard let key = PhotoFiles.key(in: name) else { continue }
                    try connection.run(sql, key.rawValue, name)
                }
            }
        }
    }

    /// Removes all partial files. No process uses the cache, so no transfer will complete the files.
    func dropPartialFiles(onFailure: (CacheError) -> Void) throws {
        try withExclusiveLock {
            guard try hasFolder("partial") else { return }
            for name in PrivateFolder.entries(folder + "/partial") {
                removeFile("\(folder)/partial/\(name)", onFailure)
            }
        }
    }

    /// Removes up to `count` thumbnails. Returns the number of removed thumbnails. To make the file smaller, call
    /// ``shrink()``.
    ///
    /// - Parameter patience: the longest time for all statements.
    func dropThumbnails(_ count: Int, within patience: Duration = Self.patience) throws -> Int {
        try withExclusiveLock {
            try Self.withDatabase(in: folder, .readWrite, within: patience) { connection in
                try connection.transaction(writes: true) {
                    let keys = try connection.map("SELECT photo FROM thumbnail LIMIT ?", count) { $0.int(0) }
                    try GalleryWriter.dropThumbnails(keys, connection)
                    return keys.count
                }
            }
        }
    }

    /// Shrinks the database to its contents.
    ///
    /// This method writes a copy while others may use the cache. Then it replaces the database, unless another process
    /// has the cache open or has changed it meanwhile. In that case the method throws ``CacheError/locked(path:)``.
    func shrink() throws {
        guard let lock = try CacheLock.take(folder: folder, .shared), !wasUsed(isAlone: false) else {
            throw CacheError.locked(path: folder)
        }
        try PrivateFolder.check(folder + "/partial")
        let copy = try PartialFile { "\(folder)/partial/\(String(UInt64.random(in: 0...UInt64.max), radix: 36))" }
        try copyDatabase(to: copy, lock)
        // SQLite removes the log with the last connection, so a log shows that another connection is open. The log
        // would not match the new database.
        guard Self.size(database + "-wal") == 0 else { throw CacheError.locked(path: folder) }
        guard rename(copy.path, database) == 0 else { throw failure() }
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        fsync(parent)
        close(parent)
        withExtendedLifetime(lock) {}
    }

    /// Copies the database to a file and syncs the file. Afterwards, the lock is exclusive.
    private func copyDatabase(to copy: PartialFile, _ lock: CacheLock) throws {
        let connection = try Connection(path: database, access: .readWrite)
        // "… changes if changes were committed to the database by any other connection in the interim."
        let version = { try connection.first("PRAGMA data_version") { $0.int(0) } }
        let before = try version()
        // "The file … must either not exist, or else be an empty file."
        try connection.run("VACUUM INTO ?", copy.path)
        // Syncing takes longest, so it comes before the exclusive lock.
        guard fsync(copy.descriptor) == 0 else { throw failure() }
        guard try lock.claim(.exclusive) == .held, try version() == before else {
            throw CacheError.locked(path: folder)
        }
    }

    private func failure() -> CacheError { .file(path: database, SystemError()) }

    private var database: String { folder + "/gallery.sqlite" }

    private func withExclusiveLock<Result>(_ body: () throws -> Result) throws -> Result {
        guard let lock = try CacheLock.take(folder: folder, .exclusive), !wasUsed(isAlone: true) else {
            throw CacheError.locked(path: folder)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Whether the cache has this subfolder. An incomplete cache may lack subfolders. Throws if another user owns the
    /// folder.
    private func hasFolder(_ name: String) throws -> Bool {
        guard access("\(folder)/\(name)", F_OK) == 0 else { return false }
        try PrivateFolder.check("\(folder)/\(name)")
        return true
    }

    private func removeFile(_ path: String, _ onFailure: (CacheError) -> Void) {
        guard Glibc.unlink(path) != 0, errno != ENOENT else { return }
        onFailure(.notRemoved(path: path, SystemError()))
    }
}
