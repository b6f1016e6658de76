import Glibc

/// A private folder that exists while the program runs.
///
///     let folder = try TemporaryFolder(in: "/run/user/1000")
///     …
///     folder.remove()
///
/// The program keeps the folder locked. If the program is killed, the folder remains without a lock, and ``sweep(_:)``
/// removes it.
public final class TemporaryFolder: Sendable {
    /// The path of the folder.
    public let path: String
    private let parent: String
    private let name: String
    private let descriptor: Int32

    private static let prefix = "vitrine-run-"
    /// The number of names to try for a new folder.
    private static let attempts = 16
    /// The maximum number of attempts to empty the folder. Other threads may write into the folder meanwhile.
    private static let rounds = 4

    /// Creates a folder in `parent`. First removes the folders of killed programs.
    public init(in parent: String) throws(SystemError) {
        Self.sweep(parent)
        self.parent = parent
        for _ in 0..<Self.attempts {
            let name = "\(Self.prefix)\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
            let path = "\(parent)/\(name)"
            guard mkdir(path, 0o700) == 0 else {
                if errno == EEXIST { continue }
                throw SystemError()
            }
            let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else {
                let failure = SystemError()
                rmdir(path)
                throw failure
            }
            // Before the lock, another program's `sweep` may have removed the folder.
            var status = stat()
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
                close(descriptor)
                continue
            }
            (self.path, self.name, self.descriptor) = (path, name, descriptor)
            return
        }
        throw SystemError(EEXIST)
    }

    deinit {
        close(descriptor)
    }

    /// Removes the folder and its contents. Files that are still open remain usable.
    public func remove() {
        guard let parent = Self.open(parent) else { return }
        defer { close(parent) }
        for _ in 0..<Self.rounds {
            Self.empty(descriptor)
            if unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY { return }
        }
    }

    /// Removes the folders that this user's killed programs left in `parent`.
    public static func sweep(_ parent: String) {
        guard let descriptor = open(parent), let names = open(parent) else { return }
        defer { close(descriptor) }
        for name in FolderNames.names(consuming: names) where isOurs(name) {
            let folder = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard folder >= 0 else { continue }
            defer { close(folder) }
            var status = stat()
            guard fstat(folder, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o777 == 0o700,
                flock(folder, LOCK_EX | LOCK_NB) == 0
            else { continue }
            empty(folder)
            unlinkat(descriptor, name, AT_REMOVEDIR)
        }
    }

    private static func isOurs(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let numbers = name.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        return numbers.count == 2 && pid_t(numbers[0]) != nil && UInt32(numbers[1]) != nil
    }

    /// Removes the contents of a folder without following links.
    private static func empty(_ folder: Int32) {
        let names = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard names >= 0 else { return }
        for name in FolderNames.names(consuming: names) {
            if unlinkat(folder, name, 0) == 0 || errno != EISDIR { continue }
            let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard inner >= 0 else { continue }
            empty(inner)
            close(inner)
            unlinkat(folder, name, AT_REMOVEDIR)
        }
    }

    private static func open(_ path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return descriptor >= 0 ? descriptor : nil
    }
}
