import CFolder
import Glibc

/// A folder that is held open, and what is done in it by names of one part, or of several below it. No link is followed.
final class OpenFolder: Sendable {
    /// For messages, and for programs that want a path.
    let path: String
    let descriptor: Int32
    /// Of files in it: as readable as the folder is, since who may look at the photos may look at the gallery.
    let fileMode: mode_t
    private let folderMode: mode_t

    private init(descriptor: Int32, path: String) {
        (self.descriptor, self.path) = (descriptor, path)
        var status = stat()
        let mode = fstat(descriptor, &status) == 0 ? status.st_mode & 0o777 : 0o700
        (fileMode, folderMode) = (mode & 0o666, mode)
    }

    /// Opens a folder of the user's, through a link if he named one.
    convenience init(_ path: String) throws(PublishingError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(path) }
        self.init(descriptor: descriptor, path: path)
    }

    deinit {
        close(descriptor)
    }

    /// A folder in this one; nil if there is none of that name.
    func folder(_ name: String) throws(PublishingError) -> OpenFolder? {
        let found = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if found < 0, errno == ENOENT { return nil }
        guard found >= 0 else { throw .failed(path(name)) }
        return OpenFolder(descriptor: found, path: path(name))
    }

    /// A folder in this one, made if it is not there.
    func makeFolder(_ name: String) throws(PublishingError) -> OpenFolder {
        if mkdirat(descriptor, name, folderMode) == 0 {
            // Whatever the process keeps from others otherwise.
            fchmodat(descriptor, name, folderMode, 0)
        } else if errno != EEXIST {
            throw .failed(path(name))
        }
        guard let folder = try folder(name) else { throw .failed(path(name)) }
        return folder
    }

    /// A regular file, open for reading; nil if there is none.
    func file(_ name: String) -> Int32? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var status = stat()
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return file }
        close(file)
        errno = EINVAL
        return nil
    }

    /// What is there of that name.
    func status(_ name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// The bytes of a regular file; nil if there is none.
    func size(_ name: String) -> Int64? {
        status(name).flatMap { $0.st_mode & S_IFMT == S_IFREG ? Int64($0.st_size) : nil }
    }

    func remove(_ name: String) {
        unlinkat(descriptor, name, 0)
    }

    /// What a folder below this one holds, by names as the file system has them; this folder's for an empty path.
    func entries(_ below: String = "") throws(PublishingError) -> [FolderEntry] {
        let place = below.isEmpty ? "." : below
        let folder = openat(descriptor, place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0, let stream = fdopendir(folder) else {
            let error = PublishingError.failed(path(below))
            if folder >= 0 { close(folder) }
            throw error
        }
        defer { closedir(stream) }
        var entries: [FolderEntry] = []
        while let entry = readdir(stream) { entries.append(FolderEntry(entry)) }
        return entries
    }

    func path(_ name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

    /// Keeps others out who would do the same at the same time, until it is unlocked, or else as long as the program runs.
    func lock() throws(PublishingError) {
        // Where a file system knows no such locks, nobody is kept out.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .locked(path: path) }
    }

    /// Lets others in again. Said, because a decoder that is just being started may have the folder open for a moment longer.
    func unlock() {
        flock(descriptor, LOCK_UN)
    }

    /// Has the disk take everything that was written, of all files at once: one wait in place of one for each.
    func syncAll() throws(PublishingError) {
        guard cfolder_sync_all(descriptor) == 0 else { throw .failed(path) }
    }
}

extension PublishingError {
    /// What the system has just refused.
    static func failed(_ path: String) -> PublishingError {
        .file(path: path, reason: String(cString: strerror(errno)))
    }
}
