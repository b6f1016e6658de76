import CFolder
import Glibc

/// Opens files below a folder by relative paths, but no other files.
///
///     let folder = try FolderBoundary("/home/me/gallery")
///     let file = try folder.open("images/lake.jpg")     // throws if that is a link to /etc
///
/// The class follows links that stay inside. It refuses absolute links wherever they lead, and a `..` above the folder
/// at any point of the path. The kernel checks this with `openat2`. If it cannot (before Linux 5.6, or behind a filter
/// of system calls), this class opens the path part by part and resolves links itself. In both cases the checked file
/// is the opened file: if another process exchanges a link meanwhile, the rules apply to the new link.
///
/// The path of the folder itself may contain any links, because the user chose it.
public final class FolderBoundary: Sendable {
    /// The treatment of links below the folder.
    public enum Links: Sendable {
        /// Links are followed if they stay inside the folder.
        case inside
        /// The folder refuses a path that contains a link.
        case none
    }

    /// The way to resolve paths. Tests choose a way.
    enum Resolution {
        case kernel, parts
        /// The kernel resolves paths. If the kernel cannot, this class resolves paths part by part.
        case usual
    }

    private let descriptor: Int32
    private let resolution: Resolution

    /// The maximum number of attempts to open a path with `openat2`. An attempt at a path with `..` fails if another
    /// process moves a folder meanwhile.
    private static let attempts = 32

    /// Opens the folder at a path.
    public convenience init(_ path: String) throws(SystemError) {
        try self.init(bytes: Array(path.utf8), .usual)
    }

    /// Opens the folder at a path in any encoding.
    public convenience init(bytes path: [UInt8]) throws(SystemError) { try self.init(bytes: path, .usual) }

    init(bytes path: [UInt8], _ resolution: Resolution) throws(SystemError) {
        guard !path.contains(0) else { throw SystemError(EINVAL) }
        descriptor = Glibc.open((path + [0]).map { CChar(bitPattern: $0) }, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError() }
        self.resolution = resolution
    }

    /// Creates a boundary with a duplicate of an open folder's descriptor.
    public init(duplicating folder: Int32) throws(SystemError) {
        descriptor = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemError() }
        resolution = .usual
    }

    deinit {
        close(descriptor)
    }

    /// Opens a file or folder below this folder for reading. The caller must close the descriptor.
    ///
    /// - Parameter path: a relative path. The folder refuses absolute paths.
    public func open(_ path: String, _ links: Links = .inside) throws(SystemError) -> Int32 {
        try open(bytes: Array(path.utf8), links)
    }

    /// Opens a file or folder at a relative path in any encoding.
    public func open(bytes path: [UInt8], _ links: Links = .inside) throws(SystemError) -> Int32 {
        guard !path.isEmpty else { throw SystemError(ENOENT) }
        guard !path.contains(0) else { throw SystemError(EINVAL) }
        guard path.first != UInt8(ascii: "/") else { throw SystemError(EXDEV) }
        if resolution == .parts { return try openByParts(path, links) }
        let text = (path + [0]).map { CChar(bitPattern: $0) }
        for _ in 0..<Self.attempts {
            let file = cfolder_open_beneath(descriptor, text, Self.flags, links == .inside ? 1 : 0)
            if file >= 0 { return file }
            switch errno {
            case EAGAIN, EINTR: continue
            // The system call is missing, or a filter refuses it.
            case ENOSYS where resolution == .usual, EPERM where resolution == .usual:
                return try openByParts(path, links)
            default: throw SystemError()
            }
        }
        return try openByParts(path, links)
    }

    /// The flags for opening a file. The flag `O_NONBLOCK` avoids waiting for pipes without a writer. With `O_NOCTTY`,
    /// an opened terminal does not become the program's controlling terminal.
    private static let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC

    private func openByParts(_ path: [UInt8], _ links: Links) throws(SystemError) -> Int32 {
        var walk = PathWalk(from: descriptor, path, followsLinks: links == .inside)
        defer { walk.end() }
        return try walk.open(Self.flags)
    }
}

/// Resolves a path below a folder part by part, for kernels without `openat2`.
///
/// The walk keeps every folder on the way open and goes back to the same folder at `..`. The system's `..` would lead
/// elsewhere if another process moved a folder.
private struct PathWalk {
    private let top: Int32
    private let followsLinks: Bool
    /// The open folders between `top` and the current folder.
    private var folders: [Int32] = []
    /// The remaining parts of the path, in reverse order.
    private var parts: [[UInt8]]
    private var linksLeft = 40

