import Cells
import Commands
import Text

/// All keys and what they do, from the table that the bindings are made of.
@MainActor
final class HelpScreen: Screen {
    private enum Line {
        case heading(String)
        /// Either is empty where it is said in another line.
        case entry(keys: String, meaning: String)
        case gap
    }

    /// What is explained, in order: at first what holds on the screen that help was asked for on.
    private let explained: [CommandTable.Scope]
    /// As they fit into ``width``.
    private var lines: [Line] = []
    private var width = 0
    private var scroll = ListScroll()
    private var bar = ScrollBar()

    /// Columns that keys take at most.
    private static let keyWidth = CommandTable.entries.map { keys($0).displayWidth }.max() ?? 0
    /// With fewer columns for it, what a key does has lines of its own below the key.
    private static let least = 16

    init(_ context: ScreenContext, scopes: [CommandTable.Scope]) {
        explained = scopes + CommandTable.Scope.allCases.filter { !scopes.contains($0) }
        super.init(context)
    }

    override var scopes: [CommandTable.Scope] { [.lists, .everywhere] }
    override var heading: Heading { Heading(title: "Help") }
    override var footing: Footing {
        Footing(text: "Keys, and what they do", hints: [(.back, "back")])
    }

    override func obey(_ command: Command) -> Bool {
        // There is nothing to select: one moves what is seen.
        switch command {
        case .up: scroll.select(scroll.first - 1)
        case .down: scroll.select(scroll.window.upperBound)
        case .pageUp, .halfPageUp: scroll.select(scroll.first - scroll.visible)
        case .pageDown, .halfPageDown: scroll.select(scroll.window.upperBound + scroll.visible - 1)
        case .help: send(.back)
        default: guard scroll.obey(command) else { return false }
        }
        return true
    }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool { scroll.follow(mouse, &bar) }

    override func draw(in surface: inout Surface, frame: Rect) {
        layOut(frame.size.columns)
        scroll.setVisible(frame.size.rows)
        bar.draw(scroll, in: &surface, frame, context.theme)
        for (row, index) in zip(frame.rows, scroll.window) {
            var line = Rect(column: frame.origin.column + 1, row: row, columns: frame.size.columns - 2, rows: 1)
            switch lines[index] {
            case .heading(let text): surface.write(text, in: line, style: context.theme.selectedName)
            case .entry(let keys, let meaning):
                _ = line.takeLeft(2)
                let place = meaning.isEmpty ? line : line.takeLeft(isNarrow ? 0 : Self.keyWidth)
                surface.write(keys.truncated(toWidth: place.size.columns), in: place, style: context.theme.key)
                _ = line.takeLeft(2)
                surface.write(meaning.truncated(toWidth: line.size.columns), in: line)
            case .gap: break
            }
        }
    }

    // MARK: - Lines

    /// Columns for what a key does, beside the widest of keys.
    private var roomBeside: Int { width - 2 - 2 - Self.keyWidth - 2 }
    private var isNarrow: Bool { roomBeside < Self.least }

    private func layOut(_ width: Int) {
        guard width != self.width else { return }
        self.width = width
        lines = explained.flatMap { scope in
            [.heading(scope.rawValue)] + CommandTable.entries.filter { $0.scope == scope }.flatMap(lines) + [.gap]
        }
        scroll.setCount(lines.count)
    }

    private func lines(_ entry: CommandTable.Entry) -> [Line] {
        let keys = Self.keys(entry)
        if isNarrow {
            return [.entry(keys: keys, meaning: "")]
                + entry.meaning.wrapped(toWidth: width - 2 - 2 - 2).map { .entry(keys: "", meaning: $0) }
        }
        return entry.meaning.wrapped(toWidth: roomBeside).enumerated().map { number, text in
            .entry(keys: number == 0 ? keys : "", meaning: text)
        }
    }

    private static func keys(_ entry: CommandTable.Entry) -> String {
        entry.keys.map(\.description).joined(separator: " ")
    }
}
