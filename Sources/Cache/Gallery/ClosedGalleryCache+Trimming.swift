import Glibc
import Model
import SQLite

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
                for name in names { unlink("\(folder)/photos/\(name)", onFailure) }
                return try forget(names)
            }
            for name in names { unlink("\(folder)/photos/\(name)", onFailure) }
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
            for name in PrivateFolder.entries(folder + "/partial") { unlink("\(folder)/partial/\(name)", onFailure) }
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

    private func unlink(_ path: String, _ onFailure: (CacheError) -> Void) {
        guard Glibc.unlink(path) != 0, errno != ENOENT else { return }
        onFailure(.notRemoved(path: path, reason: String(cString: strerror(errno))))
    }
}
