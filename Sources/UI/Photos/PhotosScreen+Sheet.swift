import Cells
import Commands
import Model
import Pictures

/// The photos as a contact sheet.
extension PhotosScreen {
    /// How the list's photos are shown.
    enum View {
        /// One below the other, with what there is to say of each.
        case list
        /// Beside each other.
        case sheet
    }

    /// A sheet says nothing to those who do not see it.
    var isSheet: Bool { view == .sheet && !context.settings.plain }

    /// Draws what is in sight. Returns which photos that are, and the pictures that it takes.
    func drawSheet(in surface: inout Surface, _ frame: Rect) -> (seen: [PhotoKey], orders: [PictureOrder]) {
        var rest = frame
        // For the bar, whether there is one or not: no picture is drawn in another size for that.
        _ = rest.takeRight(1)
        let layout = SheetLayout(
            in: rest.size, hasTitles: isDivided, cellAspect: context.capabilities.cellAspect)
        sheet = layout
        let lines = lines
        scroll.layOut(lines, rows: rest.size.rows, height: layout.cell.rows)
        let photos = (try? results.photos(in: scroll.window)) ?? []
        let cell = SheetCell(layout: layout, theme: context.theme, isPlain: !context.capabilities.unicode)
        var orders: [PictureOrder] = []
        var line = 0..<0
        var frames: [Rect] = []
        for (index, photo) in zip(scroll.window, photos) {
            if index >= line.upperBound {
                line = lines.line(of: index)
                if lines.hasTitles { drawTitle(above: index, in: &surface, &rest) }
                frames = layout.frames(in: rest.takeTop(layout.cell.rows))
            }
            let place = frames[index - line.lowerBound]
            scroll.setFrame(place, of: index)
            guard let photo else { continue }
            cell.draw(
                photo, thumbnail(of: photo, layout.picture, &orders), hits: hits(in: photo.name),
                badges: badges(of: photo), isSelected: photo.key == selection, in: &surface, frame: place)
        }
        return (photos.compactMap { $0?.key }, orders)
    }

    /// How the photos stand in lines, as they were laid out last.
    var lines: ListLines {
        let (results, isDivided) = (results, isDivided)
        return ListLines(
            count: scroll.count, columns: isSheet ? sheet?.columns ?? 1 : 1, hasTitles: isDivided
        ) { isDivided ? results.section(at: $0)?.range : nil }
    }

    /// Shows the photos in the other way. What is selected stays, and comes to stand in the middle.
    func switchView() {
        guard !context.settings.plain else { return send(.notice("A plain screen has no contact sheet.")) }
        view = view == .list ? .sheet : .list
        scroll.centreSelection()
    }

    /// Moves through the list, if a command is about that. Returns whether it was.
    func performMoving(_ command: Command) -> Bool {
        switch command {
        case .previousPhoto: scroll.select(scroll.selected - 1)
        case .nextPhoto: scroll.select(scroll.selected + 1)
        default: guard isSheet ? scroll.perform(command, in: lines) : scroll.perform(command) else { return false }
        }
        selectionDidMove()
        return true
    }
}
