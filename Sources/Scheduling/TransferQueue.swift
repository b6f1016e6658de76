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

/// What waits for one host in a ``TransferQueue``: a heap of numbers, whose places know where in it they are. So what has
/// become more or less important, or is not wanted, need not be looked for.
struct QueueLane: Sendable {
    private var numbers: [Int32] = []

    var count: Int { numbers.count }
    var first: Int? { numbers.first.map { Int(clamping: $0) } }

    mutating func insert(_ number: Int, in places: inout [QueuePlace]) {
        numbers.append(Int32(clamping: number))
        settle(numbers.count - 1, in: &places)
    }

    mutating func remove(_ number: Int, in places: inout [QueuePlace]) {
        let spot = Int(clamping: places[number].spot)
        places[number] = .vacant
        let last = numbers.removeLast()
        guard spot < numbers.count else { return }
        numbers[spot] = last
        settle(spot, in: &places)
    }

    /// Puts something where it belongs, after its place has changed.
    mutating func settle(_ spot: Int, in places: inout [QueuePlace]) {
        let number = numbers[spot]
        let place = places[Int(clamping: number)]
        var spot = spot
        while spot > 0, place.comesBefore(places[Int(clamping: numbers[(spot - 1) / 2])]) {
            put(numbers[(spot - 1) / 2], at: spot, in: &places)
            spot = (spot - 1) / 2
        }
        while let child = firstChild(of: spot, in: places), places[Int(clamping: numbers[child])].comesBefore(place) {
            put(numbers[child], at: spot, in: &places)
            spot = child
        }
        put(number, at: spot, in: &places)
    }

    /// The first of all, in their order. Only as much of the heap is looked at as can be among them.
    func first(_ limit: Int, in places: [QueuePlace]) -> [Int] {
        var candidates = Heap<Int> { [numbers] in
            places[Int(clamping: numbers[$0])].comesBefore(places[Int(clamping: numbers[$1])])
        }
        if !numbers.isEmpty { candidates.push(0) }
        var found: [Int] = []
        while found.count < limit, let spot = candidates.popFirst() {
            found.append(Int(clamping: numbers[spot]))
            for child in children(of: spot) { candidates.push(child) }
        }
        return found
    }

    private func children(of spot: Int) -> Range<Int> {
        min(2 * spot + 1, numbers.count)..<min(2 * spot + 3, numbers.count)
    }

    private func firstChild(of spot: Int, in places: [QueuePlace]) -> Int? {
        children(of: spot).min { places[Int(clamping: numbers[$0])].comesBefore(places[Int(clamping: numbers[$1])]) }
    }

    private mutating func put(_ number: Int32, at spot: Int, in places: inout [QueuePlace]) {
        numbers[spot] = number
        places[Int(clamping: number)].spot = Int32(clamping: spot)
    }
}

/// Where something stands in a ``TransferQueue``.
struct QueuePlace: Sendable {
    var candidate: TransferCandidate
    /// Among equals.
    var rank: Int32
    /// In its lane's heap; negative if it does not wait.
    var spot: Int32

    /// That of a number under which nothing waits.
    static let vacant = QueuePlace(
        candidate: TransferCandidate(host: "", importance: .rest, kind: .thumbnail), rank: 0, spot: -1)

    var isVacant: Bool { spot < 0 }

    func comesBefore(_ other: QueuePlace) -> Bool {
        (candidate.importance, other.rank) > (other.candidate.importance, rank)
    }
}

/// A heap: the first is always at hand.
struct Heap<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private let comesBefore: @Sendable (Element, Element) -> Bool

    init(_ comesBefore: @escaping @Sendable (Element, Element) -> Bool) {
        self.comesBefore = comesBefore
    }

    mutating func push(_ element: Element) {
        elements.append(element)
        siftUp(elements.count - 1)
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard let first = elements.first else { return nil }
        elements.swapAt(0, elements.count - 1)
        elements.removeLast()
        siftDown(0)
        return first
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, comesBefore(elements[child], elements[(child - 1) / 2]) {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < elements.count && comesBefore(elements[child], elements[first]) {
                first = child
            }
            guard first != parent else { return }
            elements.swapAt(parent, first)
            parent = first
        }
    }
}
