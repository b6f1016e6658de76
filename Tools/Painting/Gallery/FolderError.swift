import Glibc

/// The reason why a folder or file could not be written.
struct FolderError: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    var description: String { "\(path): \(String(cString: strerror(code)))" }
}
