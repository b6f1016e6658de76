import Dispatch
import Glibc
import Synchronization
import Text

/// A log file. Vitrine appends lines, and starts a new file when the file is too large.
///
/// A queue writes the lines, so that no caller waits for the disk. If the disk is too slow, the queue drops and counts
/// lines. If the disk fails, the queue closes the file, and the program continues.
public final class LogFile: Sendable {
    private let path: String
    private let maximumSize: Int
    private let queue = DispatchQueue(label: "vitrine.log", qos: .utility)
    /// The lines that the queue has not written yet.
    private let waiting = Mutex(Waiting())
    /// The descriptor of the open file. Only `queue` uses this property.
    private nonisolated(unsafe) var descriptor: Int32
    /// The size of the file in bytes. Only `queue` uses this property.
    private nonisolated(unsafe) var size: Int

    /// Whether a new file may replace a file that is too large.
    private let isRotated: Bool

    private struct Waiting {
        var lines: [String] = []
        var leftOut = 0
    }

    private static let maximumWaiting = 1_000

    /// Opens or creates the file, with access for its owner only.
    ///
    /// When the file would exceed `maximumSize` bytes, the log renames it to `path.1`, which replaces an older file of
    /// that name. The log then starts a new file. The log refuses links, files with several names, files of other users
    /// and special files, and leaves them unchanged. Through such files, another user could read the log or choose the
    /// file to be written. If such a file later takes the place of the log file, the log ends when it next starts a new
    /// file.
    public init(path: String, maximumSize: Int = 1 << 20) throws(LogError) {
        self.path = path
        self.maximumSize = maximumSize
        isRotated = true
        descriptor = try Self.open(path)
        size = Int(lseek(descriptor, 0, SEEK_END))
    }

    /// Creates a log that goes to standard error.
    ///
    /// A terminal gets only ASCII, unless the program has called `setlocale` and the locale uses UTF-8.
    public init(standardError: Void) throws(LogError) {
        (path, maximumSize, isRotated, size) = (Self.standardError, .max, false, 0)
        descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .cannotOpen(path, Self.reason) }
    }

    /// The path that means standard error.
    public static let standardError = "-"

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func append(_ line: String) {
        let isFirst = waiting.withLock { waiting in
            guard waiting.lines.count < Self.maximumWaiting else {
                waiting.leftOut += 1
                return false
            }
            waiting.lines.append(line)
            return waiting.lines.count == 1
        }
        if isFirst { queue.async { [weak self] in self?.writeWaiting() } }
    }

    /// Waits until all appended lines are in the file. Vitrine calls this method before it ends.
    public func flush() {
        queue.sync { writeWaiting() }
    }

    private func writeWaiting() {
        let (lines, leftOut) = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return (waiting.lines, waiting.leftOut)
        }
        for line in lines { write(line + "\n") }
        if leftOut > 0 { write("(\(leftOut) lines dropped)\n") }
    }

    private func write(_ line: String) {
        // Standard error may be a terminal.
        var bytes = ASCIIFallback.bytes(Array(line.utf8), for: descriptor)[...]
        if isRotated, size + bytes.count > maximumSize { rotate() }
        while !bytes.isEmpty, descriptor >= 0 {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                if isRotated { size += written }
                bytes = bytes.dropFirst(written)
            } else if errno != EINTR {
                // The disk may be full. There is no other place to report it.
                close(descriptor)
                descriptor = -1
            }
        }
    }

    private func rotate() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = rename(path, path + ".1") == 0 ? (try? Self.open(path)) ?? -1 : -1
        size = descriptor >= 0 ? Int(lseek(descriptor, 0, SEEK_END)) : 0
    }

    private static func open(_ path: String) throws(LogError) -> Int32 {
        // O_NONBLOCK: a pipe without a reader would block the program.
        let descriptor = Glibc.open(
            path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == ELOOP ? .notPrivate(path, "it is a symbolic link") : .cannotOpen(path, reason)
        }
        do throws(LogError) {
            try makePrivate(descriptor, path)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func makePrivate(_ descriptor: Int32, _ path: String) throws(LogError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .cannotOpen(path, reason) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notPrivate(path, "it is not a regular file") }
        guard status.st_uid == geteuid() else { throw .notPrivate(path, "it belongs to another user") }
        guard status.st_nlink == 1 else { throw .notPrivate(path, "it has several hard links") }
        // A program that has the file open can still read it, but programs of other users can no longer open it.
        guard status.st_mode & 0o7777 == 0o600 || fchmod(descriptor, 0o600) == 0 else {
            throw .cannotOpen(path, reason)
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}

/// A problem with a log file.
public enum LogError: Error, Equatable, CustomStringConvertible {
    /// The system cannot open the file. The values are the path and the reason.
    case cannotOpen(String, String)
    /// Other users may have access to the file. The values are the path and the reason.
    case notPrivate(String, String)

    /// Lines on standard error would cover the screen.
    case coversScreen

    /// The error as a sentence for the user.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "The log file \(path) cannot be opened: \(reason)."
        case .coversScreen:
            "The log would cover the screen. Start Vitrine with 2>log.txt, or name a file in “log-file”."
        case .notPrivate(let path, let reason):
            "The log file \(path) is not used, because other users could read or change it: \(reason). Name another file."
        }
    }
}
