import Cells
import Commands

/// What the user did, and who it is for.
extension RootScreen {
    /// Takes what the user did.
    public func handle(_ input: InputEvent) {
        switch input {
        case .key(let key): handle(key)
        case .paste(let text): if !tellPrompt(.paste(text)) { top.focus.send(.paste(text)) }
        case .focus(let isInFront): top.focus.send(.focus(isInFront))
        case .mouse(let mouse): handle(mouse)
        }
    }

    /// While the user is asked something, a mouse is no answer.
    private func handle(_ mouse: InputEvent.Mouse) {
        guard question == nil, typing == nil, signIn == nil, commandLine == nil else { return }
        if case .press = mouse.action { noteRead() }
        if case .press(1) = mouse.action, let command = hintPlaces.command(at: mouse.position) {
            return top.focus.send(.command(command))
        }
        top.focus.send(.mouse(mouse))
    }

    private func handle(_ key: Key) {
        defer { askWhoTheUserIs() }
        // A question, and what is typed, hide it.
        if question == nil, typing == nil, commandLine == nil, noteRead(), key == Key(.escape) { return }
        if let question {
            self.question = nil
            onNeedsDisplay()
            question.choices.first { key == .character($0.key) || key == .character(Character($0.key.uppercased())) }?
                .action()
            return
        }
        if !tellPrompt(.key(key)) { top.focus.send(.key(key)) }
    }

    /// Takes away the notice that is shown: whatever is pressed next, it has been read. Returns whether there was one.
    @discardableResult
    private func noteRead() -> Bool {
        guard !notices.isEmpty else { return false }
        notices.removeFirst()
        onNeedsDisplay()
        return true
    }

    /// While the user is asked for a line or who he is, or types a command, what he types is for nobody else.
    private func tellPrompt(_ event: InterfaceEvent) -> Bool {
        guard let prompt: Responder = typing ?? signIn ?? commandLine else { return false }
        if case .key(let key) = event, let command = context.keys.command(for: key, in: [.everywhere]),
            [.redraw, .suspend].contains(command)
        {
            act(on: command)
        } else {
            prompt.send(event)
        }
        onNeedsDisplay()
        return true
    }
}
