import Glibc
import Logging
import Model
import Numbers

/// The folder of a gallery's photos, and the one of files that are still on their way.
///
/// File first, row second: bytes go to a partial file, which is synced and moved here, and only then does a row name it.
/// So a row never dangles; a file that no row names is an orphan, left behind by a program that died, and is swept.
///
/// A lock on the open file tells a file in the making from an orphan, across processes: the system drops it when the
/// program that held it dies, however it dies.
public struct PhotoFiles: Sendable {
    let photosFolder: String
    let partialFolder: String
    private let log: Log

    init(folder: String, log: Log) throws {
        photosFolder = folder + "/photos"
        partialFolder = folder + "/partial"
        self.log = log
        try PrivateFolder.make(photosFolder)
        try PrivateFolder.make(partialFolder)
    }

    /// A new name: never used before, made of nothing from outside. Its first part tells whose file it is.
    static func name(for key: PhotoKey, edition: Int) -> String {
        "\(key.rawValue)-\(edition)-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    }

    /// The photo that a file was stored for; nil if the name is none of ours.
    static func key(in name: String) -> PhotoKey? {
        name.split(separator: "-", maxSplits: 1).first.flatMap { Int64($0) }.map(PhotoKey.init)
    }

    /// Where a photo's file lies.
    public func path(_ photo: StoredPhoto) -> String {
        path(photo.name)
    }

    func path(_ name: String) -> String {
        photosFolder + "/" + name
    }

    /// Begins a file for bytes that are on their way.
    public func makePartial() throws -> PartialFile {
        try PartialFile(in: partialFolder)
    }

    /// Whether a photo's file is still what was stored. Reads all of it. Where no file can be opened at all, nothing is known
    /// against it.
    public func isIntact(_ photo: StoredPhoto) -> Bool {
        let descriptor = open(path(photo.name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return [EMFILE, ENFILE].contains(errno) }
        defer { close(descriptor) }
        guard let found = FileDigest.ofFile(descriptor) else { return false }
        return found.size == photo.size && found.digest == photo.digest
    }

    func remove(_ name: String) {
        guard unlink(path(name)) != 0, errno != ENOENT else { return }
        log.error(.cache, "\(name) cannot be removed: \(String(cString: strerror(errno)))")
    }

    /// Removes what programs that died have left behind. Returns how many files went.
    ///
    /// - Parameter isNamed: whether a row names a file. Asked after the file's lock was taken: whoever was making it
    ///   is then done, row and all, or dead.
    func sweep(isNamed: (String) throws -> Bool) rethrows -> Int {
        var removed = 0
        for name in PrivateFolder.entries(partialFolder) {
            removed += removeIfAbandoned(partialFolder + "/" + name, if: { true }) ? 1 : 0
        }
        for name in PrivateFolder.entries(photosFolder) {
            removed += try removeIfAbandoned(path(name), if: { try !isNamed(name) }) ? 1 : 0
        }
        return removed
    }

    /// Removes a file that nobody holds, if it is of no use: under its lock, so that nobody begins to hold it meanwhile.
    private func removeIfAbandoned(_ path: String, if isUseless: () throws -> Bool) rethrows -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        // A link is none of ours, and nobody can hold it.
        guard descriptor >= 0 else { return errno == ELOOP && unlink(path) == 0 }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        return try isUseless() && unlink(path) == 0
    }
}

/// A file that is being filled. Let go without being kept, it removes itself.
///
/// The bytes are written through ``descriptor`` by whoever fetches them; the file stays locked, and so safe from being
/// swept, for as long as this object lives.
public final class PartialFile: Sendable {
    /// Open for writing. Belongs to this object: duplicate it to keep it longer.
    public let descriptor: Int32
    /// Where it lies for now.
    public let path: String

    /// Begins a file in a folder that is swept.
    init(in folder: String) throws(CacheError) {
        while true {
            let path = folder + "/" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .file(path) }
            while flock(descriptor, LOCK_EX) != 0 {
                if errno == EINTR { continue }
                let failure = CacheError.file(path)
                unlink(path)
                close(descriptor)
                throw failure
            }
            // Between `open` and `flock` a sweep may have taken the file for abandoned. It unlinks under the lock, so
            // now it has a name or it will never have one.
            var status = stat()
            if fstat(descriptor, &status) == 0, status.st_nlink > 0 {
                self.path = path
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    deinit {
        // Gone already, if it was kept.
        unlink(path)
        close(descriptor)
    }

    /// The first bytes that were written; fewer, where there are fewer.
    public func beginning(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(0, found)))
    }

    /// How many bytes it has.
    var size: ByteCount {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? ByteCount(status.st_size) : 0
    }

    /// Moves the file among the photos, once its bytes are on the disk.
    func keep(named name: String, in folder: PhotoFiles) throws(CacheError) -> StoredPhoto {
        guard fsync(descriptor) == 0, let digest = FileDigest.ofFile(descriptor) else { throw failure() }
        let parent = open(folder.photosFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure() }
        defer { close(parent) }
        guard rename(path, folder.path(name)) == 0 else { throw failure() }
        // The name is on the disk when the folder is.
        guard fsync(parent) == 0 else {
            let failure = failure()
            folder.remove(name)
            throw failure
        }
        return StoredPhoto(name: name, size: digest.size, digest: digest.digest, edition: 0)
    }

    private func failure() -> CacheError {
        .file(path)
    }
}

/// A short digest of a file, to tell whether it is still the one that was stored.
///
/// It guards against disks and half-written files, not against people: whoever can write here can write the row too.
private struct FileDigest: Equatable {
    let size: Int64
    let digest: Int64

    /// Reads the whole file from its beginning; nil if that fails.
    static func ofFile(_ descriptor: Int32) -> FileDigest? {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        var offset: off_t = 0
        var buffer = [UInt64](repeating: 0, count: 16_384)
        while true {
            let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            buffer.withUnsafeMutableBytes { bytes in
                // A rest that fills no word is filled up with zeros; the length is part of the digest.
                for index in count..<min(bytes.count, (count + 7) / 8 * 8) { bytes[index] = 0 }
            }
            for word in buffer.prefix((count + 7) / 8) {
                hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
                hash ^= hash >> 32
            }
            offset += off_t(count)
        }
        return FileDigest(size: Int64(offset), digest: Int64(bitPattern: hash ^ UInt64(offset)))
    }
}
