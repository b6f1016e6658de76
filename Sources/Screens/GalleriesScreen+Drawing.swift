import Cells
import Model
import Text

/// How the galleries look.
extension GalleriesScreen {
    func drawAll(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        places.beginAnew()
        if isTyping { drawField(in: &surface, rest.takeBottom(2)) }
        scroll.setVisible(rest.size.rows / 2)
        scroll.setCount(draft.addresses.count)
        guard !scroll.isEmpty else { return drawEmpty(in: &surface, rest) }
        bar.draw(scroll, in: &surface, rest, context.theme)
        for index in scroll.window {
            let row = rest.takeTop(2)
            places.note(row, index)
            draw(draft.addresses[index], isSelected: index == scroll.selected, in: &surface, row)
        }
        drawFirstRun(in: &surface, rest)
    }

    private func draw(_ address: Address, isSelected: Bool, in surface: inout Surface, _ frame: Rect) {
        let theme = context.theme
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        let title = rest.takeTop(1)
        surface.write(
            address.text.truncated(toWidth: title.size.columns), in: title,
            style: isSelected ? theme.selectedName : theme.name)
        surface.write(detail(address).truncated(toWidth: rest.size.columns), in: rest, style: theme.detail)
    }

    private func detail(_ address: Address) -> String {
        let interval = draft.list.interval(of: address).map { $0 == .never ? "never by itself" : "\($0)" }
        guard let record = records[address] else {
            let text = draft.presets.contains(address) ? "comes with Vitrine, not opened yet" : "not opened yet"
            return [text, interval].compactMap { $0 }.joined(separator: " · ")
        }
        let status = context.activity.status(of: GalleryID(address), record: record)
        let parts = [
            CountText.text(record.photoCount, "photo"), record.isKept ? "kept" : nil, interval, StatusText.text(status),
        ]
        return parts.compactMap { $0 }.joined(separator: " · ")
    }

    private func drawField(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        let line = rest.takeTop(1)
        surface.write(context.theme.signs.rule(line.size.columns), in: line, style: context.theme.detail)
        let label = typed == .interval ? " Update every: " : " Address: "
        surface.write(label, in: rest.takeLeft(label.count), style: context.theme.detail)
        _ = rest.takeRight(1)
        field.draw(in: &surface, rest)
    }

    private func drawEmpty(in surface: inout Surface, _ frame: Rect) {
        EmptyText(galleriesIn: scopes, context.keys).draw(in: &surface, frame, context.theme)
    }

    /// Whoever starts Vitrine for the first time is told how to go on.
    private func drawFirstRun(in surface: inout Surface, _ frame: Rect) {
        let isUntouched = hasLookedUp && records.isEmpty && draft.addresses == draft.presets
        guard !isTyping, isUntouched, draft.addresses.count == 1 else { return }
        var rest = frame
        _ = rest.takeTop(1)
        _ = rest.takeLeft(3)
        _ = rest.takeRight(1)
        EmptyText(firstRunIn: scopes, context.keys).drawBelow(in: &surface, rest, context.theme)
    }
}
