import Glibc

/// A folder for the user alone that goes with the program.
///
///     let folder = try TemporaryFolder(in: "/run/user/1000")
///     …
///     folder.remove()
///
/// The folder is locked as long as the program lives. A program that is killed leaves its folder behind, and ``sweep(_:)``
/// knows it by the missing lock and removes it.
public final class TemporaryFolder: Sendable {
    /// Where it lies.
    public let path: String
    private let parent: String
    private let name: String
    private let descriptor: Int32

    private static let prefix = "vitrine-run-"
    /// How often a name is tried.
    private static let attempts = 16
    /// How often it is emptied, where somebody still writes into it.
    private static let rounds = 4

    /// Makes a folder in another one, and removes those that killed programs have left there.
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
            // A sweep may take it for abandoned before it is locked. That one removes it under the lock.
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

    /// Removes the folder and all that it holds. Files that are open elsewhere in the program stay usable until they are closed.
    public func remove() {
        guard let parent = Self.open(parent) else { return }
        defer { close(parent) }
        for _ in 0..<Self.rounds {
            Self.empty(descriptor)
            if unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY { return }
        }
    }

    /// Removes the folders that killed programs of this user have left in a folder, and nothing else.
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

    /// Removes what a folder holds. No link is followed.
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
