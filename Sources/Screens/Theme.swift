import Cells

/// How the parts of a screen look. The sixteen colours are the user's own, so what goes well with his shell goes well here.
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

    init(_ capabilities: Capabilities) {
        let hasColours = capabilities.colours != .none
        func colour(_ index: UInt8) -> Colour { hasColours ? .palette(index) : .terminal }
        title = Style(attributes: [.reverse, .bold])
        titleDetail = Style(attributes: .reverse)
        name = .plain
        selectedName = Style(foreground: colour(6), attributes: hasColours ? .bold : [.bold, .underline])
        mark = Style(foreground: colour(6), attributes: .bold)
        detail = Style(attributes: .dim)
        section = Style(foreground: colour(6))
        hit = Style(foreground: colour(3), attributes: hasColours ? .bold : [.bold, .reverse])
        trouble = Style(foreground: colour(3))
        status = .plain
        key = Style(foreground: colour(6))
        (red, green, blue) = (
            Style(foreground: colour(1)), Style(foreground: colour(2)), Style(foreground: colour(4))
        )
        barDone = Style(foreground: colour(6))
        barLeft = Style(attributes: .dim)
    }
}
