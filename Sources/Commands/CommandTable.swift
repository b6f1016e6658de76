import Cells

/// All commands, with the keys that give them and what is said of them: the one table that bindings and help are made
/// from. Which keys hold for a user a ``KeyMap`` knows.
public enum CommandTable {
    /// Where a command means something.
    public enum Scope: String, CaseIterable, Hashable, Sendable {
        /// Wherever one is.
        case everywhere = "Everywhere"
        /// Wherever there is a list.
        case lists = "Lists"
        /// On the galleries screen.
        case galleries = "Galleries"
        /// On the photos screen.
        case photos = "Photos"
        /// On the photos screen, where photos stand beside each other.
        case sheet = "A contact sheet"
        /// After the key that asks for another order.
        case sorting = "Sorting"
        /// On the screen of one photo.
        case photo = "A photo"
        /// Where all is shown that a photo says of itself.
        case fields = "All it says"
        /// On the transfers screen.
        case transfers = "Transfers"
        /// On the errors screen.
        case errors = "Errors"
        /// On the log screen.
        case log = "The log"

        /// As users write it in settings.
        public var name: String { "\(self)".hyphenated }

        /// The scope of that name.
        public init?(named name: String) {
            guard let scope = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = scope
        }
    }

    /// What a command takes behind its name, on the command line.
    public struct Parameter: Hashable, Sendable {
        /// As the help calls it.
        public let name: String
        /// Whether it is a number, which may also be typed before the command's key.
        public let isNumber: Bool
        /// Whether the command means nothing without it.
        public let isNeeded: Bool

        static func number(_ name: String, isNeeded: Bool = true) -> Parameter {
            Parameter(name: name, isNumber: true, isNeeded: isNeeded)
        }

        static func text(_ name: String, isNeeded: Bool = true) -> Parameter {
            Parameter(name: name, isNumber: false, isNeeded: isNeeded)
        }
    }

    /// A line of the table.
    public struct Entry: Hashable, Sendable {
        /// What is done.
        public let command: Command
        /// Where.
        public let scope: Scope
        /// By which keys.
        public internal(set) var keys: [Key]
        /// What it does, for the help.
        public let meaning: String
        /// What may be said along with it.
        public let parameter: Parameter?

        init(
            _ command: Command, _ scope: Scope, _ keys: [Key], _ meaning: String, _ parameter: Parameter? = nil
        ) {
            self.command = command
            self.scope = scope
            self.keys = keys
            self.meaning = meaning
            self.parameter = parameter
        }

        /// As it is typed on the command line: `goto N`, `slideshow [SECONDS]`.
        public var usage: String {
            guard let parameter else { return command.name }
            return command.name + (parameter.isNeeded ? " \(parameter.name)" : " [\(parameter.name)]")
        }
    }

