/// A picture encoded for a graphics protocol. On the screen, it covers some cells.
///
/// The payload depends on the protocol: a PNG in base64 for kitty, a JPEG in base64 for iTerm2, or the sixel data from
/// the raster attributes on. When Vitrine sends the picture, it adds the escape sequence around the payload.
public struct PixelPicture: Hashable, Sendable {
    /// The graphics protocol for which the picture is encoded.
    public let language: PixelProtocol
    /// The size in cells.
    public let size: Size
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The encoded picture. For kitty, only the part that fits into the first sequence; for sixel, the first tile.
    public let payload: [UInt8]
    /// The tiles after the first.
    private let further: [Tile]
    /// The part of the picture after `payload`, in complete escape sequences. `init` makes them, because sending must
    /// be fast.
    public let following: [[UInt8]]
    /// Whether the escape sequences are wrapped for tmux.
    public let isThroughTmux: Bool
    /// The approximate memory use, which is also the number of bytes to send.
    public let byteCount: Int
    /// A hash that distinguishes pictures without comparing all bytes.
    private let digest: Int

    /// A part of a sixel picture with a sequence of its own.
    public struct Tile: Hashable, Sendable {
        /// The upper left cell of the tile, counted from that of the picture.
        public let origin: Point
        /// The encoded tile.
        public let payload: [UInt8]

        /// Creates a tile.
        public init(_ payload: [UInt8], at origin: Point = Point(column: 0, row: 0)) {
            self.payload = payload
            self.origin = origin
        }
    }

    /// The parts of a sixel picture. Most pictures have only one.
    public var tiles: [Tile] { [Tile(payload)] + further }

    /// A value that identifies a picture without its data. The digest uses a new random key in each run of the program,
    /// so attackers cannot prepare collisions.
    public struct Identity: Hashable, Sendable {
        fileprivate let language: PixelProtocol
        fileprivate let size: Size
        fileprivate let width: Int
        fileprivate let height: Int
        fileprivate let byteCount: Int
        fileprivate let isThroughTmux: Bool
        fileprivate let digest: Int
    }

    /// A value that identifies the picture.
    public var identity: Identity {
        Identity(
            language: language, size: size, width: width, height: height, byteCount: byteCount,
            isThroughTmux: isThroughTmux, digest: digest)
    }

    /// Creates a picture.
    ///
    /// - Parameter payload: the whole encoded picture.
    public init(
        _ language: PixelProtocol, size: Size, width: Int, height: Int, payload: [UInt8], isThroughTmux: Bool = false
    ) {
        self.init(
            language, size: size, width: width, height: height, tiles: [Tile(payload)], isThroughTmux: isThroughTmux)
    }

    /// Creates a picture.
    ///
    /// - Parameter tiles: the encoded picture. The first tile is in the upper left corner.
    public init(
        _ language: PixelProtocol, size: Size, width: Int, height: Int, tiles: [Tile], isThroughTmux: Bool = false
    ) {
        let payload = tiles.first?.payload ?? []
        let isCut = language == .kitty && payload.count > KittyChunks.longest
        self.language = language
        self.size = size
        self.width = width
        self.height = height
        self.isThroughTmux = isThroughTmux
        self.payload = isCut ? Array(payload.prefix(KittyChunks.longest)) : payload
        following = isCut ? KittyChunks.following(of: payload, isThroughTmux: isThroughTmux) : []
        further = Array(tiles.dropFirst())
        byteCount =
            following.reduce(self.payload.count) { $0 + $1.count } + further.reduce(0) { $0 + $1.payload.count }
        var hasher = Hasher()
        for tile in tiles { tile.payload.withUnsafeBytes { hasher.combine(bytes: $0) } }
        digest = hasher.finalize()
    }

    /// Whether both values contain the same picture.
    public static func == (left: PixelPicture, right: PixelPicture) -> Bool {
        left.identity == right.identity && left.payload == right.payload && left.following == right.following
            && left.further == right.further
    }

    /// Hashes only the digest, which is equal for equal pictures.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// A picture at a position on the screen.
public struct PixelPlacement: Hashable, Sendable {
    /// The picture.
    public let picture: PixelPicture
    /// The upper left cell of the picture.
    public let origin: Point
    /// Whether the picture is a frame of something that plays. Equal placements may differ in this property.
    public let isMoving: Bool

    /// Creates a placement.
    public init(_ picture: PixelPicture, at origin: Point, isMoving: Bool = false) {
        self.picture = picture
        self.origin = origin
        self.isMoving = isMoving
    }

    /// The cells that the picture covers.
    public var rect: Rect {
        Rect(column: origin.column, row: origin.row, columns: picture.size.columns, rows: picture.size.rows)
    }

    /// Returns whether the picture follows another one in place, as a frame that covers the same pixels.
    public func follows(_ other: PixelPlacement) -> Bool {
        isMoving && origin == other.origin && picture != other.picture && picture.language == other.picture.language
            && picture.size == other.picture.size && picture.width == other.picture.width
            && picture.height == other.picture.height
    }

    /// Whether both values place the same picture at the same position.
    public static func == (left: PixelPlacement, right: PixelPlacement) -> Bool {
        left.origin == right.origin && left.picture == right.picture
    }

    /// Hashes the picture and the position.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(picture)
        hasher.combine(origin)
    }
}

/// Splits a picture into kitty's escape sequences.
///
/// "The terminal … understands <ESC>_G<control data>;<payload><ESC>\\", with chunks "no more than 4096 bytes" long; all
/// but the last have `m=1` (kitty's graphics protocol). `q=2` in each sequence suppresses the terminal's answers. The
/// next program in the terminal would read such answers as keys.
public enum KittyChunks {
    /// The longest payload of a sequence in bytes. In all but the last sequence, the length must be a multiple of four.
    static let longest = 4_096

    /// Returns an escape sequence with control data and a payload.
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

    /// Returns all sequences except the first, which contains the picture's description.
    static func following(of payload: [UInt8], isThroughTmux: Bool) -> [[UInt8]] {
        stride(from: longest, to: payload.count, by: longest).map { start in
            let end = min(start + longest, payload.count)
            let chunk = sequence("m=\(end < payload.count ? 1 : 0),q=2", payload[start..<end])
            return isThroughTmux ? TmuxPassage.wrapped(chunk) : chunk
        }
    }
}

/// Wraps escape sequences so that tmux passes them on to its terminal.
///
/// If the user's `allow-passthrough` is on, tmux passes on "A \ePtmux; escape sequence" (tmux(1)). Each escape
/// character inside that sequence must be doubled.
public enum TmuxPassage {
    /// Returns a sequence wrapped for tmux. Wrap each sequence separately, because tmux drops sequences larger than its
    /// buffer.
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
