import Files
import Glibc

/// Reads and writes small private files. Each write replaces the whole file atomically.
public enum PrivateFile {
    /// The size of the largest file, in bytes. Vitrine writes no larger files of this kind.
    private static let maximumSize = 1 << 20

    /// Returns the text of a file, or nil if the file does not exist.
    public static func read(_ path: String) throws(SettingsError) -> String? {
        try readBytes(path).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func readBytes(_ path: String) throws(SettingsError) -> [UInt8]? {
        do throws(SystemError) {
            return try SharedFile.bytes(path, atMost: maximumSize)
        } catch {
            throw .file(path: path, reason: error.code == EFBIG ? "the file is larger than 1 MiB" : error.description)
        }
    }

    /// Replaces a file atomically with new text.
    ///
    /// If the path is a symbolic link, the link stays, and the target of the link is replaced.
    public static func write(_ text: String, to path: String) throws(SettingsError) {
        try replace(target(of: path)) { () throws(SettingsError) in text }
    }

    /// Creates a file with the text of the log. If the file's name ends in `.gz`, the text is compressed.
    ///
    /// The user may have typed the path of another file by mistake. So the call replaces no file.
    public static func createLog(_ text: String, at path: String) throws(SettingsError) {
        do throws(SystemError) {
            try SharedFile.create(path, with: text, isCompressed: path.hasSuffix(".gz"))
        } catch {
            let reason =
                switch error.code {
                case ELIBACC: "the library zlib is missing"
                case EEXIST: "the file already exists"
                default: error.description
                }
            throw .file(path: path, reason: reason)
        }
    }

    /// Changes a file under a lock, so that simultaneous programs keep each other's changes.
    ///
    /// - Parameter body: returns the new text. Its argument is the present text, or nil if the file does not exist.
    public static func change(_ path: String, _ body: (String?) -> String) throws(SettingsError) {
        let path = target(of: path)
        try replace(path) { () throws(SettingsError) in body(try read(path)) }
    }

    /// Changes a file that the user also edits. Keeps its permissions, and the changes of other programs.
    ///
    /// The call refuses a file that the user has made read-only, and a file that is not text.
    ///
    /// - Parameter body: returns the new text. Its argument is the present text, which is empty if the file does not
    ///   exist.
    static func edit(_ path: String, _ body: (String) -> String) throws(SettingsError) {
        let path = target(of: path)
        do {
            let file = try SharedFile(path)
            // Editors take no lock, so the file may change between reading and writing.
            for _ in 0..<editAttempts {
                let before = try editable(path)
                let text = try readText(path)
                let new = body(text)
                guard new != text else { return }
                guard try editable(path) == before else { continue }
                return try file.replace(with: new, permissions: before?.permissions ?? 0o600)
            }
            throw SettingsError.file(path: path, reason: "another program keeps changing the file")
        } catch let error as SettingsError {
            throw error
        } catch {
            throw .file(path: path, reason: "\(error)")
        }
    }

    private static let editAttempts = 20

    /// The state of a file that shows whether another program has changed the file.
    private struct Edition: Equatable {
        let node: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int
        let permissions: UInt32
    }

    /// Returns the state of a file that the user may change; nil if there is no file.
    private static func editable(_ path: String) throws(SettingsError) -> Edition? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .file(path: path, reason: String(cString: strerror(errno))) }
            // Writing would replace the link itself, and the place that the link names would still have no file.
            guard lstat(path, &status) != 0 else {
                throw .file(path: path, reason: "the link points to a missing file")
            }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .file(path: path, reason: "not a file") }
        guard status.st_mode & 0o222 != 0, access(path, W_OK) == 0 else {
            throw .file(path: path, reason: "the file is read-only")
        }
        return Edition(
            node: UInt(status.st_ino), size: Int(status.st_size), seconds: Int(status.st_mtim.tv_sec),
            nanoseconds: Int(status.st_mtim.tv_nsec), permissions: status.st_mode & 0o777)
    }

    /// Returns the text of a file, which is empty if the file does not exist. Refuses a file that is not text.
    private static func readText(_ path: String) throws(SettingsError) -> String {
        guard let bytes = try readBytes(path) else { return "" }
        let text = String(decoding: bytes, as: UTF8.self)
        guard !bytes.contains(0), bytes.elementsEqual(text.utf8) else {
            throw .file(path: path, reason: "not a UTF-8 text file")
        }
        return text
    }

    private static func replace(
        _ path: String, with text: () throws(SettingsError) -> String
    ) throws(SettingsError) {
        do {
            let file = try SharedFile(path)
            try file.replace(with: try text())
        } catch let error as SettingsError {
            throw error
        } catch {
            throw .file(path: path, reason: "\(error)")
        }
    }

    /// Throws an error unless the user owns the file and no other user can read it.
    public static func check(_ path: String) throws(SettingsError) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw .file(path: path, reason: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .file(path: path, reason: "not a file") }
        guard status.st_uid == geteuid() else { throw .file(path: path, reason: "another user owns the file") }
        guard status.st_mode & 0o077 == 0 else {
            throw .file(path: path, reason: "other users can read the file; run chmod 600")
        }
    }

    private static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
