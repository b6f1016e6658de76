import Model

/// What waits for its transfer: the most important first, among equals in the order in which it is wanted.
///
///     queue.put(wish, place: 0, as: candidate)
///     while let next = queue.popFirst({ governor.admit($0, at: now) }) { … }
///
/// Each host has a lane of its own, so that one that is busy, or slow, or gone holds up nobody but itself. When the link is
/// wanted for something else, all of them wait.
public struct TransferQueue: Sendable {
    /// Something that waits.
    public struct Entry: Sendable {
        /// What.
        public let subject: Wish.Subject
        /// As a governor sees it.
        public let candidate: TransferCandidate
        /// Where it stands among equals.
        let place: Int
        /// No two entries have the same.
        let serial: Int

        func comesBefore(_ other: Entry) -> Bool {
            (candidate.importance, other.place) > (other.candidate.importance, place)
        }
    }

    /// What counts of each thing that waits. Importance changes with every line that a list is scrolled; an entry is then put
    /// in anew, and its older self, still in the lane's heap, is passed over when it comes up.
    private var current: [Wish.Subject: Entry] = [:]
    private var lanes: [String: Heap<Entry>] = [:]
    /// How many entries of each lane count.
    private var counts: [String: Int] = [:]
    private var lastSerial = 0

    /// An empty queue.
    public init() {}

    /// How much waits.
    public var count: Int { current.count }
    /// Whether nothing does.
    public var isEmpty: Bool { current.isEmpty }

    /// Whether it waits.
    public func contains(_ subject: Wish.Subject) -> Bool { current[subject] != nil }

    /// How much waits for a host.
    public func count(of host: String) -> Int { counts[host] ?? 0 }

    /// Puts something in, or changes its importance and place. Where it comes from is taken from the first time.
    ///
    /// - Parameter candidate: what a governor is told of it, but for the importance, which is the wish's.
    public mutating func put(_ wish: Wish, place: Int, as candidate: @autoclosure () -> TransferCandidate) {
        let old = current[wish.subject]
        if let old, old.candidate.importance == wish.importance, old.place == place { return }
        var candidate = old?.candidate ?? candidate()
        candidate.importance = wish.importance
        if old != nil { remove(wish.subject) }
        lastSerial += 1
        let entry = Entry(subject: wish.subject, candidate: candidate, place: place, serial: lastSerial)
        current[wish.subject] = entry
        counts[candidate.host, default: 0] += 1
        lanes[candidate.host, default: Heap { $0.comesBefore($1) }].push(entry)
        sweep(candidate.host)
    }

    /// Takes something out.
    public mutating func remove(_ subject: Wish.Subject) {
        guard let host = current.removeValue(forKey: subject)?.candidate.host else { return }
        counts[host, default: 1] -= 1
        if counts[host] == 0 { (counts[host], lanes[host]) = (nil, nil) }
    }

    /// Takes out the first that is admitted.
    public mutating func popFirst(_ admit: (TransferCandidate) -> Admission) -> (
        entry: Entry, way: Admission.Way
    )? {
        // Each lane is asked about once: its first one speaks for the others.
        var heads = Heap<Entry> { $0.comesBefore($1) }
        for host in lanes.keys { if let first = first(of: host) { heads.push(first) } }
        while let first = heads.popFirst() {
            switch admit(first.candidate) {
            case .linkIsBusy: return nil
            case .hostIsBusy: continue
            case .now(let way):
                remove(first.subject)
                return (first, way)
            }
        }
        return nil
    }

    /// What waits, the most important first, up to so many.
    public func first(_ limit: Int) -> [Entry] {
        let all = lanes.values.flatMap { $0.filter(isCurrent) }
        return Array(all.sorted { $0.comesBefore($1) }.prefix(limit))
    }

    private mutating func first(of host: String) -> Entry? {
        while let first = lanes[host]?.first, !isCurrent(first) { _ = lanes[host]?.popFirst() }
        return lanes[host]?.first
    }

    private func isCurrent(_ entry: Entry) -> Bool {
        current[entry.subject]?.serial == entry.serial
    }

    /// Lets go of what is passed over anyway, before there is more of it than of what counts.
    private mutating func sweep(_ host: String) {
        guard var lane = lanes[host], lane.count > 2 * count(of: host) + 64 else { return }
        lanes[host] = nil
        lane.keep(isCurrent)
        lanes[host] = lane
    }
}
