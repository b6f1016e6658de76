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

/// A picture's pixels, and where on a screen they lie.
public struct PixelPlacement: Hashable, Sendable {
    /// The picture.
    public let picture: PixelPicture
    /// Its upper left cell.
    public let origin: Point

    /// Lays a picture there.
    public init(_ picture: PixelPicture, at origin: Point) {
        self.picture = picture
        self.origin = origin
    }

    /// The cells that it covers.
    public var rect: Rect {
        Rect(column: origin.column, row: origin.row, columns: picture.size.columns, rows: picture.size.rows)
    }
}

/// A picture in kitty's language, cut up as it is sent.
///
/// "The terminal … understands <ESC>_G<control data>;<payload><ESC>\\", and the payload comes in chunks "no more than 4096 bytes"
/// long, each but the last with `m=1` (kitty's graphics protocol). `q=2` on every one of them: answers would come as
/// keys to whoever reads the terminal next.
public enum KittyChunks {
    /// The longest payload of one sequence. It is a multiple of four, as those but the last have to be.
    static let longest = 4_096

    /// A sequence.
    public static func sequence(_ control: String, _ payload: some Collection<UInt8> = []) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(control.utf8.count + payload.count + 8)
        bytes += "\u{1B}_G\(control)".utf8
        if !payload.isEmpty {
            bytes.append(UInt8(ascii: ";"))
            bytes += payload
        }
        bytes += "\u{1B}\\".utf8
        return bytes
    }

    /// All but the first, which alone says what the picture is.
    static func following(of payload: [UInt8], isThroughTmux: Bool) -> [[UInt8]] {
        stride(from: longest, to: payload.count, by: longest).map { start in
            let end = min(start + longest, payload.count)
            let chunk = sequence("m=\(end < payload.count ? 1 : 0),q=2", payload[start..<end])
            return isThroughTmux ? TmuxPassage.wrapped(chunk) : chunk
        }
    }
}

/// A way through tmux to the terminal that it runs in.
///
/// "A \ePtmux; escape sequence", in which every escape is doubled, is passed on where the user's `allow-passthrough` is on
/// (tmux(1)).
public enum TmuxPassage {
    /// A sequence as it has to be sent through tmux. tmux holds it whole before it passes it on, and drops what is larger than
    /// its buffer: so each sequence goes by itself.
    public static func wrapped(_ sequence: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(sequence.count + 16)
        bytes += "\u{1B}Ptmux;".utf8
        for byte in sequence {
            if byte == 0x1B { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes += "\u{1B}\\".utf8
        return bytes
    }
}
