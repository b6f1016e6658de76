import Cells
import Glibc
import Pictures
import Settings

/// The styles of the parts of a screen. The terminal sets the background.
struct Theme {
    /// The style of the top line.
    let title: Style
    /// The style of details in the top line.
    let titleDetail: Style
    /// The style of names and other main texts.
    let name: Style
    /// The style of the selected entry's name.
    let selectedName: Style
    /// The style of the mark beside the selected entry.
    let mark: Style
    /// The style of dates and other details.
    let detail: Style
    /// The style of section titles.
    let section: Style
    /// The style of the part of a name that matches a search.
    let hit: Style
    /// The style of errors.
    let trouble: Style
    /// The style of the bottom line.
    let status: Style
    /// The style of keys in hints.
    let key: Style
    /// The style of a histogram's red channel; `green` and `blue` are for the other channels.
    let red: Style
    let green: Style
    let blue: Style
    /// The style of a bar's filled part; ``barLeft`` is for the empty part.
    let barDone: Style
    let barLeft: Style
    /// The characters for rules, marks and bars.
    let signs: Signs
    /// The way to draw QR codes.
    let code: QRDrawing.Look

    /// Creates the theme of the settings, or a theme for the terminal's background.
    init(_ capabilities: Capabilities, _ settings: Settings = Settings()) {
        let kind = ThemeKind(settings.theme, on: capabilities)
        let inks = Inks(kind, capabilities)
        let accent = inks.accent
        code = QRDrawing.Look(capabilities, kind)
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
        // Without colours, attributes distinguish the styles.
        selectedName = Style(foreground: accent, attributes: inks.hasColours ? .bold : [.bold, .underline])
        hit = Style(foreground: inks.warning, attributes: inks.hasColours ? .bold : [.bold, .reverse])
        trouble = Style(foreground: inks.warning, attributes: kind == .contrast ? .bold : [])
        (red, green, blue) = (
            Style(foreground: inks.red), Style(foreground: inks.green), Style(foreground: inks.blue)
        )
    }
}

extension Theme {
    /// Draws a horizontal line in the top row, and removes this row.
    func drawRule(in surface: inout Surface, _ rest: inout Rect) {
        let line = rest.takeTop(1)
        surface.write(signs.rule(line.size.columns), in: line, style: detail)
    }

    /// Draws a vertical line in a column.
    func drawUprightRule(in surface: inout Surface, _ column: Rect) {
        draw(signs.upright, detail, in: &surface, column.origin.column, column.rows)
    }

    /// Draws the selection mark at the left of an entry. In plain mode, only one row gets the mark.
    func drawMark(in surface: inout Surface, _ column: Rect) {
        draw(signs.mark, mark, in: &surface, column.origin.column, signs.isPlain ? column.rows.prefix(1) : column.rows)
    }

    private func draw(
        _ sign: String, _ style: Style, in surface: inout Surface, _ column: Int, _ rows: Range<Int>
    ) {
        for row in rows {
            surface.write(sign, in: Rect(column: column, row: row, columns: 1, rows: 1), style: style)
        }
    }
}

/// The kinds of themes.
enum ThemeKind: CaseIterable {
    /// A theme for dark backgrounds.
    case dark
    /// A theme for light backgrounds.
    case light
    /// A theme with the strongest contrast, in which no information depends on colour alone.
    case contrast
    /// A theme without colours.
    case mono

    /// Creates the kind that the user chose, or else the kind for the terminal's background. An unknown background
    /// counts as dark.
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

    /// Returns whether black text on a background is easier to read than white text.
    static func isLight(_ background: Colour) -> Bool {
        guard case .rgb(let red, let green, let blue) = background else { return false }
        // At this luminance l, white and black contrast equally: (1 + 0.05) / (l + 0.05) = (l + 0.05) / 0.05.
        return Luminance(red, green, blue).value > 0.179
    }
}

/// The colours of a theme, within the limits of the terminal.
///
/// On dark backgrounds, most colours are among the sixteen that the user chose for the terminal. On light backgrounds,
/// most of the sixteen are hard to read, so the theme uses the 216-colour cube if the terminal has the cube.
struct Inks {
    /// Whether colours, and not only attributes, distinguish the parts of a screen.
    let hasColours: Bool
    /// The style of a screen's main text.
    let text: Style
    /// The style of secondary text.
    let dim: Style
    /// The colour of the selection and of keys.
    let accent: Colour
    /// The colour of errors and of search matches.
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
            // Both greens of the sixteen colours are hard to read on white. So the green channel has the colour of
            // text, and its letter names it.
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

    /// Returns white or black, whichever contrasts more with the background. For an unknown background, returns the
    /// terminal's own colour.
    private static func strongest(_ capabilities: Capabilities) -> Colour {
        guard case .rgb = capabilities.background, capabilities.colours >= .palette else { return .terminal }
        return .palette(ThemeKind.isLight(capabilities.background) ? 16 : 231)
    }
}

/// The characters for rules, marks and bars.
///
/// On terminals with only ASCII, the output encoder replaces these characters. Sparklines have ASCII bars of their own,
/// because the encoder would turn all their bars into the same character.
struct Signs: Equatable {
    /// Whether the screen is for a screen reader, with words in place of bars.
    let isPlain: Bool
    /// The character of horizontal lines; ``upright`` is for vertical lines.
    let rule: String
    let upright: String
    /// The mark beside the selected entry.
    let mark: String
    /// The character of a bar's filled part; ``barLeft`` is for the empty part.
    let barDone: String
    let barLeft: String
    /// The character of a scroll bar's thumb.
    let full = "█"
    /// The characters of a sparkline's bars, from low to high.
    let heights: [Character]
    /// The sign for a thumbnail not yet fetched; ``putOff`` stands for a later retry, ``bad`` for a failure.
    let awaited: String
    let putOff = "~"
    let bad: String
    /// The sign of a video.
    let video: String
    /// The sign of a switch that is on; ``off`` is for a switch that is off.
    let on: String
    let off: String
    /// The sign at the end of a line that was cut.
    let more = " …"

    /// Chooses the characters for a terminal and a mode.
    ///
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
        // In ASCII, the encoder replaces "…" by "~", which is also the sign `putOff`.
        (awaited, bad) = hasUnicode ? ("…", "×") : (".", "x")
        video = hasUnicode ? "▸" : ">"
    }

    /// Returns a horizontal line with this number of columns.
    func rule(_ columns: Int) -> String { String(repeating: rule, count: max(0, columns)) }
}

/// The relative luminance of a colour, from 0 to 1.
///
/// The Web Content Accessibility Guidelines 2.2 define "relative luminance".
struct Luminance {
    let value: Double

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        value = 0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    private static func linear(_ part: UInt8) -> Double {
        let part = Double(part) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
}

extension DrawingStyle {
    /// Creates the drawing style for a terminal's capabilities and the user's settings.
    public init(_ capabilities: Capabilities, _ settings: Settings) {
        self.init(capabilities)
        isOnLight =
            switch settings.theme {
            case .light: true
            case .dark: false
            case .auto, .contrast, .mono: ThemeKind.isLight(capabilities.background)
            }
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
