import Files
import Glibc
import Model

/// Iterates over all files of a folder and its subfolders. The files are sorted by the bytes of their names, so the
/// order is the same in each run. The publisher can therefore compare the new list while writing.
///
/// The walk skips hidden files and folders, and follows no links. The target of a link is either in the folder anyway
/// or not part of the folder, and without links there are no cycles. The walk also skips the gallery's own folder
/// `thumbnails`, and folders that systems make for themselves. Memory holds the names of one folder per level.
struct FolderWalk: IteratorProtocol {
    enum Item {
        case file(PhotoPath, FileStamp)
        /// A file or folder that the system cannot read. The values are the path for display and the system's reason.
        case unreadable(String, reason: String)
        /// A link, a pipe or another special file.
        case other
    }

    private struct Level {
        /// The path below the start folder, which is empty or ends with a slash.
        let path: String
        /// The entries not yet visited, in reverse order.
        var entries: [FolderEntry]
    }

    private let folder: OpenFolder
    private var levels: [Level] = []

    init(_ folder: OpenFolder) throws(PublishingError) {
        self.folder = folder
        levels = [try level("")]
    }

    mutating func next() -> Item? {
        while let (level, entry) = nextEntry() {
            guard let name = entry.name else {
                return .unreadable(
                    level + entry.shownName, reason: "The file’s name is not UTF-8, so the photo cannot have an address"
                )
            }
            let path = level + name
            if level.isEmpty, name == ListFile.name { continue }
            if entry.kind == .folder {
                if let trouble = descend(path, name) { return trouble }
                continue
            }
            guard let status = folder.status(path) else {
                // The file may have been deleted since the folder was read.
                if errno == ENOENT { continue }
                return .unreadable(path, reason: String(cString: strerror(errno)))
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: if let trouble = descend(path, name) { return trouble }
            case S_IFREG: return .file(PhotoPath(path), FileStamp(status))
            default: return .other
            }
        }
        return nil
    }

    /// Returns the number of items, without the slower look at each file's status.
    static func count(_ folder: OpenFolder) throws(PublishingError) -> Int {
        var walk = try FolderWalk(folder)
        var count = 0
        while let (level, entry) = walk.nextEntry() {
            if level.isEmpty, entry.name == ListFile.name { continue }
            guard entry.kind == .folder, let name = entry.name else {
                count += 1
                continue
            }
            if isSkipped(name) { continue }
            if let below = try? walk.level(level + name + "/") { walk.levels.append(below) } else { count += 1 }
        }
        return count
    }

    /// Enters a folder. Returns an error item if the system cannot read the folder.
    private mutating func descend(_ path: String, _ name: String) -> Item? {
        if Self.isSkipped(name) { return nil }
        do throws(PublishingError) {
            levels.append(try level(path + "/"))
            return nil
        } catch {
            guard case .file(_, let reason) = error else { return nil }
            return .unreadable(path, reason: reason)
        }
    }

    /// Returns whether the walk skips folders with this name.
    private static func isSkipped(_ name: String) -> Bool {
        name == ListText.thumbnails || FolderTree.isSystemFolder(name.utf8)
    }

    private mutating func nextEntry() -> (level: String, entry: FolderEntry)? {
        while let last = levels.indices.last {
            if let entry = levels[last].entries.popLast() { return (levels[last].path, entry) }
            levels.removeLast()
        }
        return nil
    }

    private func level(_ path: String) throws(PublishingError) -> Level {
        let entries = try folder.entries(path).filter { !$0.isHidden }
        return Level(path: path, entries: entries.sorted { $1.bytes.lexicographicallyPrecedes($0.bytes) })
    }
}

/// An entry of a folder with its kind, if the file system states the kind.
struct FolderEntry {
    enum Kind {
        case folder, file, other
        /// The file system does not state the kind.
        case unknown
    }

    let kind: Kind
    /// The entry's name; nil if the name is not valid UTF-8.
    let name: String?
    /// The name for display. Replacement characters stand for invalid UTF-8.
    let shownName: String
    /// The name's bytes, which decide the order.
    let bytes: [UInt8]

    init(_ entry: UnsafeMutablePointer<dirent>) {
        kind =
            switch Int(entry.pointee.d_type) {
            case Int(DT_DIR): .folder
            case Int(DT_REG): .file
            case Int(DT_UNKNOWN): .unknown
            default: .other
            }
        // `d_name` may be longer than declared; it ends at its zero byte.
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        let start = (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
        name = String(validatingCString: start)
        shownName = name ?? String(cString: start)
        bytes = Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    }

    /// Whether the name begins with a dot.
    var isHidden: Bool { bytes.first == UInt8(ascii: ".") }
}
