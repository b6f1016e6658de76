import CFolder
import Glibc

/// A new file in a folder of the user's, which gets its name when it is whole.
///
///     let file = try UnfinishedFile(.unnamed, in: folder)
///     …                                       // write to file.descriptor
///     try file.take("Lake.jpg")
///
/// Where the file system can do it, the file has no name until then, and goes with the program however that ends. Elsewhere it
/// has a hidden name and a lock. A program that is killed leaves it behind, and ``sweep(_:)`` removes it.
public final class UnfinishedFile {
    /// How the file exists until it has its name.
    public enum Kind: CaseIterable, Sendable {
        /// A file without a name.
        case unnamed
        /// A file with a hidden name.
        case hidden
    }

    /// The result of an attempt to give the file its name.
    public enum Outcome: Sendable {
        case done
        /// Something has the name already.
        case nameIsTaken
        /// The file system cannot do it with this kind of file.
        case unsupported
    }

    /// Open for writing, for the file's owner alone.
    public let descriptor: Int32
    private let folder: Int32
    /// Its hidden name, until it has its own.
    private var hidden: String?

    /// Begins a file, or returns nil where the file system cannot make one of this kind.
    ///
    /// - Parameter folder: an open folder, which has to stay open.
    public init?(_ kind: Kind, in folder: Int32) throws(SystemError) {
        self.folder = folder
        switch kind {
        case .unnamed:
            descriptor = cfolder_open_unnamed(folder)
            if descriptor >= 0 { return }
            // Old kernels take it for an attempt to write to the folder.
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

    /// Gives the file its name. Nothing is ever replaced.
    public func take(_ name: String) throws(SystemError) -> Outcome {
        guard let hidden else {
            let place = "/proc/self/fd/\(descriptor)"
            if linkat(AT_FDCWD, place, folder, name, AT_SYMLINK_FOLLOW) == 0 { return .done }
            // Without /proc there is no way to it.
            return try Self.outcome([ENOENT, ENOTDIR, EPERM, EACCES, EXDEV, EOPNOTSUPP, ENOSYS])
        }
        if linkat(folder, hidden, folder, name, 0) == 0 { return .done }
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return try Self.outcome([]) }
        // A file system without links may still give a file another name.
        guard cfolder_rename_new(folder, hidden, name) == 0 else {
            return try Self.outcome([EINVAL, ENOSYS, EOPNOTSUPP, EPERM])
        }
        self.hidden = nil
        return .done
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
            // Where a file system has no locks, nothing is swept either.
            while flock(file, LOCK_EX | LOCK_NB) != 0, errno == EINTR {}
            // Another program may have swept it before it was locked. That one unlinks under the lock, so now the file has
            // its name or will never have it.
            var status = stat()
            if fstat(file, &status) == 0, status.st_nlink > 0 { return (file, name) }
            close(file)
        }
    }

    /// Removes the hidden files that killed programs have left in a folder. It leaves alone what is not surely one of them: a
    /// file of another user, a link, one that is locked, or one whose program still runs.
    ///
    /// - Parameter folder: an open folder.
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

    /// Whether a name is that of a hidden file whose program has ended. Versions that did not lock theirs are known by that.
    private static func isLeft(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let numbers = name.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let process = pid_t(numbers[0]), process > 0, UInt32(numbers[1]) != nil else {
            return false
        }
        return process == getpid() || kill(process, 0) != 0 && errno == ESRCH
    }
}

/// Waits for a disk.
public enum FolderSync {
    /// Waits until the disk has all that was written to a folder's file system: one wait in place of one for each file.
    public static func syncAll(_ folder: Int32) throws(SystemError) {
        guard cfolder_sync_all(folder) == 0 else { throw SystemError() }
    }
}
