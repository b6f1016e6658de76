import Cells

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
