import Cache
import Session
import Cells
import Model
import Text

/// How the galleries look.
extension GalleriesScreen {
    func drawAll(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        scroll.beginDrawing()
        if isTyping { drawField(in: &surface, rest.takeBottom(2)) }
        scroll.setVisible(rest.size.rows / 2)
        scroll.setCount(draft.addresses.count)
        guard !scroll.isEmpty else { return drawEmpty(in: &surface, rest) }
        scroll.drawBar(in: &surface, rest, context.theme)
        for index in scroll.window {
            let row = rest.takeTop(2)
            scroll.setFrame(row, of: index)
            draw(draft.addresses[index], isSelected: index == scroll.selected, in: &surface, row)
        }
        drawFirstRun(in: &surface, rest)
    }

    /// From this width on, what can be counted has columns of its own.
    private static let wide = 90

    private func draw(_ address: Address, isSelected: Bool, in surface: inout Surface, _ frame: Rect) {
        let theme = context.theme
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        let isWide = frame.size.columns >= Self.wide
        var line = rest.takeTop(1)
        if isWide, let facts = facts[address] { drawColumns(facts, in: &surface, &line) }
        surface.write(
            title(of: address).madeVisible.truncated(toWidth: line.size.columns), in: line,
            style: isSelected ? theme.selectedName : theme.name)
        let detail = detail(address, isWide: isWide, width: rest.size.columns)
        surface.write(detail, in: rest, style: theme.detail)
    }

    /// How many photos, how much room they take, and how much of it could not be had.
    private func drawColumns(_ facts: GalleryFacts, in surface: inout Surface, _ line: inout Rect) {
        func column(_ text: String, _ width: Int, _ style: Style) {
            var place = line.takeRight(width)
            surface.write(text, in: place.takeRight(min(width, text.displayWidth)), style: style)
            _ = line.takeRight(2)
        }
        column(errors(facts) ?? "", 11, context.theme.trouble)
        column(ByteText.text(facts.size), 8, context.theme.detail)
        column(CountText.text(facts.record.photoCount, "photo"), 14, context.theme.detail)
    }

    private func errors(_ facts: GalleryFacts) -> String? {
        facts.errorCount > 0 ? CountText.text(facts.errorCount, "error") : nil
    }

    /// How a gallery stands. Where there is little room, the address and the reason of a failure are cut: the date of the last
    /// update and what the user has set stay.
    private func detail(_ address: Address, isWide: Bool, width: Int) -> String {
        var line = FittedLine()
        // Where a title stands above, the address has to stand somewhere.
        line.add(draft.list.title(of: address) == nil ? nil : address.description, least: 12)
        if !draft.isListed(address) { line.add("not in the list: \(context.name(of: .add, in: scopes)) adds it") }
        let interval = draft.list.interval(of: address).map { $0 == .never ? "never by itself" : "\($0)" }
        if let facts = facts[address] {
            let record = facts.record
            let status = StatusText.parts(
                context.activity.status(of: GalleryID(address), recorded: record.status), now: context.now())
            if !isWide { line.add(CountText.text(record.photoCount, "photo"), isOptional: true) }
            line.add(status.state, least: status.success == nil ? nil : "Update failed: …".displayWidth)
            line.add(status.success)
            line.add(record.isKept ? "kept" : nil)
            line.add(interval)
            if !isWide {
                line.add(ByteText.text(facts.size), isOptional: true)
                line.add(errors(facts), isOptional: true)
            }
        } else {
            line.add(draft.presets.contains(address) ? "comes with Vitrine, not opened yet" : "not opened yet")
            line.add(interval)
        }
        return line.text(width: width)
    }

    private func drawField(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        let line = rest.takeTop(1)
        surface.write(context.theme.signs.rule(line.size.columns), in: line, style: context.theme.detail)
        let label =
            switch typed {
            case .interval: " Update every: "
            case .title: " Title: "
            case .nothing, .address, .otherAddress: " Address: "
            }
        surface.write(label, in: rest.takeLeft(label.count), style: context.theme.detail)
        _ = rest.takeRight(1)
        field.draw(in: &surface, rest)
    }

    private func drawEmpty(in surface: inout Surface, _ frame: Rect) {
        EmptyText(galleriesIn: scopes, context.keys).draw(in: &surface, frame, context.theme)
    }

    /// Whoever starts Vitrine for the first time is told how to go on.
    private func drawFirstRun(in surface: inout Surface, _ frame: Rect) {
        let isUntouched = hasLookedUp && facts.isEmpty && draft.addresses == draft.presets
        guard !isTyping, isUntouched, draft.addresses.count == 1 else { return }
        var rest = frame
        _ = rest.takeTop(1)
        _ = rest.takeLeft(3)
        _ = rest.takeRight(1)
        EmptyText(firstRunIn: scopes, context.keys).drawBelow(in: &surface, rest, context.theme)
    }
}
