import Dispatch
import Glibc
import Synchronization

/// The file that a log is also written to: appended line by line, begun anew when it has grown too large.
///
/// Lines are written on a queue of its own, so nobody waits for the disk. If the disk cannot follow, lines are left out
/// and their number is written in their place; if it fails, the file is given up and the program goes on.
public final class LogFile: Sendable {
    private let path: String
    private let maximumSize: Int
    private let queue = DispatchQueue(label: "vitrine.log", qos: .utility)
    /// Lines handed over and not yet written.
    private let waiting = Mutex(Waiting())
    /// Touched on `queue` only.
    private nonisolated(unsafe) var descriptor: Int32
    /// Touched on `queue` only.
    private nonisolated(unsafe) var size: Int

    private struct Waiting {
        var lines: [String] = []
        var leftOut = 0
    }

    private static let maximumWaiting = 1_000

    /// Opens the file for appending, or creates it. It becomes readable and writable by its owner alone before anything is written.
    ///
    /// When it would grow beyond `maximumSize` bytes it is renamed to `path.1`, in place of an older one, and a new
    /// file is begun. A link, a file with several names, another user's file and what is no file are refused: another user could
    /// read what is logged, or choose what is written to. Such a file is left as it is. If one takes the file's place
    /// later, the log ends at the next change of files.
    public init(path: String, maximumSize: Int = 1 << 20) throws(LogError) {
        self.path = path
        self.maximumSize = maximumSize
        descriptor = try Self.open(path)
        size = Int(lseek(descriptor, 0, SEEK_END))
    }

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

    /// Returns after everything that was appended before is with the system. For the end of the program.
    public func flush() {
        queue.sync { writeWaiting() }
    }

    private func writeWaiting() {
        let (lines, leftOut) = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return (waiting.lines, waiting.leftOut)
        }
        for line in lines { write(line + "\n") }
        if leftOut > 0 { write("(\(leftOut) lines left out)\n") }
    }

    private func write(_ line: String) {
        var bytes = Array(line.utf8)[...]
        if size + bytes.count > maximumSize { rotate() }
        while !bytes.isEmpty, descriptor >= 0 {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                size += written
                bytes = bytes.dropFirst(written)
            } else if errno != EINTR {
                // A full disk: there is nobody to tell that is not the log.
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
        // A pipe that nobody reads would make the program wait.
        let descriptor = Glibc.open(
            path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == ELOOP ? .notPrivate(path, "it is a link") : .cannotOpen(path, reason)
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
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notPrivate(path, "it is no file") }
        guard status.st_uid == geteuid() else { throw .notPrivate(path, "it is another user’s") }
        guard status.st_nlink == 1 else { throw .notPrivate(path, "it has another name too") }
        // A program that opened the file before can read on, but none can open it from now on.
        guard status.st_mode & 0o7777 == 0o600 || fchmod(descriptor, 0o600) == 0 else {
            throw .cannotOpen(path, reason)
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}

/// What can be wrong with a log file.
public enum LogError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be written; the system's reason.
    case cannotOpen(String, String)
    /// The file cannot be kept from others: how that is.
    case notPrivate(String, String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "The log file \(path) cannot be opened: \(reason)."
        case .notPrivate(let path, let reason):
            "The log file \(path) is not used, since others could read or change it: \(reason). Name another file."
        }
    }
}
