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
    func isUsedSince(isAlone: Bool) -> Bool {
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
