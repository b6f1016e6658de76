import Cells
import Commands
import Model
import Settings

/// A link in the chain of objects that handle events, from the focus through its screen to the root.
///
/// Each responder handles an event, replaces it, or passes it on:
///
///     override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
///         guard case .command(.open) = event else { return event }
///         return .push(PhotoScreen(selected))
///     }
@MainActor
public class Responder {
    /// The next responder on the way to the root.
    weak var next: Responder?

    init() {}

    /// Whether the responder handles keys itself, as text fields do. Otherwise the root screen turns keys into
    /// commands.
    var takesKeys: Bool { false }

    /// Handles an event. Returns the event for the next responder, or nil if the event ends here.
    func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        event
    }

    /// Sends an event up the chain. This responder is the first to handle the event.
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
    /// A key for a responder that takes keys.
    case key(Key)
    /// A mouse event.
    case mouse(InputEvent.Mouse)
    /// Pasted text.
    case paste(String)
    /// The terminal's window gained or lost the focus.
    case focus(Bool)
    /// A command, with its argument if there is one.
    case command(Command, CommandArgument? = nil)
    /// A request to open a gallery.
    case openGallery(Address)
    /// A request to open an album as a gallery, above the screen with the albums.
    case openAlbum(Address)
    /// A request to list the albums of a gallery's server.
    case showAlbums(Address)
    /// A request to show a gallery or photo. The gallery keeps its order and view.
    case openPlace(Place)
    /// A request to put another screen on top.
    case push(Screen)
    /// A request to remove the screen on top.
    case back
    /// A request to show a notice.
    case notice(String)
    /// A request to ask a question, and to perform the action if the user says yes. While the user types into a prompt,
    /// this request, ``choose(_:_:otherwise:)`` and ``type(_:_:_:)`` have no effect.
    case confirm(String, @MainActor () -> Void)
    /// A request to ask a question with several answers. `otherwise` describes the effect of all other keys.
    case choose(String, [Choice], otherwise: String = "no")
    /// A request to ask for a line of text: the label, the initial text, and the action.
    case type(String, String, @MainActor (String) -> Void)
    /// A request to change a setting.
    case changeSetting(SettingChange)
    /// A request to send text to the terminal's clipboard; see ``ClipboardText``.
    case copy(String)
    /// A request for a new frame.
    case needsDisplay
}

/// An answer to a question.
public struct Choice {
    /// The keys that give this answer. The question shows the first one.
    let keys: [Key]
    /// The answer in a few words.
    let word: String
    /// The action that this answer performs.
    let action: @MainActor () -> Void

    init(_ keys: [Key], _ word: String, _ action: @escaping @MainActor () -> Void) {
        (self.keys, self.word, self.action) = (keys, word, action)
    }

    /// Creates the answer of a letter in lower case or upper case.
    init(_ letter: Character, _ word: String, _ action: @escaping @MainActor () -> Void) {
        self.init([.character(letter)] + [Key.character(letter).upperCase].compactMap { $0 }, word, action)
    }
}

extension Key {
    /// The key of the same letter in upper case; nil for other keys.
    var upperCase: Key? {
        guard case .character(let character) = code, modifiers.isEmpty else { return nil }
        // Some letters, such as ß, become two characters.
        let text = character.uppercased()
        guard let upper = text.first, text.count == 1, upper != character else { return nil }
        return .character(upper)
    }
}

/// Lines of text for the terminal's clipboard, as many as fit.
struct ClipboardText {
    /// The notice for terminals without a clipboard.
    static let unavailable = "Vitrine cannot use a clipboard in this type of terminal."

    /// The lines that fit.
    private(set) var lines: [String] = []
    private var room = Capabilities.clipboardLimit

    /// Adds a line, unless it does not fit. Returns whether it fits.
    mutating func add(_ line: String) -> Bool {
        // The end of the line needs a byte, too.
        let size = line.utf8.count + 1
        guard size <= room else { return false }
        room -= size
        lines.append(line)
        return true
    }
}
