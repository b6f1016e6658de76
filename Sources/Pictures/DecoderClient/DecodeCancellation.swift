import Glibc
import Pixels
import Synchronization

/// A way to stop a decoder, from any thread and at any time: before it was started, while it runs, after its end.
package final class DecodeCancellation: Sendable {
    private enum State {
        case idle
        case running(Work)
        case cancelled
    }

    /// What decodes.
    enum Work {
        /// A program of its own.
        case program(pid_t)
        /// A process of the server's, on this connection.
        case connection(PacketSocket)

        /// Ends it. A server ends the process when the connection is closed, and so does whoever waits for it.
        fileprivate func end() {
            switch self {
            case .program(let process): kill(process, SIGKILL)
            case .connection(let connection): connection.end()
            }
        }
    }

    private let state = Mutex(State.idle)

    package init() {}

    /// Stops what runs, or what would run. It can be repeated.
    func cancel() {
        state.withLock { state in
            // Under the lock: as long as the state says so the process has not been reaped, and its number is its own.
            if case .running(let work) = state { work.end() }
            state = .cancelled
        }
    }

    /// Whether it was cancelled.
    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Notes that a decoder runs; false if it should not.
    func begin(_ work: Work) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .running(work)
            return true
        }
    }

    /// Notes that a decoder has ended and is about to be reaped. Returns whether it was cancelled.
    func end() -> Bool {
        state.withLock { state in
            if case .cancelled = state { return true }
            state = .idle
            return false
        }
    }
}

/// A time to wait for something in, however often that is.
struct Deadline {
    private let deadline: Int64
    /// Whoever always has something to say does not get more time for it.
    private var isOver = false

    init(milliseconds: Int32) {
        deadline = Self.now + Int64(milliseconds)
    }

    /// Waits for something on a descriptor. Returns what there is; nil if the time ran out first.
    mutating func poll(_ descriptor: Int32) -> Int32? {
        guard !isOver else { return nil }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = Glibc.poll(&entry, 1, Int32(clamping: max(0, deadline - Self.now)))
            isOver = Self.now >= deadline
            if count == 0 { return nil }
            if count > 0 { return Int32(entry.revents) }
        }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
