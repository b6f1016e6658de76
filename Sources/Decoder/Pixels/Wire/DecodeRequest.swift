/// A request to decode a picture. The request states the part of the picture, the largest output size, and the way to
/// fit the part into that size.
///
///     var request = DecodeRequest(box: PixelSize(width: 160, height: 120))
///     request.pixelAspect = 0.75     // sextants in cells twice as high as wide
public struct DecodeRequest: Hashable, Sendable {
    /// The kind of result. Every result also has the picture's size and metadata.
    public enum Product: UInt8, Hashable, Sendable, CaseIterable {
        /// Size and metadata only.
        case facts
        /// The pixels of the requested part.
        case pixels
        /// A small JPEG for the cache.
        case thumbnail
    }

    /// The way to fit a picture into the box.
    public enum Fitting: UInt8, Hashable, Sendable, CaseIterable {
        /// The whole region is visible. The output may be smaller than the box on one side.
        case inside
        /// The region covers the box. The decoder cuts off the excess equally on both sides.
        case cover
    }

    /// The choice between quality and speed.
    public enum Haste: UInt8, Hashable, Sendable, CaseIterable {
        /// The picture in full quality.
        case whole
        /// A preview, if the file offers one. The reply's `isCoarse` says whether the reply is a preview.
        case soon
    }

    /// The requested part of the upright picture.
    public var region: UnitRect = .whole
    /// The largest output size. The sides of the box are limited to 1…`largestSide`, because terminals can report any
    /// size.
    public var box: PixelSize { didSet { box = Self.held(box) } }
    /// The width of an output pixel on the screen, divided by its height. Pixels made of characters are seldom square.
    /// Values outside `pixelAspects` become 1.
    public var pixelAspect = 1.0 { didSet { if !Self.pixelAspects.contains(pixelAspect) { pixelAspect = 1 } } }
    /// The way to fit the region into the box.
    public var fitting: Fitting = .inside
    /// Whether the decoder enlarges a picture that is smaller than the box.
    public var enlarges = false
    /// The number of clockwise quarter turns of the upright picture, 0 to 3. The region is a part of the turned
    /// picture.
    public var turns = 0 { didSet { turns &= 3 } }
    /// The colour behind transparent pixels and missing rows.
    public var background: PixelColor = .black
    /// Whether a chequerboard replaces the background behind transparent pixels.
    public var isChequered = false
    /// The requested kind of result.
    public var product = Product.pixels
    /// The index of the requested frame of an animation, limited to `frames`. An index beyond the end means the last
    /// frame.
    public var frame = 0 { didSet { frame = max(0, min(frame, Self.frames.upperBound)) } }
    /// The number of consecutive frames to return, limited to `runs`. The number applies only to requests for pixels.
    /// If an answer has several frames, the decoder composes each frame only once. `picturesAtOnce` is the number that
    /// fits into an answer.
    public var run = 1 { didSet { run = max(1, min(run, Self.runs.upperBound)) } }
    /// The choice between quality and speed.
    public var haste = Haste.whole

    /// Creates a request for a whole picture that fits into `box`.
    public init(box: PixelSize) {
        self.box = Self.held(box)
    }

    /// The longest side of a box in pixels. The largest picture is a square of this side, 192 MiB.
    public static let largestSide = 8192
    /// The allowed values of `pixelAspect`.
    public static let pixelAspects = 1.0 / 64...64.0

    /// The frame indices that a client can request. Vitrine ignores later frames.
    public static let frames = 0...99_999

    /// The numbers of consecutive frames that a client can request at once.
    public static let runs = 1...16

    /// Returns the maximum number of frames in one answer: at least one, and up to `run` if they fit. Client and decoder
    /// both apply this limit.
    ///
    /// - Parameter output: the size of a frame in the answer. It may be much smaller than the box.
    public func picturesAtOnce(of output: PixelSize) -> Int {
        guard product == .pixels, let length = PixelBuffer.byteCount(of: output), length > 0 else { return 1 }
        return max(1, min(run, Self.longestRun / length))
    }

