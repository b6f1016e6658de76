import Cells

/// A known terminal, with traits that it does not report or reports wrongly.
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
        /// Its answers are reliable.
        case asAnswered
        /// It supports this protocol, better than others that it may report.
        case work(PixelProtocol)
        /// It has no support, whatever it answers.
        case none
    }

    /// Known traits of a terminal.
    struct Traits: Sendable {
        /// The start of its version answer; nil if it does not answer.
        var version: String?
        /// Whether only later versions answer.
        var mayBeSilent = false
        /// The start of its `TERM` value.
        var kind: String?
        /// Environment variables that it sets, with their value if other terminals set them too.
        var variables: [(name: String, value: String?)] = []
        /// Its pixel support.
        var pixels = Pixels.asAnswered
        /// Whether it supports 24-bit colours.
        var isTrueColour = false
        /// Whether it draws sextants itself, independent of the font.
        var drawsSextants = false
        /// Whether it ignores unknown queries. Some terminals print them.
        var ignoresUnknownQueries = true
        /// A remark about wrong answers.
        var misreport: String?
    }

    /// Finds the brand for a version answer.
    init?(version: String) {
        let text = version.lowercased()
        let match = Self.allCases.first { brand in
            brand.traits.version.map { text.hasPrefix($0) } ?? false
        }
        guard let match else { return nil }
        self = match
    }

    /// Whether it runs inside another terminal.
    var isMultiplexer: Bool { [.tmux, .gnuScreen, .zellij].contains(self) }
}

extension TerminalBrand {
    /// The known traits. They take precedence over answers, and the user's settings over them.
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
