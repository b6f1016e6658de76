import Glibc
import Model

/// All files of a folder and of those below it, one after the other, in the order of their names' bytes: so the list comes
/// out the same each time, and can be compared as it is written.
///
/// Hidden files and folders are passed over, and so are links, whatever they lead to: what they lead to lies in the folder
/// anyway, or is not part of it; and so there is no way round in a circle. A folder called `thumbnails` is a gallery's own.
/// What is in memory is the names of one folder on each level.
struct FolderWalk: IteratorProtocol {
    enum Item {
        case file(PhotoPath, FileStamp)
        /// It cannot be looked at; its path to be shown, and the system's reason.
        case unreadable(String, reason: String)
        /// A link, a pipe and the like.
        case other
    }

    private struct Level {
        /// Relative to where it began, with a slash at its end; empty at the top.
        let path: String
        /// The next one last.
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
                return .unreadable(level + entry.shownName, reason: "Its name is not UTF-8, so no address can name it")
            }
            let path = level + name
            if level.isEmpty, name == ListFile.name { continue }
            if entry.kind == .folder {
                if let trouble = descend(path, name) { return trouble }
                continue
            }
            guard let status = folder.status(path) else {
                // It may be gone since the folder was read.
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

    /// How many items there are; costs a tenth of looking at them.
    static func count(_ folder: OpenFolder) throws(PublishingError) -> Int {
        var walk = try FolderWalk(folder)
        var count = 0
        while let (level, entry) = walk.nextEntry() {
            if level.isEmpty, entry.name == ListFile.name { continue }
            guard entry.kind == .folder, let name = entry.name else {
                count += 1
                continue
            }
            if name == ListText.thumbnails { continue }
            if let below = try? walk.level(level + name + "/") { walk.levels.append(below) } else { count += 1 }
        }
        return count
    }

    /// Goes on with what a folder holds. Returns what is wrong, if it cannot be read.
    private mutating func descend(_ path: String, _ name: String) -> Item? {
        if name == ListText.thumbnails { return nil }
        do throws(PublishingError) {
            levels.append(try level(path + "/"))
            return nil
        } catch {
            guard case .file(_, let reason) = error else { return nil }
            return .unreadable(path, reason: reason)
        }
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

/// A name in a folder, and what it is of, as far as the folder itself says.
struct FolderEntry {
    enum Kind {
        case folder, file, other
        /// There are file systems that do not say.
        case unknown
    }

    let kind: Kind
    /// The name, if it is UTF-8.
    let name: String?
    /// The name with what is not UTF-8 replaced, to be shown.
    let shownName: String
    /// The name as it is, which names are sorted by.
    let bytes: [UInt8]

    init(_ entry: UnsafeMutablePointer<dirent>) {
        kind =
            switch Int(entry.pointee.d_type) {
            case Int(DT_DIR): .folder
            case Int(DT_REG): .file
            case Int(DT_UNKNOWN): .unknown
            default: .other
            }
        // The name goes as far as its zero, whatever room the declaration gives it.
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        let start = (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
        name = String(validatingCString: start)
        shownName = name ?? String(cString: start)
        bytes = Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    }

    /// What begins with a dot is hidden.
    var isHidden: Bool { bytes.first == UInt8(ascii: ".") }
}

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
