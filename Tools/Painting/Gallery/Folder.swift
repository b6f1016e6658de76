import Glibc

/// A folder for output files.
struct Folder: Sendable {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Creates a subfolder, and this folder if necessary.
    func make(_ name: String) throws {
        try Self.make(path)
        try Self.make("\(path)/\(name)")
    }

    /// Writes a file, replacing an existing one.
    func write(_ bytes: [UInt8], to name: String) throws {
        guard let file = fopen("\(path)/\(name)", "wb") else {
            throw FolderError(path: "\(path)/\(name)", code: errno)
        }
        let written = fwrite(bytes, 1, bytes.count, file)
        let code = errno
        guard fclose(file) == 0, written == bytes.count else {
            throw FolderError(path: "\(path)/\(name)", code: code)
        }
    }

    private static func make(_ path: String) throws {
        if mkdir(path, 0o777) != 0, errno != EEXIST { throw FolderError(path: path, code: errno) }
    }
}
