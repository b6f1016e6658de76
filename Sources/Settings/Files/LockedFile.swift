import Files
import Glibc

/// A file that its process keeps locked. The kernel releases the lock when the process ends.
final class LockedFile {
    private let path: String
    private var descriptor: Int32

    /// The ending of an unfinished file's name. A file is finished when it is locked and has its text.
    static let unfinished = ".new"

    /// Creates the file with a text. Returns nil on failure.
    init?(_ path: String, _ text: String = "") {
        self.path = path
        let unfinished = path + Self.unfinished
        descriptor = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // An unlocked file with the final name would look like the file of an ended process, so rename after locking.
        // If another start of Vitrine has removed the unfinished file meanwhile, renaming fails.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            text.isEmpty || (try? SharedFile.write(text, to: descriptor)) != nil, rename(unfinished, path) == 0
        else {
            unlink(unfinished)
            return nil
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Removes the file. Further calls do nothing.
    func remove() {
        guard descriptor >= 0 else { return }
        unlink(path)
        close(descriptor)
        descriptor = -1
    }

    /// Reads a file, and removes it if its process has ended.
    ///
    /// Returns nil if the file is unreadable, if another process removed it first, or on file systems without locks.
    static func take(_ path: String, atMost count: Int) -> (text: String, hasEnded: Bool)? {
        // Network file systems lock only files that are open for writing.
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let hasEnded = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        guard hasEnded || errno == EWOULDBLOCK else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else { return nil }
        guard let bytes = try? OpenFile.beginning(of: descriptor, count: count), !hasEnded || unlink(path) == 0 else {
            return nil
        }
        return (String(decoding: bytes, as: UTF8.self), hasEnded)
    }

    /// Returns the paths of the files in a folder whose names satisfy a condition.
    static func paths(in folder: String, where isIncluded: (String) -> Bool) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if isIncluded(name) { paths.append("\(folder)/\(name)") }
        }
        return paths
    }
}
