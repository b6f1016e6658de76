import Cache
import Model
import Settings

/// Asks for the updates that are made at intervals: of the gallery that is open, and of those in the user's list that have
/// an interval of their own, open or not.
///
/// There is one alarm, set to the first that is due, and none where nothing is: nothing wakes up in between.
@MainActor
final class UpdateTimer {
    /// Called when the gallery that is open is due.
    var onDue: () -> Void = {}

    private let context: ScreenContext
    private var timetable = Timetable()
    private var open: Address?
    private var alarm: (due: Timestamp, task: Task<Void, Never>)?

    init(_ context: ScreenContext) {
        self.context = context
    }

    deinit {
        alarm?.task.cancel()
    }

    /// Takes in which gallery is open now, and what the user's list says.
    func adapt(open: Address?) {
        guard !context.settings.offline else { return }
        self.open = open
        let intervals = intervals
        timetable.keep { intervals[$0] != nil }
        let now = context.now()
        for (address, interval) in intervals where timetable.interval(of: address) != interval {
            // Who opens a gallery sees how old it is, and has it updated then if he wants that.
            if address == open {
                timetable.set(interval, of: address, due: now + interval)
            } else {
                lookUp(address, interval)
            }
        }
        setAlarm(now)
    }

    /// How often what is updated. What is set for all holds for the one that is open: nobody looks at the others.
    private var intervals: [Address: SyncInterval] {
        let list = context.galleries.list
        var intervals: [Address: SyncInterval] = [:]
        for address in list.addresses { intervals[address] = list.interval(of: address) }
        if let open, intervals[open] == nil { intervals[open] = SyncInterval(minutes: context.settings.syncInterval) }
        return intervals.filter { $0.value != .never }
    }

    /// Of a gallery that is not open, the interval counts from its last update, also if that was another day.
    private func lookUp(_ address: Address, _ interval: SyncInterval) {
        Task.detached { [weak self, caches = context.caches] in
            let last = caches.record(of: address)?.lastSuccess
            await self?.take(address, interval, last)
        }
    }

    private func take(_ address: Address, _ interval: SyncInterval, _ last: Timestamp?) {
        // The list may be another by now.
        guard intervals[address] == interval, timetable.interval(of: address) != interval else { return }
        let now = context.now()
        // A clock that was wrong then is no reason to wait for years.
        timetable.set(interval, of: address, due: last.map { min($0 + interval, now + interval) } ?? now)
        setAlarm(now)
    }

    private func setAlarm(_ now: Timestamp) {
        guard timetable.firstDue != alarm?.due else { return }
        alarm?.task.cancel()
        alarm = timetable.firstDue.map { due in
            let task = Task { [weak self, wait = context.wait] in
                let rest = due.milliseconds - now.milliseconds
                if rest > 0, (try? await wait(.milliseconds(rest))) == nil { return }
                guard !Task.isCancelled else { return }
                self?.ring(due)
            }
            return (due, task)
        }
    }

    private func ring(_ due: Timestamp) {
        alarm = nil
        // Clocks do not agree to the millisecond: what was waited for is over.
        let now = max(due, context.now())
        for address in timetable.takeDue(at: now) {
            if address == open { onDue() } else { GalleryUpdates(context).ask(address) }
        }
        setAlarm(now)
    }
}
