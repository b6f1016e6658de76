import Cells
import Glibc
import Pictures
import Settings

/// How the parts of a screen look. What is behind them is the terminal's own, dark or light; colours are chosen so that they
/// can be read on that.
struct Theme {
    /// The line at the top.
    let title: Style
    /// What is less important in it.
    let titleDetail: Style
    /// Names, and whatever is read first.
    let name: Style
    /// The name of what is selected.
    let selectedName: Style
    /// The mark beside what is selected.
    let mark: Style
    /// Dates and other particulars.
    let detail: Style
    /// The name of a section.
    let section: Style
    /// What was searched for, in a name.
    let hit: Style
    /// What went wrong.
    let trouble: Style
    /// The line at the bottom.
    let status: Style
    /// Keys in hints.
    let key: Style
    /// The three colours that a picture is made of.
    let red: Style
    let green: Style
    let blue: Style
    /// What is done of a bar.
    let barDone: Style
    /// What is left of it.
    let barLeft: Style
    /// What is drawn beside letters and digits.
    let signs: Signs

    /// The theme that the user wants, or that goes well with what is behind the text.
    init(_ capabilities: Capabilities, _ settings: Settings = Settings()) {
        let kind = ThemeKind(settings.theme, on: capabilities)
        let inks = Inks(kind, capabilities)
        let accent = inks.accent
        signs = Signs(hasUnicode: capabilities.unicode, isPlain: settings.plain)
        title = Style(attributes: [.reverse, .bold])
        titleDetail = Style(attributes: .reverse)
        name = inks.text
        status = inks.text
        detail = inks.dim
        barLeft = inks.dim
        barDone = Style(foreground: accent)
        key = Style(foreground: accent, attributes: kind == .contrast ? .bold : [])
        section = Style(foreground: accent, attributes: kind == .contrast ? [.bold, .underline] : [])
        mark = Style(foreground: accent, attributes: .bold)
        // What colours would say has to be said by something else where there are none.
        selectedName = Style(foreground: accent, attributes: inks.hasColours ? .bold : [.bold, .underline])
        hit = Style(foreground: inks.warning, attributes: inks.hasColours ? .bold : [.bold, .reverse])
        trouble = Style(foreground: inks.warning, attributes: kind == .contrast ? .bold : [])
        (red, green, blue) = (
            Style(foreground: inks.red), Style(foreground: inks.green), Style(foreground: inks.blue)
        )
    }
}

/// What a theme is for.
enum ThemeKind: CaseIterable {
    /// Bright letters on something dark.
    case dark
    /// Dark letters on something bright.
    case light
    /// As much contrast as there can be, and nothing said by a colour alone.
    case contrast
    /// No colours.
    case mono

    /// What the user wants; or else what suits the terminal's background, as far as it has told, and dark where it has not, as
    /// most are.
    init(_ choice: Settings.Theme, on capabilities: Capabilities) {
        guard capabilities.colours != .none || choice == .contrast else {
            self = .mono
            return
        }
        switch choice {
        case .auto: self = Self.isLight(capabilities.background) ? .light : .dark
        case .dark: self = .dark
        case .light: self = .light
        case .contrast: self = .contrast
        case .mono: self = .mono
        }
    }

    /// Whether black can be read on it better than white.
    static func isLight(_ background: Colour) -> Bool {
        guard case .rgb(let red, let green, let blue) = background else { return false }
        // Where (1 + 0.05) / (l + 0.05) = (l + 0.05) / 0.05.
        return Luminance(red, green, blue).value > 0.179
    }
}

/// The colours that a theme is made of, as far as a terminal has them.
///
/// On something dark the sixteen colours are the user's own, so what goes well with his shell goes well here. On something
/// bright most of them cannot be read, whoever has chosen them, and the cube of 216 is taken where there is one.
struct Inks {
    /// Whether anything is said by colours.
    let hasColours: Bool
    /// What is read first.
    let text: Style
    /// What is read later.
    let dim: Style
    /// What is selected, and keys.
    let accent: Colour
    /// What went wrong, and what was searched for.
    let warning: Colour
    let red: Colour
    let green: Colour
    let blue: Colour

