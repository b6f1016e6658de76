/// A picture of an animation that comes behind the one that was asked for.
public struct AnimationPicture: Hashable, Sendable {
    /// Its pixels, as many as the first one's.
    public let pixels: PixelBuffer
    /// How long it is to be shown, in milliseconds as the file says.
    public let duration: Int

    /// Makes one of its two parts.
    public init(pixels: PixelBuffer, duration: Int) {
        self.pixels = pixels
        self.duration = max(0, min(duration, DecodeReply.longestDuration))
    }
}
