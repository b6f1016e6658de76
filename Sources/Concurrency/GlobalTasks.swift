import CConcurrency
import Dispatch
import Synchronization

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
