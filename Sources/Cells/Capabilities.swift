/// What a terminal can show.
public struct Capabilities: Hashable, Sendable {
    /// Whether it shows more than ASCII.
    public var unicode: Bool
    /// How many colours it has.
    public var colours: ColourDepth
    /// The width of a cell divided by its height.
    public var cellAspect: Double
    /// How it takes pixels; nil where it does not, or that is not known yet.
    public var pixels: PixelCapabilities?
    /// Whether what is sent between two marks is shown at once (mode 2026).
    public var synchronises: Bool
    /// What is behind the text, as far as the terminal has told; pictures with holes show it.
    public var background: Colour
    /// Whether it is known to show sextants, the sixths of a cell that Unicode 13 has added.
    public var sextants: Bool

    /// States what there is; by default what is rarely wrong.
    public init(
        unicode: Bool = true, colours: ColourDepth = .palette, cellAspect: Double = 0.5,
        pixels: PixelCapabilities? = nil, synchronises: Bool = false, background: Colour = .terminal,
        sextants: Bool = false
    ) {
        self.unicode = unicode
        self.colours = colours
        self.cellAspect = cellAspect
        self.pixels = pixels
        self.synchronises = synchronises
        self.background = background
        self.sextants = sextants
    }
}
