import CConcurrency
import Dispatch
import Glibc
import Synchronization

/// A few threads that run work in order of arrival and otherwise sleep.
///
///     let workers = Workers(name: "drawing", count: 2)
///     workers.run { print("on a worker thread") }
///
/// Workers replace Dispatch's concurrent queues. After such a queue has run anything, Dispatch on Linux wakes the
/// program every second to count busy threads, until the program ends. Serial queues do not have this problem.
///
/// Threads start when there is work. They end after this object is released and the remaining work is done.
public final class Workers: Sendable {
    /// The state that the threads share. The threads must not keep the `Workers` object alive.
    private final class Shared: Sendable {
        struct State {
            /// Work that has not started, in order of arrival.
            var incoming: [@Sendable () -> Void] = []
            /// Work from `incoming`, reversed in batches so that removing the oldest is fast.
            var outgoing: [@Sendable () -> Void] = []
            var threads = 0
            var idle = 0
            var ended = false
        }

        let state = Mutex(State())
        let wakeUp = DispatchSemaphore(value: 0)

        /// Waits for the oldest work and returns it. Returns nil when no more work will come.
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
                wakeUp.wait()
            }
        }
    }

    private let shared = Shared()
    private let name: String
    private let count: Int

    /// Creates the workers without starting a thread.
    ///
    /// - Parameters:
    ///   - name: the threads' name, up to 15 bytes.
    ///   - count: the maximum number of threads, at least one.
    public init(name: String, count: Int) {
        self.name = name
        self.count = max(1, count)
    }

    deinit {
        let idle = shared.state.withLock { state in
            state.ended = true
            return state.idle
        }
        for _ in 0..<idle { shared.wakeUp.signal() }
    }

    /// Runs work as soon as a thread is free.
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
        if wake { shared.wakeUp.signal() }
        guard start else { return }
        startThread()
    }

    /// Starts the first thread now. Throws an error if the system cannot start one.
    func startFirst() throws(ThreadShortage) {
        shared.state.withLock { $0.threads += 1 }
        let failure = start(Beginning(name: name, shared: shared))
        guard failure != 0 else { return }
        shared.state.withLock { $0.threads -= 1 }
        throw ThreadShortage(code: failure)
    }

    /// Starts a thread. If the system refuses, the other threads do the work. Without other threads, this call tries
    /// again for two seconds, and then ends the program.
    private func startThread() {
        let beginning = Beginning(name: name, shared: shared)
        var attempts = 1
        while start(beginning) != 0 {
            let hasOthers = shared.state.withLock { state in
                guard state.threads > 1 else { return false }
                state.threads -= 1
                return true
            }
            guard !hasOthers else { return }
            precondition(attempts < Self.mostAttempts, "The system cannot start another thread.")
            attempts += 1
            usleep(Self.pause)
        }
    }

    /// The microseconds between two attempts to start a thread, and the number of attempts.
    private static let (pause, mostAttempts): (UInt32, Int) = (20_000, 100)

    /// The thread's name, and the source of its work.
    private final class Beginning {
        /// The name that system tools show for the thread.
        let name: String
        /// The state from which the thread takes its work.
        let shared: Shared
        init(name: String, shared: Shared) { (self.name, self.shared) = (name, shared) }
    }

    /// Starts a thread. Returns the system's error code, or 0.
    private func start(_ beginning: Beginning) -> Int32 {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(beginning)
        let failure = pthread_create(
            &thread, nil,
            { context in
                let beginning = Unmanaged<Beginning>.fromOpaque(context!).takeRetainedValue()
                cconcurrency_name_thread(beginning.name)
                while let work = beginning.shared.next() { work() }
                return nil
            }, context.toOpaque())
        if failure == 0 { pthread_detach(thread) } else { context.release() }
        return failure
    }
}

/// The error when the system refuses to start a thread.
public struct ThreadShortage: Error, Equatable, CustomStringConvertible {
    let code: Int32

    /// An error message for the user.
    public var description: String {
        "Vitrine cannot start a thread: \(String(cString: strerror(code))). End other programs, or raise the limit, for "
            + "example with “ulimit -u 4096”."
    }
}

/// Runs tasks without an actor on ``Workers``, in place of Swift's thread pool.
///
///     @main enum Program {
///         static func main() async {
///             try GlobalTasks.takeOver(count: 2)
///
/// Swift's pool is a concurrent Dispatch queue, which wakes the program every second; see ``Workers``. Programs call
/// `takeOver` first. Tests do not, because they share their process with the test runner.
public final class GlobalTasks: Sendable {
    /// A part of a task. Only the thread that runs the job reads it.
    private struct Job: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private let workers: Workers
    /// The timer for sleeps that include suspended time, which is the default. The first use creates the timer.
    private let timer = Mutex<BootTimer?>(nil)
    /// The queue for sleeps that exclude suspended time. A serial queue's timer costs nothing until it fires.
    private let timersThatStandStill = DispatchQueue(label: "vitrine.timers")

    private init(count: Int) throws(ThreadShortage) {
        workers = Workers(name: "tasks", count: count)
        try workers.startFirst()
    }

    /// Runs all tasks without an actor on workers, until the process ends.
    ///
    /// - Parameter count: the number of threads. Swift's own pool has one per core.
    public static func takeOver(count: Int) throws(ThreadShortage) {
        let tasks = try GlobalTasks(count: count)
        cconcurrency_take_over(
            Unmanaged.passRetained(tasks).toOpaque(),
            { GlobalTasks.at($0).run(Job(pointer: $1!)) },
            { GlobalTasks.at($0).run(Job(pointer: $1!), nanoseconds: $2, standsStill: $3 != 0) })
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> GlobalTasks {
        Unmanaged<GlobalTasks>.fromOpaque(context!).takeUnretainedValue()
    }

    private func run(_ job: Job) {
        workers.run { cconcurrency_run(job.pointer) }
    }

    /// - Parameter standsStill: whether the delay excludes the time while the machine is suspended.
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

/// Runs an actor's code on a dispatch queue of its own.
///
///     public actor GalleryWriter {
///         private let executor = QueueExecutor(label: "vitrine.writer")
///         public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///     }
///
/// Use this for actors that block, as SQLite does on the disk or on another process's lock. On Swift's shared pool,
/// with one thread per core, they would delay unrelated tasks; here they delay only their own callers.
public final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor with a new serial queue.
    public init(label: String, qos: DispatchQoS = .userInitiated) {
        queue = DispatchQueue(label: label, qos: qos)
    }

    /// Runs a job on the queue. The Swift runtime calls this.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs a closure that is not part of a task. Inside the closure, the actor's `assumeIsolated` succeeds.
    public func run(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Verifies that the code runs on the queue. The Swift runtime calls this when no task names an executor.
    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// Returns the value for the actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}

/// A task whose result several tasks await.
///
/// A cancelled task stops waiting at once. The shared task continues for the others.
public struct SharedTask<Value: Sendable>: Sendable {
    private let task: Task<Value, any Error>

    /// Starts the task.
    public init(_ body: @escaping @Sendable () async throws -> Value) { task = Task { try await body() } }

    /// The result of the task. Throws `CancellationError` if the waiting task is cancelled first.
    public var value: Value {
        get async throws {
            let (results, continuation) = AsyncThrowingStream<Value, any Error>.makeStream()
            Task { [task] in
                continuation.yield(with: await task.result)
                continuation.finish()
            }
            for try await value in results { return value }
            throw CancellationError()
        }
    }
}
