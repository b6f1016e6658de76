import Cells

/// What the user insists on, whatever is found out about the terminal.
public struct TerminalWishes: Hashable, Sendable {
    /// How pixels are sent.
    public enum Pixels: Hashable, Sendable {
        /// As is found out.
        case asFound
        /// Not at all.
        case none
        /// In this language.
        case only(PixelProtocol)
    }

    /// How pixels are sent.
    public var pixels: Pixels
    /// How many colours are used; nil for as many as are found.
    public var colours: ColourDepth?
    /// Whether nothing but ASCII is shown.
    public var isASCII: Bool

    /// States what is insisted on; by default nothing is.
    public init(pixels: Pixels = .asFound, colours: ColourDepth? = nil, isASCII: Bool = false) {
        self.pixels = pixels
        self.colours = colours
        self.isASCII = isASCII
    }
}
