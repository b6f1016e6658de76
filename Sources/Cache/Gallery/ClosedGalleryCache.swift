import Glibc
import Model
import SQLite

/// A gallery's cache on the disk, seen from outside: what it holds and how much room it takes.
public struct ClosedGalleryCache: Sendable {
    /// What is known of the gallery; nil if nothing is yet, or it cannot be read.
    public let record: GalleryRecord?
    /// Why it cannot be read, if that is so.
    public let trouble: CacheError?
    /// Its folder.
    public let folder: String

    /// Its folder's name.
    var name: String {
        String(folder[(folder.lastIndex(of: "/").map { folder.index(after: $0) } ?? folder.startIndex)...])
    }

    /// Whether somebody has begun to make it, and there is nothing in it.
    public var isEmpty: Bool { record == nil && trouble == nil }

    /// - Parameter isAlone: whether the cache is held by this process, alone.
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
            // Not even for the file that readers share. It can be looked at as it lies there, if nobody else has it open: else
            // nobody could find out what may go, and make room.
            let lock = isAlone ? nil : try CacheLock.take(folder: folder, .exclusive, patience: 0)
            guard isAlone || lock != nil, FrozenDatabase(path: folder + "/gallery.sqlite").isComplete else {
                throw .full
            }
            defer { withExtendedLifetime(lock) {} }
            return try record(folder, .frozen)
        }
    }

    private static func record(_ folder: String, _ access: Connection.Access) throws(CacheError) -> GalleryRecord? {
        try PrivateFolder.check(folder)
        let path = folder + "/gallery.sqlite"
        var status = stat()
        // Who makes a cache may end before there is anything in it.
        if lstat(path, &status) != 0, errno == ENOENT { return nil }
        do {
            // Who ended while it was made, or made another of it, has left a journal, which takes writing to be read.
            if Glibc.access(path + "-journal", F_OK) == 0 {
                let connection = try Connection(path: path, access: .readWrite, patience: 200)
                _ = try connection.first("SELECT 1 FROM sqlite_schema") { _ in true }
            }
            let connection = try Connection(path: path, access: access, patience: 200)
            let version = try Schema.version(of: connection)
            guard version <= Schema.version else { throw CacheError.newerSchema(path: path) }
            if version == 0, try connection.first("SELECT 1 FROM sqlite_schema", row: { _ in true }) == nil {
                return nil
            }
            guard version > 0 else { throw SQLiteError.damaged(reason: "its version is \(version)") }
            guard try connection.first("SELECT 1 FROM gallery", row: { _ in true }) != nil else { return nil }
            return try CacheReader(connection).gallery(schema: version)
        } catch let error as CacheError {
            throw error
        } catch let error as SQLiteError {
            throw CacheError(error)
        } catch {
            throw .database(.other(reason: "\(error)"))
        }
    }

    /// Whether it is an address's cache. Of one that cannot be read, the folder's name has to do.
    public func isOf(_ address: Address) -> Bool {
        record.map { $0.address == address } ?? folder.hasSuffix("/\(GalleryID(address))")
    }

    /// Removes the whole cache, readable or not. Nobody may be using it.
    public func remove() throws(CacheError) {
        try remove { true }
    }

    /// Removes the whole cache, unless it is not any more as it was when this was made.
    func removeIfUnused() throws(CacheError) {
        try remove { ClosedGalleryCache(folder: folder, isAlone: true).record == record }
    }

    /// Whether somebody has looked at it since this was made, or wants to have it kept.
    ///
    /// - Parameter isAlone: whether the cache is held by this process, alone.
    private func isUsedSince(isAlone: Bool) -> Bool {
        let now = ClosedGalleryCache(folder: folder, isAlone: isAlone).record
        return now?.isKept == true || now?.lastOpened != record?.lastOpened
    }

    /// - Parameter isMeant: asked when nobody else can change it any more.
    private func remove(if isMeant: () -> Bool) throws(CacheError) {
        try PrivateFolder.check(folder)
        guard let lock = try CacheLock.take(folder: folder, .exclusive), isMeant() else { throw .locked(path: folder) }
        defer { withExtendedLifetime(lock) {} }
        for name in ["photos", "partial"] { Self.removeFolder("\(folder)/\(name)") }
        // The lock last: until the folder is gone, nobody begins to fill it again.
        for file in PrivateFolder.entries(folder) where file != "lock" { unlink("\(folder)/\(file)") }
        unlink(folder + "/lock")
        // If there is a lock again, somebody has begun a new cache in this very moment.
        guard rmdir(folder) == 0 || access(folder + "/lock", F_OK) == 0 else {
            throw .file(folder)
        }
    }

    /// A link in the folder's place is removed, and what it leads to left alone.
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

