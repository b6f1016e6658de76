import Cells
import Commands
import Logging
import Settings
import Text

/// The screen of the log, which shows new entries as they arrive.
@MainActor
final class LogScreen: Screen {
    private var scroll = ListScroll()
    private var entries: [LogEntry]
    /// Whether the screen scrolls to new entries as they arrive.
    private var followsEnd = true
    /// The number of columns by which the text is scrolled to the right.
    private var shift = 0

    /// The number of columns by which a key scrolls.
    private static let step = 16
    /// The width below which lines have no dates and no names of subsystems.
    private static let narrow = 64

    private static let switches: [(command: Command, subsystem: LogSubsystem)] = [
        (.switchNetwork, .network), (.switchNetworkDetail, .networkDetail), (.switchSync, .sync), (.switchXML, .xml),
        (.switchCache, .cache), (.switchScreen, .screen),
    ]

    override init(_ context: ScreenContext) {
        entries = context.log.entries
        super.init(context)
    }

    override var scopes: [CommandTable.Scope] { [.log, .lists, .everywhere] }
    override var heading: Heading {
        Heading(title: "Log", detail: entries.count == 1 ? "1 entry" : "\(entries.count) entries")
    }
    override var footing: Footing {
        Footing(
            text: followsEnd ? "Newest below" : "\(scroll.window.upperBound) of \(entries.count)",
            hints: [(.copy, "copy"), (.save, "save"), (.clear, "clear"), (.help, "help")])
    }

    override func perform(_ command: Command) -> Bool {
        if let subsystem = Self.switches.first(where: { $0.command == command })?.subsystem {
            context.log.setEnabled(!context.log.isEnabled(subsystem), for: subsystem)
            return true
        }
        switch command {
        case .clear:
            let log = context.log
            send(.confirm("Clear the log?") { log.clear() })
        case .copy:
            send(.copy(text))
            send(.notice("Log copied."))
        case .save: save()
        case .left: shift = max(0, shift - Self.step)
        case .right: shift = min(shift + Self.step, max(0, longestLine - Self.step))
        case .up: scroll.select(scroll.first - 1)
        case .down: scroll.select(scroll.window.upperBound)
        default:
            guard scroll.perform(command) else { return false }
        }
        followsEnd = scroll.window.upperBound == entries.count
        return true
    }

    override func go(to index: Int) -> Bool {
        scroll.select(index)
        followsEnd = scroll.window.upperBound == entries.count
        return true
    }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        guard scroll.follow(mouse) else { return false }
        followsEnd = scroll.window.upperBound == entries.count
        return true
    }

    private var longestLine: Int { entries.reduce(0) { max($0, $1.line.count) } }

    private var text: String { entries.map { $0.line + "\n" }.joined() }

    private func save() {
        let path = context.stateFolder + "/log-\(context.now().milliseconds).txt"
        let text = text
        Task.detached { [weak self] in
            let notice: String
            do {
                try PrivateFile.write(text, to: path)
                notice = "Log saved to \(path)."
            } catch {
                notice = "\(error)"
            }
            await self?.send(.notice(notice))
        }
    }

    override func modelUpdated(_ update: ModelUpdate) {
        guard case .log = update else { return }
        let before = entries.first?.sequence
        entries = context.log.entries
        // When all entries fit, the newest one is visible.
        if entries.count <= scroll.visible { followsEnd = true }
        // Keep the visible lines in place while old entries are dropped.
        let gone = (entries.first?.sequence ?? 0) - (before ?? entries.first?.sequence ?? 0)
        if !followsEnd, gone > 0 { scroll.select(max(0, scroll.first - gone)) }
        setNeedsDisplay()
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        drawSwitches(in: &surface, rest.takeTop(1))
        scroll.setVisible(rest.size.rows)
        scroll.setCount(entries.count)
        if followsEnd { scroll.select(entries.count - 1) }
        scroll.drawBar(in: &surface, rest, context.theme)
        if scroll.visible < scroll.count { _ = rest.takeRight(1) }
        // In a narrow window the date would take most of the line.
        let hidden = frame.size.columns < Self.narrow ? "YYYY-MM-DD ".count : 0
        for (row, index) in zip(rest.rows, scroll.window) {
            let line = Rect(column: rest.origin.column, row: row, columns: rest.size.columns, rows: 1)
            let entry = entries[index]
            surface.write(
                String(entry.line.dropFirst(hidden + shift)).truncated(toWidth: line.size.columns), in: line,
                style: entry.level == .error ? context.theme.trouble : .plain)
        }
    }

    private func drawSwitches(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        let isNarrow = frame.size.columns < Self.narrow
        for (number, entry) in Self.switches.enumerated() {
            let isOn = context.log.isEnabled(entry.subsystem)
            let sign = isOn ? context.theme.signs.on : context.theme.signs.off
            // Without names all switches fit. The help explains them.
            let text = " \(number + 1)\(sign)\(isNarrow ? "" : entry.subsystem.name + " ")"
            let style = isOn ? context.theme.key : context.theme.detail
            let used = surface.write(text.truncated(toWidth: rest.size.columns), in: rest, style: style)
            _ = rest.takeLeft(used)
        }
    }
}
