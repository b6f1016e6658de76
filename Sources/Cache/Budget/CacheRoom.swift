import Concurrency
import Synchronization

/// How much room the caches may take together, and how much has been written since they were last counted.
///
/// To count them all takes a look at every file, so it is done when enough has been written and not with each picture. Whoever
/// keeps the caches within their room listens to ``alarms()``, counts and cleans, and says with ``noteCounted(_:)`` what is
/// left. Without a limit, and before the first count, nobody is called.
public final class CacheRoom: Sendable {
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
    func noteWritten(_ bytes: Int64) {
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
    func noteCounted(_ size: Int64, before written: Int64 = .max, isCleaned: Bool) {
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
