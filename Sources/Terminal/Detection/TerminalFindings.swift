import Cells

/// What a terminal can do, and why that is believed.
///
/// In order of trust: what the user says, what is known of the brand, kitty's pictures, sixel, and characters in as many
/// colours as there are.
public struct TerminalFindings: Hashable, Sendable {
    /// What it can do, as far as it is used.
    public let capabilities: Capabilities
    /// What was found and why, a line each, for people.
    public let lines: [String]

    /// What is known of a terminal without asking it.
    struct Circumstances: Hashable {
        /// How many colours terminfo counts.
        var terminfoColours: Int
        /// Whether characters are UTF-8.
        var isUnicode: Bool
        /// How many cells there are.
        var size: Size
        /// The pixels of a cell, as the system knows them.
        var cell: CellPixels?
        /// Whether it is a terminal at all, and not a file or a program.
        var isTerminal = true
    }

    init(
        _ environment: TerminalEnvironment, _ circumstances: Circumstances, _ answers: TerminalAnswers,
        _ wishes: TerminalWishes
    ) {
        let identity = TerminalIdentity(environment, answers)
        let traits = identity.brand?.traits
        let (cell, cellText) = Self.cell(circumstances, answers)
        let (colours, coloursText) = Self.colours(environment, circumstances, identity, wishes)
        let isUnicode = circumstances.isUnicode && !wishes.isASCII
        let pixels = PixelFindings(environment, circumstances, identity, answers, wishes, cell: cell)
        let sextants = isUnicode && traits?.drawsSextants ?? false
        capabilities = Capabilities(
            unicode: isUnicode, colours: colours, cellAspect: cell?.aspect ?? 0.5, pixels: pixels.capabilities,
            synchronises: answers.synchronises, background: answers.background ?? .terminal, sextants: sextants)
        let misreport = traits?.misreport.map { "; \($0)" } ?? ""
        let updates = answers.synchronises ? "shown at once, it says (mode 2026)" : "shown as they come"
        lines = [
            "terminal: \(circumstances.isTerminal ? "" : "standard output is none; otherwise ")\(identity.text)\(misreport)",
            "pixels: \(pixels.text)", "cell: \(cellText)", "colours: \(coloursText)",
            "characters: \(Self.characters(circumstances, identity, wishes, hasSextants: sextants))",
            "updates: \(updates)", "background: \(Self.text(answers.background))",
        ]
    }

    private static func characters(
        _ circumstances: Circumstances, _ identity: TerminalIdentity, _ wishes: TerminalWishes, hasSextants: Bool
    ) -> String {
        if wishes.isASCII { return "ASCII alone, as you say" }
        guard circumstances.isUnicode else { return "ASCII alone: the locale is not UTF-8" }
        guard hasSextants, let brand = identity.brand else { return "all but sextants, which few fonts have" }
        return "all, sextants too, which \(brand.rawValue) draws by itself"
    }

    /// What it says of a cell is believed before the system, which is told wrong numbers by some, or none. What it says of all
    /// of them holds as long as there are as many. When the window has changed, the system knows first; until it is answered
    /// again, a cell is as it was, unless the system says otherwise.
    private static func cell(
        _ circumstances: Circumstances, _ answers: TerminalAnswers
    ) -> (cell: CellPixels?, text: String) {
        let area = answers.area
        let candidates = [
            (answers.cell, "it says"),
            (area?.size == circumstances.size ? area?.cell : nil, "it says of all of them"),
            (circumstances.cell, "the system says"),
            (area?.cell, "it said of all of them, before the window changed"),
        ]
        for case (let cell?, let source) in candidates {
            return (cell, "\(cell.width) × \(cell.height) pixels, \(source)")
        }
        return (nil, "not known; taken for twice as high as wide")
    }

    private static func colours(
        _ environment: TerminalEnvironment, _ circumstances: Circumstances, _ identity: TerminalIdentity,
        _ wishes: TerminalWishes
    ) -> (ColourDepth, String) {
        if let wanted = wishes.colours { return (wanted, "\(text(wanted)), as you say") }
        let found = environment.colourDepth(terminfoColours: circumstances.terminfoColours)
        if environment.refusesColours { return (found, "none, as NO_COLOR says") }
        if found == .full {
            return (found, "all, by " + (environment.kind.hasSuffix("-direct") ? "TERM" : "COLORTERM"))
        }
        if let brand = identity.brand, brand.traits.isTrueColour, found != .none {
            return (.full, "all, which \(brand.rawValue) has")
        }
        return (found, "\(text(found)), by what is known of its kind (terminfo)")
    }

    private static func text(_ depth: ColourDepth) -> String {
        switch depth {
        case .none: "none"
        case .eight: "8"
        case .sixteen: "16"
        case .palette: "256"
        case .full: "all"
        }
    }

    private static func text(_ background: Colour?) -> String {
        guard case .rgb(let red, let green, let blue) = background else { return "not known" }
        let digits = [red, green, blue].map { part in
            let text = String(part, radix: 16)
            return text.count < 2 ? "0" + text : text
        }
        return "#\(digits.joined()), it says"
    }
}
