/// The capabilities of a terminal.
public struct Capabilities: Hashable, Sendable {
    /// Whether the terminal displays Unicode, not only ASCII.
    public var unicode: Bool
    /// The number of colours that the terminal displays.
    public var colours: ColourDepth
    /// The width of a cell divided by its height.
    public var cellAspect: Double
    /// The way to send pixels; nil if unsupported or still unknown.
    public var pixels: PixelCapabilities?
    /// Whether the terminal supports synchronized updates (mode 2026).
    public var synchronises: Bool
    /// The terminal's background colour, if reported. Vitrine draws transparent pictures on this colour.
    public var background: Colour
    /// Whether the terminal is known to display sextants, the six-part block characters of Unicode 13.
    public var sextants: Bool
    /// Whether the terminal can exchange text and background colour (reverse video).
    public var reverses: Bool
    /// Whether Vitrine may send text to a clipboard through the terminal (OSC 52).
    public var clipboard: Bool

    /// The maximum number of bytes for the clipboard. Terminals may drop longer text.
    public static let clipboardLimit = 48 << 10

    /// Creates capabilities. The defaults suit most terminals.
    public init(
        unicode: Bool = true, colours: ColourDepth = .palette, cellAspect: Double = 0.5,
        pixels: PixelCapabilities? = nil, synchronises: Bool = false, background: Colour = .terminal,
        sextants: Bool = false, reverses: Bool = true, clipboard: Bool = true
    ) {
        self.unicode = unicode
        self.colours = colours
        self.cellAspect = cellAspect
        self.pixels = pixels
        self.synchronises = synchronises
        self.background = background
        self.sextants = sextants
        self.reverses = reverses
        self.clipboard = clipboard
    }
}

/// The number of colours that a terminal displays.
public enum ColourDepth: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// The terminal displays no colours.
    case none
    /// The terminal displays eight colours, as the Linux console does.
    case eight
    /// The terminal displays sixteen colours, which the user chooses.
    case sixteen
    /// The terminal displays 256 colours. The user chooses sixteen; the others are a cube of 216 colours and 24 greys.
    case palette
    /// The terminal displays 24-bit colours.
    case full

    /// Compares two depths by their number of colours.
    public static func < (left: ColourDepth, right: ColourDepth) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The way to send pixels to a terminal.
public struct PixelCapabilities: Hashable, Sendable {
    /// The graphics protocol that the terminal understands.
    public var language: PixelProtocol
    /// The width of a cell in pixels.
    public var cellWidth: Int
    /// The height of a cell in pixels.
    public var cellHeight: Int
    /// The maximum number of colours of a picture with a palette.
    public var paletteSize: Int
    /// Whether Vitrine must wrap escape sequences so that tmux passes them on.
    public var isThroughTmux: Bool
    /// Whether the terminal is on another machine. Vitrine then sends kitty pictures in fewer bytes, to save time.
    public var isRemote: Bool

    /// Creates capabilities. Raises sizes to at least 1 and palettes to at least 2.
    public init(
        _ language: PixelProtocol, cellWidth: Int, cellHeight: Int, paletteSize: Int = 256, isThroughTmux: Bool = false,
        isRemote: Bool = false
    ) {
        self.language = language
        self.cellWidth = max(1, cellWidth)
        self.cellHeight = max(1, cellHeight)
        self.paletteSize = max(2, paletteSize)
        self.isThroughTmux = isThroughTmux
        self.isRemote = isRemote
    }
}

/// A protocol for sending pictures to a terminal.
public enum PixelProtocol: String, Hashable, Sendable, CaseIterable {
    /// kitty's protocol. Vitrine sends a picture once with an id, then shows and removes the picture by that id.
    case kitty
    /// iTerm2's protocol: Vitrine sends a picture file, which the terminal draws at the cursor.
    case iterm
    /// DEC's sixel protocol. Vitrine sends a palette and bands of six pixel rows. The terminal draws them at the
    /// cursor.
    case sixel
}
