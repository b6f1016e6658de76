import Cells

/// How a contact sheet is laid out: how many photos stand beside each other, and how large each is.
struct SheetLayout: Equatable {
    /// How many stand in a line.
    let columns: Int
    /// What one takes, with its name, its signs and the gap to the next.
    let cell: Size
    /// What its picture takes.
    let picture: Size

    /// Columns at the left of a picture: for the mark beside what is selected, and for what is to be known at a glance.
    static let margin = 2

    /// A layout that fills the room, for photos of the usual proportions: pictures as large as leaves a few of them on a
    /// small screen, and many on a large one.
    init(in room: Size, hasTitles: Bool, cellAspect: Double) {
        let gap = room.rows < 45 ? 0 : 1
        let wanted =
            switch room.rows {
            case ..<6: 2
            case ..<12: 4
            case ..<30: 5
            case ..<45: 6
            default: 8
            }
        let rows = max(2, room.rows - (hasTitles ? 1 : 0))
        // What is left over by as many lines as fit makes them a little higher.
        let lines = max(1, rows / (wanted + 1 + gap))
        let height = max(1, min(wanted + 1, rows / lines - 1 - gap))
        let width = max(2, Int((Double(height) / cellAspect * 4 / 3).rounded()))
        columns = max(1, room.columns / (width + Self.margin))
        cell = Size(columns: room.columns / columns, rows: min(room.rows, height + 1 + gap))
        picture = Size(columns: max(0, cell.columns - Self.margin), rows: min(height, max(0, room.rows - 1)))
    }

    /// Where the photos of a line stand, from left to right.
    func frames(in line: Rect) -> [Rect] {
        (0..<columns).map { column in
            Rect(
                column: line.origin.column + column * cell.columns, row: line.origin.row, columns: cell.columns,
                rows: line.size.rows)
        }
    }
}
