import Files
import Glibc

/// A file that exists while a browser runs, to detect crashes.
///
///     let hasDied = RunMark.takeDeaths(in: locations.runningFolder)
///     let mark = RunMark(in: locations.runningFolder)
///     …
///     mark?.remove()
///
/// Each process keeps its own file locked. An unlocked file therefore means a crash, unless it is from an earlier boot: then the machine lost power or was shut down. The file's name contains the boot's id. The
/// file is empty, so that it works on a full disk.
public final class RunMark {
    private let file: LockedFile

    /// Creates the file for this process. Returns nil on failure; Vitrine cannot detect a crash of this process then.
    public convenience init?(in folder: String) {
        self.init(in: folder, boot: Self.boot)
    }

    init?(in folder: String, boot: String) {
        guard (try? SharedFile.makeFolder(folder)) != nil,
            let file = LockedFile("\(folder)/\(boot).\(getpid()).\(UInt32.random(in: 0...UInt32.max))")
        else { return nil }
        self.file = file
    }

    /// Removes the file when the process ends normally. Further calls do nothing.
    public func remove() { file.remove() }

    /// Removes the files of ended processes. Returns whether a process crashed since the last boot.
    public static func takeDeaths(in folder: String) -> Bool {
        takeDeaths(in: folder, boot: boot)
    }

    static func takeDeaths(in folder: String, boot: String) -> Bool {
        var hasDeaths = false
        for path in LockedFile.paths(in: folder, where: isMark) where LockedFile.take(path, atMost: 0)?.hasEnded == true
        {
            let isFinished = path.hasPrefix("\(folder)/\(boot).") && !path.hasSuffix(LockedFile.unfinished)
            if isFinished { hasDeaths = true }
        }
        return hasDeaths
    }

    /// Whether a file's name is that of a finished or unfinished mark.
    private static func isMark(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isWhole = parts.count == 3 || parts.count == 4 && name.hasSuffix(LockedFile.unfinished)
        return isWhole && UInt32(parts[1]) != nil && UInt32(parts[2]) != nil
    }

    /// The id of the current boot; a constant if the id is unreadable.
    private static var boot: String {
        let text = (try? PrivateFile.read("/proc/sys/kernel/random/boot_id")).flatMap { $0 } ?? ""
        let letters = text.filter { $0.isHexDigit || $0 == "-" }
        return letters.isEmpty ? "unknown" : letters
    }
}

/// A file that its process keeps locked. The kernel releases the lock when the process ends.
final class LockedFile {
    private let path: String
    private var descriptor: Int32

    /// The ending of a file's name before the file is locked.
    static let unfinished = ".new"

    /// Creates the file with a text. Returns nil on failure.
    init?(_ path: String, _ text: String = "") {
        self.path = path
        let unfinished = path + Self.unfinished
        descriptor = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // An unlocked file with the final name would look like that of an ended process, so rename after locking. If another
        // start removed the unfinished file meanwhile, there is no file.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            text.isEmpty || (try? SharedFile.write(text, to: descriptor)) != nil, rename(unfinished, path) == 0
        else {
            unlink(unfinished)
            return nil
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Removes the file. Further calls do nothing.
    func remove() {
        guard descriptor >= 0 else { return }
        unlink(path)
        close(descriptor)
        descriptor = -1
    }

    /// Reads a file, and removes it if its process has ended. Returns nil if another process removed it first.
    static func take(_ path: String, atMost count: Int) -> (text: String, hasEnded: Bool)? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let hasEnded = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = pread(descriptor, &bytes, count, 0)
        guard length >= 0, !hasEnded || unlink(path) == 0 else { return nil }
        return (String(decoding: bytes.prefix(length), as: UTF8.self), hasEnded)
    }

    /// Returns the paths of the files in a folder whose names satisfy a condition.
    static func paths(in folder: String, where isIncluded: (String) -> Bool) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if isIncluded(name) { paths.append("\(folder)/\(name)") }
        }
        return paths
    }
}
