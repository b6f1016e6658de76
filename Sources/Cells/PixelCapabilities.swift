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
