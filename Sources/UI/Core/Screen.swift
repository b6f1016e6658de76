import Cache
import Cells
import Commands
import Model
import Pictures
import Session

/// A full-screen view together with its controller.
///
/// A screen draws the contents of the cache, requests missing photos, and reacts to changes in ``modelUpdated(_:)``. A
/// screen does not know the network.
@MainActor
public class Screen: Responder {
    /// The text of the top line.
    struct Heading {
        /// The screen's title.
        var title: String
        /// Shorter titles for narrow windows, the longest first.
        var shorterTitles: [String] = []
        /// The text of the filter, which stands before the details. A narrow window cuts this text.
        var filter: String?
        /// Details for the right end of the line.
        var detail = ""
        /// Shorter details for narrow windows.
        var brief = ""
    }

    /// The text of the bottom line.
    struct Footing {
        /// The text about the screen's state.
        var text: String
        /// A shorter text for narrow windows, if there is one.
        var brief: String?
        /// The choices of a menu, which replace the hints.
        var choices: [String] = []
        /// The progress from 0 to 1, for a bar.
        var fraction: Double?
        /// Whether the text reports an error.
        var isTrouble = false
        /// The number of errors and the key that shows them.
        var badge: String?
        /// The commands shown as hints, each with a word, most useful first.
        var hints: [(command: Command, word: String)] = []
        /// The commands whose hints stay even beside a long text.
        var kept: Set<Command> = [.help]
    }

    /// The models and settings that subclasses read.
    let context: ScreenContext
    /// The screens that this screen contains.
    var children: [Screen] = []

    init(_ context: ScreenContext) {
        self.context = context
        super.init()
    }

    /// The responder that receives events first.
    var focus: Responder { self }
    /// The scopes of the keys on this screen, in order of precedence.
    var scopes: [CommandTable.Scope] { [.everywhere] }
    /// The scopes of the commands that the user can type on this screen.
    var commandScopes: [CommandTable.Scope] { scopes }
    /// Returns whether the user can type a command of ``commandScopes`` on this screen.
    func offers(_ entry: CommandTable.Entry) -> Bool { true }
    /// The photo or folder on which actions work. Nil on other screens, and while actions work on marked photos.
    var actedOn: PhotoEntries.Entry? { nil }
    /// The gallery whose photos or albums this screen lists; nil on other screens.
    var shownGallery: Address? { nil }
    /// The contents of the top line.
    var heading: Heading { Heading(title: "Vitrine") }
    /// The contents of the bottom line.
    var footing: Footing { Footing(text: "") }

    /// Whether the screens below keep their requests while this screen covers them.
    var leavesWishes: Bool { false }

    /// Performs a command. Returns false if the screen does not know the command; otherwise the screen is redrawn.
    func perform(_ command: Command) -> Bool { false }

    /// The maximum repetitions of a command. A mistyped number could otherwise block the screen.
    private static let maximumRepeats = 10_000

    /// Performs a command with an argument. A number is a count or an index. Returns false if the screen does not know
    /// the command.
    func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        guard case .number(let number) = argument else { return false }
        if [.goto, .first, .last].contains(command), go(to: number - 1) { return true }
        if command == .rate, let rating = PhotoRating.command(stars: number) { return perform(rating) }
        let times = command.isRepeated ? min(number, Self.maximumRepeats) : 1
        return (0..<times).reduce(false) { isPerformed, _ in perform(command) || isPerformed }
    }

    /// Goes to an index of the list, or to the nearest index. Returns false if the screen has no list.
    func go(to index: Int) -> Bool { false }

    /// Handles a mouse event. Returns whether something changed; then the screen is redrawn.
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

    /// Draws the screen. Reads only the visible entries from the cache.
    func draw(in surface: inout Surface, frame: Rect) {}

    /// Reacts to a change of the model, such as a new list or the progress of a transfer.
    func modelUpdated(_ update: ModelUpdate) {}

    /// Called when this screen comes to the top.
    func didAppear() {}

    /// Called when another screen covers this screen, or when this screen is removed.
    func didDisappear() {}

    /// Withdraws the screen's requests for photos and thumbnails until the screen appears again.
    func withdrawWishes() {}

    /// Passes a change of the model to this screen, and then to its children.
    final func propagate(_ update: ModelUpdate) {
        modelUpdated(update)
        for child in children { child.propagate(update) }
    }

    /// Requests a new frame.
    final func setNeedsDisplay() {
        send(.needsDisplay)
    }
}

/// A change of the model. The root screen sends each change down the tree of screens.
enum ModelUpdate {
    /// A list of photos changed, as the difference describes.
    case results(FetchedResults, Difference)
    /// The order or filter of a gallery's lists changed.
    case lists(PhotoLists)
    /// The record of a gallery changed: its last update or its number of photos.
    case gallery(GalleryID)
    /// The albums of a gallery's server changed. `areChanged` is false if only cover photos changed.
    case albums(GalleryID, areChanged: Bool)
    /// The state of updates or transfers changed.
    case activity(Activity.Change)
    /// The network traffic changed. The root screen sends this change a few times a second at most.
    case traffic
    /// An export began, progressed or ended.
    case exports
    /// The pipeline has rendered these pictures.
    case pictures(Set<PictureOrder>)
    /// The log has new entries, or the user changed which messages the log records.
    case log
}
