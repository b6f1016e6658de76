import Cells
import Commands
import Settings
import Text

/// The screen of all settings, where the user can change, save and reset them.
@MainActor
final class SettingsScreen: Screen, ListScreen {
    /// The scrolling state. Not private because ``ListScreen`` changes this state.
    var scroll = ListScroll()
    private let options = SettingsTable.options
    private let search: ListSearch

    /// In windows with fewer columns, each setting has two lines.
    private static let narrow = 48
    /// The least width of lines that also name the value's origin.
    private static let usual = 64
    /// The least width of lines that also have the setting's meaning.
    private static let wide = 120

    override init(_ context: ScreenContext) {
        search = ListSearch(context)
        super.init(context)
        scroll.setCount(options.count)
        search.next = self
        search.onFind = { [options] text in
            let words = text.lowercased().split(separator: " ")
            return options.indices.filter { index in
                let known = "\(options[index].name)\n\(options[index].meaning)".lowercased()
                return words.allSatisfy { known.contains($0) }
            }
        }
        search.onSelect = { [weak self] in _ = self?.select(index: $0) }
    }

    // MARK: - Lines

    override var leavesWishes: Bool { true }
    override var scopes: [CommandTable.Scope] { [.settings, .lists, .everywhere] }
    override var focus: Responder { search.focus ?? self }

    override var heading: Heading {
        let standing = "\(scroll.selected + 1) of \(options.count)"
        let match = search.headingText(scroll.selected)
        return Heading(
            title: "Settings", detail: [standing, match].compactMap { $0 }.joined(separator: " · "),
            brief: match ?? standing)
    }

    override var footing: Footing {
        if let text = search.typingText { return Footing(text: text) }
        let count = options.count { $0.text(in: context.settings) != $0.defaultValue }
        return Footing(
            text: "\(count) changed",
            hints: [
                (.open, "change"), (.save, "save"), (.restoreDefault, "default"), (.search, "search"), (.help, "help"),
            ])
    }

    // MARK: - Input

    private var selected: SettingsOption { options[min(scroll.selected, options.count - 1)] }

    override func perform(_ command: Command) -> Bool {
        switch command {
        case .open: changeSelected()
        case .save: send(.changeSetting(SettingChange(selected.name, .show, isKept: true)))
        case .restoreDefault: send(.changeSetting(SettingChange(selected.name, .restoreDefault, isVisible: true)))
        case _ where search.perform(command, selection: scroll.selected, in: scopes): break
        default: return scroll.perform(command)
        }
        return true
    }

    override func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        guard case (.search, .text(let text)) = (command, argument) else { return super.perform(command, argument) }
        search.search(text, selection: scroll.selected)
        return true
    }

    override func go(to index: Int) -> Bool { select(index: index) }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool { focus === self ? followInList(mouse) : false }

    func selectionDidMove() {}

    /// Changes the setting to its next choice, or asks for a value.
    private func changeSelected() {
        let option = selected
        let value = option.text(in: context.settings)
        func change(_ new: String) {
            let action: SettingChange.Action = new.isEmpty ? .restoreDefault : .set(new)
            send(.changeSetting(SettingChange(option.name, action, isVisible: true)))
        }
        guard option.choices.isEmpty else {
            let next = option.choices.firstIndex(of: value).map { ($0 + 1) % option.choices.count } ?? 0
            return change(option.choices[next])
        }
        send(.type("\(option.name):", value) { change($0) })
    }

    // MARK: - Drawing

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        scroll.beginDrawing()
        search.drawPrompt(in: &surface, &rest)
        drawDetail(in: &surface, &rest)
        let height = rest.size.columns < Self.narrow ? 2 : 1
        scroll.setVisible(rest.size.rows / height)
        scroll.drawBar(in: &surface, rest, context.theme)
        for index in scroll.window {
            let row = rest.takeTop(height)
            scroll.setFrame(row, of: index)
            draw(options[index], isSelected: index == scroll.selected, in: &surface, row)
        }
    }

    private func draw(_ option: SettingsOption, isSelected: Bool, in surface: inout Surface, _ frame: Rect) {
        let theme = context.theme
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        var line = rest.takeTop(1)
        let value = option.text(in: context.settings)
        let style = value == option.defaultValue ? theme.detail : theme.key
        let shown = SettingText.value(value)
        let nameStyle = isSelected ? theme.selectedName : theme.name
        func write(_ text: String, _ style: Style, _ area: Rect) {
            surface.write(text.truncated(toWidth: area.size.columns), in: area, style: style)
        }
        guard rest.size.rows == 0 else {
            write(option.name, nameStyle, line)
            _ = rest.takeLeft(2)
            return write(shown, style, rest)
        }
        if frame.size.columns >= Self.usual {
            write(SettingText.origin(context.live.origin(of: option)), theme.detail, line.takeRight(18))
            _ = line.takeRight(2)
        }
        let width = options.map(\.name.displayWidth).max() ?? 0
        write(option.name, nameStyle, line.takeLeft(min(width, line.size.columns)))
        _ = line.takeLeft(2)
        if frame.size.columns >= Self.wide {
            write(option.meaning, theme.detail, line.takeRight(line.size.columns * 3 / 5))
            _ = line.takeRight(2)
        }
        write(shown, style, line)
    }

    /// Draws the meaning, the values, the default and the origin of the selected setting.
    private func drawDetail(in surface: inout Surface, _ rest: inout Rect) {
        let (option, theme) = (selected, context.theme)
        let allowed = option.choices.joined(separator: ", ")
        let origin = SettingText.origin(context.live.origin(of: option))
        let next = context.live.nextValue(of: option).map { "At the next start: \(SettingText.value($0))." }
        let facts =
            "Default: \(SettingText.value(option.defaultValue)). Set by: \(origin)."
            + (allowed.isEmpty ? "" : " Values: \(allowed).")
        let sentence = [next, option.effectSentence].compactMap { $0 }.joined(separator: " ")
        let meaning = option.meaning.prefix(1).uppercased() + option.meaning.dropFirst() + "."
        DetailPane(theme: theme).draw(
            [(meaning, theme.name), (facts, theme.detail), (sentence, theme.section)],
            lines: rest.size.rows < 12 ? 3 : 5, in: &surface, &rest)
    }
}
