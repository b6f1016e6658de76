import Cells
import Commands
import Text

/// All keys and what they do, from the key map that the bindings are looked up in. Typing leaves what has these words.
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
    private let prompt = LinePrompt()
    /// What the user is looking for.
    private var words: [String] = []

    /// What is bound, as it was when the lines were made.
    private var bound: [CommandTable.Entry] = []
    /// Columns that keys take at most.
    private var keyWidth = 0
    /// With fewer columns for it, what a key does has lines of its own below the key.
    private static let least = 16

    init(_ context: ScreenContext, scopes: [CommandTable.Scope]) {
        explained = scopes + CommandTable.Scope.allCases.filter { !scopes.contains($0) }
        super.init(context)
        prompt.next = self
        prompt.passed = [Key(.home), Key(.end), .control("b"), .control("f"), .control("u")]
        prompt.onChange = { [weak self] in self?.look(for: $0) }
        prompt.onEscape = { [weak self] in self?.send(.back) }
        prompt.begin("Filter:", "")
    }

    override var focus: Responder { prompt }

    override var scopes: [CommandTable.Scope] { [.lists, .everywhere] }
    override var heading: Heading { Heading(title: "Help") }
    override var footing: Footing {
        Footing(text: "Type what to look for. Esc leads back")
    }

    override func perform(_ command: Command) -> Bool {
        // There is nothing to select: one moves what is seen.
        switch command {
        case .up: scroll.select(scroll.first - 1)
        case .down: scroll.select(scroll.window.upperBound)
        case .pageUp, .halfPageUp: scroll.select(scroll.first - scroll.visible)
        case .pageDown, .halfPageDown: scroll.select(scroll.window.upperBound + scroll.visible - 1)
        case .help: send(.back)
        default: guard scroll.perform(command) else { return false }
        }
        return true
    }

    override func go(to place: Int) -> Bool {
        scroll.select(place)
        return true
    }

    private func look(for text: String) {
        words = text.lowercased().split(separator: " ").map(String.init)
        // Another selection of lines is made when it is drawn.
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
                let place = meaning.isEmpty ? line : line.takeLeft(isNarrow ? 0 : keyWidth)
                surface.write(keys.truncated(toWidth: place.size.columns), in: place, style: context.theme.key)
                _ = line.takeLeft(2)
                surface.write(meaning.truncated(toWidth: line.size.columns), in: line)
            case .gap: break
            }
        }
    }

    // MARK: - Lines

    /// Columns for what a key does, beside the widest of keys.
    private var roomBeside: Int { width - 2 - 2 - keyWidth - 2 }
    private var isNarrow: Bool { roomBeside < Self.least }

    private func layOut(_ width: Int) {
        let entries = context.keys.entries
        guard width != self.width || entries != bound else { return }
        (self.width, bound) = (width, entries)
        keyWidth = entries.map { Self.keys($0).displayWidth }.max() ?? 0
        lines = explained.flatMap { scope -> [Line] in
            let entries = entries.filter { $0.scope == scope && isSought($0) }
            return entries.isEmpty ? [] : [.heading(scope.rawValue)] + entries.flatMap(lines) + [.gap]
        }
        if lines.isEmpty { lines = [.heading("Nothing is found.")] }
        scroll.setCount(lines.count)
    }

    /// Whether all that was typed is in what is said of it.
    private func isSought(_ entry: CommandTable.Entry) -> Bool {
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
        return entry.meaning.wrapped(toWidth: roomBeside).enumerated().map { number, text in
            .entry(keys: number == 0 ? keys : "", meaning: text)
        }
    }

    private static func keys(_ entry: CommandTable.Entry) -> String {
        // What no key can say is typed.
        let typed = entry.parameter?.isNeeded == true ? [":" + entry.usage] : []
        return (entry.keys.map(\.description) + typed).joined(separator: " ")
    }
}
