import Dispatch

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
