import Model

/// What waits for its transfer: the most important first, among equals in the order in which it is wanted.
///
///     queue.put(number, .visible, rank: 0, as: candidate)
///     while let next = queue.popFirst({ governor.admit($0, at: now) }) { … }
///
/// Each host has a lane of its own, so that one that is busy, or slow, or gone holds up nobody but itself. When the link is
/// wanted for something else, all of them wait.
///
/// A hundred thousand may wait, so each is known by a number of the caller's. Numbers are to be small: there is room for
/// all of them up to the largest.
public struct TransferQueue: Sendable {
    /// Something that waits.
    public struct Entry: Sendable {
        /// What.
        public let number: Int
        /// As a governor sees it.
        public let candidate: TransferCandidate
    }

    /// By number.
    private var places: [QueuePlace] = []
    /// By host.
    private var lanes: [String: QueueLane] = [:]

    /// How much waits.
    public private(set) var count = 0

    /// An empty queue.
    public init() {}

    /// Whether nothing does.
    public var isEmpty: Bool { count == 0 }

    /// The hosts that something waits for.
    public var hosts: some Collection<String> { lanes.keys }

    /// Whether it waits.
    public func contains(_ number: Int) -> Bool { number < places.count && !places[number].isVacant }

    /// How much waits for a host.
    public func count(of host: String) -> Int { lanes[host]?.count ?? 0 }

    /// Puts something in, or changes its importance and rank. Where it comes from is taken from the first time.
    ///
    /// - Parameters:
    ///   - rank: where it stands among equals; no two have the same.
    ///   - candidate: what a governor is told of it, but for the importance.
    public mutating func put(
        _ number: Int, _ importance: Importance, rank: Int, as candidate: @autoclosure () -> TransferCandidate
    ) {
        let rank = Int32(clamping: rank)
        guard !contains(number) else { return move(number, importance, rank) }
        var candidate = candidate()
        candidate.importance = importance
        // The lane's own string for all: one that is longer than fifteen bytes takes room of its own.
        if let lane = lanes.index(forKey: candidate.host) { candidate.host = lanes.keys[lane] }
        while places.count <= number { places.append(.vacant) }
        places[number] = QueuePlace(candidate: candidate, rank: rank, spot: 0)
        lanes[candidate.host, default: QueueLane()].insert(number, in: &places)
        count += 1
    }

    private mutating func move(_ number: Int, _ importance: Importance, _ rank: Int32) {
        let place = places[number]
        guard (place.candidate.importance, place.rank) != (importance, rank) else { return }
        (places[number].candidate.importance, places[number].rank) = (importance, rank)
        lanes[place.candidate.host]?.settle(Int(clamping: place.spot), in: &places)
    }

    /// Takes something out.
    public mutating func remove(_ number: Int) {
        guard contains(number) else { return }
        let host = places[number].candidate.host
        lanes[host]?.remove(number, in: &places)
        if lanes[host]?.count == 0 { lanes[host] = nil }
        count -= 1
    }

    /// Takes out the first that is admitted.
    public mutating func popFirst(_ admit: (TransferCandidate) -> Admission) -> (
        entry: Entry, way: Admission.Way
    )? {
        // Each lane is asked about once: its first one speaks for the others.
        var heads = Heap<(number: Int, place: QueuePlace)> { $0.place.comesBefore($1.place) }
        for number in lanes.values.compactMap(\.first) { heads.push((number, places[number])) }
        while let (number, place) = heads.popFirst() {
            switch admit(place.candidate) {
            case .linkIsBusy: return nil
            case .hostIsBusy: continue
            case .now(let way):
                remove(number)
                return (Entry(number: number, candidate: place.candidate), way)
            }
        }
        return nil
    }

    /// What waits, the most important first, up to so many.
    public func first(_ limit: Int) -> [Entry] {
        let firsts = lanes.values.flatMap { $0.first(limit, in: places) }
        return firsts.sorted { places[$0].comesBefore(places[$1]) }.prefix(limit).map {
            Entry(number: $0, candidate: places[$0].candidate)
        }
    }
}
