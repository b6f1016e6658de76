import Glibc
import Synchronization
import Text

/// Keeps recent entries in memory. Also writes all entries to a file if the user wants one.
///
///     log.info(.sync, "\(added) added, \(removed) removed")
///     log.debug(.networkDetail, "connected after \(milliseconds) ms")
///
/// Any thread may write entries, and writing never waits for the file. The log builds a message only if it keeps the
/// entry. The composition root creates the only log and passes it to the other objects; there is no global log.
///
/// The log keeps an entry if the entry's subsystem is on and the log's level includes the entry's level. For details of
/// transfers, only the switch of their subsystem counts, not the level. At the start, this switch is off unless the
/// level is `debug`. If the user names a host, the log keeps the heads of all requests to this host and of the answers,
/// whatever the levels are.
public final class Log: Sendable {
    private struct State {
        /// The entries as a ring. Each entry is at index `sequence % capacity`.
        var ring: [LogEntry] = []
        /// The sequence number of the next entry.
        var next = 0
        /// The sequence number of the first entry after the last clear.
        var firstKept = 0
        var enabled: Set<LogSubsystem>
        var level: LogLevel
        /// The levels of the subsystems that do not use `level`.
        var levels: [LogSubsystem: LogLevel] = [:]
        /// The host for which requests and answers are logged; nil for none.
        var host: String?
        /// The file that receives every kept entry.
        var file: LogFile?
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
        /// The listener that receives the filter after each change.
        var onFilter: (@Sendable (LogFilter) -> Void)?

        var filter: LogFilter {
            LogFilter(enabled: enabled, level: level, levels: levels, exchangeHost: host)
        }
    }

    private let state: Mutex<State>
    private let capacity: Int
    private let now: @Sendable () -> Int64

    /// Creates a log without entries.
    ///
    /// - Parameters:
    ///   - capacity: the number of entries kept in memory.
    ///   - level: the most detailed level of the entries to keep.
    ///   - file: a file that receives every kept entry.
    ///   - now: returns milliseconds since 1970.
    public init(
        capacity: Int = 1_000, level: LogLevel = .info, file: LogFile? = nil,
        now: @escaping @Sendable () -> Int64 = Log.systemTime
    ) {
        self.capacity = capacity
        self.now = now
        let enabled = LogSubsystem.allCases.filter { !$0.isDetail || level == .debug }
        state = Mutex(State(enabled: Set(enabled), level: level, file: file))
    }

    /// Sets the level of later entries, and different levels for some subsystems.
    ///
    /// This method also turns subsystems on or off. A subsystem is off if its level is nil, or if it logs only details
    /// and its level is not `debug`.
    ///
    /// - Parameter levels: the subsystems with a level of their own; nil turns a subsystem off.
    public func setLevel(_ level: LogLevel, _ levels: [LogSubsystem: LogLevel?] = [:]) {
        let watchers = state.withLock { state in
            state.level = level
            state.levels = levels.compactMapValues { $0 }
            state.enabled = Set(
                LogSubsystem.allCases.filter { subsystem in
                    guard let own = levels[subsystem, default: level] else { return false }
                    return !subsystem.isDetail || own == .debug
                })
            state.onFilter?(state.filter)
            return state.watchers
        }
        Self.wake(watchers)
    }

    /// Sets the file that receives every later entry; nil for no file.
    public func setFile(_ file: LogFile?) {
        // Write the last entries of the former file now, because releasing the file only closes it.
        let former = state.withLock { state in
            defer { state.file = file }
            return state.file
        }
        former?.flush()
    }

    /// Waits until the file has all entries so far. Vitrine calls this method before it ends.
    public func flush() { state.withLock { $0.file }?.flush() }

    /// Sets the host for which requests and answers are logged. Nil ends this logging.
    public func setExchangeHost(_ host: String?) {
        state.withLock { state in
            state.host = host.map(Self.plain)
            state.onFilter?(state.filter)
        }
    }

    /// The rules by which the log chooses the entries to keep.
    public var filter: LogFilter {
        state.withLock { $0.filter }
    }

    /// Calls `body` with the filter now and after each change. Nil ends the calls. The log holds its lock during a
    /// call, so `body` must not use the log. ``setFilter(_:)`` does not call `body`.
    public func setFilterListener(_ body: (@Sendable (LogFilter) -> Void)?) {
        state.withLock { state in
            state.onFilter = body
            body?(state.filter)
        }
    }

    /// Replaces the filter by the filter of another process.
    public func setFilter(_ filter: LogFilter) {
        state.withLock { state in
            (state.enabled, state.level) = (filter.enabled, filter.level)
            (state.levels, state.host) = (filter.levels, filter.exchangeHost)
        }
    }

    /// Adds an entry that another process has already chosen to keep.
    public func adopt(_ level: LogLevel, _ subsystem: LogSubsystem, at time: Int64, _ message: String) {
        append(level, subsystem, at: time) { message }
    }

    /// Returns whether the requests to a host and their answers are logged.
    public func keepsExchanges(with host: String) -> Bool {
        state.withLock { $0.host.map { $0 == Self.plain(host) } ?? false }
    }

    /// Returns a host's name in its form for DNS, or its address without brackets.
    private static func plain(_ host: String) -> String {
        (HostName.ascii(host) ?? host).filter { !"[]".contains($0) }
    }

    /// Logs the head of a request or answer, whatever the level is. The caller checks ``keepsExchanges(with:)`` first.
    public func exchange(_ message: @autoclosure () -> String) {
        append(.debug, .networkDetail, message)
    }

    /// Logs a failure.
    public func error(_ subsystem: LogSubsystem, _ message: @autoclosure () -> String) {
        write(.error, subsystem, message)
    }

