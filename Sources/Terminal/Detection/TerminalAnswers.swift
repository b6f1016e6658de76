import Cells

/// What a terminal has said of itself.
struct TerminalAnswers: Hashable, Sendable {
    /// Its name and version.
    var version: String?
    /// Those of the terminal that a tmux is in, where it lets us ask.
    var outerVersion: String?
    /// Whether it takes kitty's pictures.
    var takesKitty = false
    /// Whether the terminal that a tmux is in does, and tmux passes them on.
    var outerTakesKitty = false
    /// How large a cell is.
    var cell: CellPixels?
    /// How large all cells are together.
    var area: Area?
    /// What is behind the text.
    var background: Colour?
    /// Whether it knows synchronised output.
    var synchronises = false
    /// How many colours a sixel picture may have.
    var sixelColours: Int?
    /// Its device attributes. They are asked for last, and nearly every terminal has some: once they are here, whatever else
    /// was asked has been answered, or never will be.
    var attributes: [Int]?

    /// Pixels of all cells together.
    struct Area: Hashable, Sendable {
        let width: Int
        let height: Int
        /// How many cells there were when it was asked: in a window of another size, they are other pixels too.
        let size: Size

        /// One of those cells.
        var cell: CellPixels? { CellPixels((width, height), dividedBy: size) }
    }

    /// The first attribute says what kind of terminal it is, the others what it can do: "4" stands for sixel graphics.
    var takesSixel: Bool { attributes?.dropFirst().contains(4) ?? false }
}
