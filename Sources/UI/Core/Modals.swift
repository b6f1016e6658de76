import Cells
import Commands

/// A prompt or question that takes the user's input in place of the screen on top.
@MainActor
enum Modal {
    /// A question that one key answers.
    case question(parts: [String], choices: [Choice])
    /// A line of text that a screen asks for.
    case line(LinePrompt)
    /// The command line.
    case command(CommandPrompt)
    /// A prompt for user name and password.
    case signIn(SignInPrompt)

    /// The responder that receives the events; nil for a question.
    fileprivate var responder: Responder? {
        switch self {
        case .question: nil
        case .line(let prompt): prompt
        case .command(let prompt): prompt
        case .signIn(let prompt): prompt
        }
    }

    /// Whether the question or prompt covers the line for notices.
    var hidesNotices: Bool { if case .signIn = self { false } else { true } }
}

/// Questions, prompts and notices above the screens.
@MainActor
final class Modals {
    /// Called when something needs to be drawn.
    var onNeedsDisplay: () -> Void = {}
    /// Called with a redraw or suspend command while a prompt is open.
    var onCommand: (Command) -> Void = { _ in }

    private let context: ScreenContext
    private let signIns: SignIns
    /// The open questions and prompts, the current one last. A question can arrive while another one is open.
    private var stack: [Modal] = []
    /// The notices that the user has not read yet. The screen shows the first one.
    private var notices: [String] = []
    /// The notices about ended exports that the user has not read yet. Vitrine reports them when it ends, too.
    private(set) var unreadResults: [String] = []

    init(_ context: ScreenContext, _ signIns: SignIns) {
        (self.context, self.signIns) = (context, signIns)
    }

    /// The question or prompt that takes the input now.
    var current: Modal? { stack.last ?? signIns.prompt.map(Modal.signIn) }

    /// Whether the user types into a prompt. A late question of a screen must not take these keys.
    var isTyping: Bool { current?.responder != nil }

    // MARK: - Notices

    /// The maximum number of waiting notices. The fetcher process could send any number, and the user must dismiss each
    /// with a key.
    private static let mostNotices = 100

    /// The notice on the screen, or the next one to show.
    var notice: String? { notices.first }

    /// Adds notices after the waiting ones, and drops those beyond the maximum.
    func add(_ new: [String]) {
        notices += new.prefix(max(0, Self.mostNotices - notices.count))
        onNeedsDisplay()
    }

    /// Shows a notice about the user's last action, before all older notices.
    func showNotice(_ notice: String) {
        if notices.first != notice { notices.insert(notice, at: 0) }
        onNeedsDisplay()
    }

    /// Shows the result of an export. A question or prompt may hide it until Vitrine ends.
    func showResult(_ result: String) {
        unreadResults.append(result)
        showNotice(result)
    }

    /// Removes the notice on the screen. Returns whether the screen had a notice.
    @discardableResult
    func dismissNotice() -> Bool {
        guard !notices.isEmpty else { return false }
        let notice = notices.removeFirst()
        unreadResults.removeAll { $0 == notice }
        onNeedsDisplay()
        return true
    }

    // MARK: - Questions and prompts

    /// Asks a question. A key without a choice closes the question and does nothing else.
    func ask(_ parts: [String], _ choices: [Choice]) {
        stack.append(.question(parts: parts, choices: choices))
        onNeedsDisplay()
    }

    /// Asks a question, and shows the key of each answer.
    ///
    /// - Parameter otherwise: the effect of all other keys.
    func ask(_ text: String, _ choices: [Choice], otherwise: String) {
        let answers = choices.compactMap { choice in choice.keys.first.map { "\($0) \(choice.word)" } }
        // The user's key bindings may give another answer to `n`.
        let other = choices.contains { $0.keys.contains(.character("n")) } ? Key(.escape) : .character("n")
        ask([text] + answers + ["\(other) \(otherwise)"], choices)
    }

    /// Opens a prompt for a line of text.
    func askForLine(_ label: String, _ text: String, onEnter: @escaping @MainActor (String) -> Void) {
        let prompt = LinePrompt()
        prompt.onEnter = closing(onEnter)
        prompt.onEscape = { [weak self] in self?.close() }
        prompt.begin(label, text)
        stack.append(.line(prompt))
        onNeedsDisplay()
    }

    /// Opens the prompt for a typed command.
    func askForCommand(_ prompt: CommandPrompt, onEnter: @escaping @MainActor (String) -> Void) {
        prompt.onEnter = closing(onEnter)
        prompt.onEscape = { [weak self] in self?.close() }
        stack.append(.command(prompt))
        onNeedsDisplay()
    }

    /// Returns a function that closes the current prompt, and then passes on the text.
    private func closing(_ onEnter: @escaping @MainActor (String) -> Void) -> (String) -> Void {
        { [weak self] text in
            self?.close()
            onEnter(text)
        }
    }

    /// Closes the current question or prompt. A key reaches only this one, so no other closes itself.
    private func close() { stack.removeLast() }

    /// Gives a key or pasted text to the open question or prompt. Returns whether a question or prompt is open.
    func handle(_ event: InterfaceEvent) -> Bool {
        guard let current else { return false }
        if case .question(_, let choices) = current {
            if case .key(let key) = event { answer(key, choices) }
        } else if case .key(let key) = event, !key.typesText,
            let command = context.keys.command(for: key, in: [.everywhere]), [.redraw, .suspend].contains(command)
        {
            onCommand(command)
        } else {
            current.responder?.send(event)
        }
        onNeedsDisplay()
        return true
    }

    private func answer(_ key: Key, _ choices: [Choice]) {
        close()
        choices.first { $0.keys.contains(key) }?.action()
    }

    /// Draws a question or prompt in the bottom line and the area above.
    func draw(_ modal: Modal, in surface: inout Surface, _ area: Rect, _ line: Rect) {
        let theme = context.theme
        switch modal {
        case .question(let parts, _):
            Announcement(parts: parts, endsWithAnswers: true).draw(in: &surface, area, line, theme)
        case .line(let prompt): prompt.draw(in: &surface, line, theme)
        case .command(let prompt): prompt.draw(in: &surface, frame: area, line: line, theme: theme)
        case .signIn(let prompt):
            if let notice { return Announcement(parts: [notice]).draw(in: &surface, area, line, theme) }
            ScreenLines(theme: theme, keys: context.keys)
                .drawFooting(prompt.footing, scopes: [], in: &surface, line)
        }
    }
}
