import Foundation

/// A folder for one test, deleted with this object.
public final class TestFolder: Sendable {
    /// Its absolute path.
    public let path: String

    /// Makes an empty folder.
    public init() {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vitrine-\(UUID().uuidString)")
        try! FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of an entry.
    public func path(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file.
    @discardableResult
    public func write(_ name: String, _ contents: String) -> String {
        write(name, Array(contents.utf8))
    }

    /// Writes a file, with its folders.
    @discardableResult
    public func write(_ name: String, _ bytes: [UInt8]) -> String {
        let url = URL(fileURLWithPath: path(name))
        try! FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try! Data(bytes).write(to: url)
        return url.path
    }

    /// The names of a folder's entries, in order; empty if there is no such folder.
    public func entries(_ name: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }
}
