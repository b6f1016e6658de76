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

/// The request as the decoder's server gets it: reading it is of the least work for a process that does nothing twice.
extension DecodeRequest {
    /// The bytes from which `init(packet:)` makes the same request again.
    public var packet: [UInt8] {
        var wire = WireWriter()
        for number in [region.x, region.y, region.width, region.height, pixelAspect] { wire.append(number) }
        wire.append(box)
        for color in [background.red, background.green, background.blue] { wire.append(color) }
        for flag in [enlarges, isChequered] { wire.append(flag) }
        wire.append(Self.place(of: fitting))
        wire.append(Self.place(of: product))
        wire.append(Self.place(of: haste))
        wire.append(UInt32(frame))
        wire.append(UInt8(run))
        wire.append(UInt8(turns))
        return wire.bytes
    }

    /// Reads what `packet` writes. What is out of bounds, too short or too long is an error.
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
        fitting = try Self.value(at: try wire.integer())
        product = try Self.value(at: try wire.integer())
        haste = try Self.value(at: try wire.integer())
        let (frame, run) = (Int(try wire.integer(UInt32.self)), Int(try wire.integer(UInt8.self)))
        let turns = Int(try wire.integer(UInt8.self))
        guard Self.frames.contains(frame), Self.runs.contains(run), 0...3 ~= turns, wire.remaining == 0 else {
            throw .malformedRequest("frame")
        }
        self.frame = frame
        self.run = run
        self.turns = turns
    }

    private static func place<Value: CaseIterable & Equatable>(of value: Value) -> UInt8 {
        UInt8(Value.allCases.enumerated().first { $0.element == value }?.offset ?? 0)
    }

    private static func value<Value: CaseIterable>(at place: UInt8) throws(PixelsError) -> Value {
        guard let value = Value.allCases.dropFirst(Int(place)).first else { throw .malformedRequest("a choice") }
        return value
    }
}

/// The request as the decoder's command line.
extension DecodeRequest {
    /// The arguments, without the program's name, from which `init(arguments:)` makes the same request again.
    public var arguments: [String] {
        [
            "region=\(region.x),\(region.y),\(region.width),\(region.height)",
            "box=\(box.width)x\(box.height)",
            "aspect=\(pixelAspect)",
            "fitting=\(fitting.rawValue)",
            "enlarges=\(enlarges ? "yes" : "no")",
            "background=\(background.red),\(background.green),\(background.blue)",
            "chequer=\(isChequered ? "yes" : "no")",
            "product=\(product.rawValue)",
            "frame=\(frame)",
            "haste=\(haste.rawValue)",
            "turns=\(turns)",
            "run=\(run)",
        ]
    }

    /// Reads exactly what `arguments` writes. Everything else is an error: there are no defaults, no other order, and
    /// no other way to write a number.
    public init(arguments: some Collection<String>) throws(PixelsError) {
        let names = [
            "region", "box", "aspect", "fitting", "enlarges", "background", "chequer", "product", "frame", "haste",
            "turns", "run",
        ]
        guard arguments.count == names.count else { throw .malformedRequest("\(arguments.count) arguments") }
        var values: [Substring] = []
        for (name, argument) in zip(names, arguments) {
            guard argument.utf8.starts(with: "\(name)=".utf8) else { throw .malformedRequest("no \(name)") }
            values.append(argument[argument.utf8.index(argument.startIndex, offsetBy: name.utf8.count + 1)...])
        }
        self.init(box: try Self.box(values[1]))
        region = try Self.region(values[0])
        pixelAspect = try Self.aspect(values[2])
        guard let fitting = Fitting(rawValue: String(values[3])) else { throw .malformedRequest("fitting") }
        self.fitting = fitting
        enlarges = values[4] == "yes"
        background = try Self.color(values[5])
        isChequered = values[6] == "yes"
        guard let product = Product(rawValue: String(values[7])) else { throw .malformedRequest("product") }
        self.product = product
        guard let frame = Int(values[8]), Self.frames.contains(frame) else { throw .malformedRequest("frame") }
        self.frame = frame
        guard let haste = Haste(rawValue: String(values[9])) else { throw .malformedRequest("haste") }
        self.haste = haste
        guard let turns = Int(values[10]), 0...3 ~= turns else { throw .malformedRequest("turns") }
        self.turns = turns
        guard let run = Int(values[11]), Self.runs.contains(run) else { throw .malformedRequest("run") }
        self.run = run
        // Whatever was read leniently above ("+1", "1e0", "maybe") is written otherwise.
        guard self.arguments.elementsEqual(arguments) else { throw .malformedRequest("not the usual form") }
    }

    private static func region(_ text: Substring) throws(PixelsError) -> UnitRect {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
        guard numbers.count == 4,
            let region = UnitRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        else { throw .malformedRequest("region") }
        return region
    }

    private static func box(_ text: Substring) throws(PixelsError) -> PixelSize {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ 1...largestSide ~= $0 }) else { throw .malformedRequest("box") }
        return PixelSize(width: sides[0], height: sides[1])
    }

    private static func aspect(_ text: Substring) throws(PixelsError) -> Double {
        guard let aspect = Double(text), pixelAspects.contains(aspect) else { throw .malformedRequest("aspect") }
        return aspect
    }

    private static func color(_ text: Substring) throws(PixelsError) -> PixelColor {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        guard parts.count == 3 else { throw .malformedRequest("background") }
        return PixelColor(red: parts[0], green: parts[1], blue: parts[2])
    }
}
