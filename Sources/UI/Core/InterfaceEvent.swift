import Cells
import Commands
import Model
import Settings

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
