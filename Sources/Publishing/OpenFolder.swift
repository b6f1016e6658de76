import Files
import Glibc
import Model

/// An open folder, with operations on the files in and below it. No operation follows a link in any part of a name.
final class OpenFolder: Sendable {
    /// The folder's path, for messages and for programs that take a path.
    let path: String
    /// The folder's descriptor, with which other types create and rename files. This object closes the descriptor.
    let descriptor: Int32
    /// The permissions of new files. New files are as readable as the folder.
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

    /// Opens the user's folder. The path may be a link to a folder.
    ///
    /// - Parameter mask: the permissions of new files and folders.
    convenience init(_ path: String, _ mask: CreationMask = .ownerOnly) throws(PublishingError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(path) }
        try self.init(descriptor: descriptor, path: path, mask: mask)
    }

    deinit {
        close(descriptor)
    }

    /// Opens a subfolder; returns nil if there is none.
    func folder(_ name: String) throws(PublishingError) -> OpenFolder? {
        let found = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if found < 0, errno == ENOENT { return nil }
        guard found >= 0 else { throw .failed(path(name)) }
        return try OpenFolder(descriptor: found, path: path(name), mask: mask)
    }

    /// Opens a subfolder, and creates the folder first if there is none.
    func makeFolder(_ name: String) throws(PublishingError) -> OpenFolder {
        let isNew = mkdirat(descriptor, name, 0o700) == 0
        if !isNew, errno != EEXIST { throw .failed(path(name)) }
        let made = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard made >= 0 else { throw .failed(path(name)) }
        if isNew { fchmod(made, folderMode) }
        return try OpenFolder(descriptor: made, path: path(name), mask: mask)
    }

    /// Opens a regular file for reading; returns nil if there is none.
    func file(_ name: String) -> Int32? {
        guard let file = open(name) else { return nil }
        var status = stat()
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return file }
        close(file)
        errno = EINVAL
        return nil
    }

    /// Returns the status of a file or folder. On failure, returns nil and sets `errno`.
    func status(_ name: String) -> stat? {
        var status = stat()
        guard let slash = name.lastIndex(of: "/") else {
            return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
        }
        // A parent folder may have been replaced by a link.
        guard let parent = open(String(name[..<slash])) else { return nil }
        let outcome = fstatat(parent, String(name[name.index(after: slash)...]), &status, AT_SYMLINK_NOFOLLOW)
        let code = errno
        close(parent)
        errno = code
        return outcome == 0 ? status : nil
    }

    /// Opens a file or folder but follows no link. On failure, returns nil and sets `errno`.
    private func open(_ name: String) -> Int32? {
        do throws(SystemError) {
            return try boundary.open(name, .none)
        } catch {
            errno = error.code
            return nil
        }
    }

    /// Returns the size of a regular file, or nil if there is none.
    func size(_ name: String) -> Int64? {
        status(name).flatMap { $0.st_mode & S_IFMT == S_IFREG ? Int64($0.st_size) : nil }
    }

    func remove(_ name: String) {
        unlinkat(descriptor, name, 0)
    }

    /// Returns the entries of a subfolder, or of this folder if the path is empty.
    func entries(_ below: String = "") throws(PublishingError) -> [FolderEntry] {
        guard let folder = open(below.isEmpty ? "." : below + "/") else { throw .failed(path(below)) }
        guard let stream = fdopendir(folder) else {
            let error = PublishingError.failed(path(below))
            close(folder)
            throw error
        }
        defer { closedir(stream) }
        var entries: [FolderEntry] = []
        errno = 0
        while let entry = readdir(stream) {
            entries.append(FolderEntry(entry))
            errno = 0
        }
        guard errno == 0 else { throw .failed(path(below)) }
        return entries
    }

    func path(_ name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

    /// Locks the folder against other publishers until ``unlock()`` or the end of the program.
    func lock() throws(PublishingError) {
        // On file systems without locks, this call has no effect.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .locked(path: path) }
    }

    /// Releases the lock. Closing the folder does not suffice, because a decoder that just starts may still hold the
    /// descriptor.
    func unlock() {
        flock(descriptor, LOCK_UN)
    }

    /// Writes all new files to the disk at once, which is faster than a sync for each file.
    func syncAll() throws(PublishingError) {
        do { try FolderSync.syncAll(descriptor) } catch { throw .failed(path, error) }
    }
}

extension PublishingError {
    /// Returns the error for the system call that just failed.
    static func failed(_ path: String, _ error: SystemError = SystemError()) -> PublishingError {
        .file(path: path, reason: "\(error)")
    }
}

/// A new file under a hidden name. The object removes the file unless ``take(_:mode:syncing:)`` has renamed it.
final class NewFile {
    /// The first characters of the hidden names of unfinished files. A killed run leaves hidden files behind, and the
    /// next run removes them.
    static let prefix = ".vitrine-publish-"

    private let folder: OpenFolder
    private let name: String
    private let descriptor: Int32
    private var isTaken = false

    /// Creates an empty file under a hidden name.
    ///
    /// - Parameter purpose: makes the hidden name unique.
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

    /// Gives the file its final name, and replaces an existing file of that name.
    ///
    /// - Parameters:
    ///   - mode: the file's permissions.
    ///   - syncing: whether to sync the file first, so that the name never refers to partial contents, even after a
    ///     crash.
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
    /// Writes all bytes to the file. On failure, returns false and sets `errno`.
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

    /// Reads from the file at an offset until the buffer is full or the file ends. Returns the number of bytes, 0 after
    /// an error. Use this only where an unreadable file may count as empty.
    func readAll(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        (try? OpenFile.read(self, at: offset, into: buffer)) ?? 0
    }

    /// Returns whether the file has these bytes at an offset.
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
