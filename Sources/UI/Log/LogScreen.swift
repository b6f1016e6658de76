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
    /// Whether long lines continue in the next row. Otherwise they are cut.
    private var isWrapped = false
    /// The rows of all entries while long lines are wrapped; otherwise empty.
    private var rows: [Row] = []
    /// The rows of each wrapped entry by sequence number, for windows of ``width``.
    private var folded: [Int: [String]] = [:]
    private var width = 0

    /// A row of a wrapped entry.
    private struct Row {
        let text: String
        let entry: LogEntry
    }

    /// The number of columns by which a key press scrolls.
    private static let step = 16
    /// In windows with fewer columns, lines have no dates and switches have no names.
    private static let narrow = 64

    private static let switches: [(command: Command, subsystem: LogSubsystem)] = [
        (.switchNetwork, .network), (.switchNetworkDetail, .networkDetail), (.switchSync, .sync), (.switchXML, .xml),
        (.switchCache, .cache), (.switchScreen, .screen),
    ]

    override init(_ context: ScreenContext) {
        entries = context.log.entries
        super.init(context)
    }

    override var leavesWishes: Bool { true }
    override var scopes: [CommandTable.Scope] { [.log, .lists, .everywhere] }
    override var heading: Heading {
        Heading(title: "Log", detail: entries.count == 1 ? "1 entry" : "\(entries.count) entries")
    }
    override var footing: Footing {
        Footing(
            text: followsEnd ? "Newest below" : "\(scroll.window.upperBound) of \(count)",
            hints: [
                (.wrap, isWrapped ? "cut" : "wrap"), (.copy, "copy"), (.save, "save"), (.clear, "clear"),
                (.help, "help"),
            ])
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
        case .copy: copy()
        case .save: save()
        case .left where isWrapped, .right where isWrapped: break
        case .left: shift = max(0, shift - Self.step)
        case .right: shift = min(shift + Self.step, max(0, longestLine - Self.step))
        default: return performScrolling(command)
        }
        return true
    }

    /// Performs a command that scrolls up or down. Returns false for other commands.
    private func performScrolling(_ command: Command) -> Bool {
        adoptCount()
        switch command {
        case .wrap: toggleWrapping()
        case .up: scroll.select(scroll.first - 1)
        case .down: scroll.select(scroll.window.upperBound)
        default:
            guard scroll.perform(command) else { return false }
        }
        followsEnd = scroll.window.upperBound == count
        return true
    }

    /// The number of rows that the entries need.
    private var count: Int { isWrapped ? rows.count : entries.count }

    /// Makes room for entries that have arrived since the last frame, and scrolls to them unless the user has scrolled
    /// up.
    private func adoptCount() {
        scroll.setCount(count)
        if followsEnd { scroll.select(count - 1) }
    }

    /// Switches between wrapping and cutting long lines. The first visible entry stays in place, unless the newest
    /// entry was visible.
    private func toggleWrapping() {
        let index = scroll.first
        let anchor = isWrapped ? rows.dropFirst(index).first?.entry : entries.dropFirst(index).first
        isWrapped.toggle()
        shift = 0
        layOut()
        scroll.setCount(count)
        guard !followsEnd, let sequence = anchor?.sequence else { return scroll.select(count - 1) }
        let target =
            isWrapped
            ? rows.firstIndex { $0.entry.sequence == sequence } : entries.firstIndex { $0.sequence == sequence }
        if let target { scroll.roll(by: target - scroll.first) }
    }

    /// Makes the rows of wrapped entries.
    private func layOut() {
        guard isWrapped else { return rows = [] }
        var kept: [Int: [String]] = [:]
        for entry in entries {
            kept[entry.sequence] = folded[entry.sequence] ?? fold(entry)
        }
        folded = kept
        rows = entries.flatMap { entry in (kept[entry.sequence] ?? []).map { Row(text: $0, entry: entry) } }
    }

    /// Returns the text of an entry in rows. The second and later rows are indented.
    private func fold(_ entry: LogEntry) -> [String] {
        let indent = 2
        return String(entry.line.dropFirst(hidden)).folded(toWidth: max(1, width - indent)).enumerated().map {
            ($0 == 0 ? "" : String(repeating: " ", count: indent)) + $1
        }
    }

    /// The number of characters to leave out at the start of lines. In a narrow window, the date would take most of a
    /// line.
    private var hidden: Int { width < Self.narrow ? "YYYY-MM-DD ".count : 0 }

    override func go(to index: Int) -> Bool {
        adoptCount()
        scroll.select(index)
        followsEnd = scroll.window.upperBound == count
        return true
    }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        adoptCount()
        guard scroll.follow(mouse) else { return false }
        followsEnd = scroll.window.upperBound == count
        return true
    }

    private var longestLine: Int { entries.reduce(0) { max($0, $1.line.displayWidth) } }

    private var text: String { entries.map { $0.line + "\n" }.joined() }

    /// Sends the log to the clipboard. If not all entries fit, sends the last ones.
    private func copy() {
        guard context.capabilities.clipboard else { return send(.notice(ClipboardText.unavailable)) }
        // An empty text would clear the clipboard. An entry always fits, because the log cuts long messages.
        guard !entries.isEmpty else { return send(.notice("The log is empty.")) }
        var text = ClipboardText()
        for entry in entries.reversed() {
            guard text.add(entry.line) else { break }
        }
        send(.copy(text.lines.reversed().map { $0 + "\n" }.joined()))
        let (sent, count) = (text.lines.count, entries.count)
        let part = sent < count ? "the last \(CountText.text(sent, of: count)) entries" : "the log"
        send(.notice("Sent \(part) to the clipboard."))
    }

    /// Asks for the path of a file, and saves the log there.
    private func save() {
        let proposal = context.stateFolder + "/log-\(context.now().milliseconds).txt"
        send(
            .type("Save the log to:", proposal) { [self] text in
                let path = TypedPath.absolute(text, home: context.home, currentFolder: context.currentFolder)
                guard let path else { return send(.notice("That is not the path of a file.")) }
                save(to: path)
            })
    }

    private func save(to path: String) {
        let text = text
        Task.detached { [weak self] in
            let notice: String
            do {
                try PrivateFile.createLog(text, at: path)
                notice = "Log saved to \(path)."
            } catch {
                notice = "\(error)"
            }
            await self?.send(.notice(notice))
        }
    }

    override func modelUpdated(_ update: ModelUpdate) {
        guard case .log = update else { return }
        let before = entries
        entries = context.log.entries
        // Keep the visible lines in place while old entries are dropped.
        let oldest = entries.first?.sequence ?? 0
        let gone =
            isWrapped
            ? before.prefix { $0.sequence < oldest }.reduce(0) { $0 + (folded[$1.sequence]?.count ?? 0) }
            : oldest - (before.first?.sequence ?? oldest)
        layOut()
        // When all entries fit, the newest one is visible.
        if count <= scroll.visible { followsEnd = true }
        if !followsEnd, gone > 0 { scroll.select(max(0, scroll.first - gone)) }
        setNeedsDisplay()
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        drawSwitches(in: &surface, rest.takeTop(1))
        if width != frame.size.columns {
            width = frame.size.columns
            folded = [:]
            layOut()
        }
        scroll.setVisible(rest.size.rows)
        adoptCount()
        scroll.drawBar(in: &surface, rest, context.theme)
        if scroll.visible < scroll.count { _ = rest.takeRight(1) }
        for (row, index) in zip(rest.rows, scroll.window) {
            let line = Rect(column: rest.origin.column, row: row, columns: rest.size.columns, rows: 1)
            let entry = isWrapped ? rows[index].entry : entries[index]
            let text = isWrapped ? rows[index].text : entry.line.droppingColumns(hidden + shift)
            surface.write(
                text.truncated(toWidth: line.size.columns), in: line,
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