    /// Logs an event that users understand.
    public func info(_ subsystem: LogSubsystem, _ message: @autoclosure () -> String) {
        write(.info, subsystem, message)
    }

    /// Logs a detail for developers.
    public func debug(_ subsystem: LogSubsystem, _ message: @autoclosure () -> String) {
        write(.debug, subsystem, message)
    }

    private func write(_ level: LogLevel, _ subsystem: LogSubsystem, _ message: () -> String) {
        let isKept = state.withLock { state in
            state.enabled.contains(subsystem)
                && (subsystem.isDetail || state.levels[subsystem, default: state.level] >= level)
        }
        if isKept { append(level, subsystem, message) }
    }

    private func append(
        _ level: LogLevel, _ subsystem: LogSubsystem, at known: Int64? = nil, _ message: () -> String
    ) {
        // Build the message outside the lock, because a message may be long and may take other locks.
        let text = message().withoutSecrets
        let time = known ?? now()
        let (entry, watchers, file) = state.withLock { state in
            let entry = LogEntry(
                sequence: state.next, time: time, subsystem: subsystem, level: level, message: text)
            if state.ring.count < capacity {
                state.ring.append(entry)
            } else {
                state.ring[entry.sequence % capacity] = entry
            }
            state.next += 1
            return (entry, state.watchers, state.file)
        }
        Self.wake(watchers)
        file?.append(entry.line)
    }

    /// The entries in memory, the oldest first.
    public var entries: [LogEntry] {
        state.withLock { state in
            let oldest = max(state.firstKept, state.next - state.ring.count)
            return (oldest..<state.next).map { state.ring[$0 % capacity] }
        }
    }

    /// Returns the entries in memory from a sequence number on.
    public func entries(from sequence: Int) -> [LogEntry] {
        state.withLock { state in
            let first = max(sequence, state.firstKept, state.next - state.ring.count)
            return first < state.next ? (first..<state.next).map { state.ring[$0 % capacity] } : []
        }
    }

    /// Clears the entries in memory. The file keeps its entries.
    public func clear() {
        let watchers = state.withLock { state in
            state.firstKept = state.next
            return state.watchers
        }
        Self.wake(watchers)
    }

    /// Returns whether the log keeps the entries of a subsystem.
    public func isEnabled(_ subsystem: LogSubsystem) -> Bool {
        state.withLock { $0.enabled.contains(subsystem) }
    }

    /// Turns a subsystem on or off for later entries.
    public func setEnabled(_ enabled: Bool, for subsystem: LogSubsystem) {
        let watchers = state.withLock { state in
            if enabled { state.enabled.insert(subsystem) } else { state.enabled.remove(subsystem) }
            state.onFilter?(state.filter)
            return state.watchers
        }
        Self.wake(watchers)
    }

    /// Wakes the watchers. The caller must not hold the log's lock, because a deadlock would be possible. Waking a task
    /// takes the task's lock, while a cancelled task may hold that lock and wait for the log's lock.
    private static func wake(_ watchers: [Int: AsyncStream<Void>.Continuation]) {
        for watcher in watchers.values { watcher.yield() }
    }

    /// A stream that yields after entries, levels or enabled subsystems have changed. Several changes may yield only
    /// one value, so the reader must read ``entries`` again.
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

    /// Returns the milliseconds since 1970 by the system's clock.
    public static func systemTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// The rules by which a log chooses the entries to keep.
public struct LogFilter: Hashable, Sendable {
    /// The subsystems that are on.
    public var enabled: Set<LogSubsystem>
    /// The most detailed level of the entries to keep.
    public var level: LogLevel
    /// The levels of the subsystems that do not use ``level``.
    public var levels: [LogSubsystem: LogLevel]
    /// The host for which requests and answers are logged; nil for none.
    public var exchangeHost: String?

    /// Creates a filter.
    public init(
        enabled: Set<LogSubsystem>, level: LogLevel, levels: [LogSubsystem: LogLevel], exchangeHost: String?
    ) {
        (self.enabled, self.level, self.levels, self.exchangeHost) = (enabled, level, levels, exchangeHost)
    }
}

/// One entry of the log.
public struct LogEntry: Hashable, Sendable {
    /// The entry's number. Each entry's number is one more than that of the entry before.
    public let sequence: Int
    /// The time of the entry, in milliseconds since 1970.
    public let time: Int64
    /// The part of Vitrine that wrote the entry.
    public let subsystem: LogSubsystem
    /// The importance of the entry.
    public let level: LogLevel
    /// The message: one line, escaped and limited in length.
    public let message: String

    /// The maximum length of a message in bytes. The log cuts longer messages, because servers can put a megabyte into
    /// a header.
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

    /// The entry as a line: `YYYY-MM-DD HH:MM:SS.mmm subsystem message`, in local time.
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

/// The level of a log entry.
public enum LogLevel: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// A failure that the user may have to act on.
    case error
    /// An event that users understand.
    case info
    /// A detail for developers.
    case debug

    /// The level's name on the command line.
    public var name: String {
        switch self {
        case .error: "error"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Returns whether a level is less detailed than another. Errors come first.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The parts of Vitrine that write to the log. The user can switch each part on or off.
public enum LogSubsystem: Int, Hashable, Sendable, CaseIterable {
    /// Requests, their results and retries.
    case network
    /// Connections, headers and timing of each transfer.
    case networkDetail
    /// Updates of galleries: photos added, changed and removed.
    case sync
    /// Gallery files: skipped entries and the reasons.
    case xml
    /// The cache: opening, cleaning, repairs, checkpoints.
    case cache
    /// The terminal and the screens.
    case screen

    /// Whether the subsystem logs only details. Such a subsystem is on or off, whatever the log level is.
    var isDetail: Bool { self == .networkDetail }

    /// The subsystem's name in a line of the log.
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
