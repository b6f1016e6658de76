import Cells
import Commands

/// Commands that keys stand for, and numbers before them: `5j`, `10G`.
extension RootScreen {
    /// Nobody on the way up took a key for itself: now it is what it stands for on this screen.
    func give(_ key: Key) {
        let command = context.keys.command(for: key, in: top.scopes)
        if command == nil, let digit = Self.digit(key), number != nil || digit > 0 {
            // More digits than any list has rows change nothing.
            number = min((number ?? 0) * 10 + digit, CommandArgument.largestNumber)
            return onNeedsDisplay()
        }
        let number = number
        if number != nil {
            self.number = nil
            onNeedsDisplay()
            // Who has mistyped wants another number, and not to be elsewhere.
            if key == Key(.escape) { return }
        }
        guard let command else { return }
        top.focus.send(.command(command, command.takesNumber ? number.map { .number($0) } : nil))
    }

    /// Where a digit is bound on a screen, it is that.
    private static func digit(_ key: Key) -> Int? {
        guard case .character(let character) = key.code, key.modifiers.isEmpty, character.isASCII else { return nil }
        return character.wholeNumberValue
    }
}
