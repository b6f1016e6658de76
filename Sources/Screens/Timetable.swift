import Model
import Settings

/// When which gallery is to be updated next. It has no clock.
struct Timetable {
    private struct Entry {
        let interval: SyncInterval
        var due: Timestamp
    }

    private var entries: [Address: Entry] = [:]

    /// When the first of them is due.
    var firstDue: Timestamp? { entries.values.map(\.due).min() }

    func interval(of address: Address) -> SyncInterval? { entries[address]?.interval }

    mutating func set(_ interval: SyncInterval, of address: Address, due: Timestamp) {
        entries[address] = Entry(interval: interval, due: due)
    }

    /// Keeps these alone.
    mutating func keep(_ isMeant: (Address) -> Bool) {
        entries = entries.filter { isMeant($0.key) }
    }

    /// What is due by then. Each of it is due again an interval later, whatever comes of it.
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
