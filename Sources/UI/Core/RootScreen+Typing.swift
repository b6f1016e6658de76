import Cells

/// A line that the user is asked to type, over whatever screen there is.
extension RootScreen {
    func ask(_ label: String, _ text: String, onEnter: @escaping @MainActor (String) -> Void) {
        let prompt = LinePrompt()
        prompt.onEnter = { [weak self] text in
            self?.typing = nil
            onEnter(text)
        }
        prompt.onEscape = { [weak self] in self?.typing = nil }
        prompt.begin(label, text)
        typing = prompt
        onNeedsDisplay()
    }
}
