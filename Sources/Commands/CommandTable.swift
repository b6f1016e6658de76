import Cells

/// All commands with their keys and descriptions, for key bindings and help.
///
/// A ``KeyMap`` holds the keys of one user.
public enum CommandTable {
    /// A screen, or a part of a screen, where a command's keys apply.
    public enum Scope: String, CaseIterable, Hashable, Sendable {
        /// Every screen.
        case everywhere = "Everywhere"
        /// Every screen with a list.
        case lists = "Lists"
        /// The galleries screen.
        case galleries = "Galleries"
        /// The photos screen.
        case photos = "Photos"
        /// The photos screen while it shows a contact sheet of thumbnails.
        case sheet = "Contact sheet"
        /// The photos screen while it shows the contents of one folder.
        case folders = "Folders"
        /// The albums screen.
        case albums = "Albums"
        /// The sort menu.
        case sorting = "Sorting"
        /// The screen that compares two photos.
        case comparison = "Comparison"
        /// The question about a photo's rating, and the screen that compares photos.
        case rating = "Rating"
        /// The screen of one photo.
        case photo = "Photo"
        /// The panel with all metadata of a photo.
        case fields = "All metadata"
        /// The transfers screen.
        case transfers = "Transfers"
        /// The errors screen.
        case errors = "Errors"
        /// The log screen.
        case log = "Log"
        /// The settings screen.
        case settings = "Settings"

        /// The scope's name in settings, such as `photos`.
        public var name: String { "\(self)".hyphenated }

        /// Returns the scope with this name, or nil if there is none.
        public init?(named name: String) {
            guard let scope = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = scope
        }
    }

    /// An argument of a command, typed after the command's name.
    public struct Parameter: Hashable, Sendable {
        /// The argument's name in the help, such as `SECONDS`.
        public let name: String
        /// The permitted numbers; nil if the argument is a text. The user can also type a number before the command's
        /// key.
        let numbers: ClosedRange<Int>?
        /// Whether the command requires the argument.
        public let isNeeded: Bool

        static func number(
            _ name: String, _ numbers: ClosedRange<Int> = 1...CommandArgument.largestNumber, isNeeded: Bool = true
        ) -> Parameter {
            Parameter(name: name, numbers: numbers, isNeeded: isNeeded)
        }

        static func text(_ name: String, isNeeded: Bool = true) -> Parameter {
            Parameter(name: name, numbers: nil, isNeeded: isNeeded)
        }
    }

    /// A row of the table: a command with its scope, keys and description.
    public struct Entry: Hashable, Sendable {
        /// The command that the keys run.
        public let command: Command
        /// The screen, or the part of a screen, where the keys apply.
        public let scope: Scope
        /// The keys that the user can press for the command.
        public internal(set) var keys: [Key]
        /// The description in the help, at most six words.
        public let meaning: String
        /// The argument that the command takes, if any.
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

        /// The text to type on the command line, such as `goto N` or `slideshow [SECONDS]`.
        public var usage: String {
            guard let parameter else { return command.name }
            return command.name + (parameter.isNeeded ? " \(parameter.name)" : " [\(parameter.name)]")
        }
    }

