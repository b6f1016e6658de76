import Cells
import Glibc

/// What the environment says of the terminal. It is believed for the first frame.
public struct TerminalEnvironment: Sendable {
    /// `TERM`: the terminal's kind.
    public let kind: String
    private let colourTerm: String
    private let noColour: String
    private let escapeDelay: String

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
    }

    /// How many colours to use, given how many terminfo counts.
    ///
    /// `COLORTERM` is how terminals say that they have all colours, because terminfo has no way to. `NO_COLOR`: "when
    /// present and not an empty string (regardless of its value), prevents the addition of ANSI color".
    public func colourDepth(terminfoColours: Int) -> ColourDepth {
        guard noColour.isEmpty, terminfoColours >= 8 else { return .none }
        if colourTerm == "truecolor" || colourTerm == "24bit" || kind.hasSuffix("-direct") { return .full }
        return terminfoColours >= 256 ? .palette : terminfoColours >= 16 ? .sixteen : .eight
    }

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
            "stterm", "contour", "ghostty", "putty", "mintty", "iterm",
        ]
        return families.contains { kind.hasPrefix($0) }
    }
}
