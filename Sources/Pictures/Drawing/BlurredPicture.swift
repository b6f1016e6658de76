import Cells
import Glibc
import Pixels
import Text

/// A blurred picture of a photo, which a server sends in about 25 bytes with its list (a ThumbHash).
///
/// Lists show the blurred picture until the thumbnail has arrived. The bytes are the amplitudes of a few cosine waves,
/// for the brightness, two differences of colours and perhaps the opacity. So the picture can be drawn in any size,
/// without a file and without the decoder's process.
public struct BlurredPicture {
    private let brightness: Waves
    private let yellowness: Waves
    private let redness: Waves
    /// The opacity; nil if the picture has no transparent parts.
    private let opacity: Waves?
    /// The width divided by the height, approximately.
    private let ratio: Double

    /// Creates the picture. Returns nil if the text is no ThumbHash in Base64.
    public init?(thumbhash text: String) {
        guard text.utf8.count <= Self.longestText, let bytes = Base64.decode(text.utf8), bytes.count >= Self.headSize
        else { return nil }
        let head = bytes.prefix(Self.headSize).reversed().reduce(0) { $0 << 8 | Int($1) }
        /// Returns a field of bits in the head, scaled to a number from 0 to 1.
        func part(_ shift: Int, bits: Int) -> Float { Float(head >> shift & (1 << bits - 1)) / Float(1 << bits - 1) }
        let (isOpaque, isLandscape) = (head >> 23 & 1 == 0, head >> 39 & 1 == 1)
        let (long, short) = (isOpaque ? 7 : 5, head >> 24 & 7)
        let (columns, rows) = isLandscape ? (long, max(3, short)) : (max(3, short), long)
        var numbers = Nibbles(bytes[Self.headSize...])
        let (mean, scale) = isOpaque ? (1, 0) : (numbers.nextPart(), numbers.nextPart())
        brightness = Waves(part(0, bits: 6), columns, rows, scale: part(18, bits: 5), &numbers)
        yellowness = Waves(part(6, bits: 6) * 2 - 1, 3, 3, scale: part(27, bits: 6) * 1.25, &numbers)
        redness = Waves(part(12, bits: 6) * 2 - 1, 3, 3, scale: part(33, bits: 6) * 1.25, &numbers)
        opacity = isOpaque ? nil : Waves(mean, 5, 5, scale: scale, &numbers)
        guard numbers.isComplete else { return nil }
        let longness = Double(long) / Double(max(1, short))
        ratio = isLandscape ? longness : 1 / longness
    }

    /// The bytes before the amplitudes.
    private static let headSize = 5
    /// The maximum number of characters of a ThumbHash. The longest one has 36.
    private static let longestText = 48

    /// Draws the middle of the picture, so that it fills the cells.
    ///
    /// The characters are simple, because finer characters would show no more detail.
    public func filling(_ size: Size, _ style: DrawingStyle) -> CellBlock {
        var style = style
        style.pixels = nil
        style.symbols = [.ascii, .ramp].contains(style.symbols) ? .ramp : .half
        let parts = style.pixelsPerCell
        let pixels = PixelSize(width: size.columns * parts.columns, height: size.rows * parts.rows)
        guard !size.isEmpty else { return CellBlock(size: size, cells: []) }
        let wanted = Double(pixels.width) * style.pixelAspect / Double(pixels.height)
        return SymbolDrawing.draw(
            self.pixels(
                pixels, width: Float(min(1, wanted / ratio)), height: Float(min(1, ratio / wanted)),
                over: style.knownBackground ?? PixelColor(red: 0, green: 0, blue: 0)), style)
    }

    /// Returns the pixels of the picture's middle.
    ///
    /// - Parameters:
    ///   - width: the visible part of the picture's width, from 0 to 1.
    ///   - height: the visible part of the picture's height, from 0 to 1.
    func pixels(_ size: PixelSize, width: Float, height: Float, over background: PixelColor) -> PixelBuffer {
        let columns = (0..<size.width).map { Waves.cosines(Self.place($0, of: size.width, visible: width)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(PixelBuffer.byteCount(of: size) ?? 0)
        for y in 0..<size.height {
            let vertical = Waves.cosines(Self.place(y, of: size.height, visible: height))
            let (light, yellow, red) = (
                brightness.line(vertical), yellowness.line(vertical), redness.line(vertical)
            )
            let opacity = opacity?.line(vertical)
            for column in columns {
                let (l, p, q) = ((light * column).sum(), (yellow * column).sum(), (red * column).sum())
                let blue = l - p * 2 / 3
                let sum = (3 * l - blue + q) / 2
                var colour = SIMD3(sum, sum - q, blue)
                if let opacity {
                    let alpha = min(max((opacity * column).sum(), 0), 1)
                    let behind = SIMD3(Float(background.red), Float(background.green), Float(background.blue)) / 255
                    colour = colour.clamped(lowerBound: .zero, upperBound: .one) * alpha + behind * (1 - alpha)
                }
                colour = (colour * 255).clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
                for index in 0..<3 { bytes.append(UInt8(colour[index])) }
            }
        }
        return PixelBuffer(size: size, rows: bytes, background: background)
    }

    /// Returns the position of a pixel's centre in the picture, from 0 to 1.
    private static func place(_ index: Int, of count: Int, visible: Float) -> Float {
        0.5 + ((Float(index) + 0.5) / Float(count) - 0.5) * visible
    }
}

/// The waves of one property of a picture, such as its brightness.
private struct Waves {
    /// The amplitudes. The index is the number of half waves down the picture; the lane is the number across.
    private var amplitudes: [SIMD8<Float>]

    /// Reads the amplitudes. A ThumbHash stores only waves of low frequencies, so later rows have fewer columns.
    init(_ mean: Float, _ columns: Int, _ rows: Int, scale: Float, _ numbers: inout Nibbles) {
        amplitudes = []
        for row in 0..<rows {
            var line = SIMD8<Float>()
            for column in 0..<columns where column * rows < columns * (rows - row) {
                // The mean comes from the head, not from the waves.
                line[column] = row == 0 && column == 0 ? mean : (numbers.nextPart() * 2 - 1) * scale * 2
            }
            amplitudes.append(line)
        }
    }

    /// Returns the amplitudes of the horizontal waves at one height of the picture. The scalar product of these
    /// amplitudes with the cosines of a horizontal position is the value at that position.
    func line(_ cosines: SIMD8<Float>) -> SIMD8<Float> {
        var sum = SIMD8<Float>()
        for (row, line) in amplitudes.enumerated() { sum += line * cosines[row] }
        return sum
    }

    /// Returns the values of all cosine waves at a place from 0 to 1.
    static func cosines(_ place: Float) -> SIMD8<Float> {
        var values = SIMD8<Float>()
        for index in 0..<8 { values[index] = cosf(.pi * place * Float(index)) }
        return values
    }
}

/// Reads numbers of four bits. The first number of a byte is in its lower bits.
private struct Nibbles {
    private var bytes: ArraySlice<UInt8>
    private var isUpper = false
    /// Whether the bytes contained all numbers so far.
    private(set) var isComplete = true

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// Returns the next number, scaled to a number from 0 to 1.
    mutating func nextPart() -> Float {
        guard let byte = bytes.first else {
            isComplete = false
            return 0
        }
        defer {
            if isUpper { bytes = bytes.dropFirst() }
            isUpper.toggle()
        }
        return Float(isUpper ? byte >> 4 : byte & 15) / 15
    }
}
