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
    /// Whether it was made in haste of less than there is: decoding the whole would show more.
    public let isCoarse: Bool
    /// How many pictures the file shows one after the other, 1 for most. No more than the request can ask for. Where its first
    /// picture was asked for, 2 may stand for any number above 1: they are counted when another one is, or no pixels are.
    public let frameCount: Int
    /// How long the picture that was asked for is to be shown, in milliseconds as the file says; many say 0 and leave it
    /// to whoever shows them. 0 where there is one only.
    public let duration: Int
    /// What it says about itself.
    public let metadata: PictureMetadata
    /// The part that `pixels` show.
    public let region: UnitRect
    /// The pixels, where they were wanted.
    public let pixels: PixelBuffer?
    /// The same part as a JPEG, where that was wanted.
    public let thumbnail: [UInt8]?

    /// The pictures of an animation that come behind it, where several were wanted at once: as many as there were at hand.
    public let following: [AnimationPicture]

    /// The longest time to show one picture of an animation that a file can say, in milliseconds: WebP's 24 bits.
    static let longestDuration = 0xFF_FFFF
    /// The most bytes of a thumbnail; more than a JPEG of any box needs that is worth keeping.
    public static let longestThumbnail = 4 << 20

    /// Answers `request`, which lays the region out.
    ///
    /// The pixels are to be of the layout's size, or the other side will refuse them.
    public init(
        to request: DecodeRequest, sourceSize: PixelSize, format: String, orientation: Orientation,
        isComplete: Bool, isCoarse: Bool = false, frameCount: Int = 1, duration: Int = 0, metadata: PictureMetadata,
        pixels: PixelBuffer?, thumbnail: [UInt8]? = nil, following: [AnimationPicture] = []
    ) {
        self.sourceSize = sourceSize
        self.format = format
        self.orientation = orientation
        self.isComplete = isComplete
        self.isCoarse = isCoarse
        self.frameCount = max(1, min(frameCount, DecodeRequest.frames.count))
        self.duration = max(0, min(duration, Self.longestDuration))
        self.metadata = metadata
        self.pixels = pixels
        self.thumbnail = thumbnail
        self.following = following
        region = PictureLayout(of: sourceSize, for: request).region
    }
    /// The same answer to another request for the same picture: with pixels of the size that it lays out, or a thumbnail.
    public func with(pixels: PixelBuffer?, thumbnail: [UInt8]? = nil, for request: DecodeRequest) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata, pixels: pixels,
            thumbnail: thumbnail)
    }

    /// The same answer with pictures behind it.
    public func with(following: [AnimationPicture], for request: DecodeRequest) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata, pixels: pixels,
            thumbnail: thumbnail, following: following)
    }

    /// The answer to who asks for one of the pictures behind it, from 0 on; nothing where there is none.
    public func answer(following place: Int, for request: DecodeRequest) -> DecodeReply? {
        guard following.indices.contains(place) else { return nil }
        let picture = following[place]
        return DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: picture.duration, metadata: metadata,
            pixels: picture.pixels)
    }
}
