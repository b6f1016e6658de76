import Glibc
import Model

/// Whether a folder holds photos that could be published.
public enum FolderPhotos {
    /// The most files that are looked at: more would keep a user waiting for a sentence.
    private static let maximumFiles = 1_000

    /// Whether there is a photo in a folder or below it, by the first bytes of its first 1,000 files.
    ///
    /// A folder that cannot be read holds none.
    public static func areIn(_ path: String) -> Bool {
        guard let folder = try? OpenFolder(path), var walk = try? FolderWalk(folder) else { return false }
        for _ in 0..<maximumFiles {
            guard let item = walk.next() else { return false }
            guard case .file(let path, _) = item, let file = folder.file(path.text) else { continue }
            defer { close(file) }
            var head = [UInt8](repeating: 0, count: PictureSignature.length)
            let count = head.withUnsafeMutableBytes { file.readAll(at: 0, into: $0) }
            if PictureSignature(head.prefix(count)) != nil { return true }
        }
        return false
    }
}
