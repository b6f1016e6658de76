import CConcurrency
import Dispatch

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
    /// A serial queue: a timer of it costs nothing until it is due.
    private let timers = DispatchQueue(label: "vitrine.timers")

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
            { GlobalTasks.at($0).run(Job(pointer: $1!), nanoseconds: $2) })
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> GlobalTasks {
        Unmanaged<GlobalTasks>.fromOpaque(context!).takeUnretainedValue()
    }

    private func run(_ job: Job) {
        workers.run { cconcurrency_run(job.pointer) }
    }

    private func run(_ job: Job, nanoseconds: Int64) {
        timers.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [self] in run(job) }
    }
}