    /// The maximum number of bytes of pixels in an answer, whatever the size of its frames.
    var mostBytes: Int {
        let one = PixelBuffer.byteCount(of: box) ?? 0
        return max(one, min(one * run, Self.longestRun))
    }

    /// The maximum number of bytes of pixels in an answer with several frames.
    private static let longestRun = 8 << 20

    /// Whether the decoder must decode pixels.
    public var wantsPixels: Bool { product != .facts }

    private static func held(_ box: PixelSize) -> PixelSize {
        PixelSize(width: max(1, min(box.width, largestSide)), height: max(1, min(box.height, largestSide)))
    }
}

/// The encoded form of a request. The form is a packet, or the same bytes as hexadecimal digits in one argument.
extension DecodeRequest {
    /// The request as bytes for a socket, which `init(packet:)` reads.
    public var packet: [UInt8] {
        var wire = WireWriter()
        for number in [region.x, region.y, region.width, region.height, pixelAspect] { wire.append(number) }
        wire.append(box)
        for color in [background.red, background.green, background.blue] { wire.append(color) }
        for flag in [enlarges, isChequered] { wire.append(flag) }
        for choice in [fitting.rawValue, product.rawValue, haste.rawValue] { wire.append(choice) }
        wire.append(UInt32(frame))
        wire.append(UInt8(run))
        wire.append(UInt8(turns))
        return wire.bytes
    }

    /// The packet as lowercase hexadecimal digits, for a command line.
    public var argument: String {
        packet.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Reads a packet. Throws if a value is out of bounds or the length is wrong.
    public init(packet: [UInt8]) throws(PixelsError) {
        do {
            self = try packet.withUnsafeBytes { bytes throws(PixelsError) in
                var wire = WireReader(bytes)
                return try DecodeRequest(from: &wire)
            }
        } catch {
            throw .malformedRequest("no request in \(packet.count) bytes")
        }
    }

    /// Reads the arguments of a command line. Throws unless the only argument is one that `argument` returns.
    public init(arguments: some Collection<String>) throws(PixelsError) {
        guard arguments.count == 1, let digits = arguments.first?.utf8, digits.count.isMultiple(of: 2),
            digits.count <= 2 * DecoderService.longestPacket
        else { throw .malformedRequest("\(arguments.count) arguments") }
        var packet: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: throw .malformedRequest("not hexadecimal")
            }
            if index.isMultiple(of: 2) { packet.append(value << 4) } else { packet[index / 2] |= value }
        }
        try self.init(packet: packet)
    }

    private init(from wire: inout WireReader) throws(PixelsError) {
        let (x, y) = (try wire.number(), try wire.number())
        let (width, height) = (try wire.number(), try wire.number())
        let aspect = try wire.number()
        self.init(box: try wire.size(largestSide: Self.largestSide))
        guard let region = UnitRect(x: x, y: y, width: width, height: height), Self.pixelAspects.contains(aspect) else {
            throw .malformedRequest("region")
        }
        self.region = region
        pixelAspect = aspect
        background = PixelColor(red: try wire.integer(), green: try wire.integer(), blue: try wire.integer())
        enlarges = try wire.flag()
        isChequered = try wire.flag()
        guard let fitting = Fitting(rawValue: try wire.integer()), let product = Product(rawValue: try wire.integer()),
            let haste = Haste(rawValue: try wire.integer())
        else { throw .malformedRequest("a choice") }
        self.fitting = fitting
        self.product = product
        self.haste = haste
        let (frame, run) = (Int(try wire.integer(UInt32.self)), Int(try wire.integer(UInt8.self)))
        let turns = Int(try wire.integer(UInt8.self))
        guard Self.frames.contains(frame), Self.runs.contains(run), 0...3 ~= turns, wire.remaining == 0 else {
            throw .malformedRequest("frame")
        }
        self.frame = frame
        self.run = run
        self.turns = turns
    }
}
