import Model

/// What waits for its transfer: the most important first, among equals in the order in which it is wanted.
///
/// Importance changes while things wait, with every line that a list is scrolled. An entry is then put in anew and its
/// older self, still in the heap, is passed over when it comes up.
struct TransferQueue {
    private struct Entry {
        let subject: Wish.Subject
        let importance: Importance
        let place: Int

        func comesBefore(_ other: Entry) -> Bool {
            (importance, other.place) > (other.importance, place)
        }
    }

    /// What waits, and with which importance and place.
    private var waiting: [Wish.Subject: (importance: Importance, place: Int)] = [:]
    private var heap: [Entry] = []

    var count: Int { waiting.count }
    var isEmpty: Bool { waiting.isEmpty }

    func contains(_ subject: Wish.Subject) -> Bool { waiting[subject] != nil }

    /// Puts something in, or changes its importance and place.
    mutating func put(_ wish: Wish, place: Int) {
        if let (importance, old) = waiting[wish.subject], importance == wish.importance, old == place { return }
        waiting[wish.subject] = (wish.importance, place)
        heap.append(Entry(subject: wish.subject, importance: wish.importance, place: place))
        siftUp(heap.count - 1)
        if heap.count > 2 * waiting.count + 64 { rebuild() }
    }

    /// Takes something out.
    mutating func remove(_ subject: Wish.Subject) {
        waiting[subject] = nil
    }

    /// Takes out the first, if its importance is let through.
    mutating func popFirst(_ admits: (Importance) -> Bool) -> Wish? {
        while let first = heap.first {
            guard let (importance, place) = waiting[first.subject], importance == first.importance, place == first.place
            else {
                removeFirst()
                continue
            }
            guard admits(importance) else { return nil }
            removeFirst()
            waiting[first.subject] = nil
            return Wish(first.subject, importance: importance)
        }
        return nil
    }

    private mutating func rebuild() {
        heap = waiting.map { Entry(subject: $0.key, importance: $0.value.importance, place: $0.value.place) }
        // A sorted array is a heap.
        heap.sort { $0.comesBefore($1) }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, heap[child].comesBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].comesBefore(heap[first]) {
                first = child
            }
            guard first != parent else { return }
            heap.swapAt(parent, first)
            parent = first
        }
    }
}
