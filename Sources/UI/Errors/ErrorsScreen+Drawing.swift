import Cells
import Session
import Model
import Text

/// How the errors look.
extension ErrorsScreen {
    func drawAll(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        places.beginAnew()
        let now = context.now()
        guard !list.rows.isEmpty else {
            return EmptyText(title: "Nothing failed").draw(in: &surface, rest, context.theme)
        }
        drawDetail(now, in: &surface, &rest)
        let height = rest.size.columns < 70 ? 2 : 1
        scroll.layOut(lines, rows: rest.size.rows, height: height)
        bar.draw(scroll, in: &surface, rest, context.theme)
        for index in scroll.window {
            if list.isFirstOfGallery(index) || index == scroll.first {
                drawTitle(list.rows[index].gallery, in: &surface, rest.takeTop(1))
            }
            let row = rest.takeTop(height)
            places.note(row, index)
            draw(list.rows[index], isSelected: index == scroll.selected, now, in: &surface, row)
        }
    }

    /// One below the other, galleries with their titles.
    var lines: ListLines {
        let (list, count) = (list, list.rows.count)
        // Where each stands in a line of its own, only the beginning of a section counts.
        return ListLines(count: count, hasTitles: true) { (list.isFirstOfGallery($0) ? $0 : 0)..<count }
    }

    private func drawTitle(_ gallery: GalleryID, in surface: inout Surface, _ line: Rect) {
        var rest = line
        _ = rest.takeLeft(1)
        let title = address(of: gallery).map { context.title(of: $0) } ?? "A gallery that is not in the list any more"
        surface.write(title.truncated(toWidth: rest.size.columns - 1), in: rest, style: context.theme.section)
    }

    private func draw(
        _ row: ErrorRow, isSelected: Bool, _ now: Timestamp, in surface: inout Surface, _ frame: Rect
    ) {
        let theme = context.theme
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        var line = rest.takeTop(1)
        if rest.size.rows == 0 {
            let reason = line.takeRight(line.size.columns * 2 / 5)
            surface.write(row.failure.reason.truncated(toWidth: reason.size.columns), in: reason, style: theme.trouble)
            _ = line.takeRight(2)
        } else {
            surface.write(row.failure.reason.truncated(toWidth: rest.size.columns), in: rest, style: theme.trouble)
        }
        if line.size.columns >= 30 {
            surface.write(ErrorText.time(row, now: now), in: line.takeLeft(10), style: theme.detail)
            _ = line.takeLeft(1)
        }
        let (name, kind) = names(row)
        if line.size.columns >= 28 {
            let attempts = ErrorText.attempts(row)
            surface.write(attempts, in: line.takeRight(max(4, attempts.displayWidth)), style: theme.detail)
            _ = line.takeRight(1)
        }
        if line.size.columns >= 20 {
            surface.write(kind, in: line.takeRight(9), style: theme.detail)
            _ = line.takeRight(2)
        }
        surface.write(
            name.truncated(toWidth: line.size.columns), in: line, style: isSelected ? theme.selectedName : theme.name)
    }

    private func names(_ row: ErrorRow) -> (name: String, kind: String) {
        switch row.identity {
        case .rest(_, let rendition, _):
            return ("… and \(CountText.text(row.count, SubjectName.kind(rendition))) more", "")
        case .subject(.list): return ("list of photos", "list")
        case .subject(let subject):
            if let photo = row.photo, case .picture(_, _, let rendition) = subject {
                return (photo.name, SubjectName.kind(rendition))
            }
            let name = SubjectName(subject, context)
            return (name.name, name.kind)
        }
    }

    private func drawDetail(_ now: Timestamp, in surface: inout Surface, _ rest: inout Rect) {
        guard let selected else { return }
        let lines = rest.size.rows < 12 ? 2 : rest.size.rows < 30 ? 4 : 6
        let history = ErrorText.history(
            selected, now: now, update: nextUpdate(selected), isPaused: context.wishes.isPaused)
        DetailPane(theme: context.theme).draw(
            [(history, context.theme.detail), (selected.failure.reason, context.theme.trouble)],
            lines: lines, in: &surface, &rest)
    }

    /// When a list is fetched next by itself.
    private func nextUpdate(_ row: ErrorRow) -> Timestamp? {
        guard case .subject(.list(let gallery)) = row.identity else { return nil }
        return address(of: gallery).flatMap(context.nextUpdate)
    }
}
