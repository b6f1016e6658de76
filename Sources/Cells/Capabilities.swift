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

/// How many colours a terminal has.
public enum ColourDepth: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// None: text and background.
    case none
    /// Eight: the consoles of old, and Linux's.
    case eight
    /// The sixteen that the user has chosen.
    case sixteen
    /// Those, a cube of 216 and 24 greys.
    case palette
    /// All.
    case full

    /// Fewer first.
    public static func < (left: ColourDepth, right: ColourDepth) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// How a terminal takes pixels, where it does.
public struct PixelCapabilities: Hashable, Sendable {
    /// In what language.
    public var language: PixelProtocol
    /// The width of a cell in pixels.
    public var cellWidth: Int
    /// The height of a cell in pixels.
    public var cellHeight: Int
    /// How many colours a picture may have that comes with a palette.
    public var paletteSize: Int
    /// Whether there is a tmux in between, which has to be asked to pass everything on.
    public var isThroughTmux: Bool

    /// States how.
    public init(
        _ language: PixelProtocol, cellWidth: Int, cellHeight: Int, paletteSize: Int = 256, isThroughTmux: Bool = false
    ) {
        self.language = language
        self.cellWidth = max(1, cellWidth)
        self.cellHeight = max(1, cellHeight)
        self.paletteSize = max(2, paletteSize)
        self.isThroughTmux = isThroughTmux
    }
}

/// A way in which terminals take pictures pixel by pixel.
public enum PixelProtocol: String, Hashable, Sendable, CaseIterable {
    /// kitty's: pictures are sent once, have numbers, and are placed and removed by them.
    case kitty
    /// iTerm2's: a picture file, which is drawn where the cursor is.
    case iterm
    /// DEC's: six rows of pixels at a time in a palette, drawn where the cursor is.
    case sixel
}
