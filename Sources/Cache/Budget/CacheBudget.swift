import Concurrency
import Model
import Synchronization

/// What goes when caches take more room than they may, one step after the other. It decides, and does nothing.
///
///     while let step = budget.next(entries) { entries = done(step) }
///
/// What nobody will miss goes in any case: databases that were set aside thirty days ago, and caches of galleries that are
/// neither remembered nor kept and have not been used for ninety days. Where there is a limit and more is there than it
/// allows, the rest of what was set aside goes first, then the galleries give up what they have, the least recently opened
/// first: each its photos and then its thumbnails. Their lists are small, and what is shown without a network; they go, and
/// the cache with them, when nothing else is left. A gallery that is open in this process is taken last, and keeps its list
/// and what is wished for. Galleries that another process has open, or that are marked to be kept, stay.
///
/// A cache whose database cannot be read does not say whether it is to be kept, and the next who opens it may yet save all
/// of it: nothing of it goes but what was set aside.
struct CacheBudget: Equatable {
    /// Bytes that all caches may take together; nil for as many as they like.
    let limit: Int64?
    /// The time.
    let now: Timestamp
    /// Whether galleries that are open in this process give something, too.
    var includesOpen = false
    /// Whether lists go where nothing else is left.
    var includesLists = true

    /// So many hundredths of a number of bytes.
    static func part(_ hundredths: Int64, of bytes: Int64) -> Int64 {
        bytes / 100 * hundredths + bytes % 100 * hundredths / 100
    }

    /// Days after which nobody comes back for a database that was set aside.
    private static let daysSetAside: Int64 = 30
    /// Days after which a gallery that is not remembered is given up.
    private static let daysAbandoned: Int64 = 90

    /// What is to be done next.
    enum Step: Hashable {
        /// A file goes that was set aside.
        case setAside(CacheInventory.SetAside, of: String)
        /// Photos go, the oldest first, until so many bytes are free, or all.
        case photos(of: String, bytes: Int64)
        /// All thumbnails go, and the database gives back the room. Of a gallery that is open, as many
        /// as it takes.
        case thumbnails(of: String)
        /// The whole cache goes.
        case everything(of: String)
    }

    /// What is to be done next; nil if all is well, or nothing can be done.
    func next(_ caches: [CacheInventory]) -> Step? {
        if let old = oldestSetAside(caches, where: { _, file in isPast(file.time, days: Self.daysSetAside) }) {
            return old
        }
        let mine = caches.filter { !$0.isKept && $0.isReadable && (!$0.isInUse || $0.isOpenHere && includesOpen) }
            .sorted {
                ($0.isOpenHere ? 1 : 0, $0.lastOpened, $0.name) < ($1.isOpenHere ? 1 : 0, $1.lastOpened, $1.name)
            }
        let own = mine.filter { !$0.isInUse }
        if let abandoned = own.first(where: { !$0.isRemembered && isPast($0.lastUsed, days: Self.daysAbandoned) }) {
            return .everything(of: abandoned.name)
        }
        guard let limit else { return nil }
        let excess = caches.reduce(0) { $0 + $1.size } - limit
        guard excess > 0 else { return nil }
        if let file = oldestSetAside(caches, where: { cache, _ in !cache.isInUse }) { return file }
        for cache in mine {
            if cache.photos > 0 { return .photos(of: cache.name, bytes: excess) }
            if cache.canShrink { return .thumbnails(of: cache.name) }
        }
        guard includesLists else { return nil }
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

    /// A time to come is not past, however far: then somebody's clock is or was wrong.
    private func isPast(_ time: Timestamp, days: Int64) -> Bool {
        let (end, overflows) = time.milliseconds.addingReportingOverflow(days * 86_400_000)
        return !overflows && end <= now.milliseconds
    }
}

/// How much room the caches may take together, and how much has been written since they were last counted.
///
/// To count them all takes a look at every file, so it is done when enough has been written and not with each picture. Whoever
/// keeps the caches within their room listens to ``alarms()``, counts and cleans, and says with ``recordCount(_:)`` what is
/// left. Without a limit, and before the first count, nobody is called.
public final class CacheSpace: Sendable {
    /// A reason to count: so much has been written.
    public struct Alarm: Coalescing {
        /// One reason is as good as two.
        public mutating func merge(_ later: Alarm) {}
    }

    private struct State {
        var limit: Int64?
        /// Bytes at the last count, and written since; nil before it.
        var size: Int64?
        var written: Int64 = 0
        /// Bytes at which to count again.
        var next: Int64 = .max
        var isShort = false
    }

    private let state: Mutex<State>
    private let subscribers = Subscribers<Alarm>()

    init(limit: Int64?) {
        state = Mutex(State(limit: limit))
    }

    /// Bytes that all caches may take together; nil for as many as they like.
    public var limit: Int64? { state.withLock { $0.limit } }

    /// Whether there is no room for what nobody looks at: nine tenths are taken, and the caches that are not open have given
    /// what they had; or all is taken, and they have not yet been asked. Pictures on a screen are fetched all the same, and replace others.
    public var isShort: Bool { state.withLock { $0.isShort } }

    /// Begins to listen.
    public func alarms() -> CoalescingStream<Alarm> { subscribers.subscribe() }

    /// Notes that something has been written.
    func recordWritten(_ bytes: Int64) {
        let isDue = state.withLock { state in
            guard let size = state.size else { return false }
            state.written = state.written.addingReportingOverflow(max(0, bytes)).partialValue
            let total = size.addingReportingOverflow(state.written).partialValue
            // Faster than it is counted and cleaned: what nobody looks at waits for that.
            if let limit = state.limit, total >= limit { state.isShort = true }
            guard total >= state.next else { return false }
            // Once: the count that comes of it sets the next mark.
            state.next = .max
            return true
        }
        if isDue { subscribers.send(Alarm()) }
    }

    /// Bytes that have been written since the last count. A count reads it first, because other bytes are written meanwhile.
    var written: Int64 { state.withLock { $0.written } }

    /// Notes how many bytes all caches take, after they have been cleaned.
    ///
    /// - Parameters:
    ///   - written: what ``written`` was before they were counted.
    ///   - isCleaned: whether the caches that are not open have given what they had.
    func recordCount(_ size: Int64, before written: Int64 = .max, isCleaned: Bool) {
        state.withLock { state in
            (state.size, state.written) = (size, max(0, state.written - min(written, state.written)))
            guard let limit = state.limit else { return }
            let soft = CacheBudget.part(90, of: limit)
            state.isShort = size >= soft && (isCleaned || state.isShort)
            if !state.isShort {
                state.next = soft
            } else {
                // Files that cannot go must not cause one count after another.
                state.next = max(limit, size) + (size > limit ? CacheBudget.part(3, of: limit) + 1 : 0)
            }
        }
    }
}
