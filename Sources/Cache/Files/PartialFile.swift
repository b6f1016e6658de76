import Glibc
import Numbers

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
