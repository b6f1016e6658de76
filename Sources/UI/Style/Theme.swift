import Cells
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
