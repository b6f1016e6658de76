import Glibc

/// Converts a picture's colours from its colour profile to sRGB.
///
/// The type supports profiles with curves and a matrix, which cameras, phones and editors write (Display P3, Adobe RGB,
/// ProPhoto). It also supports profiles with a ``ColourTable``. Decoders treat pictures with other or broken profiles
/// as sRGB.
struct ColourConversion: Sendable {
    /// The linear light of each stored value, for the three channels one after the other.
    private let light: [Float]
    /// The matrix from the file's linear light to sRGB's, row by row.
    private let matrix: [Float]
    /// The sRGB value for each of 16,384 levels of linear light. Neighbouring sRGB values are about five or more
    /// levels apart.
    private let encoded: [UInt8]
    /// The reduction of high dynamic range; nil for ordinary pictures.
    private let tone: ToneMap?
    /// The profile's table; nil for a profile with curves and a matrix. A table replaces all properties above.
    private let table: ColourTable?

    private static let steps: Float = 16_383

    /// The matrix from XYZ under D50, the connection space of profiles, to linear sRGB.
    static let fromD50: [Double] = [
        3.133_856_1, -1.616_866_7, -0.490_614_6,
        -0.978_768_4, 1.916_141_5, 0.033_454_0,
        0.071_945_3, -0.228_991_4, 1.405_242_7,
    ]

    /// Creates a conversion. Returns nil if the profile is equivalent to sRGB or not supported.
    init?(profile bytes: UnsafeRawBufferPointer?) {
        guard let profile = bytes.flatMap(ICCProfile.init) else { return nil }
        if profile.space == ICCProfile.signature("RGB "), let table = ColourTable(profile, channels: 3) {
            self.init(table)
            return
        }
        guard profile.connection == ICCProfile.signature("XYZ ") else { return nil }
        switch profile.space {
        case ICCProfile.signature("RGB "): self.init(colours: profile)
        case ICCProfile.signature("GRAY"): self.init(greys: profile)
        default: return nil
        }
    }

    /// Creates a conversion from a profile in an array.
    init?(profile bytes: [UInt8]?) {
        guard let bytes else { return nil }
        let conversion = bytes.withUnsafeBytes { ColourConversion(profile: $0) }
        guard let conversion else { return nil }
        self = conversion
    }

    /// Creates a conversion from a transfer function and primaries, as numbers of ITU-T H.273. Returns nil for sRGB,
    /// and for unsupported numbers.
    init?(transfer: Int, primaries: Int) {
        guard let matrix = Self.matrices[primaries] else { return nil }
        switch transfer {
        case TransferNumber.pq: self.init(.pq, matrix)
        case TransferNumber.hlg: self.init(.hlg, matrix)
        // Treat the transfer functions of television as sRGB.
        case 1, 6, 13, 14, 15: self.init([.sRGB, .sRGB, .sRGB], matrix)
        default: return nil
        }
    }

    /// Whether the picture has a high dynamic range.
    var isForHighRange: Bool { tone != nil }

    /// The code numbers of the transfer functions for high dynamic range.
    enum TransferNumber {
        static let pq = 16
        static let hlg = 18
    }

    /// The matrices to linear sRGB, by the number of the primaries. The primaries are those of sRGB, BT.2020 and
    /// Display P3.
    private static let matrices: [Int: [Double]] = [
        1: [1, 0, 0, 0, 1, 0, 0, 0, 1],
        9: [1.660_491, -0.587_641, -0.072_850, -0.124_550, 1.132_900, -0.008_350, -0.018_151, -0.100_579, 1.118_730],
        12: [1.224_940, -0.224_940, 0, -0.042_057, 1.042_057, 0, -0.019_638, -0.078_636, 1.098_274],
    ]

    /// The conversion from Adobe RGB (1998).
    static let adobeRGB = ColourConversion(
        [ToneCurve](repeating: .power(563.0 / 256), count: 3),
        [1.398_36, -0.398_36, 0, 0, 1, 0, 0, -0.042_93, 1.042_93])

    private init(_ tone: ToneMap, _ matrix: [Double]) {
        let light = (0...255).map { Float(tone.light(Double($0) / 255)) }
        self.light = light + light + light
        self.matrix = matrix.map { Float($0) }
        encoded = Self.encodedLight()
        self.tone = tone
        table = nil
    }

