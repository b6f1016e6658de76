import Concurrency
import Model
import Numbers
import Synchronization

/// Decides what to remove when all caches together exceed their limit. Each call of ``next(_:)`` decides one step.
///
///     while let step = budget.next(entries) { entries = done(step) }
///
/// Vitrine always removes a damaged database that it set aside 30 days ago. It also removes a cache that has not been
/// used for 90 days, or that the user removed while it was open. Such a cache stays if the user's list contains its
/// gallery, or if the user has marked the gallery to be kept.
///
/// If the caches exceed the limit, files larger than a quarter of the limit are removed first, such as saved videos.
/// Large files that must stay for now do not count towards the limit, so that no other gallery loses pictures because
/// of them. Next, the remaining set-aside databases are removed. Then the galleries lose their photos and then their
/// thumbnails, the least recently opened gallery first. A gallery that screens show or updates fill comes last; it
/// keeps its list and the pictures that screens need. Lists are small and make offline browsing possible, so a list is
/// removed last, together with its whole cache. The pictures of an open gallery never cause the removal of a list.
/// Galleries that the user marked to be kept, or that another process has open, lose no pictures and no lists.
///
/// An unreadable database may be rescued later and may belong to a gallery marked to be kept, so such a cache loses
/// set-aside databases only.
struct CacheBudget: Equatable {
    /// The limit for all caches in bytes; nil for no limit.
    let limit: Int64?
    /// The current time.
    let now: Timestamp
    /// Whether steps may remove pictures of galleries that are needed.
    var includesOpen = false
    /// Whether a step may remove a whole cache when nothing else is left.
    var includesLists = true

    /// Returns a percentage of a number of bytes.
    static func part(_ hundredths: Int64, of bytes: Int64) -> Int64 {
        bytes / 100 * hundredths + bytes % 100 * hundredths / 100
    }

    /// Returns the size above which a photo's file counts as large. Cleaning removes large files first.
    static func largest(within limit: Int64) -> Int64 { part(25, of: limit) }

    /// Returns the number of bytes above the limit. Large files do not count.
    func excess(_ caches: [CacheInventory]) -> Int64 {
        guard let limit else { return 0 }
        return caches.reduce(0) { $0 + $1.size - $1.large } - limit
    }

    /// Returns the number of bytes above the limit, without open galleries' pictures.
    private func excessOfLists(_ caches: [CacheInventory]) -> Int64 {
        guard let limit else { return 0 }
        // The size of a list is unknown while another process has the gallery open.
        let bytes = caches.reduce(0) { sum, cache in
            sum + (cache.isInUse ? cache.isOpenHere ? cache.database : 0 : cache.size - cache.large)
        }
        return bytes - limit
    }

    /// The number of days to keep a database that was set aside.
    private static let daysSetAside: Int64 = 30
    /// The number of days to keep an unused cache. Caches of galleries in the user's list have no such limit.
    private static let daysAbandoned: Int64 = 90

    /// One removal, for the caller to perform.
    enum Step: Hashable {
        /// Remove a damaged database that was set aside.
        case setAside(CacheInventory.SetAside, of: String)
        /// Remove the oldest large files, until this many bytes are free.
        case large(of: String, bytes: Int64)
        /// Remove the oldest photos, until this many bytes are free.
        case photos(of: String, bytes: Int64)
        /// Remove all thumbnails and shrink the database. A gallery open in this process loses only as many thumbnails
        /// as necessary.
        case thumbnails(of: String)
        /// Remove the whole cache.
        case everything(of: String)
    }

