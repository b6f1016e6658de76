import Cache
import Cells
import Commands
import Model
import Session
import Settings
import Text

/// Draws the row of a gallery: its title, counts and status.
@MainActor
struct GalleryRow {
    let address: Address
    /// The title in the edited list, if the gallery has one.
    let title: String?
    /// The gallery's own update interval, if it has one.
    let interval: SyncInterval?
    let isListed: Bool
    let isPreset: Bool
    /// Facts about the gallery's cache; nil if the user has never opened the gallery.
    let facts: GalleryFacts?

    /// The least width of rows that have columns for counts.
    private static let wide = 90
    /// The least width of title lines that also name the gallery's kind.
    private static let leastBesideKind = 30

    func draw(
        isSelected: Bool, _ context: ScreenContext, _ scopes: [CommandTable.Scope], in surface: inout Surface,
        _ frame: Rect
    ) {
        let theme = context.theme
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        let isWide = frame.size.columns >= Self.wide
        var line = rest.takeTop(1)
        if isWide, let facts { drawColumns(facts, theme, in: &surface, &line) }
        drawKind(theme, in: &surface, &line)
        surface.write(
            (title ?? address.shownText).madeVisible.truncated(toWidth: line.size.columns), in: line,
            style: isSelected ? theme.selectedName : theme.name)
        let detail = detail(context, scopes, isWide: isWide, width: rest.size.columns)
        surface.write(detail, in: rest, style: theme.detail)
    }

    /// Draws the number of photos, the size on disk and the number of errors.
    private func drawColumns(_ facts: GalleryFacts, _ theme: Theme, in surface: inout Surface, _ line: inout Rect) {
        func column(_ text: String, _ width: Int, _ style: Style) {
            var frame = line.takeRight(width)
            surface.write(text, in: frame.takeRight(min(width, text.displayWidth)), style: style)
            _ = line.takeRight(2)
        }
        column(errors(facts) ?? "", 11, theme.trouble)
        column(ByteText.text(facts.size), 8, theme.detail)
        column(CountText.text(facts.record.photoCount, "photo"), 14, theme.detail)
    }

    /// Draws the kind of the gallery, if it is known and the line has space beside the title.
    private func drawKind(_ theme: Theme, in surface: inout Surface, _ line: inout Rect) {
        let kind = facts.map(\.record.kind) ?? GalleryKind(address, hasPaths: nil)
        guard let word = kind?.rawValue, line.size.columns >= Self.leastBesideKind else { return }
        surface.write(word, in: line.takeRight(word.displayWidth), style: theme.detail)
        _ = line.takeRight(2)
    }

    private func errors(_ facts: GalleryFacts) -> String? {
        facts.errorCount > 0 ? CountText.text(facts.errorCount, "error") : nil
    }

    /// Returns the row's second line, with address and status. A narrow window first shortens the address and a
    /// failure's reason.
    private func detail(
        _ context: ScreenContext, _ scopes: [CommandTable.Scope], isWide: Bool, width: Int
    ) -> String {
        var line = FittedLine()
        // If the line above shows the title, this line shows the address.
        line.add(title == nil ? nil : address.shownText, least: 12)
        if !isListed { line.add("not in the list: press \(context.name(of: .add, in: scopes)) to add it") }
        let interval = interval.map { $0 == .never ? "manual updates" : "\($0)" }
        if let facts {
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
            line.add(isPreset ? "built in, never opened" : "never opened")
            line.add(interval)
        }
        return line.text(width: width)
    }
}
