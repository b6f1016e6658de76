/// What fills one cell of a terminal, or two side by side: one visible scalar and the marks that sit on it.
public struct Glyph: Hashable, Sendable {
    /// A single spacing scalar, followed by at most ``Glyph/maximumMarks`` combining ones.
    public let text: String
    /// The columns it takes: 1 or 2.
    public let width: Int

    /// The most combining marks a glyph carries. Terminals stack them without end, over the lines above; ncurses
    /// itself stops here (`CCHARW_MAX` is 5: the character and four marks).
    public static let maximumMarks = 4

    /// A blank cell.
    public static let space = Glyph(text: " ", width: 1)

    init(text: String, width: Int) {
        self.text = text
        self.width = width
    }

    /// Makes the glyph that a single character would become, or a blank if it leaves nothing to show.
    ///
    ///     surface.fill(row, with: Glyph("─"))
    public init(_ character: Character) {
        var glyphs = Glyphs(String(character)).makeIterator()
        self = glyphs.next() ?? .space
    }
}
