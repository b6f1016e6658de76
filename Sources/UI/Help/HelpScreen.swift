import Cells
import Commands
import Text

/// The screen with all keys and their commands, from the user's key bindings. Typed text filters the lines.
@MainActor
final class HelpScreen: Screen {
    private enum Line {
        case heading(String)
        /// A line with keys and a description. Either may be empty if the entry takes several lines.
        case entry(keys: String, meaning: String)
        case gap
    }

    /// The scopes to explain. The scopes of the screen below come first.
    private let explained: [CommandTable.Scope]
    /// The lines of the help, laid out for ``width``.
    private var lines: [Line] = []
    private var width = 0
    private var scroll = ListScroll()
    private let prompt = LinePrompt()
    /// The words that the user has typed as a filter.
    private var words: [String] = []

    /// The entries with the user's keys from which the lines were made.
    private var bound: [CommandTable.Entry] = []
    /// The width of the column with the keys.
    private var keyWidth = 0
    /// The least width of the column with the descriptions. In narrower windows, descriptions stand below their keys.
    private static let least = 16

    init(_ context: ScreenContext, scopes: [CommandTable.Scope]) {
        explained = scopes + CommandTable.Scope.allCases.filter { !scopes.contains($0) }
        super.init(context)
        prompt.next = self
        prompt.passed = [Key(.home), Key(.end), .control("b"), .control("f"), .control("u")]
        prompt.onChange = { [weak self] in self?.filter($0) }
        prompt.onEscape = { [weak self] in self?.send(.back) }
        prompt.begin("Filter:", "")
    }

    override var focus: Responder { prompt }
    override var leavesWishes: Bool { true }
    override var scopes: [CommandTable.Scope] { [.lists, .everywhere] }
    override var heading: Heading { Heading(title: "Help") }
    override var footing: Footing {
        Footing(text: "Type to filter  Esc: back")
    }

    override func perform(_ command: Command) -> Bool {
        // Nothing is selected, so the keys scroll.
        switch command {
        case .up: scroll.select(scroll.first - 1)
        case .down: scroll.select(scroll.window.upperBound)
        case .pageUp: scroll.select(scroll.first - scroll.visible)
        case .pageDown: scroll.select(scroll.window.upperBound + scroll.visible - 1)
        case .halfPageUp: scroll.select(scroll.first - scroll.halfPage)
        case .halfPageDown: scroll.select(scroll.window.upperBound + scroll.halfPage - 1)
        case .help: send(.back)
        default: guard scroll.perform(command) else { return false }
        }
        return true
    }

    override func go(to index: Int) -> Bool {
        scroll.select(index)
        return true
    }

    private func filter(_ text: String) {
        words = text.lowercased().split(separator: " ").map(String.init)
        // The changed width makes the next drawing lay out the matching lines.
        width = 0
        scroll = ListScroll()
    }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool { scroll.follow(mouse) }

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        layOut(frame.size.columns)
        if !words.isEmpty { prompt.draw(in: &surface, rest.takeBottom(1), context.theme) }
        scroll.setVisible(rest.size.rows)
        scroll.drawBar(in: &surface, rest, context.theme)
        for (row, index) in zip(rest.rows, scroll.window) {
            var line = Rect(column: frame.origin.column + 1, row: row, columns: frame.size.columns - 2, rows: 1)
            switch lines[index] {
            case .heading(let text): surface.write(text, in: line, style: context.theme.selectedName)
            case .entry(let keys, let meaning):
                _ = line.takeLeft(2)
                let column = meaning.isEmpty ? line : line.takeLeft(isNarrow ? 0 : keyWidth)
                surface.write(keys.truncated(toWidth: column.size.columns), in: column, style: context.theme.key)
                _ = line.takeLeft(2)
                surface.write(meaning.truncated(toWidth: line.size.columns), in: line)
            case .gap: break
            }
        }
    }

    // MARK: - Lines

    /// The width of the column with the descriptions.
    private var meaningWidth: Int { width - 2 - 2 - keyWidth - 2 }
    private var isNarrow: Bool { meaningWidth < Self.least }

    private func layOut(_ width: Int) {
        let entries = context.keys.entries
        guard width != self.width || entries != bound else { return }
        (self.width, bound) = (width, entries)
        keyWidth = entries.map { Self.keys($0).displayWidth }.max() ?? 0
        lines = explained.flatMap { scope -> [Line] in
            let entries = entries.filter { $0.scope == scope && matches($0) }
            return entries.isEmpty ? [] : [.heading(scope.rawValue)] + entries.flatMap(lines) + [.gap]
        }
        if lines.isEmpty { lines = [.heading("No matches")] }
        scroll.setCount(lines.count)
    }

    /// Returns whether an entry contains all words of the filter.
    private func matches(_ entry: CommandTable.Entry) -> Bool {
        let text = [Self.keys(entry), entry.command.name, entry.meaning, entry.scope.rawValue]
            .joined(separator: "\n").lowercased()
        return words.allSatisfy { text.contains($0) }
    }

    private func lines(_ entry: CommandTable.Entry) -> [Line] {
        let keys = Self.keys(entry)
        if isNarrow {
            return keys.wrapped(toWidth: width - 2 - 2).map { .entry(keys: $0, meaning: "") }
                + entry.meaning.wrapped(toWidth: width - 2 - 2 - 2).map { .entry(keys: "", meaning: $0) }
        }
        return entry.meaning.wrapped(toWidth: meaningWidth).enumerated().map { number, text in
            .entry(keys: number == 0 ? keys : "", meaning: text)
        }
    }

    private static func keys(_ entry: CommandTable.Entry) -> String {
        // For commands that need an argument, show the form to type.
        let typed = entry.parameter?.isNeeded == true ? [":" + entry.usage] : []
        return (entry.keys.map(\.description) + typed).joined(separator: " ")
    }
}
