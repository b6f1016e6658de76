import Cells
import Text

/// All keys and what they do, from the table that the bindings are made of.
@MainActor
final class HelpScreen: Screen {
    private enum Line {
        case heading(String)
        case entry(keys: String, meaning: String)
        case gap
    }

    private let lines: [Line]
    private var scroll = ListScroll()

    /// Begins with what holds on the screen that help was asked for on.
    init(_ context: ScreenContext, scopes: [CommandTable.Scope]) {
        let others = CommandTable.Scope.allCases.filter { !scopes.contains($0) }
        lines = (scopes + others).flatMap { scope -> [Line] in
            let entries = CommandTable.entries.filter { $0.scope == scope }
            return [.heading(scope.rawValue)]
                + entries.map { .entry(keys: $0.keys.map(\.description).joined(separator: " "), meaning: $0.meaning) }
                + [.gap]
        }
        super.init(context)
        scroll.setCount(lines.count)
    }

    override var scopes: [CommandTable.Scope] { [.lists, .everywhere] }
    override var heading: Heading { Heading(title: "Help") }
    override var footing: Footing {
        Footing(text: "Keys, and what they do", hints: [(.back, "back")])
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .command(let command) = event else { return event }
        // There is nothing to select: one moves what is seen.
        switch command {
        case .up: scroll.select(scroll.first - 1)
        case .down: scroll.select(scroll.window.upperBound)
        case .pageUp, .halfPageUp: scroll.select(scroll.first - scroll.visible)
        case .pageDown, .halfPageDown: scroll.select(scroll.window.upperBound + scroll.visible - 1)
        case .help: send(.back)
        default: guard scroll.obey(command) else { return event }
        }
        setNeedsDisplay()
        return nil
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        scroll.setVisible(frame.size.rows)
        let keyWidth = min(frame.size.columns / 2, 18)
        for (row, index) in zip(frame.rows, scroll.window) {
            var line = Rect(column: frame.origin.column + 1, row: row, columns: frame.size.columns - 2, rows: 1)
            switch lines[index] {
            case .heading(let text): surface.write(text, in: line, style: context.theme.selectedName)
            case .entry(let keys, let meaning):
                _ = line.takeLeft(2)
                let column = line.takeLeft(keyWidth)
                surface.write(keys.truncated(toWidth: keyWidth), in: column, style: context.theme.key)
                _ = line.takeLeft(2)
                surface.write(meaning.truncated(toWidth: line.size.columns), in: line)
            case .gap: break
            }
        }
    }
}
