import Cells
import Model
import Pictures

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

/// Draws one photo of a contact sheet: its thumbnail, its name below that, and at the left what is to be said of it.
struct SheetCell {
    let layout: SheetLayout
    let theme: Theme
    /// Whether there is ASCII alone.
    let isPlain: Bool

    func draw(
        _ photo: Photo, _ picture: DrawnPicture?, hits: [Range<Int>], badges: [PhotoBadge], isSelected: Bool,
        in surface: inout Surface, frame: Rect
    ) {
        var rest = frame
        rest.size.rows = min(rest.size.rows, layout.picture.rows + 1)
        // The mark has a column of its own, so that moving it does not touch a picture's cells.
        let mark = rest.takeLeft(1)
        if isSelected {
            for row in mark.rows {
                let place = Rect(column: mark.origin.column, row: row, columns: 1, rows: 1)
                surface.write(theme.signs.mark, in: place, style: theme.mark)
            }
        }
        PhotoBadge.draw(badges, in: &surface, rest.takeLeft(1), theme, isPlain: isPlain)
        let room = rest.takeTop(layout.picture.rows)
        if let picture {
            surface.draw(picture.cells, pixels: picture.pixels, at: room.origin, in: room)
        } else {
            Placeholder.draw(photo, theme, in: &surface, room)
        }
        PhotoName(name: photo.name, hits: hits).draw(isSelected: isSelected, theme, in: &surface, rest.takeTop(1))
    }
}
