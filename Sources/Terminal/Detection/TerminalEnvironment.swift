import Cells
import Glibc
import Text

/// What the environment says of the terminal. It is believed for the first frame.
public struct TerminalEnvironment: Sendable {
    /// `TERM`: the terminal's kind.
    public let kind: String
    private let colourTerm: String
    private let noColour: String
    private let escapeDelay: String
    /// Those variables by which brands can be told.
    private let marks: [String: String]

    /// Reads the variables of this process.
    public init() {
        self.init { name in getenv(name).map { String(cString: $0) } }
    }

    /// Reads variables from elsewhere; for tests.
    public init(_ variable: (String) -> String?) {
        kind = variable("TERM") ?? ""
        colourTerm = variable("COLORTERM") ?? ""
        noColour = variable("NO_COLOR") ?? ""
        escapeDelay = variable("ESCDELAY") ?? ""
        let names = Set(TerminalBrand.allCases.flatMap { $0.traits.variables.map(\.name) })
        marks = names.reduce(into: [:]) { marks, name in
            if let value = variable(name), !value.isEmpty { marks[name] = value }
        }
    }

    /// How many colours to use, given how many terminfo counts.
    ///
    /// `COLORTERM` is how terminals say that they have all colours, because terminfo has no way to. `NO_COLOR`: "when
    /// present and not an empty string (regardless of its value), prevents the addition of ANSI color".
    public func colourDepth(terminfoColours: Int) -> ColourDepth {
        guard noColour.isEmpty, terminfoColours >= 8 else { return .none }
        if claimsAllColours { return .full }
        return terminfoColours >= 256 ? .palette : terminfoColours >= 16 ? .sixteen : .eight
    }

    /// Whether it says that there are all colours.
    var claimsAllColours: Bool { colourTerm == "truecolor" || colourTerm == "24bit" || kind.hasSuffix("-direct") }

    /// Whether the user wants no colours.
    var refusesColours: Bool { !noColour.isEmpty }

    /// Whether the locale's characters are UTF-8. Ask after `setlocale`.
    public var isUnicode: Bool {
        String(cString: nl_langinfo(nl_item(CODESET))).uppercased() == "UTF-8"
    }

    /// Milliseconds after which an escape that nothing follows was the Escape key.
    var escapeWait: Int {
        min(1_000, max(1, Int(escapeDelay) ?? 25))
    }

    /// Whether the terminal understands, or at least swallows, what xterm has added to the VT100: bracketed paste, focus
    /// reports and the like. The Linux console and real VT100s would print some of it.
    var isXtermLike: Bool {
        let families = [
            "xterm", "tmux", "screen", "rxvt", "alacritty", "foot", "kitty", "wezterm", "konsole", "vte", "gnome",
            "st-",
            "stterm", "contour", "ghostty", "putty", "mintty", "mlterm", "rio", "iterm",
        ]
        return families.contains { kind.hasPrefix($0) }
    }

    // MARK: - Brands

    /// Which brand it says the terminal is of, and whether its kind says so.
    ///
    /// What stands in between comes first: it hides what is behind it, of which variables are left over. `TERM` says more
    /// than other variables, which every program inherits that was started from there, another terminal too.
    var brand: (brand: TerminalBrand, isByKind: Bool)? {
        if let multiplexer { return multiplexer }
        let byKind = TerminalBrand.allCases.first { brand in
            brand.traits.kind.map { kind.hasPrefix($0) } ?? false
        }
        if let byKind { return (byKind, true) }
        return markedBrand.map { ($0, false) }
    }

    /// The terminal whose variables are there, in front of a multiplexer or behind it. A variable that others set too is
    /// that of the last who did.
    var markedBrand: TerminalBrand? {
        let brands = TerminalBrand.allCases.filter { !$0.isMultiplexer }
        let named = brands.first { brand in
            brand.traits.variables.contains { $0.value != nil && marks[$0.name] == $0.value }
        }
        return named
            ?? brands.first { brand in
                brand.traits.variables.contains { $0.value == nil && marks[$0.name] != nil }
            }
    }

    private var multiplexer: (brand: TerminalBrand, isByKind: Bool)? {
        if kind.hasPrefix("tmux") { return (.tmux, true) }
        if kind.hasPrefix("screen") {
            // tmux calls itself that too, if it is not told otherwise. Which of the two it is, it says when it is asked.
            return marks["TMUX"] != nil && marks["STY"] == nil ? (.tmux, false) : (.gnuScreen, true)
        }
        for brand in [TerminalBrand.tmux, .gnuScreen, .zellij]
        where brand.traits.variables.contains(where: { marks[$0.name] != nil }) {
            return (brand, false)
        }
        return nil
    }
}

/// Which terminal it is, and how that is known.
struct TerminalIdentity: Hashable, Sendable {
    /// Its brand, if that is one of which something is known.
    let brand: TerminalBrand?
    /// What is known of it, in words.
    let text: String
    /// Whether pixels can be sent for the brand's sake: it has said who it is, or its kind has, which no other terminal
    /// inherits.
    let isCertain: Bool

    /// Weighs what the environment says against what the terminal has answered.
    init(_ environment: TerminalEnvironment, _ answers: TerminalAnswers) {
        if let version = answers.version {
            brand = TerminalBrand(version: version)
            text = "\(version), it says"
            isCertain = true
            return
        }
        guard let (brand, isByKind) = environment.brand else {
            self.brand = nil
            text =
                environment.kind.isEmpty
                ? "unknown, TERM is not set" : "of the kind \(environment.kind.madeVisible) (TERM)"
            isCertain = false
            return
        }
        let traits = brand.traits
        let source = isByKind ? "TERM" : "the environment"
        // It was asked who it is and, though it has answered what came after that, it has not said.
        let isRefuted = answers.attributes != nil && traits.version != nil && !traits.mayBeSilent
        guard !isRefuted || brand.isMultiplexer else {
            self.brand = nil
            text = "unknown; \(brand.rawValue) by \(source), but it does not answer as that"
            isCertain = false
            return
        }
        self.brand = brand
        text = "\(brand.rawValue), by \(source)"
        isCertain = isByKind || (traits.version == nil && answers.attributes != nil)
    }

    /// What to ask this terminal, if it may be asked at all.
    ///
    /// Kitty's question is one in a string of a kind that tmux takes for a title and GNU screen for a message, so they are
    /// not asked, and tmux passes it on instead.
    var questions: Set<TerminalQuestion> {
        switch brand {
        case .gnuScreen: [.version, .attributes]
        case .tmux:
            [
                .version, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .outerVersion, .outerKitty,
                .attributes,
            ]
        case .zellij: [.version, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .attributes]
        case let brand? where !brand.traits.passesOver: [.attributes]
        default:
            [.version, .kitty, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .attributes]
        }
    }
}
