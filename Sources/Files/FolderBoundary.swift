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
