import Cells
import Model
import Pictures

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