    /// All entries, in the order of the help.
    public static let entries: [Entry] = [
        Entry(.up, .lists, [.character("k"), Key(.up)], "move up"),
        Entry(.down, .lists, [.character("j"), Key(.down)], "move down"),
        Entry(.pageDown, .lists, [Key(.pageDown), .control("f"), .character(" ")], "page down"),
        Entry(.pageUp, .lists, [Key(.pageUp), .control("b")], "page up"),
        Entry(.halfPageDown, .lists, [.control("d")], "move down half a page"),
        Entry(.halfPageUp, .lists, [.control("u")], "move up half a page"),
        Entry(.first, .lists, [.character("g"), Key(.home)], "go to the first entry"),
        Entry(.last, .lists, [.character("G"), Key(.end)], "go to the last entry"),
        Entry(.goto, .lists, [], "go to entry N (keys: NG)", .number("N")),

        Entry(.open, .galleries, [Key(.enter), .character("l"), Key(.right)], "save the list, open the gallery"),
        Entry(.add, .galleries, [.character("a")], "add a gallery by its address"),
        Entry(.remove, .galleries, [.character("d"), Key(.delete)], "remove the gallery from the list"),
        Entry(.restoreBuiltIn, .galleries, [.character("D")], "restore the built-in gallery"),
        Entry(
            .keep, .galleries, [.character("K")],
            "turn cache protection on or off"),
        Entry(.refresh, .galleries, [.character("r")], "update the gallery"),
        Entry(.refreshAll, .galleries, [.character("R")], "update all galleries"),
        Entry(.stop, .galleries, [.character("x")], "stop the update"),
        Entry(.edit, .galleries, [.character("e")], "edit the title or address"),
        Entry(.moveUp, .galleries, [.character("-")], "move the gallery up"),
        Entry(.moveDown, .galleries, [.character("+")], "move the gallery down"),
        Entry(.setInterval, .galleries, [.character("i")], "set the update interval"),
        Entry(.albums, .galleries, [.character("A")], "list albums, people and tags"),
        Entry(.save, .galleries, [.character("s")], "save the list"),
        Entry(.back, .galleries, [Key(.escape)], "ask to save or discard changes"),
        Entry(.quit, .galleries, [.character("q")], "quit"),

        Entry(.open, .photos, [Key(.enter), .character("l"), Key(.right)], "view the photo"),
        Entry(
            .back, .photos, [.character("q"), Key(.escape), .character("h"), Key(.left)], "go back to the galleries"),
        Entry(.refresh, .photos, [.character("r")], "update the gallery"),
        Entry(.stop, .photos, [.character("x")], "stop the update"),
        Entry(.openExternally, .photos, [.character("o")], "open the photo in another program"),
        Entry(.copy, .photos, [.character("y")], "copy the photo's address"),
        Entry(.copyPath, .photos, [.character("Y")], "copy the photo's file path"),
        Entry(.save, .photos, [.character("s")], "save the photo to a folder"),
        Entry(.renew, .photos, [.control("r")], "fetch the photo again"),
        Entry(.delete, .photos, [.character("D"), Key(.delete)], "delete the photo from the cache"),
        Entry(
            .slideshow, .photos, [.character("S")], "start a slideshow from this photo",
            .number("SECONDS", 1...3_600, isNeeded: false)),
        Entry(.refreshAll, .photos, [.character("R")], "update all galleries"),

        Entry(
            .search, .photos, [.character("/")],
            "search names, metadata, dates like 2006-07", .text("TEXT", isNeeded: false)),
        Entry(.searchNext, .photos, [.character("n")], "next match"),
        Entry(.searchPrevious, .photos, [.character("N")], "previous match"),
        Entry(
            .filter, .photos, [.character("f")], "show matches only", .text("TEXT", isNeeded: false)),
        Entry(.sort, .photos, [.character(",")], "choose the order of photos"),
        Entry(.nextSection, .photos, [.character("}")], "next section"),
        Entry(.previousSection, .photos, [.character("{")], "go to this or previous section"),
        Entry(.divide, .photos, [.character("#")], "switch sections: time, folder, none"),
        Entry(.folders, .photos, [.character("t")], "switch between folders and all photos"),
        Entry(.albums, .photos, [.character("A")], "list albums, people and tags"),
        Entry(.sheet, .photos, [Key(.tab)], "switch between contact sheet and list"),
        Entry(.previousPhoto, .photos, [.character("[")], "previous photo"),
        Entry(.nextPhoto, .photos, [.character("]")], "next photo"),
        Entry(
            .information, .photos, [.character("i")],
            "show or hide the preview pane"),
        Entry(.rate, .photos, [.character(".")], "rate the photo", .number("STARS", 0...5, isNeeded: false)),
        Entry(.writeRatings, .photos, [.character("X")], "write ratings to XMP files"),
        Entry(.compare, .photos, [.character("c")], "compare with the next photo"),
        Entry(.mark, .photos, [.character(" ")], "mark or unmark, then move down"),
        Entry(.markRange, .photos, [.character("M")], "mark from last mark to selection"),
        Entry(.markAll, .photos, [.control("a")], "mark all listed photos"),
        Entry(.invertMarks, .photos, [.character("*")], "invert marks"),
        Entry(.unmark, .photos, [.character("u")], "clear all marks"),

        Entry(.left, .sheet, [.character("h"), Key(.left)], "previous photo"),
        Entry(.right, .sheet, [.character("l"), Key(.right)], "next photo"),

        Entry(
            .parentFolder, .folders, [Key(.backspace), .character("h"), Key(.left)], "go to the parent folder"),
        Entry(.openFolder, .folders, [.character("O")], "open the folder as a gallery"),

        Entry(.open, .albums, [Key(.enter), .character("l"), Key(.right)], "open the album as a gallery"),
        Entry(
            .back, .albums, [.character("q"), Key(.escape), .character("h"), Key(.left)], "go back"),
        Entry(.search, .albums, [.character("/")], "search the list by name", .text("TEXT", isNeeded: false)),
        Entry(.searchNext, .albums, [.character("n")], "next match"),
        Entry(.searchPrevious, .albums, [.character("N")], "previous match"),
        Entry(.refresh, .albums, [.character("r")], "update the albums"),
        Entry(.stop, .albums, [.character("x")], "stop the update"),

        Entry(.sortByDate, .sorting, [.character("d")], "sort by date, oldest first"),
        Entry(.sortByDateReversed, .sorting, [.character("D")], "sort by date, newest first"),
        Entry(.sortByName, .sorting, [.character("n")], "sort by name"),
        Entry(.sortByNameReversed, .sorting, [.character("N")], "sort by name, reversed"),
        Entry(.sortBySize, .sorting, [.character("s")], "sort by size, smallest first"),
        Entry(.sortBySizeReversed, .sorting, [.character("S")], "sort by size, largest first"),
        Entry(.sortByState, .sorting, [.character("t")], "sort by state, fetched photos first"),
        Entry(.sortByStateReversed, .sorting, [.character("T")], "sort by state, failed photos first"),
        Entry(.sortByRating, .sorting, [.character("r")], "sort by rating, most stars first"),
        Entry(.sortByRatingReversed, .sorting, [.character("R")], "sort by rating, fewest stars first"),

        Entry(.fiveStars, .rating, [.character("5")], "give five stars"),
        Entry(.fourStars, .rating, [.character("4")], "give four stars"),
        Entry(.threeStars, .rating, [.character("3")], "give three stars"),
        Entry(.twoStars, .rating, [.character("2")], "give two stars"),
        Entry(.oneStar, .rating, [.character("1")], "give one star"),
        Entry(.noStars, .rating, [.character("0")], "remove all stars"),
        Entry(.reject, .rating, [.character("x")], "reject the photo"),
        Entry(.unrate, .rating, [.character("u")], "return to the gallery's own rating"),

        Entry(.otherSide, .comparison, [Key(.tab)], "select the other photo"),
        Entry(.keepSide, .comparison, [Key(.enter)], "keep this photo, replace the other"),
        Entry(.previousPhoto, .comparison, [.character("["), Key(.pageUp)], "previous photo on this side"),
        Entry(
            .nextPhoto, .comparison, [.character("]"), Key(.pageDown), .character(" ")], "next photo on this side"),
        Entry(.zoomIn, .comparison, [.character("+")], "zoom in on both photos"),
        Entry(.zoomOut, .comparison, [.character("-")], "zoom out on both photos"),
        Entry(.actualSize, .comparison, [.character("=")], "actual size"),
        Entry(.fit, .comparison, [.character("w")], "fit both photos to the screen"),
        Entry(.left, .comparison, [.character("h"), Key(.left)], "scroll left, or select left photo"),
        Entry(.right, .comparison, [.character("l"), Key(.right)], "scroll right, or select right photo"),
        Entry(.up, .comparison, [.character("k"), Key(.up)], "scroll up"),
        Entry(.down, .comparison, [.character("j"), Key(.down)], "scroll down"),

        Entry(.fit, .photo, [.character("w")], "fit the photo to the screen"),
        Entry(.fill, .photo, [.character("W")], "fill the screen with the photo"),
        Entry(.zoomIn, .photo, [.character("+")], "zoom in"),
        Entry(.zoomOut, .photo, [.character("-")], "zoom out"),
        Entry(.actualSize, .photo, [.character("=")], "actual size"),
        Entry(.left, .photo, [.character("h"), Key(.left)], "scroll left, or show previous photo"),
        Entry(.right, .photo, [.character("l"), Key(.right)], "scroll right, or show next photo"),
        Entry(.up, .photo, [.character("k"), Key(.up)], "scroll up"),
        Entry(.down, .photo, [.character("j"), Key(.down)], "scroll down"),
        Entry(.previousPhoto, .photo, [.character("["), Key(.pageUp)], "previous photo"),
        Entry(.nextPhoto, .photo, [.character("]"), Key(.pageDown), .character(" ")], "next photo"),
        Entry(.turnRight, .photo, [.character(">")], "rotate right"),
        Entry(.turnLeft, .photo, [.character("<")], "rotate left"),
        Entry(.information, .photo, [.character("i")], "switch info: summary, all fields, none"),
        Entry(.play, .photo, [.character("a")], "play or stop animation or video"),
        Entry(
            .slideshow, .photo, [.character("S")], "start a slideshow",
            .number("SECONDS", 1...3_600, isNeeded: false)),
        Entry(.goto, .photo, [], "go to photo N", .number("N")),
        Entry(.refresh, .photo, [.character("r")], "update the gallery"),
        Entry(.stop, .photo, [.character("x")], "stop the update"),
        Entry(.rate, .photo, [.character(".")], "rate the photo", .number("STARS", 0...5, isNeeded: false)),
        Entry(.writeRatings, .photo, [.character("X")], "write ratings to XMP files"),
        Entry(.compare, .photo, [.character("c")], "compare with the next photo"),
        Entry(.openExternally, .photo, [.character("o")], "open the photo in another program"),
        Entry(.copy, .photo, [.character("y")], "copy the photo's address"),
        Entry(.copyPath, .photo, [.character("Y")], "copy the photo's file path"),
        Entry(.save, .photo, [.character("s")], "save the photo to a folder"),
        Entry(.renew, .photo, [.control("r")], "fetch the photo again"),
        Entry(.delete, .photo, [.character("D"), Key(.delete)], "delete cached photo, then go back"),
        Entry(.showInList, .photo, [Key(.enter)], "show the photo in the list"),

        Entry(.up, .fields, [.character("k"), Key(.up)], "scroll up"),
        Entry(.down, .fields, [.character("j"), Key(.down)], "scroll down"),
        Entry(.pageUp, .fields, [Key(.pageUp), .control("b")], "page up"),
        Entry(.pageDown, .fields, [Key(.pageDown), .control("f")], "page down"),
        Entry(.first, .fields, [.character("g"), Key(.home)], "go to the top"),
        Entry(.last, .fields, [.character("G"), Key(.end)], "go to the bottom"),

        Entry(.pause, .transfers, [.character("p")], "pause or resume transfers"),
        Entry(.stop, .transfers, [.character("x")], "skip transfer or stop the export"),
        Entry(.retry, .transfers, [.character("r")], "retry now"),
        Entry(.retryAll, .transfers, [.character("R")], "retry all transfers now"),

        Entry(.open, .errors, [Key(.enter), .character("l"), Key(.right)], "show the gallery or photo"),
        Entry(.retry, .errors, [.character("r")], "retry now"),
        Entry(.retryAll, .errors, [.character("R")], "retry all failed requests now"),
        Entry(.copy, .errors, [.character("y")], "copy the reason for the error"),
        Entry(.clear, .errors, [.character("c")], "clear the errors of this session"),

        Entry(.switchNetwork, .log, [.character("1")], "record or ignore network messages"),
        Entry(.switchNetworkDetail, .log, [.character("2")], "record or ignore network details"),
        Entry(.switchSync, .log, [.character("3")], "record or ignore update messages"),
        Entry(.switchXML, .log, [.character("4")], "record or ignore XML messages"),
        Entry(.switchCache, .log, [.character("5")], "record or ignore cache messages"),
        Entry(.switchScreen, .log, [.character("6")], "record or ignore screen messages"),
        Entry(.left, .log, [.character("h"), Key(.left)], "scroll left"),
        Entry(.right, .log, [.character("l"), Key(.right)], "scroll right"),
        Entry(.wrap, .log, [.character("w")], "wrap or cut long lines"),
        Entry(.copy, .log, [.character("y")], "copy the log"),
        Entry(.save, .log, [.character("s")], "save the log to a file"),
        Entry(.clear, .log, [.character("c")], "clear the log"),

        Entry(.open, .settings, [Key(.enter), .character("l"), Key(.right)], "change the value"),
        Entry(.save, .settings, [.character("s")], "save value to the settings file"),
        Entry(.restoreDefault, .settings, [.character("d"), Key(.delete)], "reset the setting to its default"),
        Entry(.search, .settings, [.character("/")], "search names and descriptions", .text("TEXT", isNeeded: false)),
        Entry(.searchNext, .settings, [.character("n")], "next match"),
        Entry(.searchPrevious, .settings, [.character("N")], "previous match"),

        Entry(.back, .everywhere, [.character("q"), Key(.escape)], "go back"),
        Entry(.quit, .everywhere, [.character("Q"), .control("c")], "quit"),
        Entry(.open, .everywhere, [], "open a gallery", .text("ADDRESS")),
        Entry(.command, .everywhere, [.character(":")], "type a command (Tab completes)"),
        Entry(.help, .everywhere, [.character("?"), Key(.function(1))], "show or close the help"),
        Entry(.transfers, .everywhere, [.character("T")], "show transfers"),
        Entry(.errors, .everywhere, [.character("E")], "show errors"),
        Entry(.log, .everywhere, [.character("L")], "show the log"),
        Entry(.settings, .everywhere, [Key(.function(2))], "show and change settings"),
        Entry(.set, .everywhere, [], "change a setting (NAME& resets it)", .text("NAME VALUE")),
        Entry(.setAndKeep, .everywhere, [], "change and save a setting", .text("NAME VALUE")),
        Entry(.redraw, .everywhere, [.control("l")], "redraw the screen"),
        Entry(.reload, .everywhere, [Key(.function(5))], "reload the settings"),
        Entry(.suspend, .everywhere, [.control("z")], "suspend Vitrine"),
    ]
}
