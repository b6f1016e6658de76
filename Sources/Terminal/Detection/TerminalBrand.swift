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
