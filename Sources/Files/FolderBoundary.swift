import CFolder
import Glibc

/// A folder whose files are opened by paths that cannot leave it.
///
///     let folder = try FolderBoundary("/home/me/gallery")
///     let file = try folder.open("images/lake.jpg")     // throws if that is a link to /etc
///
/// A link that stays inside is followed. An absolute link is refused wherever it leads, and so is a `..` above the folder, at
/// any place of the path. The kernel does this with `openat2`. Where the kernel cannot (before Linux 5.6, or behind a filter of
/// system calls), each part of the path is opened by itself and links are resolved here. Either way the file that was checked
/// is the file that is opened: a link that is swapped in meanwhile is followed under the same rules.
///
/// The folder itself may be reached through any link: its path is the user's.
public final class FolderBoundary: Sendable {
    /// How links below the folder are treated.
    public enum Links: Sendable {
        /// They are followed as long as they stay inside.
        case inside
        /// A path with a link in it is refused.
        case none
    }

    /// How paths are resolved.
    enum Resolution {
        case kernel, parts
        /// By the kernel where it can.
        case usual
    }

    private let descriptor: Int32
    private let resolution: Resolution

    /// How often the kernel is asked again when a folder is moved while it resolves a `..`.
    private static let attempts = 32

    /// Opens the folder.
    public convenience init(_ path: String) throws(SystemError) {
        try self.init(bytes: Array(path.utf8), .usual)
    }

    /// Opens the folder by a path that need not be text.
    public convenience init(bytes path: [UInt8]) throws(SystemError) { try self.init(bytes: path, .usual) }

    init(bytes path: [UInt8], _ resolution: Resolution) throws(SystemError) {
        guard !path.contains(0) else { throw SystemError(EINVAL) }
        descriptor = Glibc.open((path + [0]).map { CChar(bitPattern: $0) }, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError() }
        self.resolution = resolution
    }

    /// Takes an open folder. The descriptor is duplicated and stays the caller's.
    public init(duplicating folder: Int32) throws(SystemError) {
        descriptor = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemError() }
        resolution = .usual
    }

    deinit {
        close(descriptor)
    }

    /// Opens a file or folder below this one for reading. The descriptor is the caller's.
    ///
    /// - Parameter path: relative. An absolute one is refused.
    public func open(_ path: String, _ links: Links = .inside) throws(SystemError) -> Int32 {
        try open(bytes: Array(path.utf8), links)
    }

    /// Opens a file or folder by a path that need not be text.
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
            // No such system call, or a filter that answers for it.
            case ENOSYS where resolution == .usual, EPERM where resolution == .usual:
                return try openByParts(path, links)
            default: throw SystemError()
            }
        }
        return try openByParts(path, links)
    }

    /// A pipe that nobody writes to would make the caller wait, and a terminal would become the program's own.
    private static let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC

    private func openByParts(_ path: [UInt8], _ links: Links) throws(SystemError) -> Int32 {
        var walk = PathWalk(from: descriptor, path, followsLinks: links == .inside)
        defer { walk.end() }
        return try walk.open(Self.flags)
    }
}

/// Resolves a path below a folder part by part, where the kernel cannot be asked to stay below it.
///
/// It keeps every folder that it has passed through open, so that `..` goes back to the folder that it came from: the system's
/// own `..` would lead elsewhere once somebody moves a folder.
private struct PathWalk {
    private let top: Int32
    private let followsLinks: Bool
    /// Folders below the top that it has passed through.
    private var folders: [Int32] = []
    /// Parts that are still to be resolved, the next one last.
    private var parts: [[UInt8]]
    private var linksLeft = 40

    init(from top: Int32, _ path: [UInt8], followsLinks: Bool) {
        self.top = top
        self.followsLinks = followsLinks
        parts = Self.parts(of: path).reversed()
    }

    /// Closes what it has opened on its way.
    mutating func end() {
        for folder in folders { close(folder) }
        folders = []
    }

    /// Opens what the path leads to.
    mutating func open(_ flags: Int32) throws(SystemError) -> Int32 {
        while let part = parts.popLast() {
            if part == Self.here { continue }
            if part == Self.above {
                guard let folder = folders.popLast() else { throw SystemError(EXDEV) }
                close(folder)
                continue
            }
            let name = (part + [0]).map { CChar(bitPattern: $0) }
            let place = cfolder_open_place(current, name)
            guard place >= 0 else { throw SystemError() }
            var status = stat()
            guard fstat(place, &status) == 0 else { throw Self.failure(closing: place) }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                defer { close(place) }
                try follow(place)
            case S_IFDIR: folders.append(place)
            default:
                close(place)
                guard parts.isEmpty else { throw SystemError(ENOTDIR) }
                // A link that has taken its place meanwhile is refused with ELOOP.
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

    /// Puts the parts of a link's target in its place.
    private mutating func follow(_ link: Int32) throws(SystemError) {
        guard followsLinks, linksLeft > 0 else { throw SystemError(ELOOP) }
        linksLeft -= 1
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        // Without a name it is the link itself that is read.
        let count = readlinkat(link, "", &buffer, buffer.count)
        guard count >= 0 else { throw SystemError() }
        guard count > 0 else { throw SystemError(ENOENT) }
        guard count < buffer.count else { throw SystemError(ENAMETOOLONG) }
        let target = buffer.prefix(count).map { UInt8(bitPattern: $0) }
        // The links of /proc that lead to a process's own files read as absolute paths too.
        guard target.first != UInt8(ascii: "/") else { throw SystemError(EXDEV) }
        parts += Self.parts(of: target).reversed()
    }

    private static let here = Array(".".utf8)
    private static let above = Array("..".utf8)

    /// A slash at the end asks for a folder, which a part of its own does too.
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

/// The names in a folder.
enum FolderNames {
    /// Reads the names of a folder's entries; none if it cannot be read.
    ///
    /// - Parameter folder: open for reading, and closed by this.
    static func names(consuming folder: Int32) -> [String] {
        guard let stream = fdopendir(folder) else {
            close(folder)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
            // A name that is no UTF-8 is none of Vitrine's.
            if let name = String(validatingCString: start), name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// Whether files can be written in a folder.
public enum Writability {
    /// Why files cannot be written in a folder; nil if they can, or if the folder is missing and can be made. Nothing is made.
    public static func obstacle(in path: String) -> SystemError? {
        var place = path
        while !place.isEmpty {
            if access(place, F_OK) == 0 { break }
            guard errno == ENOENT else { return SystemError() }
            place = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
        }
        if place.isEmpty { place = "/" }
        var status = stat()
        guard stat(place, &status) == 0 else { return SystemError() }
        guard status.st_mode & S_IFMT == S_IFDIR else { return SystemError(ENOTDIR) }
        return access(place, W_OK | X_OK) == 0 ? nil : SystemError()
    }
}
