import Cache
import Concurrency
import Model
import Session
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
    private let alarm: Alarm
    /// What the alarm is set to.
    private var alarmTime: Timestamp?

    init(_ context: ScreenContext) {
        self.context = context
        alarm = Alarm(wait: context.wait)
    }

    /// Takes in which gallery is open now, and what the user's list says.
    func adapt(open: Address?) {
        guard !context.settings.offline, !context.holdsUpdates else { return }
        let isOpened = self.open != open
        self.open = open
        let intervals = intervals
        timetable.keep { intervals[$0] != nil }
        let now = context.now()
        for (address, interval) in intervals where timetable.interval(of: address) != interval {
            lookUp(address, isAskedFor: isOpened && address == open && context.settings.syncOnOpen)
        }
        setAlarm(now)
    }

    /// There is news of these galleries. What has been updated, for whatever reason, is due an interval later.
    func noteNews(of galleries: Set<GalleryID>) {
        for address in timetable.addresses {
            let id = GalleryID(address)
            if galleries.contains(id), !context.activity.isUpdating(id) { lookUp(address, isAskedFor: false) }
        }
    }

    /// When a gallery is updated next by itself; nil if it is not.
    func due(of address: Address) -> Timestamp? { timetable.due(of: address) }

    /// How often what is updated. What is set for all holds for the one that is open: nobody looks at the others.
    private var intervals: [Address: SyncInterval] {
        let list = context.galleries.list
        var intervals: [Address: SyncInterval] = [:]
        for address in list.addresses { intervals[address] = list.interval(of: address) }
        if let open, intervals[open] == nil { intervals[open] = SyncInterval(minutes: context.settings.syncInterval) }
        return intervals.filter { $0.value != .never }
    }

    /// The interval counts from the last update, also if that was another day.
    private func lookUp(_ address: Address, isAskedFor: Bool) {
        Task.detached { [weak self, caches = context.caches] in
            let last = caches.record(of: address)?.lastSuccess
            await self?.take(last, of: address, isAskedFor: isAskedFor)
        }
    }

    private func take(_ last: Timestamp?, of address: Address, isAskedFor: Bool) {
        // The list may be another by now.
        guard let interval = intervals[address] else { return }
        let now = context.now()
        timetable.note(last, of: address, every: interval, isAskedFor: isAskedFor, now: now)
        setAlarm(now)
    }

    private func setAlarm(_ now: Timestamp) {
        guard timetable.firstDue != alarmTime else { return }
        alarmTime = timetable.firstDue
        guard let due = alarmTime else { return alarm.cancel() }
        alarm.set(after: .milliseconds(due.milliseconds - now.milliseconds)) { [weak self] in self?.ring(due) }
    }

    private func ring(_ due: Timestamp) {
        alarmTime = nil
        // Clocks do not agree to the millisecond: what was waited for is over.
        let now = max(due, context.now())
        for address in timetable.takeDue(at: now) {
            if address == open { onDue() } else { GalleryUpdates(context).ask(address) }
        }
        setAlarm(now)
    }
}

/// When which gallery is to be updated next. It has no clock.
struct Timetable {
    private struct Entry {
        let interval: SyncInterval
        /// When it was last updated; nil if it never was.
        let last: Timestamp?
        var due: Timestamp
    }

    private var entries: [Address: Entry] = [:]

    /// When the first of them is due.
    var firstDue: Timestamp? { entries.values.map(\.due).min() }

    func interval(of address: Address) -> SyncInterval? { entries[address]?.interval }

    func due(of address: Address) -> Timestamp? { entries[address]?.due }

    /// All that have an interval.
    var addresses: some Collection<Address> { entries.keys }

    /// Takes in when a gallery was last updated: its interval begins then. What is known already changes nothing: an update
    /// that has failed is not due again for that.
    ///
    /// - Parameter isAskedFor: whether it is being updated now, whenever it is due.
    mutating func note(
        _ last: Timestamp?, of address: Address, every interval: SyncInterval, isAskedFor: Bool, now: Timestamp
    ) {
        if let entry = entries[address], entry.interval == interval, entry.last == last { return }
        // A clock that was wrong then is no reason to wait for years.
        let due = last.map { min($0 + interval, now + interval) } ?? now
        entries[address] = Entry(interval: interval, last: last, due: isAskedFor ? max(due, now + interval) : due)
    }

    /// Keeps these alone.
    mutating func keep(_ isMeant: (Address) -> Bool) {
        entries = entries.filter { isMeant($0.key) }
    }

    /// What is due by then. Each of it is due again an interval later, if nothing comes of it.
    mutating func takeDue(at now: Timestamp) -> [Address] {
        let due = entries.filter { $0.value.due <= now }
        for (address, entry) in due { entries[address]?.due = now + entry.interval }
        return due.keys.sorted { $0.text < $1.text }
    }
}

extension Timestamp {
    static func + (moment: Timestamp, interval: SyncInterval) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds + Int64(interval.minutes) * 60_000)
    }
}
