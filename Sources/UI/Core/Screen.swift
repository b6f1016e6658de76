import Cache
import Cells
import Commands
import Model
import Pictures
import Session

/// A screen's worth of something, and the controller of it.
///
/// A screen draws what the cache has, says what it would like to be there, and reacts to changes in one place,
/// ``modelUpdated(_:)``. It knows nothing of where things come from.
@MainActor
public class Screen: Responder {
    /// What a screen's line at the top says.
    struct Heading {
        /// What one is looking at.
        var title: String
        /// Particulars, at the right.
        var detail = ""
        /// What is said of them where there is no room for all.
        var brief = ""
    }

    /// What a screen's line at the bottom says.
    struct Footing {
        /// How things stand.
        var text: String
        /// The same in less room, for a line that is too short for all of it; nil if there is no shorter text.
        var brief: String?
        /// What there is to choose from, each in a few words. Then there is nothing else to be said.
        var choices: [String] = []
        /// How far something has come, for a bar.
        var fraction: Double?
        /// Whether the text is about something that went wrong.
        var isTrouble = false
        /// How much has gone wrong elsewhere, and the key that leads there.
        var badge: String?
        /// Commands that are worth a hint now, the most useful first, each with a word for it.
        var hints: [(command: Command, word: String)] = []
        /// Commands whose hints stay where the text is too long for both.
        var kept: Set<Command> = [.help]
    }

    let context: ScreenContext
    /// Screens inside of this one.
    var children: [Screen] = []

    init(_ context: ScreenContext) {
        self.context = context
        super.init()
    }

    /// What has the focus in here: the first to hear of what the user does.
    var focus: Responder { self }
    /// Where keys mean something, the nearest first.
    var scopes: [CommandTable.Scope] { [.everywhere] }
    /// Where commands mean something that are typed by their names.
    var commandScopes: [CommandTable.Scope] { scopes }
    /// The line at the top.
    var heading: Heading { Heading(title: "Vitrine") }
    /// The line at the bottom.
    var footing: Footing { Footing(text: "") }

    /// Whether what the screens below want goes on being wanted while this one covers them.
    var leavesWishes: Bool { false }

    /// Obeys a command, if it means something here. Returns whether it did; then the screen is drawn anew.
    func perform(_ command: Command) -> Bool { false }

    /// As often as a command is repeated at most: nobody is to wait for a number that was typed by mistake.
    private static let mostTimes = 10_000

    /// Obeys a command that something was said along with: a number is how often, or where to. Returns whether it did.
    func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        guard case .number(let number) = argument else { return false }
        if [.goto, .first, .last].contains(command), go(to: number - 1) { return true }
        let times = command.isRepeated ? min(number, Self.mostTimes) : 1
        return (0..<times).reduce(false) { isObeyed, _ in perform(command) || isObeyed }
    }

    /// Goes to a place in what it shows, counted from zero, or the nearest there is. Returns whether there are places.
    func go(to place: Int) -> Bool { false }

    /// Does what is meant by the mouse, if it means something here. Returns whether it did; then the screen is drawn anew.
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

    /// Draws itself. Only here does it look into the cache for what is seen.
    func draw(in surface: inout Surface, frame: Rect) {}

    /// Takes in what changed, if it is of interest here.
    func modelUpdated(_ update: ModelUpdate) {}

    /// It is on top from now on.
    func didAppear() {}

    /// It is not on top any more: covered by another, or gone.
    func didDisappear() {}

    /// Nothing is wanted for it any more, until it appears again: it is gone, or covered by what it is of no use for.
    func withdrawWishes() {}

    /// Hands an update down: first itself, then the screens inside.
    final func propagate(_ update: ModelUpdate) {
        modelUpdated(update)
        for child in children { child.propagate(update) }
    }

    /// Asks for a frame.
    final func setNeedsDisplay() {
        send(.needsDisplay)
    }
}

/// What changed, on its way from the root down the tree of screens.
enum ModelUpdate {
    /// A list of photos became another.
    case results(FetchedResults, Difference)
    /// What a screen lists is in another order, or something else was found.
    case lists(PhotoLists)
    /// A gallery's own row changed: its last update, its count.
    case gallery(GalleryID)
    /// Something is being done, or is no longer.
    case activity(Activity.Change)
    /// More has come from the network, or it does better or worse. Heard of a few times a second at most.
    case traffic
    /// What is being saved has begun, has come farther, or has ended.
    case exports
    /// Pictures have been drawn.
    case pictures(Set<PictureOrder>)
    /// The log has grown, or was cleared, or a switch was turned.
    case log
}
