import Cells
import Glibc

/// What a terminal was asked, and what it has answered: a value without a clock.
///
///     var inquiry = Inquiry()
///     send(inquiry.ask([.version, .cellSize], on: Size(columns: 80, rows: 24)))
///     for reply in replies { inquiry.take(reply) }
///     if !inquiry.isOpen { use(inquiry.answers) }
///
/// An answer counts while its question is open, and once. Whatever else looks like one, because it is late, or because a
/// file that was printed has it in it, changes nothing.
struct Inquiry {
    /// What has been asked and not been answered.
    private(set) var open: Set<TerminalQuestion> = []
    /// What has been answered.
    private(set) var answers = TerminalAnswers()
    /// How many cells there were when it was asked last.
    private var size = Size(columns: 0, rows: 0)
    /// Stands in our question about kitty's pictures, and has to stand in the answer.
    let number: Int

    /// - Parameter number: one that nobody guesses.
    init(number: Int = Int.random(in: 1...Int(Int32.max))) {
        self.number = number
    }

    /// Whether there is anything that an answer may still come to.
    var isOpen: Bool { !open.isEmpty }

    /// Opens questions. Returns what is to be sent for them, all in one piece.
    ///
    /// Those to the terminal itself end with the question that every terminal answers, and are closed with that answer. A
    /// tmux passes on what the outer terminal says, but keeps such an end to itself; there the last one is the end.
    ///
    /// - Parameter size: how many cells there are now.
    mutating func ask(_ questions: Set<TerminalQuestion>, on size: Size) -> [UInt8] {
        self.size = size
        var questions = questions
        if questions.contains(where: { !$0.isForOuter }) { questions.insert(.attributes) }
        open.formUnion(questions)
        return TerminalQuestion.allCases.filter(questions.contains).flatMap { Array($0.bytes(number: number).utf8) }
    }

    /// Takes in a reply. Returns whether it was asked for.
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
                closeWithoutAnswer(open.filter(\.isForOuter))
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
            // DECRPM: 0 is not known, 1 set, 2 reset, 3 and 4 the same for ever.
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

    /// Closes all questions. What was answered before stays: who takes long this time has not said that it is not so any more.
    mutating func giveUp() {
        open = []
    }

    private mutating func close(_ question: TerminalQuestion) -> Bool {
        open.remove(question) != nil
    }

    /// Closes questions to a terminal that has answered what was asked after them: what it has not said is not so.
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

/// Something that a terminal can be asked.
enum TerminalQuestion: CaseIterable, Hashable, Sendable {
    /// Its name and version.
    case version
    /// Whether it takes kitty's pictures.
    case kitty
    /// The pixels of a cell.
    case cellSize
    /// The pixels of all cells together, for terminals that do not know about one.
    case areaSize
    /// What is behind the text.
    case background
    /// Whether it knows synchronised output.
    case synchronises
    /// How many colours a sixel picture may have.
    case sixelColours
    /// The same as the first, of the terminal that a tmux is in.
    case outerVersion
    /// The same as the second, of the terminal that a tmux is in.
    case outerKitty
    /// What it can do. Asked last: an answer to this means that there will be none any more to what was asked before.
    case attributes

    /// What is sent to ask it.
    ///
    /// - Parameter number: tells our question about kitty's pictures from those of others.
    func bytes(number: Int) -> String {
        // One pixel, black, to be looked at and not to be kept.
        let kitty = "Gi=\(number),s=1,v=1,a=q,t=d,f=24;AAAA"
        return switch self {
        case .version: "\u{1B}[>q"
        case .kitty: "\u{1B}_\(kitty)\u{1B}\\"
        case .cellSize: "\u{1B}[16t"
        case .areaSize: "\u{1B}[14t"
        case .background: "\u{1B}]11;?\u{1B}\\"
        case .synchronises: "\u{1B}[?2026$p"
        case .sixelColours: "\u{1B}[?1;1;0S"
        // What tmux is to pass on stands in a string of its own, with every escape in it doubled.
        case .outerVersion: "\u{1B}Ptmux;\u{1B}\u{1B}[>q\u{1B}\\"
        case .outerKitty: "\u{1B}Ptmux;\u{1B}\u{1B}_\(kitty)\u{1B}\u{1B}\\\u{1B}\\"
        case .attributes: "\u{1B}[c"
        }
    }

    /// Whether the answer comes from the terminal that a tmux is in.
    var isForOuter: Bool { self == .outerVersion || self == .outerKitty }
}

/// What a terminal has said of itself.
struct TerminalAnswers: Hashable, Sendable {
    /// Its name and version.
    var version: String?
    /// Those of the terminal that a tmux is in, where it lets us ask.
    var outerVersion: String?
    /// Whether it takes kitty's pictures.
    var takesKitty = false
    /// Whether the terminal that a tmux is in does, and tmux passes them on.
    var outerTakesKitty = false
    /// How large a cell is.
    var cell: CellPixels?
    /// How large all cells are together.
    var area: Area?
    /// What is behind the text.
    var background: Colour?
    /// Whether it knows synchronised output.
    var synchronises = false
    /// How many colours a sixel picture may have.
    var sixelColours: Int?
    /// Its device attributes. They are asked for last, and nearly every terminal has some: once they are here, whatever else
    /// was asked has been answered, or never will be.
    var attributes: [Int]?

    /// Pixels of all cells together.
    struct Area: Hashable, Sendable {
        let width: Int
        let height: Int
        /// How many cells there were when it was asked: in a window of another size, they are other pixels too.
        let size: Size

        /// One of those cells.
        var cell: CellPixels? { CellPixels((width, height), dividedBy: size) }
    }

    /// The first attribute says what kind of terminal it is, the others what it can do: "4" stands for sixel graphics.
    var takesSixel: Bool { attributes?.dropFirst().contains(4) ?? false }
}

/// How many pixels something is wide and high.
struct CellPixels: Hashable, Sendable {
    let width: Int
    let height: Int

    /// A cell that a person could read. Over a connection the numbers may be zero or nonsense: both sides are believed, or
    /// neither is.
    init?(cellWidth width: Int, height: Int) {
        guard (3...100).contains(width), (5...200).contains(height) else { return nil }
        let aspect = Double(width) / Double(height)
        guard (0.25...1.0).contains(aspect) else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// A cell, of so many that are so large together.
    init?(_ area: (width: Int, height: Int), dividedBy size: Size) {
        guard size.columns > 0, size.rows > 0 else { return nil }
        self.init(cellWidth: area.width / size.columns, height: area.height / size.rows)
    }

    /// A cell as the system knows it.
    init?(_ window: winsize) {
        self.init(
            (Int(window.ws_xpixel), Int(window.ws_ypixel)),
            dividedBy: Size(columns: Int(window.ws_col), rows: Int(window.ws_row)))
    }

    /// The width divided by the height.
    var aspect: Double { Double(width) / Double(height) }
}
