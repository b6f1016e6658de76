import Cache
import Cells
import Model
import Pictures
import Text

/// The layout of a contact sheet: the number of photos in a line, and their size.
struct SheetLayout: Equatable {
    /// The number of photos in a full line.
    let columns: Int
    /// The size in cells of one photo with its name, its badges and the gap to the next photo.
    let cell: Size
    /// The size in cells of one picture.
    let picture: Size
    /// The columns before and after a picture that stay empty.
    let gap: Int

    /// The columns for the selection mark and the badges.
    static let margin = 2

    /// Creates the layout that fills the space with photos of common proportions.
    ///
    /// A small screen shows a few small pictures, a large screen many.
    ///
    /// - Parameter isInLetters: whether pictures consist of letters. Such pictures need more cells, and gaps to other
    ///   letters.
    init(in space: Size, hasTitles: Bool, cellAspect: Double, isInLetters: Bool = false) {
        let between = space.rows < 45 ? 0 : 1
        let wanted =
            switch space.rows {
            case ..<6: 2
            case ..<12: 4
            case ..<30: isInLetters ? 6 : 5
            case ..<45: isInLetters ? 7 : 6
            default: 8
            }
        gap = isInLetters ? 1 : 0
        let margins = Self.margin + 2 * gap
        let rows = max(2, space.rows - (hasTitles ? 1 : 0))
        // The lines share the rows that are left over.
        let lines = max(1, rows / (wanted + 1 + between))
        let height = max(1, min(wanted + 1, rows / lines - 1 - between))
        let width = max(2, Int((Double(height) / cellAspect * 4 / 3).rounded()))
        columns = max(1, space.columns / (width + margins))
        cell = Size(columns: space.columns / columns, rows: min(space.rows, height + 1 + between))
        picture = Size(columns: max(0, cell.columns - margins), rows: min(height, max(0, space.rows - 1)))
    }

    /// Returns the areas of the photos in a line, from left to right.
    func frames(in line: Rect) -> [Rect] {
        (0..<columns).map { column in
            Rect(
                column: line.origin.column + column * cell.columns, row: line.origin.row, columns: cell.columns,
                rows: line.size.rows)
        }
    }
}

/// Draws one photo of a contact sheet: its thumbnail, name and badges.
struct SheetCell {
    let layout: SheetLayout
    let theme: Theme
    /// Whether badges are ASCII letters instead of signs.
    let isPlain: Bool

    func draw(
        _ photo: Photo, _ picture: DrawnPicture?, matches: [Range<Int>], badges: [PhotoBadge], isSelected: Bool,
        in surface: inout Surface, frame: Rect
    ) {
        let name = drawPicture(of: photo, picture, badges: badges, isSelected: isSelected, in: &surface, frame)
        PhotoName(name: photo.name, matches: matches).draw(isSelected: isSelected, theme, in: &surface, name)
    }

    /// Draws a folder with the thumbnail of its newest photo.
    func draw(
        _ folder: Subfolder, cover: Photo?, _ picture: DrawnPicture?, isSelected: Bool, in surface: inout Surface,
        frame: Rect
    ) {
        let line = drawPicture(of: cover, picture, badges: [], isSelected: isSelected, in: &surface, frame)
        surface.write(
            (folder.path.name.madeVisible + "/").truncated(toWidth: line.size.columns), in: line,
            style: isSelected ? theme.selectedName : theme.section)
    }

    /// Draws the thumbnail, the badges and the selection mark. Returns the space for the name.
    private func drawPicture(
        of photo: Photo?, _ picture: DrawnPicture?, badges: [PhotoBadge], isSelected: Bool, in surface: inout Surface,
        _ frame: Rect
    ) -> Rect {
        var rest = frame
        rest.size.rows = min(rest.size.rows, layout.picture.rows + 1)
        // The selection mark has its own column, so that moving it does not touch the pictures.
        let mark = rest.takeLeft(1)
        if isSelected {
            for row in mark.rows {
                let cell = Rect(column: mark.origin.column, row: row, columns: 1, rows: 1)
                surface.write(theme.signs.mark, in: cell, style: theme.mark)
            }
        }
        PhotoBadge.draw(badges, in: &surface, rest.takeLeft(1), theme, isPlain: isPlain)
        _ = rest.takeLeft(layout.gap)
        var space = rest.takeTop(layout.picture.rows)
        _ = space.takeRight(layout.gap)
        if let picture {
            surface.draw(picture.cells, pixels: picture.pixels, at: space.origin, in: space)
        } else if let photo {
            Placeholder.draw(photo, theme, in: &surface, space)
        }
        return rest.takeTop(1)
    }
}
