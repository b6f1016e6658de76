import Glibc
import Synchronization
import Text

/// What Vitrine did and why: the last entries in memory, and all of them in a file if the user asked for one.
///
///     log.info(.sync, "\(added) added, \(removed) removed")
///     log.debug(.networkDetail, "connected after \(milliseconds) ms")
///
/// Any thread may write. A message is only built if it is kept; it never waits for the file. Made once, at start, and handed
/// to whoever writes; there is no log that one could reach for.
///
/// An entry is kept if its subsystem is switched on and the level lets it through. The details of transfers have no level of
/// their own: their switch alone decides, and it is off at the start unless the level is `debug`.
public final class Log: Sendable {
    private struct State {
        /// A ring: the oldest entry is at `sequence % capacity` once it is full.
        var ring: [LogEntry] = []
        /// The sequence number of the next entry.
        var next = 0
        /// Entries before this one were cleared by the user.
        var firstKept = 0
        var enabled: Set<LogSubsystem>
        var level: LogLevel
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    private let capacity: Int
    private let file: LogFile?
    private let now: @Sendable () -> Int64

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - capacity: how many entries stay in memory.
    ///   - level: what is kept besides errors.
    ///   - file: where every kept entry is appended as well.
    ///   - now: milliseconds since 1970; a test passes its own.
    public init(
        capacity: Int = 1_000, level: LogLevel = .info, file: LogFile? = nil,
        now: @escaping @Sendable () -> Int64 = Log.systemTime
    ) {
        self.capacity = capacity
        self.file = file
        self.now = now
        let enabled = LogSubsystem.allCases.filter { !$0.isDetail || level == .debug }
        state = Mutex(State(enabled: Set(enabled), level: level))
    }

    /// Notes a failure.
    public func error(_ subsystem: LogSubsystem, _ message: @autoclosure () -> String) {
        write(.error, subsystem, message)
    }

    /// Notes what happened.
    public func info(_ subsystem: LogSubsystem, _ message: @autoclosure () -> String) {
        write(.info, subsystem, message)
    }

    /// Notes how it happened.
    public func debug(_ subsystem: LogSubsystem, _ message: @autoclosure () -> String) {
        write(.debug, subsystem, message)
    }

    private func write(_ level: LogLevel, _ subsystem: LogSubsystem, _ message: () -> String) {
        let isKept = state.withLock { $0.enabled.contains(subsystem) && (subsystem.isDetail || $0.level >= level) }
        guard isKept else { return }
        // Built outside the lock: a message may be long, and may be made of things that lock too.
        let text = message().withoutSecrets
        let time = now()
        let (entry, watchers) = state.withLock { state in
            let entry = LogEntry(
                sequence: state.next, time: time, subsystem: subsystem, level: level, message: text)
            if state.ring.count < capacity {
                state.ring.append(entry)
            } else {
                state.ring[entry.sequence % capacity] = entry
            }
            state.next += 1
            return (entry, state.watchers)
        }
        Self.wake(watchers)
        file?.append(entry.line)
    }

    /// The entries in memory, oldest first.
    public var entries: [LogEntry] {
        state.withLock { state in
            let oldest = max(state.firstKept, state.next - state.ring.count)
            return (oldest..<state.next).map { state.ring[$0 % capacity] }
        }
    }

    /// Forgets the entries in memory. The file keeps its own.
    public func clear() {
        let watchers = state.withLock { state in
            state.firstKept = state.next
            return state.watchers
        }
        Self.wake(watchers)
    }

    /// Whether a subsystem's entries are kept.
    public func isEnabled(_ subsystem: LogSubsystem) -> Bool {
        state.withLock { $0.enabled.contains(subsystem) }
    }

    /// Switches a subsystem on or off, for every entry from now on.
    public func setEnabled(_ enabled: Bool, for subsystem: LogSubsystem) {
        let watchers = state.withLock { state in
            if enabled { state.enabled.insert(subsystem) } else { state.enabled.remove(subsystem) }
            return state.watchers
        }
        Self.wake(watchers)
    }

    /// Tells those who listen. Never under the lock: to wake a task takes a lock of the task's own, which is held while the
    /// task is cancelled, and then its stream ends and wants ours.
    private static func wake(_ watchers: [Int: AsyncStream<Void>.Continuation]) {
        for watcher in watchers.values { watcher.yield() }
    }

    /// Yields after entries or switches changed. A burst is one element: ask for ``entries`` then.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let watcher = state.withLock { state in
                state.nextWatcher += 1
                state.watchers[state.nextWatcher] = continuation
                return state.nextWatcher
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: watcher) }
            }
        }
    }

    /// Milliseconds since 1970 by the system's clock.
    public static func systemTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// One line of the log.
public struct LogEntry: Hashable, Sendable {
    /// Counts up by one from entry to entry; tells what is new since a reader last looked.
    public let sequence: Int
    /// Milliseconds since 1970.
    public let time: Int64
    /// Who wrote it.
    public let subsystem: LogSubsystem
    /// How much it matters.
    public let level: LogLevel
    /// What happened: one line, made harmless, bounded.
    public let message: String

    /// The longest message that is kept, in bytes. Servers can put a megabyte into a header.
    static let maximumLength = 2_000

    init(sequence: Int, time: Int64, subsystem: LogSubsystem, level: LogLevel, message: String) {
        self.sequence = sequence
        self.time = time
        self.subsystem = subsystem
        self.level = level
        let bounded =
            message.utf8.count <= Self.maximumLength
            ? message : String(decoding: message.utf8.prefix(Self.maximumLength), as: UTF8.self) + "…"
        self.message = bounded.madeVisible
    }

    /// The entry as it stands in a file and on the log screen: `YYYY-MM-DD HH:MM:SS.mmm subsystem message`, in the
    /// user's time zone.
    public var line: String {
        var seconds = time_t(time / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map(Self.padded)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.padded(Int($0)) }
        let milliseconds = String(1000 + time % 1000).dropFirst()
        return date.joined(separator: "-") + " " + clock.joined(separator: ":")
            + ".\(milliseconds) \(subsystem.name) \(message)"
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

/// How much a line of the log matters. The user sets the least that is kept.
public enum LogLevel: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// Something failed that the user may have to do something about.
    case error
    /// What happened, in the user's terms.
    case info
    /// What happened, in the program's terms.
    case debug

    /// As it is written on the command line.
    public var name: String {
        switch self {
        case .error: "error"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// What matters most comes first.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The parts of Vitrine that write to the log, each with a switch of its own.
public enum LogSubsystem: Int, Hashable, Sendable, CaseIterable {
    /// Requests: what is asked for, what came of it, what is tried again.
    case network
    /// Each transfer's connection, headers and timing.
    case networkDetail
    /// Updates of galleries: what was added, changed, removed.
    case sync
    /// Reading gallery files: entries that were skipped, and why.
    case xml
    /// The cache: opening, cleaning, repairing, checkpoints.
    case cache
    /// The terminal and the screens.
    case screen

    /// Whether all of its entries are details that most users never need, so that its switch decides and not the level.
    var isDetail: Bool { self == .networkDetail }

    /// As it stands in a line of the log.
    public var name: String {
        switch self {
        case .network: "network"
        case .networkDetail: "network-detail"
        case .sync: "sync"
        case .xml: "xml"
        case .cache: "cache"
        case .screen: "screen"
        }
    }
}
