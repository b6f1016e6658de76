import CConcurrency
import Dispatch
import Glibc
import Synchronization

/// A few threads that take work in the order in which it comes, and otherwise sleep.
///
/// Dispatch's concurrent queues would do, but for one thing: as soon as one has run anything, Dispatch on Linux looks
/// once a second how many of their threads are busy, for as long as the program lives. A program that somebody leaves
/// open on a train has no business to wake the machine up. Serial dispatch queues are not looked after so.
///
///     let workers = Workers(name: "darkroom", count: 2)
///     workers.run { print("on a thread of theirs") }
///
/// Threads are started when there is work for them, and end with the object, after the work that was given.
public final class Workers: Sendable {
    /// Shared with the threads, so that they do not keep the object alive.
    private final class Shared: Sendable {
        struct State {
            /// Work not yet begun, the oldest last.
            var incoming: [@Sendable () -> Void] = []
            /// The same, turned round as often as this has run out: so taking the oldest costs nothing.
            var outgoing: [@Sendable () -> Void] = []
            var threads = 0
            var idle = 0
            var ended = false
        }

        let state = Mutex(State())
        let news = DispatchSemaphore(value: 0)

        /// The oldest work. Waits for it; returns nil when there will be none any more.
        func next() -> (@Sendable () -> Void)? {
            while true {
                let (work, ended): ((@Sendable () -> Void)?, Bool) = state.withLock { state in
                    if state.outgoing.isEmpty {
                        state.outgoing = state.incoming.reversed()
                        state.incoming = []
                    }
                    let work = state.outgoing.popLast()
                    if work == nil, !state.ended { state.idle += 1 }
                    return (work, state.ended)
                }
                if let work { return work }
                if ended { return nil }
                news.wait()
            }
        }
    }

    private let shared = Shared()
    private let name: String
    private let count: Int

    /// No thread is started yet.
    ///
    /// - Parameters:
    ///   - name: what the system calls the threads, in 15 bytes.
    ///   - count: how many there may be, at least one.
    public init(name: String, count: Int) {
        self.name = name
        self.count = max(1, count)
    }

    deinit {
        let idle = shared.state.withLock { state in
            state.ended = true
            return state.idle
        }
        for _ in 0..<idle { shared.news.signal() }
    }

    /// Has some work done, as soon as a thread is free.
    public func run(_ work: @escaping @Sendable () -> Void) {
        let (wake, start) = shared.state.withLock { state in
            state.incoming.append(work)
            if state.idle > 0 {
                state.idle -= 1
                return (true, false)
            }
            guard state.threads < count else { return (false, false) }
            state.threads += 1
            return (false, true)
        }
        if wake { shared.news.signal() }
        guard start else { return }
        startThread()
    }

    private func startThread() {
        /// What a thread is given: a name, and where its work comes from.
        final class Beginning {
            let name: String
            let shared: Shared
            init(name: String, shared: Shared) { (self.name, self.shared) = (name, shared) }
        }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { context in
                let beginning = Unmanaged<Beginning>.fromOpaque(context!).takeRetainedValue()
                cconcurrency_name_thread(beginning.name)
                while let work = beginning.shared.next() { work() }
                return nil
            }, Unmanaged.passRetained(Beginning(name: name, shared: shared)).toOpaque())
        precondition(failure == 0, "The system has no thread left.")
        pthread_detach(thread)
    }
}
