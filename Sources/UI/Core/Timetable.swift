import Model
import Settings

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