    private init?(_ table: ColourTable) {
        (light, matrix, encoded, tone, self.table) = ([], [], [], nil, table)
        if isNearlyNothing { return nil }
    }

    /// Converts pixels of three or four channels. A fourth channel stays unchanged.
    func convert(_ pixels: UnsafeMutableBufferPointer<UInt8>, channels: Int) {
        if let table { return table.convert(pixels, channels: channels) }
        if let tone { return convert(pixels, channels: channels, tone) }
        light.withUnsafeBufferPointer { light in
            matrix.withUnsafeBufferPointer { matrix in
                encoded.withUnsafeBufferPointer { encoded in
                    for pixel in stride(from: 0, to: pixels.count - channels + 1, by: channels) {
                        let red = light[Int(pixels[pixel])]
                        let green = light[256 + Int(pixels[pixel + 1])]
                        let blue = light[512 + Int(pixels[pixel + 2])]
                        for row in 0..<3 {
                            let sum = matrix[3 * row] * red + matrix[3 * row + 1] * green + matrix[3 * row + 2] * blue
                            pixels[pixel + row] = encoded[Int(max(0, min(sum, 1)) * Self.steps + 0.5)]
                        }
                    }
                }
            }
        }
    }

    /// Converts pixels of high dynamic range.
    private func convert(_ pixels: UnsafeMutableBufferPointer<UInt8>, channels: Int, _ tone: ToneMap) {
        for pixel in stride(from: 0, to: pixels.count - channels + 1, by: channels) {
            let red = light[Int(pixels[pixel])]
            let green = light[256 + Int(pixels[pixel + 1])]
            let blue = light[512 + Int(pixels[pixel + 2])]
            let gain = tone.gain(red, green, blue)
            for row in 0..<3 {
                let sum = matrix[3 * row] * red + matrix[3 * row + 1] * green + matrix[3 * row + 2] * blue
                pixels[pixel + row] = encoded[Int(max(0, min(sum * gain, 1)) * Self.steps + 0.5)]
            }
        }
    }

    private init?(colours profile: ICCProfile) {
        guard let red = profile.element("rTRC").flatMap(ToneCurve.init),
            let green = profile.element("gTRC").flatMap(ToneCurve.init),
            let blue = profile.element("bTRC").flatMap(ToneCurve.init),
            let redPrimary = profile.element("rXYZ").flatMap(Self.primary),
            let greenPrimary = profile.element("gXYZ").flatMap(Self.primary),
            let bluePrimary = profile.element("bXYZ").flatMap(Self.primary)
        else { return nil }
        var matrix: [Double] = []
        for row in 0..<3 {
            for primary in [redPrimary, greenPrimary, bluePrimary] {
                var light = Self.fromD50[3 * row] * primary[0]
                light += Self.fromD50[3 * row + 1] * primary[1]
                light += Self.fromD50[3 * row + 2] * primary[2]
                matrix.append(light)
            }
        }
        self.init([red, green, blue], matrix)
    }

    /// Returns X, Y and Z from a profile element.
    private static func primary(_ element: ICCProfile.Element) -> [Double]? {
        guard element.type == ICCProfile.signature("XYZ ") else { return nil }
        let numbers = [8, 12, 16].compactMap { element.fixed(at: $0) }
        return numbers.count == 3 ? numbers : nil
    }

    /// Creates a conversion for a grey picture. The picture's three channels stay equal.
    private init?(greys profile: ICCProfile) {
        guard let curve = profile.element("kTRC").flatMap(ToneCurve.init) else { return nil }
        self.init([curve, curve, curve], [1, 0, 0, 0, 1, 0, 0, 0, 1])
    }

    private init?(_ curves: [ToneCurve], _ matrix: [Double]) {
        // Refuse a profile whose white is not white.
        for row in 0..<3 {
            let white: Double = matrix[3 * row..<3 * row + 3].reduce(0, +)
            guard abs(white - 1) < 0.1 else { return nil }
        }
        var light: [Float] = []
        for curve in curves {
            for number in 0...255 {
                guard let value = curve.light(Double(number) / 255) else { return nil }
                light.append(Float(value))
            }
        }
        self.light = light
        self.matrix = matrix.map { Float($0) }
        encoded = Self.encodedLight()
        (tone, table) = (nil, nil)
        if isNearlyNothing { return nil }
    }

