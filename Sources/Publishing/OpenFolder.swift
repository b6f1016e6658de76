import Files
import Glibc
import Model

/// A folder that is held open, and what is done in it by names of one part, or of several below it. No link is followed, at any
/// part of a name.
final class OpenFolder: Sendable {
    /// For messages, and for programs that want a path.
    let path: String
    let descriptor: Int32
    /// Of files in it: as readable as the folder is, since who may look at the photos may look at the gallery.
    let fileMode: mode_t
    private let folderMode: mode_t
    private let mask: CreationMask
    private let boundary: FolderBoundary

    private init(descriptor: Int32, path: String, mask: CreationMask) throws(PublishingError) {
        (self.descriptor, self.path, self.mask) = (descriptor, path, mask)
        var status = stat()
        let mode = fstat(descriptor, &status) == 0 ? status.st_mode : 0o700
        (fileMode, folderMode) = (mask.file(inFolder: mode), mask.folder(inFolder: mode))
        do {
            boundary = try FolderBoundary(duplicating: descriptor)
        } catch {
            close(descriptor)
            throw .failed(path, error)
        }
    }

    /// Opens a folder of the user's, through a link if he named one.
    ///
    /// - Parameter mask: what permissions new files and folders get.
    convenience init(_ path: String, _ mask: CreationMask = .ownerOnly) throws(PublishingError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(path) }
        try self.init(descriptor: descriptor, path: path, mask: mask)
    }

    deinit {
        close(descriptor)
    }

    /// A folder in this one; nil if there is none of that name.
    func folder(_ name: String) throws(PublishingError) -> OpenFolder? {
        let found = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if found < 0, errno == ENOENT { return nil }
        guard found >= 0 else { throw .failed(path(name)) }
        return try OpenFolder(descriptor: found, path: path(name), mask: mask)
    }

    /// A folder in this one, made if it is not there.
    func makeFolder(_ name: String) throws(PublishingError) -> OpenFolder {
        let isNew = mkdirat(descriptor, name, 0o700) == 0
        if !isNew, errno != EEXIST { throw .failed(path(name)) }
        let made = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard made >= 0 else { throw .failed(path(name)) }
        if isNew { fchmod(made, folderMode) }
        return try OpenFolder(descriptor: made, path: path(name), mask: mask)
    }

    /// A regular file, open for reading; nil if there is none.
    func file(_ name: String) -> Int32? {
        guard let file = open(name) else { return nil }
        var status = stat()
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return file }
        close(file)
        errno = EINVAL
        return nil
    }

    /// What is there of that name.
    func status(_ name: String) -> stat? {
        var status = stat()
        guard let slash = name.lastIndex(of: "/") else {
            return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
        }
        // A folder on the way may be a link by now.
        guard let parent = open(String(name[..<slash])) else { return nil }
        let outcome = fstatat(parent, String(name[name.index(after: slash)...]), &status, AT_SYMLINK_NOFOLLOW)
        let code = errno
        close(parent)
        errno = code
        return outcome == 0 ? status : nil
    }

    /// Opens what is there of that name, unless a link is on the way; `errno` says why not.
    private func open(_ name: String) -> Int32? {
        do throws(SystemError) {
            return try boundary.open(name, .none)
        } catch {
            errno = error.code
            return nil
        }
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
        guard let folder = open(below.isEmpty ? "." : below + "/") else { throw .failed(path(below)) }
        guard let stream = fdopendir(folder) else {
            let error = PublishingError.failed(path(below))
            close(folder)
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
        do { try FolderSync.syncAll(descriptor) } catch { throw .failed(path, error) }
    }
}

extension PublishingError {
    /// What the system has just refused.
    static func failed(_ path: String, _ error: SystemError = SystemError()) -> PublishingError {
        .file(path: path, reason: "\(error)")
    }
}

/// A file in the making: it has a hidden name until it is whole. What is not taken is removed.
final class NewFile {
    /// What such names begin with. Who is killed leaves them behind; the next one who writes removes them.
    static let prefix = ".vitrine-publish-"

    private let folder: OpenFolder
    private let name: String
    private let descriptor: Int32
    private var isTaken = false

    /// - Parameter purpose: makes its name one of its own.
    init(in folder: OpenFolder, for purpose: String) throws(PublishingError) {
        self.folder = folder
        name = Self.prefix + purpose
        folder.remove(name)
        descriptor = openat(folder.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed(folder.path(name)) }
    }

    deinit {
        close(descriptor)
        if !isTaken { folder.remove(name) }
    }

    func write(_ bytes: some Collection<UInt8>) throws(PublishingError) {
        guard Array(bytes).withUnsafeBytes({ descriptor.writeAll($0) }) else { throw .failed(folder.path(name)) }
    }

    /// Gives the file its name, in place of what has it.
    ///
    /// - Parameters:
    ///   - mode: who may read it.
    ///   - syncing: whether the disk is to have it first, so that the name never leads to half of it, come what may.
    func take(_ final: String, mode: mode_t, syncing: Bool) throws(PublishingError) {
        fchmod(descriptor, mode)
        guard !syncing || fsync(descriptor) == 0,
            renameat(folder.descriptor, name, folder.descriptor, final) == 0
        else { throw .failed(folder.path(final)) }
        isTaken = true
        if syncing { fsync(folder.descriptor) }
    }
}

extension Int32 {
    /// Writes to this descriptor. False, and `errno`, if it cannot be.
    func writeAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while let start = rest.baseAddress, rest.count > 0 {
            let count = Glibc.write(self, start, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Reads from this descriptor at an offset, as much as there is and fits.
    func readAll(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var done = 0
        while done < buffer.count, let start = buffer.baseAddress {
            let count = pread(self, start + done, buffer.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    /// Whether these bytes are what this descriptor leads to at an offset.
    func holds(_ bytes: [UInt8], at offset: Int64) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { buffer in
            guard readAll(at: offset, into: buffer) == bytes.count else { return false }
            return bytes.withUnsafeBytes { bytes in
                guard let one = bytes.baseAddress, let other = buffer.baseAddress else { return true }
                return memcmp(one, other, bytes.count) == 0
            }
        }
    }
}
