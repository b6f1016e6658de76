import Files
import Glibc

/// A file that exists while a browser runs, so that the next start knows of one that died.
///
///     let hasDied = RunMark.takeDeaths(in: locations.runningFolder)
///     let mark = RunMark(in: locations.runningFolder)
///     …
///     mark?.remove()
///
/// Each process has a file of its own, and a lock on it that the kernel drops when the process ends, however it ends. A file
/// without a lock is therefore a death, as long as the machine has not been started again since: then it lost power, or was
/// shut down. The file's name has the boot's id. The file is empty, so that a full disk does not get in the way.
public final class RunMark {
    private let path: String
    private var descriptor: Int32

    /// Leaves a mark for this process, or returns nil where that is not possible: it is then not known whether it dies.
    public convenience init?(in folder: String) {
        self.init(in: folder, boot: Self.boot)
    }

    init?(in folder: String, boot: String) {
        guard (try? SharedFile.makeFolder(folder)) != nil else { return nil }
        path = "\(folder)/\(boot).\(getpid()).\(UInt32.random(in: 0...UInt32.max))"
        let unfinished = path + Self.unfinished
        descriptor = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // Under its final name a file without a lock would be a death, so the name comes after the lock. Another start may
        // have removed the unfinished file meanwhile; then there is no mark.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(unfinished, path) == 0 else {
            unlink(unfinished)
            close(descriptor)
            return nil
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Removes the mark: the process ends in good order. Further calls do nothing.
    public func remove() {
        guard descriptor >= 0 else { return }
        unlink(path)
        close(descriptor)
        descriptor = -1
    }

    /// Removes the marks of processes that are gone. Returns whether one of them died since the machine was started.
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

    /// Removes a mark that nobody holds. Returns whether it did: of several starts at once one does.
    private static func takeMark(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &status) == 0 && status.st_nlink > 0
            && unlink(path) == 0
    }

    /// The names of marks, finished or not, and of nothing else that may lie there.
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

    /// Differs from one start of the machine to the next. Where it cannot be read, all starts count as one.
    private static var boot: String {
        let text = (try? PrivateFile.read("/proc/sys/kernel/random/boot_id")).flatMap { $0 } ?? ""
        let letters = text.filter { $0.isHexDigit || $0 == "-" }
        return letters.isEmpty ? "unknown" : letters
    }
}
