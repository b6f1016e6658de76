import Cells
import Commands
import Model
import Settings

/// A link in the responder chain, from the focus through its screen to the root.
///
/// Each responder handles an event, replaces it, or passes it on:
///
///     override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
///         guard case .command(.open) = event else { return event }
///         return .push(PhotoScreen(selected))
///     }
@MainActor
public class Responder {
    /// The next responder up.
    weak var next: Responder?

    init() {}

    /// Whether it takes keys, as text fields do. Other keys become commands at the root.
    var takesKeys: Bool { false }

    /// Handles an event. Returns the event for the next responder, or nil to stop.
    func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        event
    }

    /// Sends an event up the chain, starting here.
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

/// An event on its way up the responder chain: input, or a request of a screen.
public enum InterfaceEvent {
    /// A key, for responders that take keys.
    case key(Key)
    /// A mouse event.
    case mouse(InputEvent.Mouse)
    /// Pasted text.
    case paste(String)
    /// The terminal's window gained or lost the focus.
    case focus(Bool)
    /// A command with its argument.
    case command(Command, CommandArgument? = nil)
    /// Opens a gallery.
    case openGallery(Address)
    /// Shows a gallery or photo. An open gallery keeps its order and filter.
    case openPlace(Place)
    /// Puts another screen on top.
    case push(Screen)
    /// Removes the screen on top.
    case back
    /// Shows a notice.
    case notice(String)
    /// Asks a question, and performs the action on yes.
    case confirm(String, @MainActor () -> Void)
    /// Asks a question with several answers. Any other key does what the last word says.
    case choose(String, [Choice], otherwise: String = "no")
    /// Asks for a line of text: the label, the initial text, and the action.
    case type(String, String, @MainActor (String) -> Void)
    /// Copies text to the terminal's clipboard.
    case copy(String)
    /// Requests a new frame.
    case needsDisplay
}

/// An answer to a question.
public struct Choice {
    /// Its key, in lower case.
    let key: Character
    /// Its description, in a few words.
    let word: String
    /// The action it performs.
    let action: @MainActor () -> Void

    init(_ key: Character, _ word: String, _ action: @escaping @MainActor () -> Void) {
        (self.key, self.word, self.action) = (key, word, action)
    }
}
