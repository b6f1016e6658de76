/// Something that a user can have done. What it does depends on the screen that it comes to.
public enum Command: String, CaseIterable, Hashable, Sendable {
    case up, down, left, right
    case pageUp, pageDown, halfPageUp, halfPageDown
    case first, last
    case open, back, quit
    case refresh, stop
    case zoomIn, zoomOut, actualSize, fit, fill
    case turnLeft, turnRight, slideshow, play, information
    case previousPhoto, nextPhoto
    case add, remove, keep, setInterval, save, copy, clear
    case switchNetwork, switchNetworkDetail, switchSync, switchXML, switchCache, switchScreen
    case search, searchNext, searchPrevious, filter
    case sheet, mark, markRange, markAll, invertMarks, unmark
    case sort, sortByDate, sortByName, sortBySize, sortByState
    case sortByDateReversed, sortByNameReversed, sortBySizeReversed, sortByStateReversed
    case nextSection, previousSection, divide
    case pause, retry, retryAll
    case openExternally, copyPath, delete, renew, refreshAll, showInList
    case edit, moveUp, moveDown
    case transfers, errors, log, help, redraw, reload, suspend
    case command, goto

    /// As users write it, in settings and on the command line: `next-section`.
    public var name: String { rawValue.hyphenated }

    /// The command of that name.
    public init?(named name: String) {
        guard let command = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = command
    }

    /// Whether a number before its key means so many times.
    public var isRepeated: Bool {
        switch self {
        case .up, .down, .left, .right, .pageUp, .pageDown, .halfPageUp, .halfPageDown: true
        case .zoomIn, .zoomOut, .turnLeft, .turnRight, .previousPhoto, .nextPhoto: true
        case .searchNext, .searchPrevious, .nextSection, .previousSection, .mark: true
        default: false
        }
    }

    /// Whether a number before its key means anything: so many times, to that place, for so many seconds.
    public var takesNumber: Bool {
        switch self {
        case .first, .last, .goto, .slideshow: true
        default: isRepeated
        }
    }

    /// Whether it is about where one is in a photo, or which one it is.
    public var movesPhoto: Bool {
        switch self {
        case .up, .down, .left, .right, .zoomIn, .zoomOut, .actualSize, .previousPhoto, .nextPhoto: true
        default: false
        }
    }
}

/// What is said along with a command: a number typed before its key, or what stands behind its name on the command line.
public enum CommandArgument: Hashable, Sendable {
    /// How often, how long, or where to.
    case number(Int)
    /// What it is about, in words.
    case text(String)

    /// Numbers end here: no list has as many rows.
    public static let largestNumber = 9_999_999
}

extension String {
    /// A name of the code as users write it: `nextSection` is `next-section`, and `switchXML` is `switch-xml`.
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
