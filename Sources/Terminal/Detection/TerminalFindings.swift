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

/// Whether and how a terminal takes pixels, and why that is believed.
struct PixelFindings {
    /// How it does; nil if it does not.
    let capabilities: PixelCapabilities?
    /// Why.
    let text: String

    init(
        _ environment: TerminalEnvironment, _ circumstances: TerminalFindings.Circumstances,
        _ identity: TerminalIdentity,
        _ answers: TerminalAnswers, _ wishes: TerminalWishes, cell: CellPixels?
    ) {
        let isTmux = identity.brand == .tmux
        /// Kitty and iTerm2 scale a picture to the cells that it is given: where nobody knows how large those are, it is
        /// less sharp than it could be, and in its place all the same. A sixel picture would cover other cells.
        func pixels(_ language: PixelProtocol) -> PixelCapabilities {
            PixelCapabilities(
                language, cellWidth: cell?.width ?? 10, cellHeight: cell?.height ?? 20,
                paletteSize: min(256, answers.sixelColours ?? 256), isThroughTmux: isTmux && language == .kitty)
        }
        (capabilities, text) =
            switch wishes.pixels {
            case .none: (nil, "none, as you say")
            case .only(let language): (pixels(language), "\(Self.name(language)), as you say")
            case .asFound where !circumstances.isTerminal: (nil, "none: standard output is no terminal")
            case .asFound:
                switch Self.found(
                    environment, identity, answers, hasCell: cell != nil,
                    isUnicode: circumstances.isUnicode && !wishes.isASCII)
                {
                case (let language?, let text): (pixels(language), "\(Self.name(language)), \(text)")
                case (nil, let text): (nil, "none: \(text)")
                }
            }
    }

    private static func found(
        _ environment: TerminalEnvironment, _ identity: TerminalIdentity, _ answers: TerminalAnswers, hasCell: Bool,
        isUnicode: Bool
    ) -> (PixelProtocol?, String) {
        if let brand = identity.brand, identity.isCertain {
            switch brand.traits.pixels {
            case .work(let language): return (language, "which works in \(brand.rawValue)")
            case .none: return (nil, "\(brand.rawValue) shows none")
            case .asAnswered: break
            }
        }
        if identity.brand == .tmux, let throughTmux = throughTmux(environment, answers, isUnicode: isUnicode) {
            return throughTmux
        }
        if answers.takesKitty { return (.kitty, "it says") }
        if answers.takesSixel {
            guard hasCell else { return (nil, "it takes sixel, but does not say how large a cell is") }
            return (.sixel, "it says")
        }
        if identity.brand == .tmux { return (nil, "tmux shows none, and passes none on (allow-passthrough)") }
        if !environment.isXtermLike { return (nil, "its kind is not asked") }
        return (nil, answers.attributes == nil ? "it does not answer" : "it says")
    }

    /// What the terminal that a tmux is in can do, if that passes it on. Kitty's pictures are then placed by characters that
    /// stand for them (U+10EEEE), which not all know who else speak its language.
    private static func throughTmux(
        _ environment: TerminalEnvironment, _ answers: TerminalAnswers, isUnicode: Bool
    ) -> (PixelProtocol?, String)? {
        guard answers.outerTakesKitty, isUnicode else { return nil }
        let brand: TerminalBrand?
        if let version = answers.outerVersion {
            brand = TerminalBrand(version: version)
        } else {
            brand = environment.markedBrand
        }
        let name = answers.outerVersion ?? brand?.rawValue ?? "its terminal"
        guard let brand, brand.traits.pixels == .work(.kitty) else {
            return (nil, "\(name) is not known to show them through tmux")
        }
        return (.kitty, "which tmux passes on to \(name)")
    }

    private static func name(_ language: PixelProtocol) -> String {
        switch language {
        case .kitty: "kitty’s language"
        case .iterm: "iTerm2’s language"
        case .sixel: "sixel"
        }
    }
}

/// What the user insists on, whatever is found out about the terminal.
public struct TerminalWishes: Hashable, Sendable {
    /// How pixels are sent.
    public enum Pixels: Hashable, Sendable {
        /// As is found out.
        case asFound
        /// Not at all.
        case none
        /// In this language.
        case only(PixelProtocol)
    }

    /// How pixels are sent.
    public var pixels: Pixels
    /// How many colours are used; nil for as many as are found.
    public var colours: ColourDepth?
    /// Whether nothing but ASCII is shown.
    public var isASCII: Bool

    /// States what is insisted on; by default nothing is.
    public init(pixels: Pixels = .asFound, colours: ColourDepth? = nil, isASCII: Bool = false) {
        self.pixels = pixels
        self.colours = colours
        self.isASCII = isASCII
    }
}