/// How much room a gallery's cache takes, and what for.
extension ClosedGalleryCache {
    /// Bytes of the database and its log: the list, what photos say of themselves, and the thumbnails.
    public var databaseSize: Int64 {
        files { $0.hasPrefix("gallery.sqlite") && !$0.hasPrefix(Self.setAsidePrefix) }.reduce(0) { $0 + $1.size }
    }

    /// Bytes of the thumbnails, which are in the database. Looks through all of them.
    public var thumbnailsSize: Int64 {
        ask("SELECT total(length(data)) + total(length(unproven)) FROM thumbnail").map { Int64($0) } ?? 0
    }

    /// Bytes of the photos, those on their way included.
    public var photosSize: Int64 {
        ["photos", "partial"].reduce(0) { sum, name in
            PrivateFolder.entries("\(folder)/\(name)").reduce(sum) { $0 + Self.size("\(folder)/\(name)/\($1)") }
        }
    }

    /// Bytes of databases that were set aside.
    public var setAsideSize: Int64 { setAside.reduce(0) { $0 + $1.size } }

    var setAside: [CacheInventory.SetAside] {
        files { $0.hasPrefix(Self.setAsidePrefix) }.map { name, size in
            // The name says when.
            let digits = name.dropFirst(Self.setAsidePrefix.count).prefix { $0.isASCII && $0.isNumber }
            return CacheInventory.SetAside(
                name: name, size: size,
                time: Int64(digits).map(Timestamp.init(milliseconds:)) ?? Self.time("\(folder)/\(name)"))
        }
    }

    /// When something was last committed to it.
    var touched: Timestamp { max(Self.time(folder + "/lock"), Self.time(folder + "/gallery.sqlite")) }

    /// Whether there are thumbnails in the database, or room that nobody uses and that is a quarter of it.
    var canShrink: Bool {
        ask("SELECT EXISTS (SELECT 1 FROM thumbnail)") ?? 0 > 0
            || ask("SELECT freelist_count * 4 > page_count FROM pragma_freelist_count, pragma_page_count") ?? 0 > 0
    }

    private static let setAsidePrefix = "gallery.sqlite.damaged-"

    private func files(_ isMeant: (String) -> Bool) -> [(name: String, size: Int64)] {
        PrivateFolder.entries(folder).filter(isMeant).map { ($0, Self.size("\(folder)/\($0)")) }
    }

    /// A number that the database knows; nil if it cannot be read.
    private func ask(_ question: String) -> Double? {
        guard record != nil else { return nil }
        return try? Connection(path: folder + "/gallery.sqlite", access: .readOnly, patience: 200)
            .first(question) { $0.optionalDouble(0) ?? 0 }
    }

    static func size(_ path: String) -> Int64 {
        var status = stat()
        return lstat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    static func time(_ path: String) -> Timestamp {
        var status = stat()
        guard lstat(path, &status) == 0 else { return Timestamp(milliseconds: 0) }
        return Timestamp(milliseconds: Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000)
    }
}

/// Taking from a cache that nobody uses, in steps that are short: who would open it meanwhile waits no longer than for one.
///
/// Each step takes the lock for itself alone, and fails where somebody uses the cache, or has used it since this was made:
/// who has just looked at a gallery, or marked it to be kept, finds in it tomorrow what was there.
extension ClosedGalleryCache {
    /// The files of photos, the longest here first, each with its bytes.
    func photosByAge() -> [(name: String, size: Int64)] { Self.photosByAge(in: folder + "/photos") }

    /// The same of a folder of photos.
    static func photosByAge(in folder: String) -> [(name: String, size: Int64)] {
        PrivateFolder.entries(folder)
            .map { (name: $0, time: time("\(folder)/\($0)"), key: PhotoFiles.key(in: $0)?.rawValue ?? 0) }
            .sorted { ($0.time, $0.key, $0.name) < ($1.time, $1.key, $1.name) }
            .map { ($0.name, size("\(folder)/\($0.name)")) }
    }

