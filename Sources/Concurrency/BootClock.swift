import CConcurrency
import Dispatch
import Glibc
import Synchronization

/// A clock whose sleeps include the time while the machine is suspended.
///
///     let clock = BootClock()
///     try await clock.sleep(until: clock.now + .seconds(60))
///
/// Use this clock in place of `Task.sleep`. Since Swift 6.3 `Task.sleep` bypasses the program's task executor and uses
/// Dispatch's threads, and Dispatch then checks once a second how busy they are. That would wake an idle program
/// forever.
public final class BootClock: Sendable {
    private let timer = BootTimer()
    private let start = BootTimer.now

    /// Creates a clock that starts now.
    public init() {}

    /// The time since the clock was created.
    public var now: Duration { .nanoseconds(BootTimer.now - start) }

    /// Waits until `time`. Throws a `CancellationError` as soon as the task is cancelled.
    public func sleep(until time: Duration) async throws {
        let sleeper = Sleeper(timer)
        let nanoseconds = min((time - now) / .nanoseconds(1), 1e18)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper.begin($0, Int64(nanoseconds)) }
        } onCancel: {
            sleeper.cancel()
        }
    }

    /// The state of one sleep. Either the timer or a cancellation ends the sleep.
    private final class Sleeper: Sendable {
        private enum State {
            case awake
            case asleep(number: Int, CheckedContinuation<Void, any Error>)
            case over
        }

        private let timer: BootTimer
        private let state = Mutex(State.awake)

        init(_ timer: BootTimer) { self.timer = timer }

        func begin(_ continuation: CheckedContinuation<Void, any Error>, _ nanoseconds: Int64) {
            let isOver = state.withLock { state in
                if case .over = state { return true }
                // The timer calls `end` on its own queue. There, `end` waits until this closure has released the lock.
                let number = timer.run(afterNanoseconds: nanoseconds) { self.end()?.resume() }
                state = .asleep(number: number, continuation)
                return false
            }
            if isOver { continuation.resume(throwing: CancellationError()) }
        }

        func cancel() {
            end()?.resume(throwing: CancellationError())
        }

        private func end() -> CheckedContinuation<Void, any Error>? {
            let old = state.withLock { state in
                defer { state = .over }
                return state
            }
            guard case .asleep(let number, let continuation) = old else { return nil }
            timer.cancel(number)
            return continuation
        }
    }
}

/// Runs work after a delay that includes the time while the machine is suspended.
///
///     timer.run(afterNanoseconds: 3_600_000_000_000) { print("an hour later, even if the lid was closed") }
///
/// Dispatch's timers stop while the machine sleeps. This class uses one system timer for all pending work, set to the
/// earliest deadline. timerfd_create(2): "whereas CLOCK_MONOTONIC does not measure the time while a system is
/// suspended, CLOCK_BOOTTIME does". The timer does not wake the machine and costs nothing until it fires. If the system
/// has no timer left, the class falls back to Dispatch, and time stops while the machine sleeps.
final class BootTimer: Sendable {
    private struct Waiting {
        let time: Int64
        let number: Int
        let work: @Sendable () -> Void
    }

    /// The pending work, latest deadline first. Among equal deadlines, the earliest request is nearest to the end.
    private let waiting = Mutex<[Waiting]>([])
    private let lastNumber = Atomic<Int>(0)
    /// The descriptor of the system's timer; -1 if the system had no timer left.
    let descriptor: Int32
    private let queue = DispatchQueue(label: "vitrine.timers")
    /// The event source of the timer. The property is set once. Afterwards this class only calls `cancel`, which is
    /// safe from any thread.
    private nonisolated(unsafe) let source: (any DispatchSourceRead)?

    convenience init() {
        self.init(descriptor: timerfd_create(CLOCK_BOOTTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC)))
    }

    init(descriptor: Int32) {
        self.descriptor = descriptor
        guard descriptor >= 0 else {
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        self.source = source
        source.setCancelHandler { [descriptor] in close(descriptor) }
        source.setEventHandler { [weak self] in self?.ring() }
        source.activate()
    }

    deinit {
        source?.cancel()
    }

    /// Runs work after a delay. Returns a number for ``cancel(_:)``.
    @discardableResult
    func run(afterNanoseconds delay: Int64, _ work: @escaping @Sendable () -> Void) -> Int {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let (time, overflow) = Self.now.addingReportingOverflow(max(0, delay))
        let entry = Waiting(time: overflow ? .max : time, number: number, work: work)
        waiting.withLock { waiting in
            var (low, high) = (0, waiting.count)
            while low < high {
                let middle = (low + high) / 2
                if waiting[middle].time > entry.time { low = middle + 1 } else { high = middle }
            }
            waiting.insert(entry, at: low)
            if low == waiting.count - 1 { set(to: entry.time) }
        }
        return number
    }

    /// Cancels work that has not run yet.
    func cancel(_ number: Int) {
        waiting.withLock { waiting in
            guard let index = waiting.lastIndex(where: { $0.number == number }) else { return }
            waiting.remove(at: index)
            // For cancelled work, the timer would only wake the program in vain.
            if index == waiting.count { set(to: waiting.last?.time) }
        }
    }

    private func ring() {
        var expirations: UInt64 = 0
        // The descriptor stays readable until the program reads from it.
        _ = read(descriptor, &expirations, 8)
        let due = waiting.withLock { waiting in
            let now = Self.now
            let index = waiting.firstIndex { $0.time <= now } ?? waiting.count
            defer {
                waiting.removeSubrange(index...)
                if let first = waiting.last { set(to: first.time) }
            }
            return waiting[index...].reversed()
        }
        for entry in due { entry.work() }
    }

    /// - Parameter time: the time at which the timer fires; nil turns it off.
    private func set(to time: Int64?) {
        guard descriptor >= 0 else { return ringLater(time) }
        var setting = itimerspec()
        // A setting of zeros turns the timer off.
        if let time {
            setting.it_value = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(max(1, time % 1_000_000_000)))
        }
        timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    /// Waits with Dispatch if there is no system timer. Later, `ring` ignores work that was cancelled or that is not
    /// due.
    private func ringLater(_ time: Int64?) {
        guard let time else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(max(0, time - Self.now)))) { [weak self] in self?.ring() }
    }

    static var now: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
