import Cells
import Commands
import Settings
import Text

/// The prompt for typed commands. A list above the prompt shows matching commands and their keys.
///
/// After `set` or `set!`, the list shows settings and their values. Tab goes through the matches, and the arrow keys go
/// through the history.
@MainActor
final class CommandPrompt: Responder {
    /// Called with the typed line when the user presses Enter.
    var onEnter: (String) -> Void = { _ in }
    /// Called when the user presses Escape.
    var onEscape: () -> Void = {}

    /// The commands of the screen below the prompt.
    let entries: [CommandTable.Entry]
    private let remembered: RememberedCommands
    private let live: LiveSettings
    private let field = TextField()
    /// The number of lines back in the history; 0 stands for the edited line.
    private var back = 0
    private var typed = ""
    /// The text before the user pressed Tab, and the index of the chosen match; nil without completion.
    private var completion: (beginning: String, chosen: Int)?
    /// Whether the last keys were Backspaces, of which the first one found text. The user may be holding the key.
    private var isErasing = false

    /// The maximum number of rows for matches.
    private static let maximumRows = 8

    init(_ entries: [CommandTable.Entry], remembered: RememberedCommands, _ live: LiveSettings) {
        self.entries = entries
        self.remembered = remembered
        self.live = live
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
        let wasErasing = isErasing
        isErasing = key.code == .backspace && (wasErasing || !field.text.isEmpty)
        switch (key.code, key.modifiers) {
        case (.tab, .shift): complete(by: -1)
        case (.tab, _): complete(by: 1)
        case (.up, _): recall(by: 1)
        case (.down, _): recall(by: -1)
        // Backspace in an empty line closes the prompt. A held key must not reach the screen below.
        case (.backspace, _) where field.text.isEmpty: if !wasErasing { onEscape() }
        default:
            endCompletion()
            _ = field.handle(event)
        }
        return nil
    }

    /// Ends completion and the recall of history lines. The chosen line becomes the edited text.
    private func endCompletion() {
        completion = nil
        back = 0
    }

    /// The commands that match the typed text.
    var choices: [CommandTable.Entry] {
        let beginning = completion?.beginning ?? field.text
        let (name, _) = TypedCommand.split(beginning)
        // After a complete name, list only the command of this name, if it takes an argument.
        guard !beginning.drop(while: \.isWhitespace).contains(where: \.isWhitespace) else {
            return entries.filter { $0.command.name == name && $0.parameter != nil }
        }
        return entries.filter { $0.command.name.hasPrefix(name) }
    }

    /// A line of the list above the prompt.
    private struct Match {
        let text: String
        let keys: String
        let meaning: String
        /// The text that the prompt has after Tab; nil if Tab does nothing.
        let line: String?
    }

    private var matches: [Match] {
        let beginning = completion?.beginning ?? field.text
        if let matches = settingMatches(beginning) { return matches }
        let isNamed = beginning.drop(while: \.isWhitespace).contains(where: \.isWhitespace)
        return choices.map { entry in
            Match(
                text: entry.usage, keys: entry.keys.map(\.description).joined(separator: " "), meaning: entry.meaning,
                line: isNamed ? nil : entry.command.name + (entry.parameter?.isNeeded == true ? " " : ""))
        }
    }

