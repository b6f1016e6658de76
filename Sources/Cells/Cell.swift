import Text

/// One place of a screen.
public struct Cell: Hashable, Sendable {
    /// What stands there: one visible character with the marks on it. Empty in the right half of a wide one.
    public let text: String
    /// The columns that it takes: 1 or 2; 0 for the right half of a wide one.
    public let width: UInt8
    /// How it looks.
    public var style: Style

    init(text: String, width: UInt8, style: Style) {
        self.text = text
        self.width = width
        self.style = style
    }

    /// A cell for a glyph, which is harmless by being one.
    public init(_ glyph: Glyph, style: Style = .plain) {
        self.init(text: glyph.text, width: UInt8(glyph.width), style: style)
    }

    /// Nothing, on the terminal's own background.
    public static let blank = Cell(text: " ", width: 1, style: .plain)

    /// The right half of a wide character.
    static func rightHalf(_ style: Style) -> Cell { Cell(text: "", width: 0, style: style) }

    /// Whether the cell has a colour that only terminals with all colours can show.
    public var isTrueColour: Bool {
        if case .rgb = style.foreground { return true }
        if case .rgb = style.background { return true }
        return false
    }
}
