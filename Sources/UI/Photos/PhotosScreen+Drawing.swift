import Cells
import Session
import Model
import Pictures
import Text

/// How the list looks.
extension PhotosScreen {
    /// Draws what is in sight. Returns which photos that are, and the pictures that it takes.
    func drawPhotos(in surface: inout Surface, _ frame: Rect) -> (seen: [PhotoKey], orders: [PictureOrder]) {
        var rest = frame
        scroll.beginDrawing()
        if case .typing = errand { prompt.draw(in: &surface, rest.takeBottom(1), context.theme) }
        let whole = rest
        let paneFrame = context.settings.plain ? nil : pane.takeRoom(&rest)
        guard results.count > 0 else {
            drawEmpty(in: &surface, whole)
            return ([], [])
        }
        var (seen, orders) = isSheet ? drawSheet(in: &surface, rest) : drawList(in: &surface, rest)
        if !context.settings.plain { scroll.drawBar(in: &surface, rest, context.theme) }
        if let paneFrame { orders += drawPane(in: &surface, paneFrame) }
        return (seen, orders)
    }

    /// The same of a list. Returns which photos that are, and the pictures that it takes.
    private func drawList(in surface: inout Surface, _ frame: Rect) -> (seen: [PhotoKey], orders: [PictureOrder]) {
        var rest = frame
        let row = PhotoRow(
            in: rest.size, wantedHeight: context.settings.rowHeight, theme: context.theme,
            capabilities: context.capabilities)
        let isDivided = isDivided
        if isDivided {
            scroll.layOut(lines, rows: rest.size.rows, height: row.height)
        } else {
            scroll.setVisible(rest.size.rows / row.height)
        }
        let photos = (try? results.photos(in: scroll.window)) ?? []
        var orders: [PictureOrder] = []
        for (index, photo) in zip(scroll.window, photos) {
            if isDivided { drawTitle(above: index, in: &surface, &rest) }
            let line = rest.takeTop(row.height)
            scroll.setFrame(line, of: index)
            guard let photo else { continue }
            row.draw(
                photo, thumbnail(of: photo, row.thumbnailSize, &orders), hits: hits(in: photo.name),
                badges: badges(of: photo), isSelected: photo.key == selection, in: &surface, frame: line)
        }
        return (photos.compactMap { $0?.key }, orders)
    }

    /// The section's, above its first photo and above the first one in sight.
    func drawTitle(above index: Int, in surface: inout Surface, _ rest: inout Rect) {
        guard let section = results.section(at: index),
            section.range.lowerBound == index || index == scroll.first
        else { return }
        let title = SectionTitle(
            section: section, rule: results.sectionRule, isCounted: results.isComplete, theme: context.theme)
        title.draw(in: &surface, rest.takeTop(1))
    }

    func badges(of photo: Photo) -> [PhotoBadge] {
        PhotoBadge.badges(of: photo, isMarked: marks.keys.contains(photo.key), isNew: opened.isNew(photo.key))
    }

    /// What is drawn of a photo's thumbnail so far; if there is anything to draw, that is ordered.
    func thumbnail(of photo: Photo, _ room: Size, _ orders: inout [PictureOrder]) -> DrawnPicture? {
        guard photo.thumbnail.held != nil || photo.original.held != nil, !room.isEmpty else { return nil }
        func order(_ style: DrawingStyle) -> PictureOrder {
            PictureOrder.thumbnail(of: photo, in: cache.id, size: room, style: style)
        }
        let wanted = order(context.drawingStyle)
        orders.append(wanted)
        return context.pipeline.picture(wanted) ?? context.formerStyle.flatMap { context.pipeline.picture(order($0)) }
    }

    private func drawEmpty(in surface: inout Surface, _ frame: Rect) {
        emptyText?.draw(in: &surface, frame, context.theme)
    }

    /// The text in place of the photos; nil if there are any.
    var emptyText: EmptyText? {
        guard results.count == 0 else { return nil }
        return EmptyText(
            status, isAwaited: context.wishes.isStanding(.list(cache.id)), isOffline: context.settings.offline,
            isFiltered: results === lists.found, scopes: scopes, context.keys)
    }
}
