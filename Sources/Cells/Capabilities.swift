/// The capabilities of a terminal.
public struct Capabilities: Hashable, Sendable {
    /// Whether it displays Unicode, not only ASCII.
    public var unicode: Bool
    /// Its number of colours.
    public var colours: ColourDepth
    /// The width of a cell divided by its height.
    public var cellAspect: Double
    /// How to send pixels; nil if unsupported or not known yet.
    public var pixels: PixelCapabilities?
    /// Whether it supports synchronized updates (mode 2026).
    public var synchronises: Bool
    /// The background colour, if the terminal reported it. Transparent pictures are drawn on it.
    public var background: Colour
    /// Whether it is known to display sextants, the six-part block characters of Unicode 13.
    public var sextants: Bool

    /// Creates capabilities; the defaults suit most terminals.
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

/// The number of colours of a terminal.
public enum ColourDepth: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// No colours.
    case none
    /// Eight colours, as on the Linux console.
    case eight
    /// Sixteen colours, chosen by the user.
    case sixteen
    /// Sixteen colours, a cube of 216 and 24 greys.
    case palette
    /// 24-bit colours.
    case full

    /// Orders by the number of colours.
    public static func < (left: ColourDepth, right: ColourDepth) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// How to send pixels to a terminal.
public struct PixelCapabilities: Hashable, Sendable {
    /// The graphics protocol.
    public var language: PixelProtocol
    /// The width of a cell in pixels.
    public var cellWidth: Int
    /// The height of a cell in pixels.
    public var cellHeight: Int
    /// The most colours of a picture with a palette.
    public var paletteSize: Int
    /// Whether sequences must be wrapped for tmux to pass them on.
    public var isThroughTmux: Bool

    /// Creates capabilities; sizes are at least 1 and palettes at least 2.
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

/// A graphics protocol.
public enum PixelProtocol: String, Hashable, Sendable, CaseIterable {
    /// kitty's protocol: pictures are sent once with an id, then placed and removed by id.
    case kitty
    /// iTerm2's protocol: a picture file, drawn at the cursor.
    case iterm
    /// DEC's sixel: bands of six pixel rows with a palette, drawn at the cursor.
    case sixel
}
