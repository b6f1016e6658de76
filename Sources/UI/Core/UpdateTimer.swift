import Cache
import Concurrency
import Model
import Session
import Settings

/// Requests updates at intervals: of the open gallery, and of listed galleries with their own interval.
///
/// One alarm is set to the earliest due time. Without a due time, no alarm is set.
@MainActor
final class UpdateTimer {
    /// Called when the update of the open gallery is due.
    var onDue: () -> Void = {}

    private let context: ScreenContext
    private var timetable = Timetable()
    private var open: Address?
    private let alarm: Alarm
    /// The time for which the alarm is set; nil without an alarm.
    private var alarmTime: Timestamp?

    init(_ context: ScreenContext) {
        self.context = context
        alarm = Alarm(wait: context.wait)
    }

    /// Adapts the due times to the open gallery and the user's list.
    func adapt(open: Address?) {
        guard !context.holdsUpdates else { return }
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

    /// Moves the due times of galleries that have just been updated.
    func galleriesChanged(_ galleries: Set<GalleryID>) {
        for address in timetable.addresses {
            let id = GalleryID(address)
            if galleries.contains(id), !context.activity.isUpdating(id) { lookUp(address, isAskedFor: false) }
        }
    }

    /// Returns the time of a gallery's next automatic update.
    func due(of address: Address) -> Timestamp? { timetable.due(of: address) }

    /// The update intervals by gallery. The general interval applies only to the open gallery.
    private var intervals: [Address: SyncInterval] {
        let list = context.galleries.list
        var intervals: [Address: SyncInterval] = [:]
        for address in list.addresses { intervals[address] = list.interval(of: address) }
        if let open, intervals[open] == nil { intervals[open] = SyncInterval(minutes: context.settings.syncInterval) }
        return intervals.filter { $0.value != .never && !context.isOffline($0.key) }
    }

    /// Reads the time of the last update from the cache. The gallery's interval starts at that time.
    ///
    /// - Parameters:
    ///   - isAskedFor: whether an update was just requested.
    ///   - isDue: whether to request an update, unless another process has updated the gallery.
    private func lookUp(_ address: Address, isAskedFor: Bool, isDue: Bool = false) {
        Task.detached { [weak self, caches = context.caches] in
            let last = caches.record(of: address)?.lastSuccess
            await self?.take(last, of: address, isAskedFor: isAskedFor, isDue: isDue)
        }
    }

    private func take(_ last: Timestamp?, of address: Address, isAskedFor: Bool, isDue: Bool) {
        // The list may have changed meanwhile.
        guard let interval = intervals[address] else { return }
        let now = context.now()
        let isMoved = timetable.setLast(last, of: address, every: interval, isAskedFor: isAskedFor, now: now)
        if isDue, !isMoved { GalleryUpdates(context).ask(address) }
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
        // The alarm's clock may be milliseconds ahead of `now`, but the wait is over.
        let now = max(due, context.now())
        for address in timetable.takeDue(at: now) {
            // Only the open gallery reports updates by other processes, which move its due time.
            if address == open { onDue() } else { lookUp(address, isAskedFor: false, isDue: true) }
        }
        setAlarm(now)
    }
}

/// The due times of automatic updates. Callers pass the current time.
struct Timetable {
    private struct Entry {
        let interval: SyncInterval
        /// The time of the gallery's last update, if there was one.
        let last: Timestamp?
        var due: Timestamp
    }

    private var entries: [Address: Entry] = [:]

    /// The earliest due time of all galleries.
    var firstDue: Timestamp? { entries.values.map(\.due).min() }

    func interval(of address: Address) -> SyncInterval? { entries[address]?.interval }

    func due(of address: Address) -> Timestamp? { entries[address]?.due }

    /// The galleries that have an interval.
    var addresses: some Collection<Address> { entries.keys }

    /// Records when a gallery was last updated; nil for never. The next update is due one interval later.
    ///
    /// If the time has not changed, the due time stays, so a failed update is not due again at once. Then the method
    /// returns false.
    ///
    /// - Parameter isAskedFor: whether an update was just requested.
    mutating func setLast(
        _ last: Timestamp?, of address: Address, every interval: SyncInterval, isAskedFor: Bool, now: Timestamp
    ) -> Bool {
        if let entry = entries[address], entry.interval == interval, entry.last == last { return false }
        // The clock may have been wrong at the last update. Wait for one interval at most.
        let due = last.map { min($0 + interval, now + interval) } ?? now
        entries[address] = Entry(interval: interval, last: last, due: isAskedFor ? max(due, now + interval) : due)
        return true
    }

    /// Removes the galleries for which the closure returns false.
    mutating func keep(_ isWanted: (Address) -> Bool) {
        entries = entries.filter { isWanted($0.key) }
    }

    /// Returns the galleries that are due. Each gallery is due again after its interval.
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

/// Requests updates of galleries, whether they are open or not.
@MainActor
struct GalleryUpdates {
    let context: ScreenContext

    init(_ context: ScreenContext) { self.context = context }

    /// Requests an automatic update of a gallery's list, unless an update runs or waits for a retry.
    ///
    /// Screens request thumbnails when the thumbnails become visible.
    func ask(_ address: Address) {
        guard !context.activity.isUpdating(GalleryID(address)) else { return }
        Task.detached { [caches = context.caches, wishes = context.wishes, log = context.log] in
            do { wishes.ask(for: .list(try caches.open(address).id)) } catch {
                log.error(.cache, "\(address): \(error)")
            }
        }
    }

    /// Requests updates that the user wants, and retries all failed requests. Returns a sentence for the user.
    func refresh(_ addresses: [Address]) -> String {
        let addresses = addresses.filter { !context.isOffline($0) }
        guard !addresses.isEmpty else { return "Offline: type “:set offline no” to refresh." }
        context.holdsUpdates = false
        for address in addresses { context.retry(GalleryID(address)) }
        // Run off the main actor and one by one, because each update opens a database.
        let titled = addresses.map { ($0, context.title(of: $0).madeVisible) }
        Task.detached { [caches = context.caches, wishes = context.wishes, activity = context.activity] in
            for (address, title) in titled {
                do {
                    let cache = try caches.open(address)
                    try await cache.writer.retry()
                    wishes.ask(for: .list(cache.id))
                } catch {
                    activity.postNotice("\(title): \(error)")
                }
            }
        }
        guard addresses.count == 1, let address = addresses.first else {
            return "Updating \(addresses.count) galleries."
        }
        return "Updating \(context.title(of: address).madeVisible)."
    }

    /// Updates all known galleries. Returns a sentence for the user.
    ///
    /// Known galleries are the built-in galleries, the listed galleries and the open gallery.
    func refreshAll(open: Address?) -> String {
        let known = context.galleries.addresses + [open].compactMap { $0 }
        var seen: Set<Address> = []
        return refresh(known.filter { seen.insert($0).inserted })
    }

    /// Cancels the update of a gallery.
    func stop(_ address: Address) {
        context.wishes.stop(.list(GalleryID(address)))
    }
}