    /// Returns the next step. Returns nil if nothing more must or can be removed.
    func next(_ caches: [CacheInventory]) -> Step? {
        if let old = oldestSetAside(caches, where: { _, file in isPast(file.time, days: Self.daysSetAside) }) {
            return old
        }
        let changeable = caches.filter { !$0.isKept && $0.isReadable && (!$0.isInUse || $0.isOpenHere) }
            .sorted { ($0.isNeeded ? 1 : 0, $0.lastOpened, $0.name) < ($1.isNeeded ? 1 : 0, $1.lastOpened, $1.name) }
        let own = changeable.filter { !$0.isInUse }
        let abandoned = own.first {
            !$0.isRemembered && ($0.isEmptied || isPast($0.lastUsed, days: Self.daysAbandoned))
        }
        if let abandoned { return .everything(of: abandoned.name) }
        guard let limit else { return nil }
        let whole = caches.reduce(0) { $0 + $1.size } - limit
        guard whole > 0 else { return nil }
        if let cache = changeable.first(where: { $0.large > 0 && !$0.isLargeStuck }) {
            return .large(of: cache.name, bytes: whole)
        }
        let excess = excess(caches)
        guard excess > 0 else { return nil }
        if let file = oldestSetAside(caches, where: { cache, _ in !cache.isInUse }) { return file }
        for cache in changeable {
            if cache.photos > 0, includesOpen || cache.givesUp(.original) {
                return .photos(of: cache.name, bytes: excess)
            }
            if cache.canShrink, includesOpen || cache.givesUp(.thumbnail) { return .thumbnails(of: cache.name) }
        }
        guard includesLists, excessOfLists(caches) > 0 else { return nil }
        return own.first.map { .everything(of: $0.name) }
    }

    private func oldestSetAside(
        _ caches: [CacheInventory], where isMeant: (CacheInventory, CacheInventory.SetAside) -> Bool
    ) -> Step? {
        let files = caches.flatMap { cache in
            cache.setAside.filter { isMeant(cache, $0) }.map { (cache: cache.name, file: $0) }
        }
        return files.min { ($0.file.time, $0.file.name) < ($1.file.time, $1.file.name) }
            .map { .setAside($0.file, of: $0.cache) }
    }

    /// Whether a number of days has passed since a time. False for a time in the future, which a wrong clock may cause.
    private func isPast(_ time: Timestamp, days: Int64) -> Bool {
        let (end, overflows) = time.milliseconds.addingReportingOverflow(days * 86_400_000)
        return !overflows && end <= now.milliseconds
    }
}

/// Tracks the disk space that all caches use. Signals when Vitrine must measure the space again.
///
/// Measuring visits every file, so it happens after enough bytes were written, not after each picture. The cleaning
/// task waits for ``alarms()``, measures and cleans, and reports the result with `recordCount`. Without a limit, and
/// before the first measurement, written bytes cause no alarm.
public final class CacheSpace: Sendable {
    private struct State {
        var limit: Int64?
        /// The bytes of all caches at the last measurement; nil before the first measurement.
        var size: Int64?
        var written: Int64 = 0
        /// The total number of bytes that triggers the next alarm.
        var next: Int64 = .max
        var isShort = false

        /// The measurement for other processes. Its size includes the bytes written since the measurement.
        var measurement: Measurement {
            Measurement(size: size.map { $0.addingReportingOverflow(written).partialValue }, isShort: isShort)
        }
    }

    /// Bytes that this process has written.
    public struct Written: Coalescing, Equatable {
        /// The number of bytes.
        public var bytes: Int64
        /// Whether the caches must be measured, because a large file was removed.
        public var isCountDue = false

        /// Creates a number of bytes.
        public init(bytes: Int64, isCountDue: Bool = false) {
            (self.bytes, self.isCountDue) = (bytes, isCountDue)
        }

        /// Adds bytes written later.
        public mutating func merge(_ later: Written) {
            bytes = (ByteCount(bytes) + ByteCount(later.bytes)).int64
            isCountDue = isCountDue || later.isCountDue
        }
    }

    /// The result of measuring the caches, for another process that writes to them.
    public struct Measurement: Coalescing, Equatable {
        /// The bytes of all caches; nil before the first measurement.
        public var size: Int64?
        /// Whether the caches lack space. See ``CacheSpace/isShort``.
        public var isShort: Bool

        /// Creates a measurement.
        public init(size: Int64?, isShort: Bool) {
            (self.size, self.isShort) = (size, isShort)
        }

        /// Replaces this measurement by the later one.
        public mutating func merge(_ later: Measurement) {
            self = later
        }
    }

    private let state: Mutex<State>
    private let subscribers = Subscribers<Signal>()
    private let writes = Subscribers<Written>()
    private let measurements = Subscribers<Measurement>()

