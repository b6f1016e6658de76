import Cells
import Commands
import Settings
import Text

/// The line in which one types a command by its name, over whatever screen there is. Above it stand those whose names begin
/// so, with their keys; Tab goes through them, and the arrows through what was typed before.
@MainActor
final class CommandPrompt: Responder {
    /// Called with what was typed.
    var onEnter: (String) -> Void = { _ in }
    /// Called when the user wants nothing of it.
    var onEscape: () -> Void = {}

    /// What can be had on the screen beneath.
    let entries: [CommandTable.Entry]
    private let remembered: RememberedCommands
    private let field = TextField()
    /// How many lines one has gone back; 0 for what is being typed.
    private var back = 0
    private var typed = ""
    /// What had been typed when Tab was pressed, and which of those that begin so was chosen.
    private var completion: (beginning: String, chosen: Int)?

    /// Rows for names at most.
    private static let mostRows = 8

    init(_ entries: [CommandTable.Entry], remembered: RememberedCommands) {
        self.entries = entries
        self.remembered = remembered
        super.init()
        field.onEnter = { [weak self] in self?.onEnter($0) }
        field.onEscape = { [weak self] in self?.onEscape() }
    }

    // MARK: - What happens

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .key(let key) = event else {
            beginAnew()
            _ = field.handle(event)
            return nil
        }
        switch (key.code, key.modifiers) {
        case (.tab, .shift): complete(by: -1)
        case (.tab, _): complete(by: 1)
        case (.up, _): recall(by: 1)
        case (.down, _): recall(by: -1)
        // There is nothing left of it.
        case (.backspace, _) where field.text.isEmpty: onEscape()
        default:
            beginAnew()
            _ = field.handle(event)
        }
        return nil
    }

    /// What was chosen is what was typed, now that it is typed on.
    private func beginAnew() {
        completion = nil
        back = 0
    }

    /// What there is to choose from.
    var choices: [CommandTable.Entry] {
        let beginning = completion?.beginning ?? field.text
        let (name, _) = TypedCommand.split(beginning)
        // Behind a name there is nothing more to choose; what it takes is worth a line.
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
        let place = chosen ?? (amount > 0 ? 0 : choices.count - 1)
        completion = (beginning, place)
        field.begin(choices[place].command.name + (choices[place].parameter?.isNeeded == true ? " " : ""))
    }

    private func recall(by amount: Int) {
        let lines = remembered.history.lines
        let place = max(0, min(back + amount, lines.count))
        guard place != back else { return }
        if back == 0 { typed = field.text }
        back = place
        completion = nil
        field.begin(place == 0 ? typed : lines[lines.count - place])
    }

    // MARK: - How it looks

    /// Draws the line that is typed, and at the bottom of the room, over what is there, what can be chosen.
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
        let rows = min(choices.count, Self.mostRows, frame.size.rows / 2)
        guard rows > 0 else { return }
        var rest = frame
        var pane = rest.takeBottom(min(rows + 1, frame.size.rows))
        surface.fill(pane, style: theme.status)
        let rule = pane.takeTop(1)
        surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        // What was chosen stays in sight.
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
