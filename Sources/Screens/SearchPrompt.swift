import Cells
import Model
import Text

/// The line in which one types what is searched for. What is found changes with every letter.
@MainActor
final class SearchPrompt: Responder {
    /// What to do with what has been typed so far.
    var onChange: (String) -> Void = { _ in }
    /// The user is satisfied with what was found.
    var onEnter: () -> Void = {}
    /// The user wants to be where he was.
    var onEscape: () -> Void = {}

    /// Keys that are not for it.
    var passed: Set<Key> = []

    private let field = TextField()
    private var label = ""
    private var reported = ""

    /// Begins with what was searched for last.
    func begin(_ label: String, _ text: String) {
        self.label = label
        reported = text
        field.begin(text)
        field.onEnter = { [weak self] _ in self?.onEnter() }
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
        _ = rest.takeLeft(surface.write(label, in: rest, style: theme.key))
        _ = rest.takeLeft(1)
        field.draw(in: &surface, rest)
    }
}
