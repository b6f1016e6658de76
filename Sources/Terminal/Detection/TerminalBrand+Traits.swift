import Cells

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
