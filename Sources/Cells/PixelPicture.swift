/// A picture's pixels in the words of a terminal, ready to lie over some cells.
///
/// What is in it depends on the language: for kitty the pixels, red, green and blue, in base64; for iTerm2 a JPEG in base64; for
/// sixel all of the picture, from its raster attributes on. What has to stand around it, the terminal's owner knows.
public struct PixelPicture: Hashable, Sendable {
    /// In what language it is.
    public let language: PixelProtocol
    /// The cells that it covers.
    public let size: Size
    /// Its width in pixels.
    public let width: Int
    /// Its height in pixels.
    public let height: Int
    /// The picture; of one in kitty's language, as much of it as goes into its first sequence.
    public let payload: [UInt8]
    /// The rest of it, in whole sequences. They are made where the picture is drawn: where it is shown, everybody waits.
    public let following: [[UInt8]]
    /// Whether they are wrapped for a tmux to pass on.
    public let isThroughTmux: Bool
    /// About how much memory it takes, and how many bytes it takes to send it.
    public let byteCount: Int
    /// Tells it from others without comparing all of it.
    private let digest: Int

    /// What a picture is remembered by when it is not kept itself. The digest's key is this run's own: nobody can make two
    /// pictures that have the same.
    public struct Identity: Hashable, Sendable {
        fileprivate let language: PixelProtocol
        fileprivate let size: Size
        fileprivate let width: Int
        fileprivate let height: Int
        fileprivate let byteCount: Int
        fileprivate let isThroughTmux: Bool
        fileprivate let digest: Int
    }

    /// What it is remembered by.
    public var identity: Identity {
        Identity(
            language: language, size: size, width: width, height: height, byteCount: byteCount,
            isThroughTmux: isThroughTmux, digest: digest)
    }

    /// A picture.
    ///
    /// - Parameter payload: all of it.
    public init(
        _ language: PixelProtocol, size: Size, width: Int, height: Int, payload: [UInt8], isThroughTmux: Bool = false
    ) {
        let isCut = language == .kitty && payload.count > KittyChunks.longest
        self.language = language
        self.size = size
        self.width = width
        self.height = height
        self.isThroughTmux = isThroughTmux
        self.payload = isCut ? Array(payload.prefix(KittyChunks.longest)) : payload
        following = isCut ? KittyChunks.following(of: payload, isThroughTmux: isThroughTmux) : []
        byteCount = following.reduce(self.payload.count) { $0 + $1.count }
        var hasher = Hasher()
        payload.withUnsafeBytes { hasher.combine(bytes: $0) }
        digest = hasher.finalize()
    }

    /// Whether both show the same.
    public static func == (left: PixelPicture, right: PixelPicture) -> Bool {
        left.identity == right.identity && left.payload == right.payload && left.following == right.following
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