    /// Returns the table from linear light to the nearest sRGB value.
    private static func encodedLight() -> [UInt8] {
        var table: [UInt8] = []
        table.reserveCapacity(Int(steps) + 1)
        for number in 0...255 {
            let limit = number < 255 ? ToneCurve.sRGB.light((Double(number) + 0.5) / 255) ?? 1 : 1
            let end = number < 255 ? Int((limit * Double(steps)).rounded(.up)) : Int(steps) + 1
            while table.count < end { table.append(UInt8(number)) }
        }
        return table
    }

    /// Whether the conversion changes sample colours by at most two steps, which is invisible.
    private var isNearlyNothing: Bool {
        var sample: [UInt8] = []
        for number in UInt8.min...UInt8.max { sample += [number, number, number] }
        let levels: [UInt8] = [0, 64, 128, 192, 255]
        for red in levels {
            for green in levels {
                for blue in levels { sample += [red, green, blue] }
            }
        }
        var converted = sample
        converted.withUnsafeMutableBufferPointer { convert($0, channels: 3) }
        return zip(sample, converted).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
    }
}

/// Reduces a high dynamic range to the range of an ordinary screen. The white of such a screen is 203 candela per
/// square metre (ITU-R BT.2408).
///
/// Dark parts do not change. The curve of ITU-R BT.2390, 5.4.1, compresses bright parts to at most white; it assumes
/// pictures made for a screen of 1,000 candela per square metre. All channels of a pixel get the same factor, so hues
/// do not change.
struct ToneMap: Sendable {
    /// Absolute light ("perceptual quantizer", SMPTE ST 2084).
    static let pq = ToneMap(isRelative: false)
    /// Light relative to the screen's ("hybrid log-gamma", ITU-R BT.2100).
    static let hlg = ToneMap(isRelative: true)

    private let isRelative: Bool
    /// The factor for each brightness of a pixel's brightest channel. The index is proportional to the square root of
    /// the channel's light.
    private let gains: [Float]
    /// The factor that a screen applies to relative light; empty for absolute light. The index is proportional to the
    /// square root of a pixel's luminance.
    private let screen: [Float]

    private static let white = 203.0
    private static let peak = 1_000.0
    /// The brightest light that can be stored, in units of white.
    private static let most = 10_000 / white
    private static let steps = 1_023

    private init(isRelative: Bool) {
        self.isRelative = isRelative
        gains = (0...Self.steps).map { step in
            let root = Double(step) / Double(Self.steps)
            let light = root * root * Self.most
            return light > 0 ? Float(Self.bent(light) / light) : 1
        }
        // The exponent is that of a screen of 1,000 candela per square metre, 1.2, minus 1. It is doubled, because the
        // index is a square root.
        screen = isRelative ? (0...Self.steps).map { Float(pow(Double($0) / Double(Self.steps), 0.4)) } : []
    }

    /// Returns the linear light of a stored value from 0 to 1. The unit is white for absolute light, and the maximum
    /// for relative light.
    func light(_ value: Double) -> Double {
        guard isRelative else { return Self.light(pq: value) / Self.white }
        let (a, b, c) = (0.178_832_77, 0.284_668_92, 0.559_910_73)
        return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }

    /// Returns the factor for a pixel's light.
    func gain(_ red: Float, _ green: Float, _ blue: Float) -> Float {
        var factor: Float = 1
        if isRelative {
            let luminance = 0.2627 * red + 0.6780 * green + 0.0593 * blue
            factor = Float(Self.peak / Self.white) * screen[Self.step(luminance)]
        }
        let brightest = max(red, green, blue) * factor
        return factor * gains[Self.step(brightest / Float(Self.most))]
    }

    private static func step(_ share: Float) -> Int {
        Int(max(0, min(share, 1)).squareRoot() * Float(steps) + 0.5)
    }