    /// Returns the matching settings or values after `set` or `set!`. Returns nil for other texts.
    private func settingMatches(_ beginning: String) -> [Match]? {
        let line = beginning.drop { $0.isWhitespace || $0 == ":" }
        let command = line.prefix { !$0.isWhitespace }
        guard [Command.set.name, Command.setAndKeep.name].contains(String(command)), command.endIndex < line.endIndex
        else { return nil }
        let text = line[command.endIndex...].drop { $0.isWhitespace }
        let name = text.prefix { !$0.isWhitespace && !"=&?".contains($0) }
        guard name.endIndex < text.endIndex else {
            return SettingsTable.options.filter { $0.name.hasPrefix(name) }.map {
                Match(
                    text: $0.name, keys: SettingText.value($0.text(in: live.settings)), meaning: $0.meaning,
                    line: "\(command) \($0.name) ")
            }
        }
        guard let option = SettingsTable.option(named: String(name)) else { return [] }
        let value = String(text[name.endIndex...].drop { $0.isWhitespace || $0 == "=" })
        var values = option.completions(of: value)
        let current = option.text(in: live.settings)
        // If the completions lack the present value, Tab begins with it.
        if value.isEmpty, !current.isEmpty, !values.contains(current) { values.insert(current, at: 0) }
        return values.map {
            let roles = [$0 == current ? "now" : nil, $0 == option.defaultValue ? "default" : nil].compactMap { $0 }
            return Match(
                text: $0.madeVisible, keys: "", meaning: roles.joined(separator: ", "),
                line: "\(command) \(name) \($0)")
        }
    }

    private func complete(by amount: Int) {
        let matches = matches
        let chosen = completion.map { ($0.chosen + amount + matches.count) % max(1, matches.count) }
        let index = chosen ?? (amount > 0 ? 0 : matches.count - 1)
        guard matches.indices.contains(index), let line = matches[index].line else { return }
        // If a single name matches, the list continues with the values of this setting.
        let isDone = matches.count == 1 && line.hasSuffix(" ")
        completion = isDone ? nil : (completion?.beginning ?? field.text, index)
        field.begin(line)
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
        let choices = matches
        let rows = min(choices.count, Self.maximumRows, frame.size.rows / 2)
        guard rows > 0 else { return }
        var rest = frame
        var pane = rest.takeBottom(min(rows + 1, frame.size.rows))
        surface.fill(pane, style: theme.status)
        theme.drawRule(in: &surface, &pane)
        // The chosen match stays visible.
        let first = max(0, min((completion?.chosen ?? 0) - rows / 2, choices.count - rows))
        let width = choices.map(\.text.displayWidth).max() ?? 0
        for index in first..<first + rows {
            let entry = choices[index]
            var row = pane.takeTop(1)
            row.trimSides()
            let style = completion?.chosen == index ? theme.selectedName : theme.name
            let place = row.takeLeft(min(width, row.size.columns))
            surface.write(entry.text.truncated(toWidth: place.size.columns), in: place, style: style)
            _ = row.takeLeft(2)
            let keys = entry.keys
            _ = row.takeLeft(surface.write(keys.truncated(toWidth: row.size.columns), in: row, style: theme.key))
            _ = row.takeLeft(keys.isEmpty ? 0 : 2)
            surface.write(entry.meaning.truncated(toWidth: row.size.columns), in: row, style: theme.detail)
        }
    }
}

/// The screen, and its photo or folder, for which the user types a command.
///
/// Before the user presses Enter, an update can close the screen, and an update or a slideshow can replace the photo.
@MainActor
struct CommandTarget {
    /// The commands of the screen.
    let entries: [CommandTable.Entry]
    private weak var screen: Screen?
    private let actedOn: PhotoEntries.Entry?

    /// Creates the target of a command that the user begins to type on a screen.
    init(_ screen: Screen) {
        entries = screen.context.keys.entries(in: screen.commandScopes).filter(screen.offers)
        actedOn = screen.actedOn
        self.screen = screen
    }

    /// Returns the commands that may still be performed, given the screen that is now on top.
    ///
    /// Actions are left out if they would work on another photo or folder. On another screen, only the commands for
    /// every screen are left. Then "back" is left out, too, because it would leave the other screen.
    func entries(on top: Screen) -> [CommandTable.Entry] {
        guard screen === top else {
            return top.context.keys.entries(in: [.everywhere]).filter { $0.command != .back }
        }
        guard let now = top.actedOn, now != actedOn else { return entries }
        return entries.filter { !PhotoActions.commands.contains($0.command) }
    }
}
