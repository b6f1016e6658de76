/// A command that the user gives with a key or by its name. The receiving screen decides the command's effect.
public enum Command: String, CaseIterable, Hashable, Sendable {
    case up, down, left, right
    case pageUp, pageDown, halfPageUp, halfPageDown
    case first, last
    case open, back, quit
    case refresh, stop
    case zoomIn, zoomOut, actualSize, fit, fill
    case turnLeft, turnRight, slideshow, play, information
    case previousPhoto, nextPhoto
    case add, remove, restoreBuiltIn, keep, setInterval, save, copy, clear
    case switchNetwork, switchNetworkDetail, switchSync, switchXML, switchCache, switchScreen
    case search, searchNext, searchPrevious, filter
    case sheet, mark, markRange, markAll, invertMarks, unmark
    case sort, sortByDate, sortByName, sortBySize, sortByState, sortByRating
    case sortByDateReversed, sortByNameReversed, sortBySizeReversed, sortByStateReversed, sortByRatingReversed
    case rate, noStars, oneStar, twoStars, threeStars, fourStars, fiveStars, reject, unrate, writeRatings
    case compare, otherSide, keepSide
    case nextSection, previousSection, divide
    case folders, parentFolder, openFolder
    case albums
    case pause, retry, retryAll
    case openExternally, copyPath, delete, renew, refreshAll, showInList
    case edit, moveUp, moveDown
    case transfers, errors, log, settings, help, redraw, reload, suspend
    case command, goto
    case set, setAndKeep, restoreDefault, wrap

    /// The command's name in settings and on the command line, such as `next-section`.
    public var name: String { self == .setAndKeep ? "set!" : rawValue.hyphenated }

    /// Returns the command with this name, or nil if there is none.
    public init?(named name: String) {
        guard let command = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = command
    }

    /// Whether a number before the command's key repeats the command.
    public var isRepeated: Bool {
        switch self {
        case .up, .down, .left, .right, .pageUp, .pageDown, .halfPageUp, .halfPageDown: true
        case .zoomIn, .zoomOut, .turnLeft, .turnRight, .previousPhoto, .nextPhoto: true
        case .searchNext, .searchPrevious, .nextSection, .previousSection, .mark: true
        default: false
        }
    }

    /// Whether the command uses a number that the user types before its key. The number is a count, an index, a time in
    /// seconds or a number of stars.
    public var takesNumber: Bool {
        switch self {
        case .first, .last, .goto, .slideshow, .rate: true
        default: isRepeated
        }
    }

    /// Whether the command scrolls or zooms the photo, or shows another photo.
    public var movesPhoto: Bool {
        switch self {
        case .up, .down, .left, .right, .zoomIn, .zoomOut, .actualSize, .previousPhoto, .nextPhoto: true
        default: false
        }
    }
}

/// The argument of a command: a number before its key, or text after its name.
public enum CommandArgument: Hashable, Sendable {
    /// A count, an index, a number of seconds or a number of stars.
    case number(Int)
    /// The text after the command's name.
    case text(String)

    /// The largest number that a command accepts. No list has as many rows.
    public static let largestNumber = 99_999_999
}

extension String {
    /// The hyphenated form of a camel-case name: `next-section`, `switch-xml`.
    var hyphenated: String {
        let letters = Array(self)
        var text = ""
        for (index, letter) in letters.enumerated() {
            let isInWord = index > 0 && letters[index - 1].isUppercase
            let isBeforeWord = index + 1 < letters.count && letters[index + 1].isLowercase
            if index > 0, letter.isUppercase, !isInWord || isBeforeWord { text += "-" }
            text += letter.lowercased()
        }
        return text
    }
}
