import Cells

/// Where the entries of a list were drawn, for a mouse to find them.
struct ListPlaces {
    private var places: [(frame: Rect, index: Int)] = []

    /// The list is drawn anew.
    mutating func beginAnew() { places = [] }

    /// Notes where an entry was drawn.
    mutating func note(_ frame: Rect, _ index: Int) { places.append((frame, index)) }

    /// Where an entry was drawn, if it was.
    func frame(of index: Int) -> Rect? {
        places.first { $0.index == index }?.frame
    }

    /// Lines of an entry.
    var height: Int { places.first?.frame.size.rows ?? 1 }

    /// The entry at a place of the screen.
    func index(at position: Point) -> Int? {
        places.first { $0.frame.contains(position) }?.index
    }
}
