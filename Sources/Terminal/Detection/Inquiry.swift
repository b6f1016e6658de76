import Cells
import Glibc

/// Tracks the queries to a terminal and its answers, but no time limits.
///
///     var inquiry = Inquiry()
///     send(inquiry.ask([.version, .cellSize], on: Size(columns: 80, rows: 24)))
///     for reply in replies { inquiry.take(reply) }
///     if !inquiry.isOpen { use(inquiry.answers) }
///
/// An answer counts once, and only while its query is open. Late answers, and text that looks like an answer, change
/// nothing.
struct Inquiry {
    /// The queries that the terminal has not answered yet.
    private(set) var open: Set<TerminalQuestion> = []
    /// The answers that have arrived so far.
    private(set) var answers = TerminalAnswers()
    /// The number of columns and rows at the last query.
    private var size = Size(columns: 0, rows: 0)
    /// The number in the kitty query. A valid answer contains the same number.
    let number: Int

    /// Creates an inquiry without open queries.
    ///
    /// - Parameter number: a number that is hard to guess.
    init(number: Int = Int.random(in: 1...Int(Int32.max))) {
        self.number = number
    }

    /// Whether the terminal still has to answer a query.
    var isOpen: Bool { !open.isEmpty }

    /// Opens queries. Returns the bytes to send. The caller must send these bytes in one piece.
    ///
    /// The last query to the terminal is for its device attributes, which nearly every terminal reports. The answer
    /// closes all other queries to the terminal. The outer terminal is the terminal around tmux, if any. tmux passes on
    /// its answers, but not its device attributes. So the answer to the last query, the kitty query, closes all other
    /// queries to the outer terminal.
    ///
    /// - Parameter size: the current number of cells.
    mutating func ask(_ questions: Set<TerminalQuestion>, on size: Size) -> [UInt8] {
        self.size = size
        var questions = questions
        if questions.contains(where: { !$0.isForOuter }) { questions.insert(.attributes) }
        open.formUnion(questions)
        return TerminalQuestion.allCases.filter(questions.contains).flatMap { Array($0.bytes(number: number).utf8) }
    }

    /// Handles a reply of the terminal. Returns whether the reply answered an open query.
    @discardableResult
    mutating func take(_ reply: TerminalReply) -> Bool {
        switch reply {
        case .version(let text):
            if close(.version) {
                answers.version = text
            } else if close(.outerVersion) {
                answers.outerVersion = text
            } else {
                return false
            }
        case .kitty(let number, let isOK):
            guard number == self.number else { return false }
            if close(.kitty) {
                answers.takesKitty = isOK
            } else if close(.outerKitty) {
                answers.outerTakesKitty = isOK
                giveUpOuter()
            } else {
                return false
            }
        case .cellSize(let width, let height):
            guard close(.cellSize) else { return false }
            answers.cell = CellPixels(cellWidth: width, height: height)
        case .areaSize(let width, let height):
            guard close(.areaSize) else { return false }
            let isSane = (1...100_000).contains(width) && (1...100_000).contains(height)
            answers.area = isSane ? TerminalAnswers.Area(width: width, height: height, size: size) : nil
        case .background(let red, let green, let blue):
            guard close(.background) else { return false }
            answers.background = .rgb(red, green, blue)
        case .mode(let mode, let state):
            // DECRPM: 0 is not recognized, 1 set, 2 reset, 3 and 4 permanently set or reset.
            guard mode == 2026, close(.synchronises) else { return false }
            answers.synchronises = state == 1 || state == 2
        case .sixelColours(let count):
            guard close(.sixelColours) else { return false }
            answers.sixelColours = (2...65_536).contains(count) ? count : nil
        case .attributes(let attributes):
            guard close(.attributes) else { return false }
            answers.attributes = attributes
            closeWithoutAnswer(open.filter { !$0.isForOuter })
        }
        return true
    }

    /// Closes all queries. Keeps the answers so far, because they remain right if another answer is missing.
    mutating func giveUp() {
        open = []
    }

    /// Closes the queries to the terminal around tmux, and clears earlier answers to them.
    mutating func giveUpOuter() {
        closeWithoutAnswer(open.filter(\.isForOuter))
    }

    private mutating func close(_ question: TerminalQuestion) -> Bool {
        open.remove(question) != nil
    }

    /// Closes queries that the terminal skipped, and clears earlier answers to them.
    private mutating func closeWithoutAnswer(_ questions: Set<TerminalQuestion>) {
        for question in questions {
            open.remove(question)
            switch question {
            case .version: answers.version = nil
            case .kitty: answers.takesKitty = false
            case .cellSize: answers.cell = nil
            case .areaSize: answers.area = nil
            case .background: answers.background = nil
            case .synchronises: answers.synchronises = false
            case .sixelColours: answers.sixelColours = nil
            case .outerVersion: answers.outerVersion = nil
            case .outerKitty: answers.outerTakesKitty = false
            case .attributes: answers.attributes = nil
            }
        }
    }
}

