import Files
import Glibc

/// Small files of the user's, readable by nobody else, and never half written.
public enum PrivateFile {
    /// Larger files are no settings of ours.
    private static let maximumSize = 1 << 20

    /// A file's text, or nil if there is no such file.
    public static func read(_ path: String) throws(SettingsError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .file(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
            // Half of it would pass for the whole, and be written back as such.
            guard bytes.count <= maximumSize else { throw .file(path: path, reason: "it is larger than 1 MiB") }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes a file under another name and moves it to its place, so that one or the other is there at any time. Of a
    /// link, as people have who keep their settings elsewhere, what it leads to is written.
    public static func write(_ text: String, to path: String) throws(SettingsError) {
        try replace(target(of: path)) { () throws(SettingsError) in text }
    }

    /// Reads a file and writes what is made of it; of several programs that do so at once each sees what the one before has
    /// written.
    ///
    /// - Parameter body: is given the file's text, or nil if there is no such file.
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

    /// Sees to it that a file can be read by its owner alone, and that this is the user.
    public static func check(_ path: String) throws(SettingsError) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw .file(path: path, reason: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .file(path: path, reason: "it is no file") }
        guard status.st_uid == geteuid() else { throw .file(path: path, reason: "it is somebody else’s") }
        guard status.st_mode & 0o077 == 0 else {
            throw .file(path: path, reason: "others may read it; chmod 600 changes that")
        }
    }

    private static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
