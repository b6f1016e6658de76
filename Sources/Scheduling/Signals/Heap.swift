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
