/// The future events of a simulation: a heap, sorted by time, then by the order of addition.
struct SimulatedEvents {
    enum Event {
        /// TCP has connected for a transfer, by its number in the governor, after some seconds.
        case reached(Int, after: Double)
        case hello(Int)
        case connected(Int)
        case request(connection: Int, transfer: Int, attempt: Int)
        case segment(connection: Int, transfer: Int, attempt: Int, bytes: Int, sent: Double)
        case ack(connection: Int, delay: Double)
        case lost(connection: Int, transfer: Int, attempt: Int, bytes: Int, isFast: Bool)
        case wanted(Int)
        case tick
    }

    private struct Entry {
        let time: Double
        let number: Int
        let event: Event
    }

    private var entries: [Entry] = []
    private var count = 0

    mutating func add(_ event: Event, at time: Double) {
        count += 1
        entries.append(Entry(time: time, number: count, event: event))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isEarlier(child, parent) else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> (time: Double, event: Event)? {
        guard let first = entries.first else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && isEarlier(child, least) {
                least = child
            }
            guard least != parent else { return (first.time, first.event) }
            entries.swapAt(parent, least)
            parent = least
        }
    }

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        (entries[left].time, entries[left].number) < (entries[right].time, entries[right].number)
    }
}
