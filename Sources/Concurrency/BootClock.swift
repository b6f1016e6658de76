import CConcurrency
import Dispatch
import Glibc
import Synchronization

/// A clock to sleep by, which goes on while the machine sleeps.
///
///     let clock = BootClock()
///     try await clock.sleep(until: clock.now + .seconds(60))
///
/// `Task.sleep` would do, but since Swift 6.3 it goes past whoever runs the program's tasks, to Dispatch's own threads, and
/// Dispatch then looks once a second for ever how busy those are. Nobody who is to be idle may use it.
public final class BootClock: Sendable {
    private let timer = BootTimer()
    private let start = BootTimer.now

    /// A clock that starts now.
    public init() {}

    /// Time since the clock was made.
    public var now: Duration { .nanoseconds(BootTimer.now - start) }

    /// Returns at that time, or throws a `CancellationError` as soon as the task is cancelled.
    public func sleep(until time: Duration) async throws {
        let sleeper = Sleeper(timer)
        let nanoseconds = min((time - now) / .nanoseconds(1), 1e18)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper.begin($0, Int64(nanoseconds)) }
        } onCancel: {
            sleeper.cancel()
        }
    }

    /// One sleep, which ends once: when it is time, or before.
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
                // Rung on a queue of the timer's, so never before the lock is let go.
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
            timer.callOff(number)
            return continuation
        }
    }
}

/// Runs work after a time that goes on while the machine sleeps.
///
///     timer.run(afterNanoseconds: 3_600_000_000_000) { print("an hour later, the lid closed or not") }
///
/// Dispatch's own timers stand still meanwhile. This is one timer of the system for all that waits, set to the first of it;
/// timerfd_create(2): "whereas CLOCK_MONOTONIC does not measure the time while a system is suspended, CLOCK_BOOTTIME does".
/// It does not wake the machine, and until something is due it costs nothing. Where the system has no such timer left, time
/// stands still while the machine sleeps, as Dispatch's does.
final class BootTimer: Sendable {
    private struct Waiting {
        let time: Int64
        let number: Int
        let work: @Sendable () -> Void
    }

    /// What waits, the first of it last; of what is due at the same time that which came first.
    private let waiting = Mutex<[Waiting]>([])
    private let lastNumber = Atomic<Int>(0)
    /// -1 where there is none.
    let descriptor: Int32
    private let queue = DispatchQueue(label: "vitrine.timers")
    /// Made once and from then on only cancelled, which any thread may do.
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

    /// Runs work once so much time has passed. Returns a number, by which it can be called off.
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

    /// Calls off work, if it has not been run.
    func callOff(_ number: Int) {
        waiting.withLock { waiting in
            guard let place = waiting.lastIndex(where: { $0.number == number }) else { return }
            waiting.remove(at: place)
            // Rung for nobody it would wake us for nothing.
            if place == waiting.count { set(to: waiting.last?.time) }
        }
    }

    private func ring() {
        var expirations: UInt64 = 0
        // Until it is read the descriptor stays readable.
        _ = read(descriptor, &expirations, 8)
        let due = waiting.withLock { waiting in
            let now = Self.now
            let place = waiting.firstIndex { $0.time <= now } ?? waiting.count
            defer {
                waiting.removeSubrange(place...)
                if let first = waiting.last { set(to: first.time) }
            }
            return waiting[place...].reversed()
        }
        for entry in due { entry.work() }
    }

    /// - Parameter time: nil turns it off.
    private func set(to time: Int64?) {
        guard descriptor >= 0 else { return ringLater(time) }
        var setting = itimerspec()
        // All zero turns it off.
        if let time {
            setting.it_value = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(max(1, time % 1_000_000_000)))
        }
        timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    /// Without a timer of the system: what has been called off meanwhile, or is not due yet, is found out when it rings.
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
