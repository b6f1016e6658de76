import Cells

/// A known terminal, with traits that the terminal does not report or reports wrongly.
enum TerminalBrand: String, CaseIterable, Hashable, Sendable {
    case kitty, ghostty, foot, contour, alacritty, mintty, mlterm
    case wezTerm = "WezTerm"
    case iterm = "iTerm2"
    case konsole = "Konsole"
    case vte = "VTE"
    case xterm
    case rio = "Rio"
    case warp = "Warp"
    case visualStudioCode = "Visual Studio Code"
    case windowsTerminal = "Windows Terminal"
    case appleTerminal = "Apple Terminal"
    case jediTerm = "JetBrains"
    case tmux
    case gnuScreen = "GNU screen"
    case zellij = "Zellij"

    /// The known pixel support of a terminal.
    enum Pixels: Hashable, Sendable {
        /// The terminal's answers are reliable.
        case asAnswered
        /// The terminal draws best with this protocol, whatever else it reports.
        case work(PixelProtocol)
        /// The terminal draws no pixels, whatever it reports.
        case none
    }

    /// Known traits of a terminal.
    struct Traits: Sendable {
        /// The beginning of the terminal's version answer; nil if the terminal does not answer.
        var version: String?
        /// Whether older versions of the terminal do not answer the version query.
        var mayBeSilent = false
        /// The beginning of the terminal's `TERM` value.
        var kind: String?
        /// The environment variables that the terminal sets. A variable that other terminals set, too, counts only with
        /// the value given here.
        var variables: [(name: String, value: String?)] = []
        /// The terminal's support for pixels.
        var pixels = Pixels.asAnswered
        /// Whether the terminal supports 24-bit colours.
        var isTrueColour = false
        /// Whether the terminal draws sextants itself, whatever the font contains.
        var drawsSextants = false
        /// Whether the terminal ignores unknown queries. Some terminals print unknown queries on the screen.
        var ignoresUnknownQueries = true
        /// A remark about the terminal's wrong or missing answers.
        var misreport: String?
    }

    /// Finds the brand that gives this version answer.
    init?(version: String) {
        let text = version.lowercased()
        let match = Self.allCases.first { brand in
            brand.traits.version.map { text.hasPrefix($0) } ?? false
        }
        guard let match else { return nil }
        self = match
    }

    /// Whether the terminal runs inside another terminal, like tmux.
    var isMultiplexer: Bool { [.tmux, .gnuScreen, .zellij].contains(self) }
}

extension TerminalBrand {
    /// The brand's known traits. These traits override the terminal's answers, and the user's settings override these
    /// traits.
    var traits: Traits {
        switch self {
        case .kitty:
            Traits(
                version: "kitty", kind: "xterm-kitty", variables: [("KITTY_WINDOW_ID", nil)], pixels: .work(.kitty),
                isTrueColour: true, drawsSextants: true)
        case .ghostty:
            Traits(
                version: "ghostty", kind: "xterm-ghostty",
                variables: [("TERM_PROGRAM", "ghostty"), ("GHOSTTY_RESOURCES_DIR", nil)], pixels: .work(.kitty),
                isTrueColour: true, drawsSextants: true)
        case .foot: Traits(version: "foot", kind: "foot", isTrueColour: true, drawsSextants: true)
        case .contour: Traits(version: "contour", kind: "contour", isTrueColour: true)
        case .alacritty:
            Traits(kind: "alacritty", variables: [("ALACRITTY_WINDOW_ID", nil)], isTrueColour: true)
        case .mintty:
            Traits(
                version: "mintty", kind: "mintty", variables: [("TERM_PROGRAM", "mintty")], pixels: .work(.iterm),
                isTrueColour: true)
        case .mlterm: Traits(version: "mlterm", kind: "mlterm", variables: [("MLTERM", nil)])
        case .wezTerm:
            Traits(
                version: "wezterm", kind: "wezterm",
                variables: [("WEZTERM_EXECUTABLE", nil), ("TERM_PROGRAM", "WezTerm")], pixels: .work(.iterm),
                isTrueColour: true, drawsSextants: true,
                misreport: "its kitty graphics support is incomplete")
        case .iterm:
            Traits(
                version: "iterm2", kind: "iterm",
                variables: [("ITERM_SESSION_ID", nil), ("LC_TERMINAL", "iTerm2"), ("TERM_PROGRAM", "iTerm.app")],
                pixels: .work(.iterm), isTrueColour: true)
        case .konsole:
            Traits(
                version: "konsole", mayBeSilent: true, kind: "konsole", variables: [("KONSOLE_VERSION", nil)],
                isTrueColour: true)
        case .vte:
            Traits(
                version: "vte", mayBeSilent: true, kind: "vte", variables: [("VTE_VERSION", nil)], isTrueColour: true,
                drawsSextants: true)
        case .xterm: Traits(version: "xterm(", variables: [("XTERM_VERSION", nil)])
        case .rio:
            Traits(
                version: "rio", kind: "rio", variables: [("TERM_PROGRAM", "rio")], isTrueColour: true)
        case .warp: Traits(variables: [("TERM_PROGRAM", "WarpTerminal")], pixels: .work(.iterm), isTrueColour: true)
        case .visualStudioCode:
            Traits(version: "xterm.js", variables: [("TERM_PROGRAM", "vscode")], isTrueColour: true)
        case .windowsTerminal: Traits(variables: [("WT_SESSION", nil)], isTrueColour: true)
        case .appleTerminal:
            Traits(
                variables: [("TERM_PROGRAM", "Apple_Terminal")], pixels: .none, ignoresUnknownQueries: false,
                misreport: "it prints unknown queries")
        case .jediTerm:
            Traits(
                variables: [("TERMINAL_EMULATOR", "JetBrains-JediTerm")], pixels: .none, isTrueColour: true,
                ignoresUnknownQueries: false, misreport: "it prints unknown queries")
        case .tmux: Traits(version: "tmux ", kind: "tmux", variables: [("TMUX", nil)])
        case .gnuScreen:
            Traits(
                kind: "screen", variables: [("STY", nil)], pixels: .none, ignoresUnknownQueries: false,
                misreport: "it hides the capabilities of the terminal around it")
        case .zellij:
            Traits(version: "zellij", variables: [("ZELLIJ", nil)], misreport: "it drops kitty graphics")
        }
    }
}
