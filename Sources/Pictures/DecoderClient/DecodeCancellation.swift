import Glibc
import Pixels
import Synchronization

/// Stops a decoder from any thread, before its start, while it runs or after its end.
package final class DecodeCancellation: Sendable {
    private enum State {
        case idle
        case running(Work)
        case cancelled
    }

    /// A running decoder.
    enum Work {
        /// A program for this picture.
        case program(pid_t)
        /// A server's process, behind this connection.
        case connection(PacketSocket)

        /// Ends the decoder. The server ends its process when the connection closes, which also wakes the waiting
        /// caller.
        fileprivate func end() {
            switch self {
            case .program(let process): kill(process, SIGKILL)
            case .connection(let connection): connection.end()
            }
        }
    }

    private let state = Mutex(State.idle)

    package init() {}

    /// Stops the running decoder, or the one about to start. Further calls have no effect.
    func cancel() {
        state.withLock { state in
            // Under the lock, because in this state the process has not been reaped and its identifier is still
            // valid.
            if case .running(let work) = state { work.end() }
            state = .cancelled
        }
    }

    /// Whether `cancel` was called.
    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Registers a running decoder. Returns false if it was cancelled before.
    func begin(_ work: Work) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .running(work)
            return true
        }
    }

    /// Unregisters a decoder before it is reaped. Returns whether it was cancelled.
    func end() -> Bool {
        state.withLock { state in
            if case .cancelled = state { return true }
            state = .idle
            return false
        }
    }
}

/// A time limit for several waits together.
struct Deadline {
    private let deadline: Int64
    /// Stays set, so that a descriptor with constant input cannot extend the limit.
    private var isOver = false

    init(milliseconds: Int32) {
        deadline = Self.now + Int64(milliseconds)
    }

    /// Waits for input on a descriptor. Returns its events; nil after the deadline.
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
