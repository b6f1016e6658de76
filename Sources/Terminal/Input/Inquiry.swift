import Cells

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
