import Glibc
import Pixels
import Synchronization

/// Stops a decoder from any thread. The decoder may not have started yet, may be running, or may have ended.
package final class DecodeCancellation: Sendable {
    private enum State {
        case idle
        case running(Work)
        case cancelled
    }

    /// A decoder at work on one picture.
    enum Work {
        /// A program that was started for this picture.
        case program(pid_t)
        /// A process that the decoder server forked, at the other end of this connection.
        case connection(PacketSocket)

        /// Ends the decoder. When the connection closes, a server ends the picture's process. The end of the process
        /// wakes the waiting caller.
        fileprivate func end() {
            switch self {
            case .program(let process): kill(process, SIGKILL)
            case .connection(let connection): connection.end()
            }
        }
    }

    private let state = Mutex(State.idle)

    package init() {}

    /// Stops the running decoder, or the next one that starts. Further calls have no effect.
    func cancel() {
        state.withLock { state in
            // End the decoder under the lock: while it is running, its process has not been reaped, so the identifier
            // is still valid.
            if case .running(let work) = state { work.end() }
            state = .cancelled
        }
    }

    /// Whether the caller has called `cancel`.
    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Registers a running decoder. Returns false if the caller has already cancelled.
    func begin(_ work: Work) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .running(work)
            return true
        }
    }

    /// Unregisters a decoder that has ended. Returns whether the caller has cancelled. Call this method before the
    /// process is reaped.
    func end() -> Bool {
        state.withLock { state in
            if case .cancelled = state { return true }
            state = .idle
            return false
        }
    }
}

/// A time limit shared by several waits.
struct Deadline {
    private let deadline: Int64
    /// Whether the deadline has passed. After the deadline, `poll` returns nil even if there is input, so constant
    /// input cannot extend the limit.
    private var isOver = false

    init(milliseconds: Int32) {
        deadline = Self.now + Int64(milliseconds)
    }

    /// Waits for input on a descriptor. Returns the events of `poll`, or nil after the deadline.
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