/// A query to a terminal about one of its properties.
enum TerminalQuestion: CaseIterable, Hashable, Sendable {
    /// The terminal's name and version.
    case version
    /// Whether the terminal supports kitty graphics.
    case kitty
    /// The size of a cell in pixels.
    case cellSize
    /// The size of the text area in pixels, for terminals that do not report cells.
    case areaSize
    /// The background colour.
    case background
    /// Whether the terminal supports synchronized updates.
    case synchronises
    /// The number of colours of a sixel picture.
    case sixelColours
    /// The name and version of the terminal around tmux.
    case outerVersion
    /// Whether the terminal around tmux supports kitty graphics.
    case outerKitty
    /// The device attributes. This query comes last. After its answer, the terminal will answer no earlier query.
    case attributes

    /// Returns the bytes of the query.
    ///
    /// - Parameter number: identifies the kitty query.
    func bytes(number: Int) -> String {
        // The query contains one black pixel, which the terminal does not store.
        let kitty = "Gi=\(number),s=1,v=1,a=q,t=d,f=24;AAAA"
        return switch self {
        case .version: "\u{1B}[>q"
        case .kitty: "\u{1B}_\(kitty)\u{1B}\\"
        case .cellSize: "\u{1B}[16t"
        case .areaSize: "\u{1B}[14t"
        case .background: "\u{1B}]11;?\u{1B}\\"
        case .synchronises: "\u{1B}[?2026$p"
        case .sixelColours: "\u{1B}[?1;1;0S"
        // tmux passes on strings in its own sequence with every escape doubled.
        case .outerVersion: "\u{1B}Ptmux;\u{1B}\u{1B}[>q\u{1B}\\"
        case .outerKitty: "\u{1B}Ptmux;\u{1B}\u{1B}_\(kitty)\u{1B}\u{1B}\\\u{1B}\\"
        case .attributes: "\u{1B}[c"
        }
    }

    /// Whether the query goes to the terminal around tmux.
    var isForOuter: Bool { self == .outerVersion || self == .outerKitty }
}

/// The answers of a terminal to queries.
struct TerminalAnswers: Hashable, Sendable {
    /// The terminal's name and version.
    var version: String?
    /// The name and version of the terminal around tmux, if tmux passes the query on.
    var outerVersion: String?
    /// Whether the terminal supports kitty graphics.
    var takesKitty = false
    /// Whether the terminal around tmux supports kitty graphics, and tmux passes them on.
    var outerTakesKitty = false
    /// The size of a cell in pixels.
    var cell: CellPixels?
    /// The size of the text area in pixels and in cells.
    var area: Area?
    /// The background colour.
    var background: Colour?
    /// Whether the terminal supports synchronized updates.
    var synchronises = false
    /// The number of colours of a sixel picture.
    var sixelColours: Int?
    /// The device attributes. Nearly every terminal answers this query. It is the last query, so no other answer
    /// follows.
    var attributes: [Int]?

    /// The size of the text area in pixels and in cells.
    struct Area: Hashable, Sendable {
        let width: Int
        let height: Int
        /// The number of columns and rows at the query. After a resize, the pixels no longer apply.
        let size: Size

        /// The size of a cell in pixels.
        var cell: CellPixels? { CellPixels((width, height), dividedBy: size) }
    }

    /// Whether the attributes include sixel ("4"). The first attribute does not count, because it is the terminal
    /// class.
    var takesSixel: Bool { attributes?.dropFirst().contains(4) ?? false }
}

/// The size of a cell in pixels.
struct CellPixels: Hashable, Sendable {
    let width: Int
    let height: Int

    /// Creates a size; nil if the size is implausible. Terminals behind a connection may report zeros or nonsense.
    init?(cellWidth width: Int, height: Int) {
        guard (3...100).contains(width), (5...200).contains(height) else { return nil }
        let aspect = Double(width) / Double(height)
        guard (0.25...1.0).contains(aspect) else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// Divides the pixels of the text area by the number of cells.
    init?(_ area: (width: Int, height: Int), dividedBy size: Size) {
        guard size.columns > 0, size.rows > 0 else { return nil }
        self.init(cellWidth: area.width / size.columns, height: area.height / size.rows)
    }

    /// Creates the cell size that the system reports for a window.
    init?(_ window: winsize) {
        self.init(
            (Int(window.ws_xpixel), Int(window.ws_ypixel)),
            dividedBy: Size(columns: Int(window.ws_col), rows: Int(window.ws_row)))
    }

    /// The width of a cell divided by its height.
    var aspect: Double { Double(width) / Double(height) }
}
