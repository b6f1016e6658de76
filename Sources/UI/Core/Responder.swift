import Cells
import Commands
import Model
import Settings

/// A link in the chain that events travel up: from what has the focus, by way of its screen, to the root.
///
/// Each may handle an event, or make another of it, or let it pass:
///
///     override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
///         guard case .command(.open) = event else { return event }
///         return .push(PhotoScreen(selected))
///     }
@MainActor
public class Responder {
    /// The next one up.
    weak var next: Responder?

    init() {}

    /// Handles an event. Returns nil if it is done with, or what the next one is to have.
    func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        event
    }

    /// Sends an event up the chain, beginning here.
    final func send(_ event: InterfaceEvent) {
        var event = event
        var responder: Responder? = self
        while let current = responder {
            guard let passed = current.handle(event) else { return }
            event = passed
            responder = current.next
        }
    }
}

/// What travels up the chain of responders: at first what a user did, then what somebody on the way made of it.
public enum InterfaceEvent {
    /// A key that means nothing yet.
    case key(Key)
    /// Something was done with the mouse, at a place of the screen.
    case mouse(InputEvent.Mouse)
    /// Text that was pasted.
    case paste(String)
    /// The terminal's window came to the front, or went from it.
    case focus(Bool)
    /// A command that a key stands for here, and what was said along with it.
    case command(Command, CommandArgument? = nil)
    /// A gallery is to be opened.
    case openGallery(Address)
    /// A gallery is to be shown, at a photo of it or with that open. If it is open already, as it is.
    case openPlace(Place)
    /// Another screen is to be put on top.
    case push(Screen)
    /// The screen on top is done.
    case back
    /// The user is to be told something.
    case notice(String)
    /// The user is to be asked something; what is done if the answer is yes.
    case confirm(String, @MainActor () -> Void)
    /// The user is to be asked something that has several answers; any other key is none of them, which the word stands for.
    case choose(String, [Choice], otherwise: String = "no")
    /// The user is to type a line: what is asked for, what stands there at first, and what is done with what he has typed.
    case type(String, String, @MainActor (String) -> Void)
    /// Text is to be put on the terminal's clipboard.
    case copy(String)
    /// Something looks different now.
    case needsDisplay
}

/// One of several answers to a question.
public struct Choice {
    /// The key that gives it, as a small letter.
    let key: Character
    /// What it means, in a few words.
    let word: String
    /// What is done then.
    let action: @MainActor () -> Void

    init(_ key: Character, _ word: String, _ action: @escaping @MainActor () -> Void) {
        (self.key, self.word, self.action) = (key, word, action)
    }
}
