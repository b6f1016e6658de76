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
