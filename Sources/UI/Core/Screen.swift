import Cache
import Cells
import Commands
import Model
import Pictures
import Session

/// A full-screen view and its controller.
///
/// A screen draws what the cache has, states wishes for what is missing, and reacts to changes in
/// ``modelUpdated(_:)``. It does not know the network.
@MainActor
public class Screen: Responder {
    /// The text of the top line.
    struct Heading {
        /// The screen's title.
        var title: String
        /// Details, at the right.
        var detail = ""
        /// Shorter details for narrow windows.
        var brief = ""
    }

    /// The text of the bottom line.
    struct Footing {
        /// The status.
        var text: String
        /// A shorter status for narrow windows, if there is one.
        var brief: String?
        /// The choices of a menu. They replace the hints.
        var choices: [String] = []
        /// The progress for a bar.
        var fraction: Double?
        /// Whether the text reports an error.
        var isTrouble = false
        /// The number of errors and the key that shows them.
        var badge: String?
        /// Commands to hint at, most useful first, each with a word.
        var hints: [(command: Command, word: String)] = []
        /// Commands whose hints stay beside a long text.
        var kept: Set<Command> = [.help]
    }

    /// Subclasses read models and settings from it.
    let context: ScreenContext
    /// The screens inside this one.
    var children: [Screen] = []

    init(_ context: ScreenContext) {
        self.context = context
        super.init()
    }

    /// The responder with the focus: it receives events first.
    var focus: Responder { self }
    /// The scopes of the keys on this screen, by precedence.
    var scopes: [CommandTable.Scope] { [.everywhere] }
    /// The scopes of commands typed by name.
    var commandScopes: [CommandTable.Scope] { scopes }
    /// The top line.
    var heading: Heading { Heading(title: "Vitrine") }
    /// The bottom line.
    var footing: Footing { Footing(text: "") }

    /// Whether the wishes of the screens below stay while it covers them.
    var leavesWishes: Bool { false }

    /// Performs a command, if it applies here. Returns whether it did; then the screen is redrawn.
    func perform(_ command: Command) -> Bool { false }

    /// The limit for repeated commands, so that a mistyped number does not block the screen.
    private static let maximumRepeats = 10_000

    /// Performs a command with an argument: a number is a count or an index. Returns whether it did.
    func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        guard case .number(let number) = argument else { return false }
        if [.goto, .first, .last].contains(command), go(to: number - 1) { return true }
        let times = command.isRepeated ? min(number, Self.maximumRepeats) : 1
        return (0..<times).reduce(false) { isPerformed, _ in perform(command) || isPerformed }
    }

    /// Goes to an index, or to the nearest one. Returns whether the screen has indices.
    func go(to index: Int) -> Bool { false }

    /// Handles the mouse. Returns whether something changed; then the screen is redrawn.
    func follow(_ mouse: InputEvent.Mouse) -> Bool { false }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        switch event {
        case .command(let command, nil): guard perform(command) else { return event }
        case .command(let command, let argument?): guard perform(command, argument) else { return event }
        case .mouse(let mouse): guard follow(mouse) else { return nil }
        default: return event
        }
        setNeedsDisplay()
        return nil
    }

    /// Draws the screen. Reads from the cache only what is visible.
    func draw(in surface: inout Surface, frame: Rect) {}

    /// Reacts to a change of the model.
    func modelUpdated(_ update: ModelUpdate) {}

    /// Called when the screen comes to the top.
    func didAppear() {}

    /// Called when another screen covers it, or when it is removed.
    func didDisappear() {}

    /// Withdraws all wishes of the screen until it appears again.
    func withdrawWishes() {}

    /// Passes an update to the screen, then to its children.
    final func propagate(_ update: ModelUpdate) {
        modelUpdated(update)
        for child in children { child.propagate(update) }
    }

    /// Requests a new frame.
    final func setNeedsDisplay() {
        send(.needsDisplay)
    }
}

/// A change of the model, sent from the root down the tree of screens.
enum ModelUpdate {
    /// Fetched results changed.
    case results(FetchedResults, Difference)
    /// A list has another order or filter.
    case lists(PhotoLists)
    /// A gallery's record changed: its last update or its count.
    case gallery(GalleryID)
    /// The activity changed.
    case activity(Activity.Change)
    /// The traffic changed. Sent a few times a second at most.
    case traffic
    /// An export began, progressed or ended.
    case exports
    /// Pictures were rendered.
    case pictures(Set<PictureOrder>)
    /// The log or its switches changed.
    case log
}
