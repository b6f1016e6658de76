/// What is wanted of a picture: which part, how large, and what to do where it does not fit.
///
///     var request = DecodeRequest(box: PixelSize(width: 160, height: 120))
///     request.pixelAspect = 0.75     // sextants in cells twice as high as wide
public struct DecodeRequest: Hashable, Sendable {
    /// What is to be made of the picture, besides its size and its metadata.
    public enum Product: String, Hashable, Sendable, CaseIterable {
        /// Nothing.
        case facts
        /// Its pixels.
        case pixels
        /// A small JPEG of it, to be kept.
        case thumbnail
    }

    /// How a picture's proportions meet the box's.
    public enum Fitting: String, Hashable, Sendable, CaseIterable {
        /// All of the region is shown; the output may be smaller than the box on one side.
        case inside
        /// The box is filled; what reaches over it is cut off on both sides alike.
        case cover
    }

    /// Whether the picture or the time matters more.
    public enum Haste: String, Hashable, Sendable, CaseIterable {
        /// The picture as it is meant to be.
        case whole
        /// Something of it at once, where the file has that: its first scan, or the small picture inside. What came of
        /// it says `DecodeReply.isCoarse`.
        case soon
    }

    /// The part of the upright picture that is wanted.
    public var region: UnitRect = .whole
    /// The largest output. Its sides are held within 1…`largestSide`: windows report any size they like.
    public var box: PixelSize { didSet { box = Self.held(box) } }
    /// One output pixel's width on the screen, divided by its height: terminals' parts of cells are seldom square. What
    /// is out of `pixelAspects` counts as 1.
    public var pixelAspect = 1.0 { didSet { if !Self.pixelAspects.contains(pixelAspect) { pixelAspect = 1 } } }
    /// How the region meets the box.
    public var fitting: Fitting = .inside
    /// Whether a picture smaller than the box grows to fill it.
    public var enlarges = false
    /// Quarters by which the upright picture is turned clockwise, from 0 to 3: the user's, beside what the file says. The
    /// region is one of the turned picture.
    public var turns = 0 { didSet { turns &= 3 } }
    /// What shows through where the picture is transparent, and where a truncated one ends.
    public var background: PixelColor = .black
    /// Whether a chequer of two greys shows through where the picture is transparent, in the background's stead.
    public var isChequered = false
    /// What is to be made of it.
    public var product = Product.pixels
    /// Which picture of an animation, from 0 on; one that there is not is the last. Held within `frames`.
    public var frame = 0 { didSet { frame = max(0, min(frame, Self.frames.upperBound)) } }
    /// How many pictures of an animation are wanted at once, that one and those behind it: who plays it has each composed once.
    /// Held within `runs`, and only with pixels. See `picturesAtOnce`.
    public var run = 1 { didSet { run = max(1, min(run, Self.runs.upperBound)) } }
    /// Whether it may be a coarser one, sooner.
    public var haste = Haste.whole

    /// Wants all of a picture, small enough for `box`.
    public init(box: PixelSize) {
        self.box = Self.held(box)
    }

    /// The longest side a box may have; the largest picture that passes the wire is its square, 192 MiB.
    public static let largestSide = 8192
    /// The pixel aspects that are believed.
    public static let pixelAspects = 1.0 / 64...64.0

    /// The pictures of an animation that can be asked for; what comes behind them is not looked at.
    public static let frames = 0...99_999

    /// How many pictures can be asked for at once.
    public static let runs = 1...16

    /// How many of a run there can be in an answer: one, and as many more as it has room for. Both sides of the wire go by it.
    public var picturesAtOnce: Int {
        guard product == .pixels, let length = PixelBuffer.byteCount(of: box) else { return 1 }
        return max(1, min(run, Self.longestRun / length))
    }

    /// The most bytes of the pixels of a run.
    private static let longestRun = 8 << 20

    /// Whether the picture has to be decoded at all.
    public var wantsPixels: Bool { product != .facts }

    private static func held(_ box: PixelSize) -> PixelSize {
        PixelSize(width: max(1, min(box.width, largestSide)), height: max(1, min(box.height, largestSide)))
    }
}
