import Model

/// The waiting transfers, sorted by importance, then by rank.
///
///     queue.put(number, .visible, rank: 0, as: candidate)
///     while let next = queue.popFirst({ governor.admit($0, at: now) }) { … }
///
/// Each host has a queue of its own, so a busy or unreachable host delays no other. A busy link delays all hosts.
///
/// A hundred thousand transfers may wait, so the caller numbers them. Space is reserved up to the largest number.
public struct TransferQueue: Sendable {
    /// A waiting transfer.
    public struct Entry: Sendable {
        /// The number by which the caller knows the transfer.
        public let number: Int
        /// The candidate that waits.
        public let candidate: TransferCandidate
    }

    /// The entries of all transfers; the index is the transfer's number.
    private var slots: [QueueSlot] = []
    /// The queue of each host.
    private var lanes: [String: QueueLane] = [:]

    /// Creates an empty queue.
    public init() {}

    /// The number of waiting transfers.
    public var count: Int { lanes.values.reduce(0) { $0 + $1.count } }

    /// Whether no transfer waits.
    public var isEmpty: Bool { lanes.isEmpty }

    /// The hosts of the waiting transfers.
    public var hosts: some Collection<String> { lanes.keys }

    /// Returns whether a transfer waits.
    public func contains(_ number: Int) -> Bool { number < slots.count && !slots[number].isVacant }

    /// Returns the number of waiting transfers of a host.
    public func count(of host: String) -> Int { lanes[host]?.count ?? 0 }

    /// Adds a transfer, or changes its importance and rank. A waiting transfer keeps its first candidate.
    ///
    /// - Parameters:
    ///   - rank: the order among equal importance; each rank occurs once.
    ///   - candidate: the candidate to add. Its importance is ignored.
    public mutating func put(
        _ number: Int, _ importance: Importance, rank: Int, as candidate: @autoclosure () -> TransferCandidate
    ) {
        let rank = Int32(clamping: rank)
        guard !contains(number) else { return move(number, importance, rank) }
        var candidate = candidate()
        candidate.importance = importance
        // All entries share the lane's string: each string of more than fifteen bytes takes memory of its own.
        if let lane = lanes.index(forKey: candidate.host) { candidate.host = lanes.keys[lane] }
        while slots.count <= number { slots.append(.vacant) }
        slots[number] = QueueSlot(candidate: candidate, rank: rank, index: 0)
        lanes[candidate.host, default: QueueLane()].insert(number, in: &slots)
    }

    private mutating func move(_ number: Int, _ importance: Importance, _ rank: Int32) {
        let slot = slots[number]
        guard (slot.candidate.importance, slot.rank) != (importance, rank) else { return }
        (slots[number].candidate.importance, slots[number].rank) = (importance, rank)
        lanes[slot.candidate.host]?.settle(Int(clamping: slot.index), in: &slots)
    }

    /// Removes a transfer, if it waits.
    public mutating func remove(_ number: Int) {
        guard contains(number) else { return }
        let host = slots[number].candidate.host
        lanes[host]?.remove(number, in: &slots)
        if lanes[host]?.count == 0 { lanes[host] = nil }
    }

    /// Removes the first transfer that `admit` accepts and returns it. Returns nil if no transfer may start.
    public mutating func popFirst(_ admit: (TransferCandidate) -> Admission) -> (entry: Entry, way: Admission.Way)? {
        // If the first transfer of a host may not start, no transfer of this host may start.
        for number in lanes.values.compactMap(\.first).sorted(by: { slots[$0].comesBefore(slots[$1]) }) {
            let candidate = slots[number].candidate
            switch admit(candidate) {
            case .linkIsBusy: return nil
            case .hostIsBusy: continue
            case .now(let way):
                remove(number)
                return (Entry(number: number, candidate: candidate), way)
            }
        }
        return nil
    }

    /// Returns the first waiting transfers, up to a limit.
    public func first(_ limit: Int) -> [Entry] {
        let firsts = lanes.values.flatMap { $0.first(limit, in: slots) }
        return firsts.sorted { slots[$0].comesBefore(slots[$1]) }.prefix(limit).map {
            Entry(number: $0, candidate: slots[$0].candidate)
        }
    }
}

/// A transfer's entry in a ``TransferQueue``.
private struct QueueSlot: Sendable {
    var candidate: TransferCandidate
    /// The order among transfers of equal importance.
    var rank: Int32
    /// The index of the transfer in the heap of its host. The index is negative if the transfer does not wait.
    var index: Int32

    /// The entry for the number of a transfer that is not in the queue.
    static let vacant = QueueSlot(
        candidate: TransferCandidate(host: "", importance: .rest, kind: .thumbnail), rank: 0, index: -1)

    var isVacant: Bool { index < 0 }

    func comesBefore(_ other: QueueSlot) -> Bool {
        (candidate.importance, other.rank) > (other.candidate.importance, rank)
    }
}

/// The waiting transfers of one host: a heap of numbers.
///
/// Each slot knows its index in the heap, so changing or removing a transfer needs no search.
private struct QueueLane: Sendable {
    private var numbers: [Int32] = []

    var count: Int { numbers.count }
    var first: Int? { numbers.first.map { Int(clamping: $0) } }

    mutating func insert(_ number: Int, in slots: inout [QueueSlot]) {
        numbers.append(Int32(clamping: number))
        settle(numbers.count - 1, in: &slots)
    }

    mutating func remove(_ number: Int, in slots: inout [QueueSlot]) {
        let index = Int(clamping: slots[number].index)
        slots[number] = .vacant
        let last = numbers.removeLast()
        guard index < numbers.count else { return }
        numbers[index] = last
        settle(index, in: &slots)
    }

    /// Restores the heap's order after the slot at an index has changed.
    mutating func settle(_ index: Int, in slots: inout [QueueSlot]) {
        let number = numbers[index]
        let slot = slots[Int(clamping: number)]
        var index = index
        while index > 0, slot.comesBefore(slots[Int(clamping: numbers[(index - 1) / 2])]) {
            put(numbers[(index - 1) / 2], at: index, in: &slots)
            index = (index - 1) / 2
        }
        while let child = first(among: children(of: index), in: slots),
            slots[Int(clamping: numbers[child])].comesBefore(slot)
        {
            put(numbers[child], at: index, in: &slots)
            index = child
        }
        put(number, at: index, in: &slots)
    }

    /// Returns the first transfers in order, up to a limit. Visits only the part of the heap that can hold them.
    func first(_ limit: Int, in slots: [QueueSlot]) -> [Int] {
        // A parent comes before its children.
        var candidates = numbers.isEmpty ? [] : [0]
        var found: [Int] = []
        while found.count < limit, let index = first(among: candidates, in: slots) {
            candidates.removeAll { $0 == index }
            found.append(Int(clamping: numbers[index]))
            candidates += children(of: index)
        }
        return found
    }

    private func children(of index: Int) -> Range<Int> {
        min(2 * index + 1, numbers.count)..<min(2 * index + 3, numbers.count)
    }

    /// Returns the one of several indices whose transfer comes first.
    private func first(among indices: some Sequence<Int>, in slots: [QueueSlot]) -> Int? {
        indices.min { slots[Int(clamping: numbers[$0])].comesBefore(slots[Int(clamping: numbers[$1])]) }
    }

    private mutating func put(_ number: Int32, at index: Int, in slots: inout [QueueSlot]) {
        numbers[index] = number
        slots[Int(clamping: number)].index = Int32(clamping: index)
    }
}
