import Cells
import Commands
import Settings
import Text

/// The prompt for typed commands. A list above the prompt shows matching commands and their keys.
///
/// Tab goes through the matches, the arrows through the history.
@MainActor
final class CommandPrompt: Responder {
    /// Called with the typed line when the user presses Enter.
    var onEnter: (String) -> Void = { _ in }
    /// Called when the user presses Escape.
    var onEscape: () -> Void = {}

    /// The commands of the screen below the prompt.
    let entries: [CommandTable.Entry]
    private let remembered: RememberedCommands
    private let field = TextField()
    /// The number of lines back in the history; 0 stands for the edited line.
    private var back = 0
    private var typed = ""
    /// The text before the user pressed Tab, and the index of the chosen match; nil without completion.
    private var completion: (beginning: String, chosen: Int)?

    /// The most rows for matching commands.
    private static let maximumRows = 8

    init(_ entries: [CommandTable.Entry], remembered: RememberedCommands) {
        self.entries = entries
        self.remembered = remembered
        super.init()
        field.onEnter = { [weak self] in self?.onEnter($0) }
        field.onEscape = { [weak self] in self?.onEscape() }
    }

    // MARK: - Input

    override var takesKeys: Bool { true }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .key(let key) = event else {
            endCompletion()
            _ = field.handle(event)
            return nil
        }
        switch (key.code, key.modifiers) {
        case (.tab, .shift): complete(by: -1)
        case (.tab, _): complete(by: 1)
        case (.up, _): recall(by: 1)
        case (.down, _): recall(by: -1)
        // Backspace in an empty line closes it.
        case (.backspace, _) where field.text.isEmpty: onEscape()
        default:
            endCompletion()
            _ = field.handle(event)
        }
        return nil
    }

    /// Turns the chosen match or history line into the edited text.
    private func endCompletion() {
        completion = nil
        back = 0
    }

    /// The commands that match the typed text.
    var choices: [CommandTable.Entry] {
        let beginning = completion?.beginning ?? field.text
        let (name, _) = TypedCommand.split(beginning)
        // After a complete name, show its argument.
        guard !beginning.drop(while: \.isWhitespace).contains(where: \.isWhitespace) else {
            return entries.filter { $0.command.name == name && $0.parameter != nil }
        }
        return entries.filter { $0.command.name.hasPrefix(name) }
    }

    private func complete(by amount: Int) {
        let choices = choices
        let beginning = completion?.beginning ?? field.text
        guard !choices.isEmpty, !beginning.drop(while: \.isWhitespace).contains(where: \.isWhitespace) else { return }
        let chosen = completion.map { ($0.chosen + amount + choices.count) % choices.count }
        let index = chosen ?? (amount > 0 ? 0 : choices.count - 1)
        completion = (beginning, index)
        field.begin(choices[index].command.name + (choices[index].parameter?.isNeeded == true ? " " : ""))
    }

    private func recall(by amount: Int) {
        let lines = remembered.history.lines
        let target = max(0, min(back + amount, lines.count))
        guard target != back else { return }
        if back == 0 { typed = field.text }
        back = target
        completion = nil
        field.begin(target == 0 ? typed : lines[lines.count - target])
    }

    // MARK: - Drawing

    /// Draws the prompt, and the matching commands over the bottom of the frame.
    func draw(in surface: inout Surface, frame: Rect, line: Rect, theme: Theme) {
        surface.cursor = nil
        drawChoices(in: &surface, frame, theme)
        var rest = line
        surface.fill(rest)
        _ = rest.takeLeft(surface.write(":", in: rest, style: theme.key))
        _ = rest.takeRight(1)
        field.draw(in: &surface, rest)
    }

    private func drawChoices(in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        let choices = choices
        let rows = min(choices.count, Self.maximumRows, frame.size.rows / 2)
        guard rows > 0 else { return }
        var rest = frame
        var pane = rest.takeBottom(min(rows + 1, frame.size.rows))
        surface.fill(pane, style: theme.status)
        let rule = pane.takeTop(1)
        surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        // The chosen match stays visible.
        let first = max(0, min((completion?.chosen ?? 0) - rows / 2, choices.count - rows))
        let width = choices.map(\.usage.displayWidth).max() ?? 0
        for index in first..<first + rows {
            let entry = choices[index]
            var row = pane.takeTop(1)
            _ = row.takeLeft(1)
            _ = row.takeRight(1)
            let style = completion?.chosen == index ? theme.selectedName : theme.name
            let place = row.takeLeft(min(width, row.size.columns))
            surface.write(entry.usage.truncated(toWidth: place.size.columns), in: place, style: style)
            _ = row.takeLeft(2)
            let keys = entry.keys.map(\.description).joined(separator: " ")
            _ = row.takeLeft(surface.write(keys.truncated(toWidth: row.size.columns), in: row, style: theme.key))
            _ = row.takeLeft(keys.isEmpty ? 0 : 2)
            surface.write(entry.meaning.truncated(toWidth: row.size.columns), in: row, style: theme.detail)
        }
    }
}
