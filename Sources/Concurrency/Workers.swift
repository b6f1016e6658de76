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

/// Runs the tasks that belong to no actor with an executor of its own on ``Workers``, in place of Swift's pool, which
/// is a concurrent dispatch queue and wakes up once a second for ever (see there).
///
///     @main enum Program {
///         static func main() async {
///             GlobalTasks.takeOver(count: 2)
///
/// For programs, as the first thing they do; not for tests, which share their process with a test runner.
public final class GlobalTasks: Sendable {
    /// A piece of a task, which nobody but the one thread that runs it looks into.
    private struct Job: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private let workers: Workers
    /// For sleeps that go on while the machine sleeps, which is what is meant unless one says otherwise. Made when it is
    /// first needed.
    private let timer = Mutex<BootTimer?>(nil)
    /// For the others. A serial queue: a timer of it costs nothing until it is due.
    private let timersThatStandStill = DispatchQueue(label: "vitrine.timers")

    private init(count: Int) {
        workers = Workers(name: "tasks", count: count)
    }

    /// Takes over all such tasks, for the life of the process.
    ///
    /// - Parameter count: how many may run at once; Swift's own pool has one thread a core.
    public static func takeOver(count: Int) {
        cconcurrency_take_over(
            Unmanaged.passRetained(GlobalTasks(count: count)).toOpaque(),
            { GlobalTasks.at($0).run(Job(pointer: $1!)) },
            { GlobalTasks.at($0).run(Job(pointer: $1!), nanoseconds: $2, standsStill: $3 != 0) })
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> GlobalTasks {
        Unmanaged<GlobalTasks>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Has Dispatch take the file descriptors now that it needs for timers and sources. It ends the program when there is none
    /// left for the first of them.
    public static func prepareTimers() {
        // A task that is due in a nanosecond sets a timer; one that is due now would not.
        DispatchQueue(label: "vitrine.timers").asyncAfter(deadline: .now() + .nanoseconds(1)) {}
    }

    private func run(_ job: Job) {
        workers.run { cconcurrency_run(job.pointer) }
    }

    /// - Parameter standsStill: whether the time does, while the machine sleeps.
    private func run(_ job: Job, nanoseconds: Int64, standsStill: Bool) {
        guard !standsStill else {
            return timersThatStandStill.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [self] in
                run(job)
            }
        }
        let timer = timer.withLock { timer in
            let made = timer ?? BootTimer()
            timer = made
            return made
        }
        timer.run(afterNanoseconds: nanoseconds) { [self] in run(job) }
    }
}

/// Runs an actor on a dispatch queue of its own.
///
/// SQLite blocks: on the disk, on another process's lock. On the shared pool of Swift's concurrency, which has one
/// thread a core, that would hold up everything else. An actor that is given such a queue holds up its own callers only.
///
///     public actor GalleryWriter {
///         private let executor = QueueExecutor(label: "vitrine.writer")
///         public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///     }
public final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Makes an executor with a new serial queue.
    public init(label: String, qos: DispatchQoS = .userInitiated) {
        queue = DispatchQueue(label: label, qos: qos)
    }

    /// Called by the runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs work that is no task's, in its turn. In it the actor's `assumeIsolated` holds.
    public func run(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Called by the runtime, where no task says on which executor it is.
    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// The actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
