import Glibc

/// Reads the files in a folder and its subfolders, piece by piece.
///
///     let tree = try FolderTree(bytes: Array("/home/me/Pictures".utf8)) { PictureName.isPictureOrVideo($0) }
///     while let piece = tree.next() { print(piece.path, piece.files) }
///
/// A folder's files come before its subfolders, both sorted by the bytes of their names, so the order is the same each
/// time. Names may have any bytes. The tree skips links, so there are no cycles, and it reads no file outside the
/// folder. It also skips hidden folders, and folders that systems make for themselves.
public final class FolderTree {
    /// A regular file.
    public struct File: Hashable, Sendable {
        /// The position of the name in ``Piece/names``.
        public let name: Range<Int>
        /// The size in bytes.
        public let size: Int64
        /// When the file was last modified, in seconds since 1970.
        public let seconds: Int64
        /// The nanoseconds to add to ``seconds``.
        public let nanoseconds: Int64
    }

    /// Some files of one folder, or the reason why the folder cannot be read.
    public struct Piece: Sendable {
        /// The folder's path in the tree, with a slash at its end. The outermost folder's path is empty, unless the
        /// tree has a name.
        public let path: [UInt8]
        /// The names of the folder's files and subfolders, in one block of bytes. Separate arrays for the names would
        /// take too long to create.
        public let names: [UInt8]
        /// The next files of the folder.
        public let files: [File]
        /// The reason why the folder's other files cannot be read; nil without such an error.
        public let failure: SystemError?

        /// Creates a piece without files.
        public init(path: [UInt8], failure: SystemError) {
            self.init(path: path, names: [], files: [], failure: failure)
        }

        fileprivate init(path: [UInt8], names: [UInt8], files: [File], failure: SystemError?) {
            (self.path, self.names, self.files, self.failure) = (path, names, files, failure)
        }
    }

    /// An open folder, with the files and subfolders that are still to be read.
    private struct Level {
        let stream: OpaquePointer
        let path: [UInt8]
        /// The names of the needed entries, each with a zero byte at its end.
        var names: [UInt8] = []
        /// The positions in `names` of the files' names, sorted by name.
        var files: [Range<Int>] = []
        /// The index in `files` of the next file to read.
        var nextFile = 0
        /// The positions in `names` of the subfolders' names. The last subfolder is the next to read.
        var folders: [Range<Int>] = []
    }

    private var levels: [Level] = []
    private let isDeep: Bool
    /// The number of folders around the outermost folder, by the tree's name.
    private let outerDepth: Int
    private let onFolder: ([UInt8]) -> Void
    private let isWanted: (ArraySlice<UInt8>) -> Bool

    /// The maximum depth of nested folders. The depth is limited, because each open folder needs a descriptor.
    public static let maximumDepth = 32
    /// The maximum number of files in a piece.
    private static let pieceSize = 1_000

    /// Opens a folder, whose path may contain links.
    ///
    /// - Parameter isWanted: whether the caller needs a file with this name. The tree does not read the status of other
    ///   files.
    public convenience init(
        bytes path: [UInt8], isWanted: @escaping (ArraySlice<UInt8>) -> Bool
    ) throws(SystemError) {
        guard !path.contains(0) else { throw SystemError(EINVAL) }
        let descriptor = Self.withName(at: 0..<path.count, in: path + [0]) {
            open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw SystemError() }
        try self.init(consuming: descriptor, isWanted: isWanted)
    }

    /// Reads an open folder.
    ///
    /// - Parameters:
    ///   - folder: the folder's descriptor, open for reading. The tree closes the descriptor.
    ///   - path: the name of the tree, which starts all paths and ends with a slash; empty for none. Its folders count
    ///     for the depth.
    ///   - isDeep: whether to read the subfolders.
    ///   - onFolder: called with the path of each folder before the folder is read.
    ///   - isWanted: whether the caller needs a file with this name. The tree does not read the status of other files.
    public init(
        consuming folder: Int32, named path: [UInt8] = [], isDeep: Bool = true,
        onFolder: @escaping ([UInt8]) -> Void = { _ in }, isWanted: @escaping (ArraySlice<UInt8>) -> Bool
    ) throws(SystemError) {
        (self.isDeep, self.onFolder, self.isWanted) = (isDeep, onFolder, isWanted)
        outerDepth = path.count { $0 == UInt8(ascii: "/") }
        onFolder(path)
        levels = [try Self.level(consuming: folder, path, isWanted)]
    }

    deinit {
        for level in levels { closedir(level.stream) }
    }

