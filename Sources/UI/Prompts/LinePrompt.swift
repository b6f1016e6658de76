import Cells
import Model
import Text

/// A line in which one types what was asked for: what is searched for, which changes with every letter, or a folder.
@MainActor
final class LinePrompt: Responder {
    /// What to do with what has been typed so far.
    var onChange: (String) -> Void = { _ in }
    /// The user is satisfied with what he has typed.
    var onEnter: (String) -> Void = { _ in }
    /// The user wants to be where he was.
    var onEscape: () -> Void = {}

    /// Keys that are not for it.
    var passed: Set<Key> = []

    private let field = TextField()
    private var label = ""
    private var reported = ""

    /// Begins with what was typed last.
    func begin(_ label: String, _ text: String) {
        self.label = label
        reported = text
        field.begin(text)
        field.onEnter = { [weak self] in self?.onEnter($0) }
        field.onEscape = { [weak self] in self?.onEscape() }
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        if case .key(let key) = event, passed.contains(key) { return event }
        let passed = field.handle(event)
        if field.text != reported {
            reported = field.text
            onChange(reported)
        }
        return passed
    }

    func draw(in surface: inout Surface, _ line: Rect, _ theme: Theme) {
        var rest = line
        _ = rest.takeLeft(1)
        // Half of the line at least is for what is typed.
        let words = label.truncated(toWidth: line.size.columns / 2)
        _ = rest.takeLeft(surface.write(words, in: rest, style: theme.key))
        _ = rest.takeLeft(1)
        field.draw(in: &surface, rest)
    }
}