    /// Compresses light, in units of white. Light above the knee of BT.2390 follows a spline that ends at white.
    private static func bent(_ light: Double) -> Double {
        let whole = value(ofLight: peak)
        let value = min(1, value(ofLight: light * white) / whole)
        let most = Self.value(ofLight: white) / whole
        let knee = 1.5 * most - 0.5
        guard value > knee else { return light }
        let t = (value - knee) / (1 - knee)
        let (square, cube) = (t * t, t * t * t)
        var bent = (2 * cube - 3 * square + 1) * knee
        bent += (cube - 2 * square + t) * (1 - knee)
        bent += (3 * square - 2 * cube) * most
        return Self.light(pq: bent * whole) / white
    }

    private static let (m1, m2) = (0.159_301_757_812_5, 78.843_75)
    private static let (c1, c2, c3) = (0.835_937_5, 18.851_562_5, 18.6875)

    /// Returns the light of a PQ value in candela per square metre.
    private static func light(pq value: Double) -> Double {
        let power = pow(max(0, value), 1 / m2)
        return 10_000 * pow(max(0, power - c1) / (c2 - c3 * power), 1 / m1)
    }

    /// Returns the PQ value of light in candela per square metre.
    private static func value(ofLight light: Double) -> Double {
        let power = pow(light / 10_000, m1)
        return pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }
}

/// A channel's curve from stored values to linear light. The curve is a table, or a formula with up to seven numbers.
enum ToneCurve {
    /// The light at two or more evenly spaced values from 0 to 1.
    case table([Double])
    /// "Y = (aX + b)^g + e for X ≥ d, Y = cX + f for X < d" (ICC.1, 10.18), which includes the simpler formulas.
    case formula(g: Double, a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)

    /// sRGB's own curve.
    static let sRGB = ToneCurve.formula(g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045, e: 0, f: 0)

    /// Reads a profile element of type "curv" or "para". Returns nil if it has another type or ends early.
    init?(_ element: ICCProfile.Element) {
        if element.type == ICCProfile.signature("curv") {
            self.init(table: element)
        } else if element.type == ICCProfile.signature("para") {
            self.init(formula: element)
        } else {
            return nil
        }
    }

    /// Returns the number of bytes of the curve at the start of an element. Returns nil if there is no valid curve.
    static func length(of element: ICCProfile.Element) -> Int? {
        switch element.type {
        case ICCProfile.signature("curv"): element.number(at: 8).flatMap { $0 <= mostEntries ? 12 + 2 * $0 : nil }
        case ICCProfile.signature("para"): element.short(at: 8).flatMap { $0 <= 4 ? 12 + 4 * counts[$0] : nil }
        default: nil
        }
    }

    private static let mostEntries = 65_536
    /// The number of parameters of each kind of formula.
    private static let counts = [1, 3, 4, 5, 7]

    /// Returns the light for a value; both are from 0 to 1. Returns nil if the formula gives no finite number.
    func light(_ number: Double) -> Double? {
        let light: Double
        switch self {
        case .table(let values):
            let position = number * Double(values.count - 1)
            let index = min(Int(position), values.count - 2)
            light = values[index] + (values[index + 1] - values[index]) * (position - Double(index))
        case .formula(let g, let a, let b, let c, let d, let e, let f):
            light = number >= d ? pow(max(0, a * number + b), g) + e : c * number + f
        }
        return light.isFinite ? max(0, min(light, 1)) : nil
    }

    fileprivate static func power(_ gamma: Double) -> ToneCurve {
        .formula(g: gamma, a: 1, b: 0, c: 0, d: 0, e: 0, f: 0)
    }

    /// Reads a curve of type "curv". "If count is 0 the curve is an identity; if 1, the value is a gamma as
    /// u8Fixed8Number" (ICC.1, 10.6).
    private init?(table element: ICCProfile.Element) {
        guard let count = element.number(at: 8) else { return nil }
        switch count {
        case 0: self = .power(1)
        case 1:
            guard let gamma = element.short(at: 12) else { return nil }
            self = .power(Double(gamma) / 256)
        default:
            guard count <= Self.mostEntries, element.short(at: 12 + 2 * (count - 1)) != nil else { return nil }
            self = .table((0..<count).map { Double(element.short(at: 12 + 2 * $0) ?? 0) / 65_535 })
        }
    }