    /// Returns the next piece; nil at the end.
    public func next() -> Piece? {
        while let last = levels.indices.last {
            if levels[last].nextFile < levels[last].files.count { return takeFiles(last) }
            guard isDeep, let name = levels[last].folders.popLast() else {
                closedir(levels.removeLast().stream)
                continue
            }
            let path = levels[last].path + levels[last].names[name] + [UInt8(ascii: "/")]
            do throws(SystemError) {
                guard outerDepth + levels.count < Self.maximumDepth else { throw SystemError(ELOOP) }
                let descriptor = Self.withName(at: name, in: levels[last].names) {
                    openat(dirfd(levels[last].stream), $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                }
                guard descriptor >= 0 else { throw SystemError() }
                onFolder(path)
                levels.append(try Self.level(consuming: descriptor, path, isWanted))
            } catch {
                // The folder may have been removed since its name was read.
                if error.code != ENOENT { return Piece(path: path, failure: error) }
            }
        }
        return nil
    }

    private func takeFiles(_ index: Int) -> Piece {
        let level = levels[index]
        let range = level.nextFile..<min(level.nextFile + Self.pieceSize, level.files.count)
        levels[index].nextFile = range.upperBound
        let folder = dirfd(level.stream)
        var failure: SystemError?
        var files: [File] = []
        files.reserveCapacity(range.count)
        for name in level.files[range] {
            var status = stat()
            guard Self.withName(at: name, in: level.names, { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0
            else {
                // The file may have been removed since its name was read.
                if errno == ENOENT { continue }
                failure = SystemError()
                levels[index].nextFile = level.files.count
                break
            }
            guard status.st_mode & S_IFMT == S_IFREG else { continue }
            files.append(
                File(
                    name: name, size: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
                    nanoseconds: Int64(status.st_mtim.tv_nsec)))
        }
        return Piece(path: level.path, names: level.names, files: files, failure: failure)
    }

    /// Reads the names in a folder.
    private static func level(
        consuming descriptor: Int32, _ path: [UInt8], _ isWanted: (ArraySlice<UInt8>) -> Bool
    ) throws(SystemError) -> Level {
        guard let stream = fdopendir(descriptor) else {
            let error = SystemError()
            close(descriptor)
            throw error
        }
        var level = Level(stream: stream, path: path)
        errno = 0
        while let entry = readdir(stream) {
            let start = level.names.count
            append(entry, to: &level.names)
            let name = start..<level.names.count - 1
            switch kind(of: entry, name, level.names, in: descriptor) {
            case DT_DIR where !isSkipped(level.names[name]): level.folders.append(name)
            case DT_REG where isWanted(level.names[name]): level.files.append(name)
            default: level.names.removeSubrange(start...)
            }
            errno = 0
        }
        guard errno == 0 else {
            let error = SystemError()
            closedir(stream)
            throw error
        }
        level.names.withUnsafeBytes { names in
            // The zero byte at the end of a name is less than any other byte.
            func precedes(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
                let bytes = (names.baseAddress! + left.lowerBound, names.baseAddress! + right.lowerBound)
                return memcmp(bytes.0, bytes.1, min(left.count, right.count) + 1) < 0
            }
            level.files.sort(by: precedes)
            level.folders.sort { precedes($1, $0) }
        }
        return level
    }

    /// Returns an entry's kind. Reads the entry's status if the file system does not state the kind in a folder's list.
    private static func kind(
        of entry: UnsafeMutablePointer<dirent>, _ name: Range<Int>, _ names: [UInt8], in folder: Int32
    ) -> Int {
        let kind = Int(entry.pointee.d_type)
        guard kind == DT_UNKNOWN else { return kind }
        var status = stat()
        guard withName(at: name, in: names, { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
            return kind
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return Int(DT_DIR)
        case S_IFREG: return Int(DT_REG)
        default: return kind
        }
    }

    /// Appends an entry's name with the zero byte at its end.
    private static func append(_ entry: UnsafeMutablePointer<dirent>, to names: inout [UInt8]) {
        // `d_name` may be longer than declared; it ends at its zero byte.
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        let start = UnsafeMutableRawPointer(entry) + offset
        let count = strlen(start.assumingMemoryBound(to: CChar.self))
        names.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count + 1))
    }

    /// Calls `body` with a name as a C string.
    private static func withName<Result>(
        at range: Range<Int>, in names: [UInt8], _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        names.withUnsafeBytes { body(($0.baseAddress! + range.lowerBound).assumingMemoryBound(to: CChar.self)) }
    }

    /// Returns whether a tree reads the folder with this path, unless the system prevents that.
    ///
    /// - Parameter path: the folder's path in the tree, with a slash at its end; empty for the outermost folder.
    public static func reads(_ path: [UInt8]) -> Bool {
        let names = path.split(separator: UInt8(ascii: "/"))
        return names.count < maximumDepth && !names.contains(where: isSkipped)
    }

    /// Whether a folder is hidden, or contains a system's previews, deleted files or snapshots.
    private static func isSkipped(_ name: ArraySlice<UInt8>) -> Bool {
        name.first == UInt8(ascii: ".") || isSystemFolder(name)
    }

    /// Returns whether systems keep previews, deleted files or snapshots in such folders.
    public static func isSystemFolder(_ name: some Sequence<UInt8>) -> Bool {
        systemFolders.contains { $0.elementsEqual(name) }
    }

    private static let systemFolders = [
        "@eaDir", "#recycle", "#snapshot", "lost+found", "$RECYCLE.BIN", "System Volume Information",
    ].map { Array($0.utf8) }
}
