import Cells

/// A terminal by its maker's name, and what is known of it that it does not say, or says wrongly.
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

    /// What is known of its pixels.
    enum Pixels: Hashable, Sendable {
        /// What it answers is so.
        case asAnswered
        /// It takes them in this language, and better than in others that it may answer to.
        case work(PixelProtocol)
        /// It takes none, whatever it answers.
        case none
    }

    /// What is known of it.
    struct Traits: Sendable {
        /// How its answer to who it is begins; nil for those that do not answer.
        var version: String?
        /// Whether it answers in its later versions alone.
        var mayBeSilent = false
        /// How its kind, `TERM`, begins.
        var kind: String?
        /// Variables that it sets for the programs in it, and their value if others set them too.
        var variables: [(name: String, value: String?)] = []
        /// Its pixels.
        var pixels = Pixels.asAnswered
        /// Whether it has all colours.
        var isTrueColour = false
        /// Whether it draws sextants by itself, whatever its font has.
        var drawsSextants = false
        /// Whether it passes over questions that it does not know. Some print what they do not understand.
        var passesOver = true
        /// What it says wrongly, in words.
        var misreport: String?
    }

    /// The brand that an answer names.
    init?(version: String) {
        let text = version.lowercased()
        let match = Self.allCases.first { brand in
            brand.traits.version.map { text.hasPrefix($0) } ?? false
        }
        guard let match else { return nil }
        self = match
    }

    /// Whether it stands between the program and a terminal.
    var isMultiplexer: Bool { [.tmux, .gnuScreen, .zellij].contains(self) }
}

extension TerminalBrand {
    /// What is known of it. The table goes before what it answers, and the user goes before the table.
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
                misreport: "it answers to kitty’s language, of which it lacks a part")
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
                variables: [("TERM_PROGRAM", "Apple_Terminal")], pixels: .none, passesOver: false,
                misreport: "it prints questions that it does not know")
        case .jediTerm:
            Traits(
                variables: [("TERMINAL_EMULATOR", "JetBrains-JediTerm")], pixels: .none, isTrueColour: true,
                passesOver: false, misreport: "it prints questions that it does not know")
        case .tmux: Traits(version: "tmux ", kind: "tmux", variables: [("TMUX", nil)])
        case .gnuScreen:
            Traits(
                kind: "screen", variables: [("STY", nil)], pixels: .none, passesOver: false,
                misreport: "what the terminal around it can do does not come through")
        case .zellij:
            Traits(version: "zellij", variables: [("ZELLIJ", nil)], misreport: "it drops pictures in kitty’s language")
        }
    }
}
