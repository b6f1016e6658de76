import Pixels

/// Converts a file's rows to output rows. The type blends them with the background, scales them, and converts them to
/// sRGB.
///
///     var output = OutputRows(plan, source: size, region: plan.region, channels: .rgb, conversion: nil)
///     for row in output.sourceRows { output.add(pixels(ofRow: row)) }
///     return output.reply(facts, isComplete: true)
///
/// For an opaque picture, the type converts colours last, because the output has few pixels. It is not quite exact to
/// average unconverted colours. But common curves are so similar that this error is smaller than another one: the type
/// averages stored values instead of light. For a transparent picture, the type converts colours before blending,
/// because the background is in sRGB.
struct OutputRows {
    /// The channels of a row.
    enum Channels: Int {
        /// Red, green, blue.
        case rgb = 3
        /// Red, green, blue and opacity.
        case rgba = 4
        /// Red, green, blue and opacity, with the colours multiplied by the opacity.
        case premultiplied = 5

        /// The number of bytes per pixel.
        var count: Int { self == .rgb ? 3 : 4 }
    }

    private let plan: DecodePlan
    private let channels: Channels
    private let conversion: ColourConversion?
    private let width: Int

    /// Scales the rows blended with the background, or with the chequerboard's light grey.
    private var filter: AreaFilter
    private var rows: [UInt8]
    /// Scales the rows blended with the chequerboard's dark grey; nil without a chequerboard.
    private var darkFilter: AreaFilter?
    private var darkRows: [UInt8] = []
    /// A transparent row in sRGB with its opacity, for pictures with a profile.
    private var converted: [UInt8] = []
    /// A transparent row after blending with the background.
    private var flattened: [UInt8] = []

    /// Prepares for a picture's rows. The output shows the part `region` of the picture.
    init(
        _ plan: DecodePlan, source: PixelSize, region: PixelRect, channels: Channels, conversion: ColourConversion?
    ) {
        self.plan = plan
        self.channels = channels
        self.conversion = conversion
        width = source.width
        filter = AreaFilter(source: source, region: region, output: plan.output)
        rows = plan.emptyRows()
        guard channels != .rgb else { return }
        flattened = Array(repeating: 0, count: source.width * PixelBuffer.bytesPerPixel)
        if conversion != nil { converted = Array(repeating: 0, count: source.width * channels.count) }
        if plan.request.isChequered {
            darkFilter = filter
            darkRows = plan.emptyRows()
        }
    }

    /// The source rows that the caller must add, in this order.
    var sourceRows: Range<Int> { filter.sourceRows }

    /// Whether the output has at least one row.
    var hasRows: Bool { !rows.isEmpty }

    /// Adds the next row.
    mutating func add(_ row: UnsafeBufferPointer<UInt8>) {
        guard channels != .rgb else { return filter.add(row: row, appendingOutputTo: &rows) }
        if conversion != nil {
            convert(row)
            converted.withUnsafeBufferPointer { addTransparent($0, isPremultiplied: false) }
        } else {
            addTransparent(row, isPremultiplied: channels == .premultiplied)
        }
    }

    /// Returns a reply with the finished rows. Throws if the picture ends before there is anything to show.
    ///
    /// - Parameters:
    ///   - cameToAnything: false if all added rows are blank because no data were decoded.
    ///   - missing: the colour that the library gives to missing pixels of an opaque picture. These pixels keep this
    ///     colour, so that Vitrine recognises them.
    consuming func reply(
        _ facts: PictureFacts, isComplete: Bool, cameToAnything: Bool = true, missing: PixelColor? = nil
    ) throws(DecodeFailure) -> DecodeReply {
        guard isComplete || hasRows && cameToAnything else {
            throw .damaged("it ends before its first row")
        }
        if darkFilter != nil {
            return plan.reply(facts, rows: Chequer.Rows(light: rows, dark: darkRows), isComplete: isComplete)
        }
        if channels == .rgb, let conversion {
            let unconverted = isComplete || missing == nil ? [] : rows
            rows.withUnsafeMutableBufferPointer { conversion.convert($0, channels: PixelBuffer.bytesPerPixel) }
            if let missing { restore(missing, of: unconverted) }
        }
        return plan.reply(facts, rows: rows, isComplete: isComplete)
    }