    init(_ kind: ThemeKind, _ capabilities: Capabilities) {
        let hasCube = capabilities.colours >= .palette
        switch kind {
        case .dark:
            (text, dim) = (.plain, Style(attributes: .dim))
            (accent, warning) = (.palette(6), .palette(3))
            // The user's blue is often too dark for letters, and eight colours have no brighter one.
            let hasBright = capabilities.colours >= .sixteen
            (red, green, blue) =
                hasCube
                ? (.palette(203), .palette(77), .palette(75))
                : hasBright
                    ? (.palette(9), .palette(10), .palette(14)) : (.palette(1), .palette(2), .palette(6))
        case .light where hasCube:
            (text, dim) = (.plain, Style(foreground: .palette(241)))
            (accent, warning) = (.palette(24), .palette(94))
            (red, green, blue) = (.palette(124), .palette(22), .palette(19))
        case .light:
            (text, dim) = (.plain, Style(attributes: .dim))
            (accent, warning) = (.palette(4), .palette(1))
            // No green of sixteen can be read on white; the letter says which it is.
            (red, green, blue) = (.palette(1), .terminal, .palette(4))
        case .contrast:
            let ink = Self.strongest(capabilities)
            (text, dim) = (Style(foreground: ink), Style(foreground: ink))
            (accent, warning, red, green, blue) = (ink, ink, ink, ink, ink)
        case .mono:
            (text, dim) = (.plain, Style(attributes: .dim))
            (accent, warning, red, green, blue) = (.terminal, .terminal, .terminal, .terminal, .terminal)
        }
        hasColours = kind == .dark || kind == .light
    }

    /// White or black, whichever can be read on what is there. Where that is not known, the terminal's own text is sure to be
    /// readable.
    private static func strongest(_ capabilities: Capabilities) -> Colour {
        guard case .rgb = capabilities.background, capabilities.colours >= .palette else { return .terminal }
        return .palette(ThemeKind.isLight(capabilities.background) ? 16 : 231)
    }
}

/// The signs that screens are drawn with beside letters and digits: rules, marks and bars.
///
/// Where there is ASCII alone the terminal has something for each; but bars are drawn with other signs then, because theirs
/// would all become the same.
struct Signs: Equatable {
    /// Whether nothing is drawn that a voice would have to read as a drawing: what bars show is said in words.
    let isPlain: Bool
    /// A line from side to side, and one from top to bottom.
    let rule: String
    let upright: String
    /// Beside what is selected.
    let mark: String
    /// What is done of a bar, and what is left of it.
    let barDone: String
    let barLeft: String
    /// What of a list is seen, beside it.
    let full = "█"
    /// From nearly nothing to all of a cell; or, in ASCII, to as much ink as there is.
    let heights: [Character]
    /// Of thumbnails: not here yet, put off, bad.
    let awaited = "…"
    let putOff = "~"
    let bad = "×"
    /// Of switches: on, off.
    let on: String
    let off: String
    /// There is more than fits, at the end of a line.
    let more = " …"

    /// - Parameters:
    ///   - hasUnicode: whether there is more than ASCII.
    ///   - isPlain: whether the user wants plain text.
    init(hasUnicode: Bool = true, isPlain: Bool = false) {
        self.isPlain = isPlain
        (rule, upright) = isPlain ? (" ", " ") : ("─", "│")
        mark = isPlain ? ">" : "▌"
        (barDone, barLeft) = ("━", "─")
        heights = hasUnicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["_", ".", "-", "=", "+", "*", "#"]
        (on, off) = isPlain ? ("+", "-") : ("✓", "·")
    }

    /// Those rows of an entry that have the mark beside them: once is enough where it is read out.
    func markedRows(_ rows: Range<Int>) -> Range<Int> { isPlain ? rows.prefix(1) : rows }

    /// A rule of that many columns.
    func rule(_ columns: Int) -> String { String(repeating: rule, count: max(0, columns)) }
}

/// How bright a colour is to the eye, from 0 to 1, and how well two can be told from each other: as the Web Content
/// Accessibility Guidelines define it, 2.2, "relative luminance" and "contrast ratio".
struct Luminance {
    let value: Double

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        value = 0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    /// From 1, not at all, to 21: black and white.
    func contrast(to other: Luminance) -> Double {
        (max(value, other.value) + 0.05) / (min(value, other.value) + 0.05)
    }

    private static func linear(_ part: UInt8) -> Double {
        let part = Double(part) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
}

extension DrawingStyle {
    /// The best that a terminal can show, but for the characters that the user wants, and for what is to be seen through pictures.
    public init(_ capabilities: Capabilities, _ settings: Settings) {
        self.init(capabilities)
        isChequered = settings.transparency == .chequer
        switch settings.symbols {
        case .auto: break
        case .ascii: symbols = .ascii
        case .ramp: symbols = .ramp
        case .half: symbols = .half
        case .quad: symbols = .quadrant
        case .sextant: symbols = .sextant
        }
    }
}
