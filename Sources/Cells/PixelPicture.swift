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
    /// The picture.
    public let payload: [UInt8]
    /// Tells it from others without comparing all of it.
    private let digest: Int

    /// A picture.
    public init(_ language: PixelProtocol, size: Size, width: Int, height: Int, payload: [UInt8]) {
        self.language = language
        self.size = size
        self.width = width
        self.height = height
        self.payload = payload
        digest = payload.hashValue
    }

    /// About how much memory it takes.
    public var byteCount: Int { payload.count }

    /// Whether both show the same.
    public static func == (left: PixelPicture, right: PixelPicture) -> Bool {
        left.digest == right.digest && left.language == right.language && left.size == right.size
            && left.width == right.width && left.height == right.height && left.payload == right.payload
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
