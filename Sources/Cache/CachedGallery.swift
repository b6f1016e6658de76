import Glibc
import Model
import SQLite

/// A gallery's cache on the disk, seen from outside: what it holds and how much room it takes.
public struct CachedGallery: Sendable {
    /// What is known of the gallery.
    public let record: GalleryRecord
    /// Its folder.
    public let folder: String

    init?(folder: String) {
        let path = folder + "/gallery.sqlite"
        guard access(path, R_OK) == 0,
            let connection = try? Connection(path: path, access: .readOnly, patience: 200),
            let record = try? CacheReader(connection).gallery()
        else { return nil }
        self.record = record
        self.folder = folder
    }

    /// Bytes of the database, its log and its thumbnails.
    public var databaseSize: Int64 {
        ["gallery.sqlite", "gallery.sqlite-wal", "gallery.sqlite-shm"].reduce(0) { $0 + Self.size(folder + "/" + $1) }
    }

    /// Bytes of the photos, those on their way included.
    public var photosSize: Int64 {
        ["photos", "partial"].reduce(0) { sum, name in
            PrivateFolder.entries("\(folder)/\(name)").reduce(sum) { $0 + Self.size("\(folder)/\(name)/\($1)") }
        }
    }

    /// Removes the whole cache. Nobody may be using it.
    public func remove() throws(CacheError) {
        try PrivateFolder.check(folder)
        guard let lock = try CacheLock.take(folder: folder, .exclusive) else { throw .locked(path: folder) }
        defer { withExtendedLifetime(lock) {} }
        for name in ["photos", "partial"] { Self.removeFolder("\(folder)/\(name)") }
        // The lock last: until the folder is gone, nobody begins to fill it again.
        for file in PrivateFolder.entries(folder) where file != "lock" { unlink("\(folder)/\(file)") }
        unlink(folder + "/lock")
        // If there is a lock again, somebody has begun a new cache in this very moment.
        guard rmdir(folder) == 0 || access(folder + "/lock", F_OK) == 0 else {
            throw .file(path: folder, reason: String(cString: strerror(errno)))
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

    private static func size(_ path: String) -> Int64 {
        var status = stat()
        return lstat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
