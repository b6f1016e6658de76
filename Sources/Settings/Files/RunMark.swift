import Files
import Glibc

/// A file that exists while Vitrine's full-screen browser runs, to detect crashes.
///
///     let hasDied = RunMark.takeDeaths(in: locations.runningFolder)
///     let mark = RunMark(in: locations.runningFolder)
///     …
///     mark?.remove()
///
/// Each process keeps its own file locked. An unlocked file therefore means a crash, unless the file is from an earlier
/// boot. In that case, the machine lost power or was shut down. The file's name contains the boot's id. The file is
/// empty, so that it works on a full disk.
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

    /// Removes the file. The process calls this at its normal end. Further calls do nothing.
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

    /// Returns whether a file name is the name of a mark, finished or unfinished.
    private static func isMark(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isWhole = parts.count == 3 || parts.count == 4 && name.hasSuffix(LockedFile.unfinished)
        return isWhole && UInt32(parts[1]) != nil && UInt32(parts[2]) != nil
    }

    /// The id of the current boot; a constant if the id is unreadable.
    private static var boot: String {
        let text = (try? PrivateFile.read("/proc/sys/kernel/random/boot_id")) ?? ""
        let letters = text.filter { $0.isHexDigit || $0 == "-" }
        return letters.isEmpty ? "unknown" : letters
    }
}
