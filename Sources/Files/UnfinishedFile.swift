import CFolder
import Glibc

/// A new file that gets its name once it is complete.
///
///     let file = try UnfinishedFile(.unnamed, in: folder)
///     …                                       // write to file.descriptor
///     try file.take("Lake.jpg")
///
/// An unnamed file disappears if the program ends first, but not every file system supports unnamed files. A hidden
/// file has a hidden name and a lock. If the program is killed, the hidden file remains, and ``sweep(_:)`` removes it.
public final class UnfinishedFile {
    /// The form of the file before it gets its final name.
    public enum Kind: CaseIterable, Sendable {
        /// The file has no name.
        case unnamed
        /// The file has a hidden name.
        case hidden
    }

    /// The result of giving the file its name.
    public enum Outcome: Sendable {
        case done
        /// Another file already has the name.
        case nameIsTaken
        /// The file system cannot give a name to this kind of file.
        case unsupported
    }

    /// The file's descriptor, open for writing. Only the owner can access the file.
    public let descriptor: Int32
    private let folder: Int32
    /// The hidden name; nil if the file has none or already has its final name.
    private var hidden: String?

    /// Creates a file. Returns nil if the file system does not support this kind.
    ///
    /// - Parameter folder: the descriptor of an open folder. The caller keeps it open.
    public init?(_ kind: Kind, in folder: Int32) throws(SystemError) {
        self.folder = folder
        switch kind {
        case .unnamed:
            descriptor = cfolder_open_unnamed(folder)
            if descriptor >= 0 { return }
            // Old kernels do not know files without a name, and treat the call as an attempt to write to the folder.
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT, ENOSYS].contains(errno) else { throw SystemError() }
            return nil
        case .hidden:
            (descriptor, hidden) = try Self.makeHidden(in: folder)
        }
    }

    deinit {
        if let hidden { unlinkat(folder, hidden, 0) }
        close(descriptor)
    }

    /// Gives the file its name. Never replaces another file.
    public func take(_ name: String) throws(SystemError) -> Outcome {
        guard let hidden else {
            let link = "/proc/self/fd/\(descriptor)"
            if linkat(AT_FDCWD, link, folder, name, AT_SYMLINK_FOLLOW) == 0 {
                announce()
                return .done
            }
            // Without /proc, the call above fails.
            return try Self.outcome([ENOENT, ENOTDIR, EPERM, EACCES, EXDEV, EOPNOTSUPP, ENOSYS])
        }
        if linkat(folder, hidden, folder, name, 0) == 0 { return .done }
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return try Self.outcome([]) }
        // File systems without hard links may support a rename.
        guard cfolder_rename_new(folder, hidden, name) == 0 else {
            return try Self.outcome([EINVAL, ENOSYS, EOPNOTSUPP, EPERM])
        }
        self.hidden = nil
        return .done
    }

    /// Makes watches of the folder notice that an unnamed file got a name.
    ///
    /// For the kernel, such a name is the beginning of a new file, and it does not report the file's end. It does report
    /// that a program sets the file's mode.
    private func announce() {
        var status = stat()
        if fstat(descriptor, &status) == 0 { fchmod(descriptor, status.st_mode & 0o7777) }
    }

    /// Gives a hidden file its final name. Replaces any file that already has this name.
    public func replace(_ name: String) throws(SystemError) {
        guard let hidden, renameat(folder, hidden, folder, name) == 0 else { throw SystemError() }
        self.hidden = nil
    }

    private static func outcome(_ unsupported: [Int32]) throws(SystemError) -> Outcome {
        if errno == EEXIST { return .nameIsTaken }
        guard unsupported.contains(errno) else { throw SystemError() }
        return .unsupported
    }

    // MARK: - Hidden names

    private static let prefix = ".vitrine-"

    private static func makeHidden(in folder: Int32) throws(SystemError) -> (descriptor: Int32, name: String) {
        while true {
            let name = "\(prefix)\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
            let file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw SystemError() }
            // On file systems without locks, this fails harmlessly: `sweep` cannot lock files there either, and removes
            // none.
            while flock(file, LOCK_EX | LOCK_NB) != 0, errno == EINTR {}
            // Before this lock, another program's `sweep` may have removed the file. `sweep` holds the lock while it
            // removes a file. So from here on, a file that still has its name keeps the name.
            var status = stat()
            if fstat(file, &status) == 0, status.st_nlink > 0 { return (file, name) }
            close(file)
        }
    }

    /// Removes the hidden files that killed programs left in a folder.
    ///
    /// Files of other users, links, locked files and files of running programs stay.
    ///
    /// - Parameter folder: the descriptor of an open folder.
    public static func sweep(_ folder: Int32) {
        let stream = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard stream >= 0 else { return }
        for name in FolderNames.names(consuming: stream) where isLeft(name) {
            let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            var status = stat()
            guard flock(file, LOCK_EX | LOCK_NB) == 0, fstat(file, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_nlink == 1
            else { continue }
            unlinkat(folder, name, 0)
        }
    }

    /// Whether a name belongs to a hidden file whose program has ended. A free lock does not prove this, because
    /// earlier versions did not lock their files. A name with the number of this process also counts: this process
    /// locks its files, and `sweep` skips locked files.
    private static func isLeft(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let numbers = name.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let process = pid_t(numbers[0]), process > 0, UInt32(numbers[1]) != nil else {
            return false
        }
        return process == getpid() || kill(process, 0) != 0 && errno == ESRCH
    }
}

/// Waits until written data is on the disk.
public enum FolderSync {
    /// Waits until everything written to the folder's file system is on the disk.
    public static func syncAll(_ folder: Int32) throws(SystemError) {
        guard cfolder_sync_all(folder) == 0 else { throw SystemError() }
    }
}

/// A short text that is stored with an unfinished file.
///
/// Other processes can read the note. File systems without extended attributes store no notes.
public enum FileNote {
    /// The maximum number of bytes of a note.
    private static let longest = 3_000

    /// Writes a note, which replaces an earlier note. Does nothing if the text is too long.
    public static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        guard bytes.count <= longest else { return }
        _ = cfolder_write_note(descriptor, bytes, bytes.count)
    }

    /// Reads the note of a file. Returns nil if the file has none.
    public static func read(from descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = cfolder_read_note(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(validating: bytes.prefix(count), as: UTF8.self)
    }

    /// Removes the note of a file that is now complete.
    public static func remove(from descriptor: Int32) {
        _ = cfolder_remove_note(descriptor)
    }
}
