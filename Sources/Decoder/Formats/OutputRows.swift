import Pixels

/// The way of a picture's rows from the file to the answer: laid over what shows through, scaled, and brought to sRGB.
///
///     var output = OutputRows(plan, source: size, region: plan.region, channels: .rgb, conversion: nil)
///     for row in output.sourceRows { output.add(pixels(ofRow: row)) }
///     return output.reply(facts, isComplete: true)
///
/// The colours of an opaque picture are converted last, in the few pixels of the output. The mean of colours in the file's
/// space is not quite the mean of what they are in sRGB, but the curves of the spaces in use are so alike that the two
/// differ less than either does from the mean of the light, which nobody takes here. A transparent picture's colours are
/// converted before they are mixed with a background, which is sRGB already.
struct OutputRows {
    /// What a row is made of.
    enum Channels: Int {
        /// Red, green, blue.
        case rgb = 3
        /// The same and opacity.
        case rgba = 4
        /// The same, with colours that are multiplied by it already.
        case premultiplied = 5

        /// Bytes a pixel.
        var count: Int { self == .rgb ? 3 : 4 }
    }

    private let plan: DecodePlan
    private let channels: Channels
    private let conversion: ColourConversion?
    private let width: Int

    /// The rows over the background, or over the chequer's light squares.
    private var filter: AreaFilter
    private var rows: [UInt8]
    /// The rows over the chequer's dark squares, where there is one.
    private var darkFilter: AreaFilter?
    private var darkRows: [UInt8] = []
    /// One row in sRGB with its opacity, used for transparent pictures of another space only.
    private var converted: [UInt8] = []
    /// One opaque row, used for transparent pictures only.
    private var flattened: [UInt8] = []

    /// Prepares for the rows of a picture of size `source`, of which `region` is wanted.
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

    /// The source rows to be added, in this order.
    var sourceRows: Range<Int> { filter.sourceRows }

    /// Whether there is a row to show.
    var hasRows: Bool { !rows.isEmpty }

    /// Takes the next of `sourceRows`.
    mutating func add(_ row: UnsafeBufferPointer<UInt8>) {
        guard channels != .rgb else { return filter.add(row: row, appendingOutputTo: &rows) }
        if conversion != nil {
            convert(row)
            converted.withUnsafeBufferPointer { addTransparent($0, isPremultiplied: false) }
        } else {
            addTransparent(row, isPremultiplied: channels == .premultiplied)
        }
    }

    /// The answer, with as many rows as there were. A picture that breaks off before there is anything of it is refused: what
    /// would be shown is blank.
    ///
    /// - Parameter cameToAnything: false if the rows that were added are blank, because nothing was there to be put into them.
    consuming func reply(
        _ facts: PictureFacts, isComplete: Bool, cameToAnything: Bool = true
    ) throws(DecodeFailure) -> DecodeReply {
        guard isComplete || hasRows && cameToAnything else { throw .damaged("there is nothing of it to show") }
        if darkFilter != nil {
            return plan.reply(facts, rows: Chequer.Rows(light: rows, dark: darkRows), isComplete: isComplete)
        }
        if channels == .rgb, let conversion {
            rows.withUnsafeMutableBufferPointer { conversion.convert($0, channels: PixelBuffer.bytesPerPixel) }
        }
        return plan.reply(facts, rows: rows, isComplete: isComplete)
    }

    private mutating func addTransparent(_ row: UnsafeBufferPointer<UInt8>, isPremultiplied: Bool) {
        let below = darkFilter == nil ? plan.request.background : Chequer.colors.light
        lay(row, over: below, isPremultiplied: isPremultiplied)
        flattened.withUnsafeBufferPointer { filter.add(row: $0, appendingOutputTo: &rows) }
        guard darkFilter != nil else { return }
        lay(row, over: Chequer.colors.dark, isPremultiplied: isPremultiplied)
        flattened.withUnsafeBufferPointer { darkFilter?.add(row: $0, appendingOutputTo: &darkRows) }
    }

    /// Brings a transparent row to sRGB; its colours are then not multiplied by their opacity.
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

    /// Lays a row over a colour: each colour is mixed by its opacity, in sRGB's own steps as browsers do it.
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

/// The board of two greys that shows through where a picture is transparent.
///
/// Its squares are of the output, not of the picture, which may be scaled to any size afterwards. So a picture is laid over
/// each grey alone, both are scaled, and the board chooses between the two: what lies over a colour and what is scaled can
/// be exchanged, because both are weighted sums.
struct Chequer {
    /// One thing over each grey.
    struct Pair<Value: Sendable>: Sendable {
        var light: Value
        var dark: Value
    }

    /// The rows that came of a picture.
    typealias Rows = Pair<[UInt8]>

    /// The greys: between black and white, so that neither hides before them.
    static let colors = Pair(
        light: PixelColor(red: 153, green: 153, blue: 153), dark: PixelColor(red: 102, green: 102, blue: 102))

    /// A square's sides in output pixels.
    private let width: Int
    private let height = 8

    /// Makes a board whose squares look square on the screen.
    init(pixelAspect: Double) {
        width = max(1, Int((Double(height) / pixelAspect).rounded()))
    }

    /// The picture over the board, of the picture over each of its greys.
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
