/// How a cell looks, apart from what stands in it.
public struct Style: Hashable, Sendable {
    /// Ways to set text off, as far as the terminal has them.
    public struct Attributes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Takes the bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Heavier, or brighter.
        public static let bold = Attributes(rawValue: 1)
        /// Fainter.
        public static let dim = Attributes(rawValue: 2)
        /// With a line below.
        public static let underline = Attributes(rawValue: 4)
        /// Text and background exchanged.
        public static let reverse = Attributes(rawValue: 8)
    }

    /// The text's colour.
    public var foreground: Colour
    /// The colour behind it.
    public var background: Colour
    /// What sets it off.
    public var attributes: Attributes

    /// A style; by default that of the terminal's own text.
    public init(
        foreground: Colour = .terminal, background: Colour = .terminal, attributes: Attributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    /// The terminal's own text.
    public static let plain = Style()
}