    /// Gives the pixels back their colour that had the colour `missing` before the conversion.
    private mutating func restore(_ missing: PixelColor, of unconverted: [UInt8]) {
        for pixel in stride(from: 0, to: unconverted.count, by: PixelBuffer.bytesPerPixel)
        where unconverted[pixel] == missing.red && unconverted[pixel + 1] == missing.green
            && unconverted[pixel + 2] == missing.blue
        {
            (rows[pixel], rows[pixel + 1], rows[pixel + 2]) = (missing.red, missing.green, missing.blue)
        }
    }

    private mutating func addTransparent(_ row: UnsafeBufferPointer<UInt8>, isPremultiplied: Bool) {
        let below = darkFilter == nil ? plan.request.background : Chequer.colors.light
        lay(row, over: below, isPremultiplied: isPremultiplied)
        flattened.withUnsafeBufferPointer { filter.add(row: $0, appendingOutputTo: &rows) }
        guard darkFilter != nil else { return }
        lay(row, over: Chequer.colors.dark, isPremultiplied: isPremultiplied)
        flattened.withUnsafeBufferPointer { darkFilter?.add(row: $0, appendingOutputTo: &darkRows) }
    }

    /// Converts a transparent row to sRGB. The result's colours are not premultiplied.
    private mutating func convert(_ row: UnsafeBufferPointer<UInt8>) {
        converted.withUnsafeMutableBufferPointer { target in
            for index in 0..<width * 4 { target[index] = row[index] }
            if channels == .premultiplied {
                for pixel in 0..<width {
                    let opacity = UInt32(target[4 * pixel + 3])
                    guard opacity > 0 else { continue }
                    for channel in 4 * pixel..<4 * pixel + 3 {
                        target[channel] = UInt8(min(255, (UInt32(target[channel]) * 255 + opacity / 2) / opacity))
                    }
                }
            }
            conversion?.convert(target, channels: 4)
        }
    }

    /// Blends a row with a background colour, directly in sRGB values as browsers do.
    private mutating func lay(_ row: UnsafeBufferPointer<UInt8>, over below: PixelColor, isPremultiplied: Bool) {
        let below = (UInt32(below.red), UInt32(below.green), UInt32(below.blue))
        flattened.withUnsafeMutableBufferPointer { flattened in
            for pixel in 0..<width {
                let (source, target) = (4 * pixel, 3 * pixel)
                let opacity = UInt32(row[source + 3])
                let share = isPremultiplied ? 255 : opacity
                func mix(_ color: UInt8, _ below: UInt32) -> UInt8 {
                    UInt8(min(255, (UInt32(color) * share + below * (255 - opacity) + 127) / 255))
                }
                flattened[target] = mix(row[source], below.0)
                flattened[target + 1] = mix(row[source + 1], below.1)
                flattened[target + 2] = mix(row[source + 2], below.2)
            }
        }
    }
}

/// The chequerboard of two greys that appears behind a transparent picture.
///
/// The squares have a fixed size in the output, not in the picture. So `OutputRows` blends the picture with each grey
/// and scales both results. Then `joined` takes each pixel from one of the results. The order of blending and scaling
/// does not matter, because both are weighted sums.
struct Chequer {
    /// One value for the light squares and one for the dark squares.
    struct Pair<Value: Sendable>: Sendable {
        var light: Value
        var dark: Value
    }

    /// The output's rows, blended with each of the two greys.
    typealias Rows = Pair<[UInt8]>

    /// The two greys. Neither black nor white shapes vanish on these greys.
    static let colors = Pair(
        light: PixelColor(red: 153, green: 153, blue: 153), dark: PixelColor(red: 102, green: 102, blue: 102))

    /// The width and height of a square, in output pixels.
    private let width: Int
    private let height = 8

    /// Creates a chequerboard whose squares look square on the screen.
    init(pixelAspect: Double) {
        width = max(1, Int((Double(height) / pixelAspect).rounded()))
    }

    /// Combines the picture on light grey and the picture on dark grey.
    func joined(_ pictures: Pair<PixelBuffer>) -> PixelBuffer {
        var bytes = pictures.light.bytes
        let size = pictures.light.size
        for y in 0..<size.height {
            for x in 0..<size.width where (x / width + y / height) % 2 == 1 {
                let start = (y * size.width + x) * PixelBuffer.bytesPerPixel
                for byte in start..<start + PixelBuffer.bytesPerPixel { bytes[byte] = pictures.dark.bytes[byte] }
            }
        }
        return PixelBuffer(size: size, rows: bytes, background: .black)
    }
}
