import Cache
import Cells
import Model
import Pictures
import Text

/// The pane beside the list. Nothing is fetched for it: a photo that is here is shown, of others their thumbnails.
extension PhotosScreen {
    func togglePane() {
        guard !context.settings.plain else { return send(.notice("A plain screen has no second pane.")) }
        guard pane.toggle() else {
            return send(.notice("For a second pane the window needs \(PhotoPane.leastWidth) columns."))
        }
    }

    /// Draws the photo that the cursor rests on. Returns what is to be drawn for it, the most important first.
    func drawPane(in surface: inout Surface, _ frame: Rect) -> [PictureOrder] {
        pane.rest.set(selection)
        var rest = frame
        // Where the list has a bar, that is enough between the two.
        let rule = rest.takeLeft(1)
        if !scroll.hasBar { drawRule(in: &surface, rule) }
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        var report = rest.takeBottom(PhotoPane.lines(in: rest))
        _ = report.takeTop(1)
        guard let photo = pane.rest.value.flatMap({ try? results.photo($0) }) else { return [] }
        let look = PhotoLook(gallery: cache.id)
        let view = Viewport(size: rest.size, style: context.drawingStyle)
        // Of a photo that is here, its thumbnail is there sooner.
        var wanted = [look.order(of: photo, in: view), look.preview(of: photo, in: view)].compactMap { $0 }
        if wanted.first == wanted.last { wanted = Array(wanted.prefix(1)) }
        if let picture = wanted.lazy.compactMap({ self.context.pipeline.picture($0) }).first {
            pane.shown = (photo.key, picture)
        } else if wanted.allSatisfy({ context.pipeline.failure($0) != nil }) {
            pane.shown = nil
        }
        // What is said is said of what is seen.
        let seen = pane.shown.flatMap { try? results.photo($0.key) } ?? photo
        if seen.key != pane.shown?.key { pane.shown = nil }
        if let picture = pane.shown?.picture {
            surface.draw(
                picture.cells, pixels: picture.pixels, at: rest.centred(picture.cells.size).origin, in: rest)
        } else {
            Placeholder.draw(seen, context.theme, in: &surface, rest)
        }
        return wanted.reversed() + drawReport(of: seen, look, in: &surface, report)
    }

    /// Says what there is to say. Returns what has to be looked at for it.
    private func drawReport(
        of photo: Photo, _ look: PhotoLook, in surface: inout Surface, _ frame: Rect
    ) -> [PictureOrder] {
        var rest = frame
        let kept = try? reader.metadata(of: photo.key)
        // What the cache has been told once need not be looked for in the photo.
        let examination = PictureOrder.examination(of: photo, in: cache.id)
        let isUnread = photo.original.held != nil && kept?.edition != photo.original.held
        let metadata = look.metadata(of: photo, kept, isUnread ? context.pipeline.examination(examination) : nil)
        if let (text, style) = PhotoRow.remark(photo, context.theme) {
            let line = rest.takeBottom(1)
            surface.write(text.truncated(toWidth: line.size.columns), in: line, style: style)
        }
        let lines = PhotoReport(photo: photo, metadata: metadata, hasUnicode: context.capabilities.unicode)
            .facts(width: rest.size.columns)
        for line in lines.prefix(rest.size.rows) {
            PhotoReport.draw(line, in: &surface, rest.takeTop(1), context.theme)
        }
        return isUnread ? [examination] : []
    }

    /// Between the list and the pane.
    private func drawRule(in surface: inout Surface, _ column: Rect) {
        for row in column.rows {
            let place = Rect(column: column.origin.column, row: row, columns: 1, rows: 1)
            surface.write(context.theme.signs.upright, in: place, style: context.theme.detail)
        }
    }
}