    init(limit: Int64?) {
        state = Mutex(State(limit: limit))
    }

    /// The limit for all caches in bytes; nil for no limit.
    public var limit: Int64? { state.withLock { $0.limit } }

    /// Sets the limit, and requests a measurement.
    public func setLimit(_ limit: Int64?) {
        let isDue = change { state in
            guard limit != state.limit else { return false }
            state.limit = limit
            // The next measurement sets both values.
            (state.next, state.isShort) = (.max, false)
            return true
        }
        if isDue { subscribers.send(Signal()) }
    }

    /// Whether the caches lack space for pictures that no screen shows.
    ///
    /// The value is true if cleaning could not bring the caches below 90 % of the limit, or if they reached the limit
    /// before cleaning. Vitrine fetches visible pictures anyway; they replace others.
    public var isShort: Bool { state.withLock { $0.isShort } }

    /// Requests a new measurement, because something was removed, or may be removed now. Without a limit, no alarm
    /// follows.
    public func requestCount() {
        writes.send(Written(bytes: 0, isCountDue: true))
        if limit != nil { subscribers.send(Signal()) }
    }

    /// Calls `body` with the number of bytes of each write. The calls end when the relay is released.
    public func relayWrites(_ body: @escaping @Sendable (Written) -> Void) -> Relay<Written> {
        writes.relay(body)
    }

    /// Calls `body` now and after each measurement, until the relay is released.
    public func relayMeasurements(_ body: @escaping @Sendable (Measurement) -> Void) -> Relay<Measurement> {
        state.withLock { measurements.relay(beginningWith: $0.measurement, body) }
    }

    /// Stores a measurement of the process that cleans the caches.
    public func adopt(_ measurement: Measurement) {
        state.withLock { state in
            (state.size, state.written) = (measurement.size, 0)
            state.isShort = measurement.isShort
        }
    }

    /// Adds the bytes that another process has written.
    public func adopt(_ written: Written) {
        recordWritten(written.bytes)
        if written.isCountDue { requestCount() }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let before = state.isShort
            let result = body(&state)
            if state.isShort != before { measurements.send(state.measurement) }
            return result
        }
    }

    /// Subscribes to requests to measure the caches.
    public func alarms() -> CoalescingStream<Signal> { subscribers.subscribe() }

    /// Adds written bytes to the total. Sends an alarm if the total has reached the next threshold.
    func recordWritten(_ bytes: Int64) {
        writes.send(Written(bytes: bytes))
        let isDue = change { state in
            guard let size = state.size else { return false }
            state.written = (ByteCount(state.written) + ByteCount(bytes)).int64
            let total = size.addingReportingOverflow(state.written).partialValue
            // Writing was faster than measuring, so pictures that no screen shows must wait.
            if let limit = state.limit, total >= limit { state.isShort = true }
            guard total >= state.next else { return false }
            // One alarm is enough. The next measurement sets a new threshold.
            state.next = .max
            return true
        }
        if isDue { subscribers.send(Signal()) }
    }

    /// The bytes written since the last measurement. Read this property before a measurement, because more bytes may be
    /// written meanwhile.
    var written: Int64 { state.withLock { $0.written } }

    /// Records the total size of all caches after cleaning.
    ///
    /// - Parameters:
    ///   - written: the value of ``written`` before the measurement.
    ///   - isCleaned: whether cleaning has removed everything that it may remove from closed caches.
    func recordCount(_ size: Int64, before written: Int64 = .max, isCleaned: Bool) {
        state.withLock { state in
            defer { measurements.send(state.measurement) }
            (state.size, state.written) = (size, max(0, state.written - min(written, state.written)))
            guard let limit = state.limit else { return }
            let soft = CacheBudget.part(90, of: limit)
            state.isShort = size >= soft && (isCleaned || state.isShort)
            if !state.isShort {
                state.next = soft
            } else {
                // Files that cannot be removed must not cause an endless series of counts.
                state.next = max(limit, size) + (size > limit ? CacheBudget.part(3, of: limit) + 1 : 0)
            }
        }
    }
}