    private init?(formula element: ICCProfile.Element) {
        guard let kind = element.short(at: 8), kind <= 4 else { return nil }
        let count = Self.counts[kind]
        let numbers = (0..<count).compactMap { element.fixed(at: 12 + 4 * $0) }
        guard numbers.count == count else { return nil }
        let g = numbers[0]
        guard kind > 0 else {
            self = .power(g)
            return
        }
        let (a, b) = (numbers[1], numbers[2])
        // The first two formulas are constant below this value.
        let foot = a != 0 ? -b / a : 0
        switch kind {
        case 1: self = .formula(g: g, a: a, b: b, c: 0, d: foot, e: 0, f: 0)
        case 2: self = .formula(g: g, a: a, b: b, c: 0, d: foot, e: numbers[3], f: numbers[3])
        case 3: self = .formula(g: g, a: a, b: b, c: numbers[3], d: numbers[4], e: 0, f: 0)
        default:
            self = .formula(g: g, a: a, b: b, c: numbers[3], d: numbers[4], e: numbers[5], f: numbers[6])
        }
    }
}

/// An untrusted colour profile: its header and its elements. The code checks every offset and copies nothing.
struct ICCProfile {
    /// The maximum number of bytes of a profile. Profiles of printing presses have up to three megabytes.
    static let longest = 4 << 20

    private static let headerLength = 128
    private static let mostElements = 200

    /// An element's bytes, which begin with its type.
    struct Element {
        fileprivate let bytes: UnsafeRawBufferPointer

        var type: Int? { number(at: 0) }

        func number(at offset: Int) -> Int? { ICCProfile.number(bytes, at: offset) }

        func byte(at offset: Int) -> Int? {
            offset >= 0 && offset < bytes.count ? Int(bytes[offset]) : nil
        }

        /// Returns the bytes from an offset on.
        func part(from offset: Int) -> Element? {
            guard offset >= 0, offset < bytes.count else { return nil }
            return Element(bytes: UnsafeRawBufferPointer(rebasing: bytes[offset...]))
        }

        /// Reads numbers of one or two bytes. Scales them to the range from 0 to 1. Returns nil if the element ends
        /// early.
        func numbers(_ count: Int, depth: Int, at offset: Int) -> [Double]? {
            guard count >= 0, offset >= 0, offset <= bytes.count, count <= (bytes.count - offset) / depth else {
                return nil
            }
            return depth == 1
                ? (0..<count).map { Double(bytes[offset + $0]) / 255 }
                : (0..<count).map {
                    Double(Int(bytes[offset + 2 * $0]) << 8 | Int(bytes[offset + 2 * $0 + 1])) / 65_535
                }
        }

        func short(at offset: Int) -> Int? {
            guard offset >= 0, offset + 2 <= bytes.count else { return nil }
            return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        }

        /// Reads a signed number with 16 bits before and 16 bits after the binary point.
        func fixed(at offset: Int) -> Double? {
            number(at: offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
        }
    }

    private let bytes: UnsafeRawBufferPointer

    /// Checks a profile's header. Returns nil if the profile is invalid or too long.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.headerLength, bytes.count <= Self.longest,
            Self.number(bytes, at: 36) == Self.signature("acsp")
        else { return nil }
        self.bytes = bytes
    }

    /// The colour space of the picture: "RGB ", "GRAY", "CMYK" or an unsupported space.
    var space: Int? { Self.number(bytes, at: 16) }

    /// The space that the profile converts to: "XYZ ", or "Lab " in profiles with a table.
    var connection: Int? { Self.number(bytes, at: 20) }

    /// Returns the element with a name. Returns nil if it is missing or lies outside the profile.
    func element(_ name: StaticString) -> Element? {
        let wanted = Self.signature(name)
        let count = min(Self.number(bytes, at: Self.headerLength) ?? 0, Self.mostElements)
        for index in 0..<count {
            let entry = Self.headerLength + 4 + 12 * index
            guard let found = Self.number(bytes, at: entry), let start = Self.number(bytes, at: entry + 4),
                let length = Self.number(bytes, at: entry + 8)
            else { return nil }
            if found == wanted {
                guard start <= bytes.count, length <= bytes.count - start else { return nil }
                return Element(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
            }
        }
        return nil
    }

    /// Converts four letters to the number that encodes them.
    static func signature(_ name: StaticString) -> Int {
        UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        guard offset >= 0, offset + 4 <= bytes.count else { return nil }
        return Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
}
