import Files
import Glibc

/// Reads and writes small private files. Each write replaces the whole file atomically.
public enum PrivateFile {
    /// The size of the largest file, in bytes. Vitrine writes no larger files of this kind.
    private static let maximumSize = 1 << 20

    /// Returns the text of a file, or nil if the file does not exist.
    public static func read(_ path: String) throws(SettingsError) -> String? {
        do throws(SystemError) {
            return try SharedFile.bytes(path, atMost: maximumSize).map { String(decoding: $0, as: UTF8.self) }
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

    /// Changes a file under a lock, so that simultaneous programs keep each other's changes.
    ///
    /// - Parameter body: returns the new text for the present one, which is nil if the file does not exist.
    public static func change(_ path: String, _ body: (String?) -> String) throws(SettingsError) {
        let path = target(of: path)
        try replace(path) { () throws(SettingsError) in body(try read(path)) }
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