    /// In the order in which the help lists them.
    public static let entries: [Entry] = [
        Entry(.up, .lists, [.character("k"), Key(.up)], "one up"),
        Entry(.down, .lists, [.character("j"), Key(.down)], "one down"),
        Entry(.pageDown, .lists, [Key(.pageDown), .control("f"), .character(" ")], "a page down"),
        Entry(.pageUp, .lists, [Key(.pageUp), .control("b")], "a page up"),
        Entry(.halfPageDown, .lists, [.control("d")], "half a page down"),
        Entry(.halfPageUp, .lists, [.control("u")], "half a page up"),
        Entry(.first, .lists, [.character("g"), Key(.home)], "to the first"),
        Entry(.last, .lists, [.character("G"), Key(.end)], "to the last"),
        Entry(.goto, .lists, [], "to the Nth; so does a number before G", .number("N")),

        Entry(.open, .galleries, [Key(.enter), .character("l"), Key(.right)], "save the list and open the gallery"),
        Entry(.add, .galleries, [.character("a")], "add a gallery by typing its address"),
        Entry(.remove, .galleries, [.character("d"), Key(.delete)], "remove the gallery from the list"),
        Entry(
            .keep, .galleries, [.character("K")],
            "keep the gallery here, whatever room it takes"),
        Entry(.refresh, .galleries, [.character("r")], "update the gallery"),
        Entry(.refreshAll, .galleries, [.character("R")], "update all galleries"),
        Entry(.stop, .galleries, [.character("x")], "stop updating"),
        Entry(.edit, .galleries, [.character("e")], "give it another title or address"),
        Entry(.moveUp, .galleries, [.character("-")], "move it up in the list"),
        Entry(.moveDown, .galleries, [.character("+")], "move it down in the list"),
        Entry(.setInterval, .galleries, [.character("i")], "set how often the gallery is updated"),
        Entry(.save, .galleries, [.character("s")], "save the list"),
        Entry(.back, .galleries, [Key(.escape)], "save or discard the changes"),
        Entry(.quit, .galleries, [.character("q")], "quit"),

        Entry(.open, .photos, [Key(.enter), .character("l"), Key(.right)], "look at the photo"),
        Entry(.back, .photos, [.character("q"), Key(.escape), .character("h"), Key(.left)], "back to the galleries"),
        Entry(.refresh, .photos, [.character("r")], "update the gallery"),
        Entry(.stop, .photos, [.character("x")], "stop updating"),
        Entry(.openExternally, .photos, [.character("o")], "open it in another program"),
        Entry(.copy, .photos, [.character("y")], "copy its address to the clipboard"),
        Entry(.copyPath, .photos, [.character("Y")], "copy the path of its file to the clipboard"),
        Entry(.save, .photos, [.character("s")], "save it to a folder"),
        Entry(.renew, .photos, [.control("r")], "fetch it anew"),
        Entry(.delete, .photos, [.character("D"), Key(.delete)], "delete it from the cache"),
        Entry(
            .slideshow, .photos, [.character("S")], "slideshow from here", .number("SECONDS", isNeeded: false)),
        Entry(.refreshAll, .photos, [.character("R")], "update all galleries"),

        Entry(
            .search, .photos, [.character("/")],
            "search names, metadata and times (2006-07)", .text("TEXT", isNeeded: false)),
        Entry(.searchNext, .photos, [.character("n")], "the next that was found"),
        Entry(.searchPrevious, .photos, [.character("N")], "the one found before"),
        Entry(
            .filter, .photos, [.character("f")], "show those alone that are found", .text("TEXT", isNeeded: false)),
        Entry(.sort, .photos, [.character(",")], "sort; then one of the keys under “Sorting”"),
        Entry(.nextSection, .photos, [.character("}")], "to the next year, month or day"),
        Entry(.previousSection, .photos, [.character("{")], "to the beginning of this one, or the one before"),
        Entry(.divide, .photos, [.character("#")], "divide by year, by month, by day, not at all"),
        Entry(.sheet, .photos, [Key(.tab)], "a contact sheet; again: a list"),
        Entry(.previousPhoto, .photos, [.character("[")], "the photo before"),
        Entry(.nextPhoto, .photos, [.character("]")], "the next photo"),
        Entry(
            .information, .photos, [.character("i")],
            "beside a list: how the photo looks, what it says; or not"),
        Entry(.mark, .photos, [.character(" ")], "mark the photo, or take its mark away, and go on"),
        Entry(.markRange, .photos, [.character("M")], "mark all from the last mark to here"),
        Entry(.markAll, .photos, [.control("a")], "mark all that are listed"),
        Entry(.invertMarks, .photos, [.character("*")], "mark those that are not marked, and no others"),
        Entry(.unmark, .photos, [.character("u")], "take all marks away"),

        Entry(.left, .sheet, [.character("h"), Key(.left)], "the photo before"),
        Entry(.right, .sheet, [.character("l"), Key(.right)], "the next photo"),

        Entry(.sortByDate, .sorting, [.character("d")], "by date, the oldest first"),
        Entry(.sortByDateReversed, .sorting, [.character("D")], "by date, the newest first"),
        Entry(.sortByName, .sorting, [.character("n")], "by name"),
        Entry(.sortByNameReversed, .sorting, [.character("N")], "by name, backwards"),
        Entry(.sortBySize, .sorting, [.character("s")], "by size, the smallest first"),
        Entry(.sortBySizeReversed, .sorting, [.character("S")], "by size, the largest first"),
        Entry(.sortByState, .sorting, [.character("t")], "by state: what is here first"),
        Entry(.sortByStateReversed, .sorting, [.character("T")], "by state: what failed first"),

        Entry(.fit, .photo, [.character("w")], "the whole photo"),
        Entry(.fill, .photo, [.character("W")], "as much of it as fills the screen"),
        Entry(.zoomIn, .photo, [.character("+")], "larger"),
        Entry(.zoomOut, .photo, [.character("-")], "smaller"),
        Entry(.actualSize, .photo, [.character("=")], "one to one"),
        Entry(.left, .photo, [.character("h"), Key(.left)], "to the left; of a whole photo, the one before"),
        Entry(.right, .photo, [.character("l"), Key(.right)], "to the right; of a whole photo, the next one"),
        Entry(.up, .photo, [.character("k"), Key(.up)], "up"),
        Entry(.down, .photo, [.character("j"), Key(.down)], "down"),
        Entry(.previousPhoto, .photo, [.character("["), Key(.pageUp)], "the photo before"),
        Entry(.nextPhoto, .photo, [.character("]"), Key(.pageDown), .character(" ")], "the next photo"),
        Entry(.turnRight, .photo, [.character(">")], "turn it to the right"),
        Entry(.turnLeft, .photo, [.character("<")], "turn it to the left"),
        Entry(.information, .photo, [.character("i")], "what it says; again: all of that; no more"),
        Entry(.play, .photo, [.character("a")], "play an animation, until a key that moves; again: stop"),
        Entry(
            .slideshow, .photo, [.character("S")], "slideshow, until a key that moves",
            .number("SECONDS", isNeeded: false)),
        Entry(.goto, .photo, [], "to the Nth photo", .number("N")),
        Entry(.refresh, .photo, [.character("r")], "update the gallery"),
        Entry(.stop, .photo, [.character("x")], "stop updating"),
        Entry(.openExternally, .photo, [.character("o")], "open it in another program"),
        Entry(.copy, .photo, [.character("y")], "copy its address to the clipboard"),
        Entry(.copyPath, .photo, [.character("Y")], "copy the path of its file to the clipboard"),
        Entry(.save, .photo, [.character("s")], "save it to a folder"),
        Entry(.renew, .photo, [.control("r")], "fetch it anew"),
        Entry(.delete, .photo, [.character("D"), Key(.delete)], "delete it from the cache, and go back"),
        Entry(.showInList, .photo, [Key(.enter)], "show it in the list of all photos"),

        Entry(.up, .fields, [.character("k"), Key(.up)], "a line up"),
        Entry(.down, .fields, [.character("j"), Key(.down)], "a line down"),
        Entry(.pageUp, .fields, [Key(.pageUp), .control("b")], "a page up"),
        Entry(.pageDown, .fields, [Key(.pageDown), .control("f")], "a page down"),
        Entry(.first, .fields, [.character("g"), Key(.home)], "to the first line"),
        Entry(.last, .fields, [.character("G"), Key(.end)], "to the last line"),

        Entry(.pause, .transfers, [.character("p")], "begin nothing any more; again: go on"),
        Entry(.stop, .transfers, [.character("x")], "not now: leave the selected one out; stop saving"),
        Entry(.retry, .transfers, [.character("r")], "try the selected one at once"),
        Entry(.retryAll, .transfers, [.character("R")], "try everything at once"),

        Entry(.open, .errors, [Key(.enter), .character("l"), Key(.right)], "go to the gallery or the photo"),
        Entry(.retry, .errors, [.character("r")], "try the selected one at once"),
        Entry(.retryAll, .errors, [.character("R")], "try all of them at once"),
        Entry(.copy, .errors, [.character("y")], "copy the reason to the clipboard"),
        Entry(.clear, .errors, [.character("c")], "clear those of this run"),

        Entry(.switchNetwork, .log, [.character("1")], "network on or off"),
        Entry(.switchNetworkDetail, .log, [.character("2")], "network detail on or off"),
        Entry(.switchSync, .log, [.character("3")], "sync on or off"),
        Entry(.switchXML, .log, [.character("4")], "xml on or off"),
        Entry(.switchCache, .log, [.character("5")], "cache on or off"),
        Entry(.switchScreen, .log, [.character("6")], "screen on or off"),
        Entry(.left, .log, [.character("h"), Key(.left)], "long lines to the right again"),
        Entry(.right, .log, [.character("l"), Key(.right)], "the rest of long lines"),
        Entry(.copy, .log, [.character("y")], "copy to the clipboard"),
        Entry(.save, .log, [.character("s")], "save to a file"),
        Entry(.clear, .log, [.character("c")], "clear"),

        Entry(.back, .everywhere, [.character("q"), Key(.escape)], "back"),
        Entry(.quit, .everywhere, [.character("Q"), .control("c")], "quit"),
        Entry(.open, .everywhere, [], "open a gallery", .text("ADDRESS")),
        Entry(.command, .everywhere, [.character(":")], "a command by its name; Tab completes it"),
        Entry(.help, .everywhere, [.character("?"), Key(.function(1))], "this help"),
        Entry(.transfers, .everywhere, [.character("T")], "what is on its way"),
        Entry(.errors, .everywhere, [.character("E")], "what failed"),
        Entry(.log, .everywhere, [.character("L")], "the log"),
        Entry(.redraw, .everywhere, [.control("l")], "draw the screen anew"),
        Entry(.reload, .everywhere, [Key(.function(5))], "read the settings again"),
        Entry(.suspend, .everywhere, [.control("z")], "suspend Vitrine"),
    ]
}
