import CFolder
import Glibc

/// Resolves a path below a folder part by part, where the kernel cannot be asked to stay below it.
///
/// It keeps every folder that it has passed through open, so that `..` goes back to the folder that it came from: the system's
/// own `..` would lead elsewhere once somebody moves a folder.
struct PathWalk {
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
