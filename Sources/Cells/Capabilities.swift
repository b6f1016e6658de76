/// What a terminal can show.
public struct Capabilities: Hashable, Sendable {
    /// Whether it shows more than ASCII.
    public var unicode: Bool
    /// How many colours it has.
    public var colours: ColourDepth
    /// The width of a cell divided by its height.
    public var cellAspect: Double

    /// States what there is; by default what is rarely wrong.
    public init(unicode: Bool = true, colours: ColourDepth = .palette, cellAspect: Double = 0.5) {
        self.unicode = unicode
        self.colours = colours
        self.cellAspect = cellAspect
    }
}
