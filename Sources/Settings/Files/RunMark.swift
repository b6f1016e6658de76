import Files
import Glibc

/// A file that exists while a browser runs, to detect crashes.
///
///     let hasDied = RunMark.takeDeaths(in: locations.runningFolder)
///     let mark = RunMark(in: locations.runningFolder)
///     …
///     mark?.remove()
///
/// Each process locks its own file; the kernel releases the lock when the process ends. An unlocked file therefore means a crash,
/// unless it is from an earlier boot: then the machine lost power or was shut down. The file's name contains the boot's id. The
/// file is empty, so that it works on a full disk.
public final class RunMark {
    private let path: String
    private var descriptor: Int32

    /// Creates the file for this process. Returns nil on failure; Vitrine cannot detect a crash of this process then.
    public convenience init?(in folder: String) {
        self.init(in: folder, boot: Self.boot)
    }

    init?(in folder: String, boot: String) {
        guard (try? SharedFile.makeFolder(folder)) != nil else { return nil }
        path = "\(folder)/\(boot).\(getpid()).\(UInt32.random(in: 0...UInt32.max))"
        let unfinished = path + Self.unfinished
        descriptor = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // An unlocked file with the final name would look like a crash, so rename after locking. If another start removed the
        // unfinished file meanwhile, there is no mark.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(unfinished, path) == 0 else {
            unlink(unfinished)
            close(descriptor)
            return nil
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Removes the file when the process ends normally. Further calls do nothing.
    public func remove() {
        guard descriptor >= 0 else { return }
        unlink(path)
        close(descriptor)
        descriptor = -1
    }

    /// Removes the files of ended processes. Returns whether a process crashed since the last boot.
    public static func takeDeaths(in folder: String) -> Bool {
        takeDeaths(in: folder, boot: boot)
    }

    static func takeDeaths(in folder: String, boot: String) -> Bool {
        var hasDeaths = false
        for name in names(in: folder) where takeMark("\(folder)/\(name)") {
            if name.hasPrefix(boot + "."), !name.hasSuffix(unfinished) { hasDeaths = true }
        }
        return hasDeaths
    }

    /// Removes an unlocked file. Returns false if the file is locked or another process removed it first.
    private static func takeMark(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &status) == 0 && status.st_nlink > 0
            && unlink(path) == 0
    }

    /// Returns the names of finished and unfinished marks, and no other names.
    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            let isFinished = parts.count == 3 || parts.count == 4 && name.hasSuffix(unfinished)
            if isFinished, UInt32(parts[1]) != nil, UInt32(parts[2]) != nil { names.append(name) }
        }
        return names
    }

    private static let unfinished = ".new"

    /// The id of the current boot; a constant if the id is unreadable.
    private static var boot: String {
        let text = (try? PrivateFile.read("/proc/sys/kernel/random/boot_id")).flatMap { $0 } ?? ""
        let letters = text.filter { $0.isHexDigit || $0 == "-" }
        return letters.isEmpty ? "unknown" : letters
    }
}
