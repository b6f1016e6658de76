/// Brings the colours of a picture with a profile to sRGB, by tables: a curve for each channel, a matrix, and back.
///
/// Profiles made of curves and a matrix are understood, as those of cameras, phones and editors are (Display P3, Adobe RGB,
/// ProPhoto). A picture with another one, or with one that makes no sense, is shown as if it were sRGB.
struct ColourConversion: Sendable {
    /// Light for each number of the three channels, one after the other.
    private let light: [Float]
    /// The file's light to sRGB's, row by row.
    private let matrix: [Float]
    /// sRGB's number for light in steps of 1 / 16,383: five of them for the smallest difference there is.
    private let encoded: [UInt8]

    private static let steps: Float = 16_383

    /// XYZ under D50, which profiles are about, to the light of sRGB's colours: the inverse of sRGB's own three.
    private static let fromD50: [Double] = [
        3.133_856_1, -1.616_866_7, -0.490_614_6,
        -0.978_768_4, 1.916_141_5, 0.033_454_0,
        0.071_945_3, -0.228_991_4, 1.405_242_7,
    ]

    /// Reads a profile. Nothing where there is nothing to do, because it is sRGB's or as good as that, and nothing where it
    /// is not understood.
    init?(profile bytes: UnsafeRawBufferPointer?) {
        guard let profile = bytes.flatMap(ICCProfile.init),
            profile.connection == ICCProfile.signature("XYZ ")
        else { return nil }
        switch profile.space {
        case ICCProfile.signature("RGB "): self.init(colours: profile)
        case ICCProfile.signature("GRAY"): self.init(greys: profile)
        default: return nil
        }
    }

    /// The same for a profile in an array.
    init?(profile bytes: [UInt8]?) {
        guard let bytes else { return nil }
        let conversion = bytes.withUnsafeBytes { ColourConversion(profile: $0) }
        guard let conversion else { return nil }
        self = conversion
    }

    /// Converts pixels of three or four channels, of which the fourth stays.
    func convert(_ pixels: UnsafeMutableBufferPointer<UInt8>, channels: Int) {
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

    private init?(colours profile: ICCProfile) {
        guard let red = profile.element("rTRC").flatMap(ToneCurve.init),
            let green = profile.element("gTRC").flatMap(ToneCurve.init),
            let blue = profile.element("bTRC").flatMap(ToneCurve.init),
            let redPlace = profile.element("rXYZ").flatMap(Self.place),
            let greenPlace = profile.element("gXYZ").flatMap(Self.place),
            let bluePlace = profile.element("bXYZ").flatMap(Self.place)
        else { return nil }
        var matrix: [Double] = []
        for row in 0..<3 {
            for place in [redPlace, greenPlace, bluePlace] {
                var light = Self.fromD50[3 * row] * place[0]
                light += Self.fromD50[3 * row + 1] * place[1]
                light += Self.fromD50[3 * row + 2] * place[2]
                matrix.append(light)
            }
        }
        self.init([red, green, blue], matrix)
    }

    /// X, Y and Z of an element that holds them.
    private static func place(_ element: ICCProfile.Element) -> [Double]? {
        guard element.type == ICCProfile.signature("XYZ ") else { return nil }
        let numbers = [8, 12, 16].compactMap { element.fixed(at: $0) }
        return numbers.count == 3 ? numbers : nil
    }

    /// A grey picture comes with three equal channels, and stays grey.
    private init?(greys profile: ICCProfile) {
        guard let curve = profile.element("kTRC").flatMap(ToneCurve.init) else { return nil }
        self.init([curve, curve, curve], [1, 0, 0, 0, 1, 0, 0, 0, 1])
    }

    private init?(_ curves: [ToneCurve], _ matrix: [Double]) {
        // White is white in every profile that is meant for pictures.
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
        if isNearlyNothing { return nil }
    }

    /// sRGB's curve the other way round: a number ends where the light halfway to the next one begins.
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

    /// Whether no colour of a sample changes by more than a step or two, which nobody sees.
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