    init(from top: Int32, _ path: [UInt8], followsLinks: Bool) {
        self.top = top
        self.followsLinks = followsLinks
        parts = Self.parts(of: path).reversed()
    }

    /// Closes the open folders.
    mutating func end() {
        for folder in folders { close(folder) }
        folders = []
    }

    /// Opens the file or folder at the end of the path.
    mutating func open(_ flags: Int32) throws(SystemError) -> Int32 {
        while let part = parts.popLast() {
            if part == Self.here { continue }
            if part == Self.above {
                guard let folder = folders.popLast() else { throw SystemError(EXDEV) }
                close(folder)
                continue
            }
            let name = (part + [0]).map { CChar(bitPattern: $0) }
            let node = cfolder_open_place(current, name)
            guard node >= 0 else { throw SystemError() }
            var status = stat()
            guard fstat(node, &status) == 0 else { throw Self.failure(closing: node) }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                defer { close(node) }
                try follow(node)
            case S_IFDIR: folders.append(node)
            default:
                close(node)
                guard parts.isEmpty else { throw SystemError(ENOTDIR) }
                // This fails with ELOOP if a link has replaced the file meanwhile.
                let file = openat(current, name, flags | O_NOFOLLOW)
                guard file >= 0 else { throw SystemError() }
                return file
            }
        }
        let folder = openat(current, ".", flags | O_DIRECTORY)
        guard folder >= 0 else { throw SystemError() }
        return folder
    }

    private var current: Int32 { folders.last ?? top }

    /// Replaces a link in the path by the parts of its target.
    private mutating func follow(_ link: Int32) throws(SystemError) {
        guard followsLinks, linksLeft > 0 else { throw SystemError(ELOOP) }
        linksLeft -= 1
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        // With an empty name, this reads the link that the descriptor refers to.
        let count = readlinkat(link, "", &buffer, buffer.count)
        guard count >= 0 else { throw SystemError() }
        guard count > 0 else { throw SystemError(ENOENT) }
        guard count < buffer.count else { throw SystemError(ENAMETOOLONG) }
        let target = buffer.prefix(count).map { UInt8(bitPattern: $0) }
        // This also refuses the links in /proc to a process's open files.
        guard target.first != UInt8(ascii: "/") else { throw SystemError(EXDEV) }
        parts += Self.parts(of: target).reversed()
    }

    private static let here = Array(".".utf8)
    private static let above = Array("..".utf8)

    /// Splits a path into parts. A slash at the end becomes a part `.`, because both require a folder.
    private static func parts(of path: [UInt8]) -> [[UInt8]] {
        let parts = path.split(separator: UInt8(ascii: "/")).map(Array.init)
        return path.last == UInt8(ascii: "/") ? parts + [here] : parts
    }

    private static func failure(closing descriptor: Int32) -> SystemError {
        let error = SystemError()
        close(descriptor)
        return error
    }
}

/// Reads the names of a folder's entries.
public enum FolderNames {
    /// Returns the names of a folder's entries. Returns no names if the folder is unreadable.
    ///
    /// - Parameter folder: the folder's descriptor, open for reading. This function closes it.
    public static func names(consuming folder: Int32) -> [String] {
        guard let stream = fdopendir(folder) else {
            close(folder)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
            // Skip names that are not UTF-8, because the names that Vitrine makes are UTF-8.
            if let name = String(validatingCString: start), name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// Checks whether files can be created in a folder.
public enum Writability {
    /// Returns the reason why files cannot be created in a folder. Returns nil if they can.
    ///
    /// A missing folder is no obstacle if it can be created.
    public static func obstacle(in path: String) -> SystemError? {
        var existing = path
        while !existing.isEmpty {
            if access(existing, F_OK) == 0 { break }
            guard errno == ENOENT else { return SystemError() }
            existing = String(existing[..<(existing.lastIndex(of: "/") ?? existing.startIndex)])
        }
        if existing.isEmpty { existing = "/" }
        var status = stat()
        guard stat(existing, &status) == 0 else { return SystemError() }
        guard status.st_mode & S_IFMT == S_IFDIR else { return SystemError(ENOTDIR) }
        return access(existing, W_OK | X_OK) == 0 ? nil : SystemError()
    }
}
