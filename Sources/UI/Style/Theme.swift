import Cells
import Glibc
import Pictures
import Settings

/// The styles of the parts of a screen. The background is the terminal's own.
struct Theme {
    /// The top line.
    let title: Style
    /// Details in the top line.
    let titleDetail: Style
    /// Names and main texts.
    let name: Style
    /// The name of the selected entry.
    let selectedName: Style
    /// The mark beside the selected entry.
    let mark: Style
    /// Dates and other details.
    let detail: Style
    /// Section titles.
    let section: Style
    /// The matched part of a name.
    let hit: Style
    /// Errors.
    let trouble: Style
    /// The bottom line.
    let status: Style
    /// Keys in hints.
    let key: Style
    /// The colour channels of a histogram.
    let red: Style
    let green: Style
    let blue: Style
    /// The filled and the empty part of a bar.
    let barDone: Style
    let barLeft: Style
    /// Rules, marks and bars.
    let signs: Signs

    /// Makes the user's theme, or one that suits the background.
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
        // Without colours, attributes tell the difference.
        selectedName = Style(foreground: accent, attributes: inks.hasColours ? .bold : [.bold, .underline])
        hit = Style(foreground: inks.warning, attributes: inks.hasColours ? .bold : [.bold, .reverse])
        trouble = Style(foreground: inks.warning, attributes: kind == .contrast ? .bold : [])
        (red, green, blue) = (
            Style(foreground: inks.red), Style(foreground: inks.green), Style(foreground: inks.blue)
        )
    }
}

/// The kind of a theme.
enum ThemeKind: CaseIterable {
    /// For dark backgrounds.
    case dark
    /// For light backgrounds.
    case light
    /// Maximum contrast, with no meaning in colours alone.
    case contrast
    /// No colours.
    case mono

    /// Returns the user's choice, or the kind for the terminal's background. Unknown backgrounds count as dark.
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

    /// Returns whether black is easier to read on a background than white.
    static func isLight(_ background: Colour) -> Bool {
        guard case .rgb(let red, let green, let blue) = background else { return false }
        // Where (1 + 0.05) / (l + 0.05) = (l + 0.05) / 0.05.
        return Luminance(red, green, blue).value > 0.179
    }
}

/// The colours of a theme, within the terminal's limits.
///
/// On dark backgrounds these are mostly the sixteen colours that the user chose for the terminal. On light backgrounds most
/// of them are hard to read, so the 216-colour cube is used if there is one.
struct Inks {
    /// Whether colours carry meaning.
    let hasColours: Bool
    /// Main text.
    let text: Style
    /// Secondary text.
    let dim: Style
    /// The selection and keys.
    let accent: Colour
    /// Errors and matches.
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
            // The user's blue is often too dark for text, and eight colours have no bright one.
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
            // No green of sixteen is readable on white. The channel's letter tells it.
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

    /// Returns white or black for the background, or the terminal's own colour if the background is unknown.
    private static func strongest(_ capabilities: Capabilities) -> Colour {
        guard case .rgb = capabilities.background, capabilities.colours >= .palette else { return .terminal }
        return .palette(ThemeKind.isLight(capabilities.background) ? 16 : 231)
    }
}

/// The characters for rules, marks and bars.
///
/// The terminal replaces them where it has only ASCII. The bars of a sparkline would all become the same, so they have
/// their own ASCII set.
struct Signs: Equatable {
    /// Whether the screen is for a screen reader: words in place of bars.
    let isPlain: Bool
    /// A horizontal and a vertical line.
    let rule: String
    let upright: String
    /// Beside the selected entry.
    let mark: String
    /// The filled and the empty part of a bar.
    let barDone: String
    let barLeft: String
    /// The thumb of a scroll bar.
    let full = "█"
    /// The bars of a sparkline, by height.
    let heights: [Character]
    /// Missing thumbnails: not fetched yet, retried later, failed.
    let awaited: String
    let putOff = "~"
    let bad: String
    /// Switches.
    let on: String
    let off: String
    /// The end of a cut line.
    let more = " …"

    /// - Parameters:
    ///   - hasUnicode: whether the terminal has more than ASCII.
    ///   - isPlain: whether the user set plain mode.
    init(hasUnicode: Bool = true, isPlain: Bool = false) {
        self.isPlain = isPlain
        (rule, upright) = isPlain ? (" ", " ") : ("─", "│")
        mark = isPlain ? ">" : "▌"
        (barDone, barLeft) = ("━", "─")
        heights = hasUnicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["_", ".", "-", "=", "+", "*", "#"]
        (on, off) = isPlain ? ("+", "-") : ("✓", "·")
        // In ASCII "…" would look like "~".
        (awaited, bad) = hasUnicode ? ("…", "×") : (".", "x")
    }

    /// Returns the rows of an entry that get the mark. A screen reader needs it once.
    func markedRows(_ rows: Range<Int>) -> Range<Int> { isPlain ? rows.prefix(1) : rows }

    /// Returns a horizontal rule.
    func rule(_ columns: Int) -> String { String(repeating: rule, count: max(0, columns)) }
}

/// The relative luminance of a colour, from 0 to 1.
///
/// The Web Content Accessibility Guidelines 2.2 define "relative luminance" and "contrast ratio".
struct Luminance {
    let value: Double

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        value = 0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    /// Returns the contrast ratio, from 1 to 21 (black and white).
    func contrast(to other: Luminance) -> Double {
        (max(value, other.value) + 0.05) / (min(value, other.value) + 0.05)
    }

    private static func linear(_ part: UInt8) -> Double {
        let part = Double(part) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
}

extension DrawingStyle {
    /// Makes the best style for a terminal, with the user's symbols and transparency.
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
