/// What the decoder made of a picture.
public struct DecodeReply: Hashable, Sendable {
    /// The longest side a picture may have: libjpeg's own limit.
    public static let largestSourceSide = 65_500

    /// The whole picture's sides as it is seen upright, in its own pixels.
    public let sourceSize: PixelSize
    /// The format's name: "JPEG".
    public let format: String
    /// How it was stored; everything else here is upright already.
    public let orientation: Orientation
    /// False when bytes were missing or broken, and `pixels` show what there was.
    ///
    /// Said of what was decoded: of a region only as far as its last row, of a request without pixels the header.
    public let isComplete: Bool
    /// What it says about itself.
    public let metadata: PictureMetadata
    /// The part that `pixels` show.
    public let region: UnitRect
    /// The pixels, where they were wanted.
    public let pixels: PixelBuffer?
    /// The same part as a JPEG, where that was wanted.
    public let thumbnail: [UInt8]?

    /// The most bytes of a thumbnail; more than a JPEG of any box needs that is worth keeping.
    static let longestThumbnail = 4 << 20

    /// Answers `request`, which lays the region out.
    ///
    /// The pixels are to be of the layout's size, or the other side will refuse them.
    public init(
        to request: DecodeRequest, sourceSize: PixelSize, format: String, orientation: Orientation,
        isComplete: Bool, metadata: PictureMetadata, pixels: PixelBuffer?, thumbnail: [UInt8]? = nil
    ) {
        self.sourceSize = sourceSize
        self.format = format
        self.orientation = orientation
        self.isComplete = isComplete
        self.metadata = metadata
        self.pixels = pixels
        self.thumbnail = thumbnail
        region = PictureLayout(of: sourceSize, for: request).region
    }
}
