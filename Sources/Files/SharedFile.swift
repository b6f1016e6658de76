import Glibc

/// A small file of the user's that several programs read and change.
///
///     let file = try SharedFile(path)             // waits for its turn
///     try file.replace(with: changed(read()))     // one or the other is there at any time
///
/// As long as the value lives, no other program that changes the file in this way has its turn. So whoever reads the file
/// after the turn has begun, and writes before it ends, loses nothing that another program has written. Where a file system has
/// no locks, programs are not kept apart. It blocks, and is not for the main actor.
public final class SharedFile {
    private let path: String
    private let folder: Int32

    /// Makes the file's folder if it is missing, and waits until no other program changes a file in it.
    public init(_ path: String) throws(SystemError) {
        self.path = path
        let name = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try Self.makeFolder(name)
        // The file itself is another one after each change, so the folder has the lock.
        folder = open(name.isEmpty ? "/" : name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemError() }
        while flock(folder, LOCK_EX) != 0, errno == EINTR {}
    }

    deinit {
        close(folder)
    }

    /// Writes the file under another name, readable by its owner alone, and moves it to its place.
    public func replace(with text: String) throws(SystemError) {
        let temporary = "\(path).\(getpid())"
        // An earlier run may have ended here, with a process of the same number.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError() }
        let failure = Self.write(text, to: descriptor)
        close(descriptor)
        if let failure {
            unlink(temporary)
            throw failure
        }
        guard rename(temporary, path) == 0 else {
            let failure = SystemError()
            unlink(temporary)
            throw failure
        }
    }

    private static func write(_ text: String, to descriptor: Int32) -> SystemError? {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return SystemError() }
        }
        return fsync(descriptor) == 0 ? nil : SystemError()
    }

    /// Makes a folder, and those above it, for its owner alone. A folder that is there stays as it is.
    public static func makeFolder(_ path: String) throws(SystemError) {
        guard !path.isEmpty, mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/") else { throw SystemError() }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError() }
    }
}

/// An operation on a file or folder that the system refused.
public struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The system's number for it: `ENOENT`, `EACCES` and so on.
    public let code: Int32

    /// Takes a number; without one, that of the call that has just failed.
    public init(_ code: Int32 = errno) { self.code = code }

    /// The system's words: `No such file or directory`.
    public var description: String { String(cString: strerror(code)) }

    /// Whether a path, or a link on it, leaves the folder that it has to stay in.
    public var leavesFolder: Bool { code == EXDEV }
}