    /// Removes some photos. What they said of themselves stays, and they are fetched again when they are wanted.
    ///
    /// Rows first: if it ends in between, the files are orphans, and swept. Where there is no room for that, not even for a
    /// log, files first: one that a row names and that is missing is fetched again.
    ///
    /// - Parameter onFailure: is told of each file that cannot be removed; the others go.
    func dropPhotos(_ names: [String], onFailure: (CacheError) -> Void) throws {
        try alone {
            guard try has("photos") else { return }
            do {
                try forget(names)
            } catch let error where CacheError(thrown: error) == .full {
                for name in names { removeFile("\(folder)/photos/\(name)", onFailure) }
                return try forget(names)
            }
            for name in names { removeFile("\(folder)/photos/\(name)", onFailure) }
        }
    }

    private func forget(_ names: [String]) throws {
        guard record != nil else { return }
        let connection = try Connection(path: database, access: .readWrite, patience: 200)
        try connection.transaction(writes: true) {
            for name in names {
                guard let key = PhotoFiles.key(in: name) else { continue }
                try connection.run(
                    "UPDATE photo SET \(GalleryWriter.withoutFile) WHERE key = ? AND photo_file = ?", key.rawValue, name
                )
            }
        }
    }

    /// Removes files that were on their way and will not arrive: nobody uses the cache.
    func dropPartialFiles(onFailure: (CacheError) -> Void) throws {
        try alone {
            guard try has("partial") else { return }
            for name in PrivateFolder.entries(folder + "/partial") { removeFile("\(folder)/partial/\(name)", onFailure) }
        }
    }

    /// Removes some thumbnails. Returns how many there were; the database is as large as before, see ``shrink()``.
    func dropThumbnails(_ count: Int) throws -> Int {
        try alone {
            let connection = try Connection(path: database, access: .readWrite, patience: 200)
            return try connection.transaction(writes: true) {
                let keys = try connection.map("SELECT photo FROM thumbnail LIMIT ?", count) { $0.int(0) }
                try GalleryWriter.dropThumbnails(keys, connection)
                return keys.count
            }
        }
    }

    /// Makes the database as small as what is in it.
    ///
    /// It is copied, which takes as long as it takes and is in nobody's way; and then, at once, and only if nobody has opened
    /// it meanwhile, the copy is put in its place. Throws ``CacheError/locked(path:)`` where somebody has.
    func shrink() throws {
        guard let lock = try CacheLock.take(folder: folder, .shared), !isUsedSince(isAlone: false) else {
            throw CacheError.locked(path: folder)
        }
        try PrivateFolder.check(folder + "/partial")
        let copy = try PartialFile(in: folder + "/partial")
        try copyDatabase(to: copy, lock)
        // The log belongs to what was there before. SQLite has removed it with its last connection; unless there is another.
        guard Self.size(database + "-wal") == 0 else { throw CacheError.locked(path: folder) }
        guard rename(copy.path, database) == 0 else { throw failure() }
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        fsync(parent)
        close(parent)
        withExtendedLifetime(lock) {}
    }

    /// Returns when the copy is on the disk, the database is closed, and the lock is held alone.
    private func copyDatabase(to copy: PartialFile, _ lock: CacheLock) throws {
        let connection = try Connection(path: database, access: .readWrite)
        // "… changes if changes were committed to the database by any other connection in the interim."
        let version = { try connection.first("PRAGMA data_version") { $0.int(0) } }
        let before = try version()
        // "The file … must either not exist, or else be an empty file."
        try connection.run("VACUUM INTO ?", copy.path)
        // While others may still come: this takes longest.
        guard fsync(copy.descriptor) == 0 else { throw failure() }
        guard try lock.claim(.exclusive) == .held, try version() == before else {
            throw CacheError.locked(path: folder)
        }
    }

    // MARK: -

    private func failure() -> CacheError { .file(path: database, reason: String(cString: strerror(errno))) }

    private var database: String { folder + "/gallery.sqlite" }

    private func alone<Result>(_ body: () throws -> Result) throws -> Result {
        guard let lock = try CacheLock.take(folder: folder, .exclusive), !isUsedSince(isAlone: true) else {
            throw CacheError.locked(path: folder)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Whether there is such a folder; who made the cache may have ended before. Throws if it is none of ours.
    private func has(_ name: String) throws -> Bool {
        guard access("\(folder)/\(name)", F_OK) == 0 else { return false }
        try PrivateFolder.check("\(folder)/\(name)")
        return true
    }

    private func removeFile(_ path: String, _ onFailure: (CacheError) -> Void) {
        guard Glibc.unlink(path) != 0, errno != ENOENT else { return }
        onFailure(.notRemoved(path: path, reason: String(cString: strerror(errno))))
    }
}
