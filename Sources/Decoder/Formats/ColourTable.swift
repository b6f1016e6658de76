import Glibc

/// Converts colours to sRGB with the lookup table of an ICC profile.
///
/// The table of a profile converts a colour in steps: curves, a grid of colours, perhaps a matrix, and further curves.
/// The result is CIE Lab or XYZ. This type performs these steps only for the points of a grid of its own, and stores
/// their sRGB values. So each pixel needs only one interpolation.
///
///     ColourTable(profile, channels: 4)?.convert(inks, into: &row)
struct ColourTable: Sendable {
    /// The number of a colour's channels: three for RGB, four for CMYK.
    private let channels: Int
    /// The sRGB values of the grid's points, in units of 1/256. From point to point, the fourth channel changes
    /// slowest, then the first.
    private let grid: [Int32]
    /// For each stored value, the grid point below and the distance from it. The distance is in units of 1/256.
    private let steps: [(index: Int, share: Int32)]
    private let points: Int

    /// Creates a table. Returns nil if the profile has no table for this number of channels, or a broken one.
    init?(_ profile: ICCProfile, channels: Int) {
        guard channels == 3 || channels == 4, let element = profile.element("A2B0"),
            let stages = ProfileStages(element, channels: channels, connection: profile.connection)
        else { return nil }
        self.channels = channels
        // Other colour engines use these sizes, too. With 33 points, four channels would take a second.
        points = channels == 3 ? 33 : 17
        let last = Double(points - 1)
        steps = (0...255).map { value in
            let position = Double(value) / 255 * last
            let index = min(Int(position), Int(last) - 1)
            return (index, Int32(((position - Double(index)) * 256).rounded()))
        }
        let black = BlackPoint(stages.light(of: Array(repeating: channels == 3 ? 0 : 1, count: channels)))
        // Refuse a profile whose white is not white.
        let white = black.encoded(stages.light(of: Array(repeating: channels == 3 ? 1 : 0, count: channels)))
        guard white.min() > 200 << 8 else { return nil }
        var grid: [Int32] = []
        stages.forEachPoint(points) { light in
            let color = black.encoded(light)
            grid.append(color[0])
            grid.append(color[1])
            grid.append(color[2])
        }
        self.grid = grid
    }

    /// Converts pixels of three or four channels in place. A fourth channel is transparency and stays unchanged.
    func convert(_ pixels: UnsafeMutableBufferPointer<UInt8>, channels: Int) {
        for pixel in stride(from: 0, to: pixels.count - channels + 1, by: channels) {
            let color = tetrahedron(0, pixels[pixel], pixels[pixel + 1], pixels[pixel + 2])
            pixels[pixel] = Self.byte(color.0)
            pixels[pixel + 1] = Self.byte(color.1)
            pixels[pixel + 2] = Self.byte(color.2)
        }
    }

    /// Converts CMYK to RGB. After the exclusive or with `inversion`, 255 is full ink.
    func convert(inks: [UInt8], inversion: UInt8, into colors: inout [UInt8]) {
        let plane = 3 * points * points * points
        for pixel in 0..<min(inks.count / 4, colors.count / 3) {
            let (cyan, magenta) = (inks[4 * pixel] ^ inversion, inks[4 * pixel + 1] ^ inversion)
            let (yellow, black) = (inks[4 * pixel + 2] ^ inversion, inks[4 * pixel + 3] ^ inversion)
            let step = steps[Int(black)]
            let light = tetrahedron(step.index * plane, cyan, magenta, yellow)
            let dark = tetrahedron((step.index + 1) * plane, cyan, magenta, yellow)
            colors[3 * pixel] = Self.byte(light.0 + ((dark.0 - light.0) * step.share) >> 8)
            colors[3 * pixel + 1] = Self.byte(light.1 + ((dark.1 - light.1) * step.share) >> 8)
            colors[3 * pixel + 2] = Self.byte(light.2 + ((dark.2 - light.2) * step.share) >> 8)
        }
    }

    private static func byte(_ value: Int32) -> UInt8 { UInt8(clamping: (value + 128) >> 8) }

    /// Interpolates between the four points of the tetrahedron that contains a colour.
    private func tetrahedron(
        _ start: Int, _ first: UInt8, _ second: UInt8, _ third: UInt8
    ) -> (Int32, Int32, Int32) {
        let (a, b, c) = (steps[Int(first)], steps[Int(second)], steps[Int(third)])
        let (alongA, alongB, alongC) = (3 * points * points, 3 * points, 3)
        let origin = start + a.index * alongA + b.index * alongB + c.index * alongC
        // The channels in the order of their shares, the largest first.
        var (large, middle, small) = ((a.share, alongA), (b.share, alongB), (c.share, alongC))
        if large.0 < middle.0 { swap(&large, &middle) }
        if middle.0 < small.0 { swap(&middle, &small) }
        if large.0 < middle.0 { swap(&large, &middle) }
        let second = origin + large.1
        let third = second + middle.1
        let fourth = third + small.1
        func value(_ channel: Int) -> Int32 {
            let start = grid[origin + channel] * (256 - large.0) + grid[second + channel] * (large.0 - middle.0)
            return (start + grid[third + channel] * (middle.0 - small.0) + grid[fourth + channel] * small.0) >> 8
        }
        return (value(0), value(1), value(2))
    }
}

/// Black point compensation: maps a profile's darkest colour to black. Otherwise, pictures for print would look grey.
private struct BlackPoint {
    /// The light of the connection space's white.
    static let white = SIMD3(0.9642, 1, 0.8249)

    private let scale: Double
    private let offset: SIMD3<Double>
    private let rows: [SIMD3<Double>]

    init(_ darkest: SIMD3<Double>) {
        // Only the luminance of the darkest colour is used, up to a limit.
        let luminance = max(0, min(darkest.y, 0.184))
        scale = 1 / (1 - luminance)
        offset = Self.white * (-luminance * scale)
        let matrix = ColourConversion.fromD50
        rows = (0..<3).map { SIMD3(matrix[3 * $0], matrix[3 * $0 + 1], matrix[3 * $0 + 2]) }
    }

    /// Returns the sRGB values of light, in units of 1/256.
    func encoded(_ light: SIMD3<Double>) -> SIMD3<Int32> {
        let light = light * scale + offset
        var color = SIMD3<Int32>()
        for row in 0..<3 {
            let linear = max(0, min((rows[row] * light).sum(), 1))
            let value = linear <= 0.003_130_8 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055
            color[row] = Int32(value * 255 * 256 + 0.5)
        }
        return color
    }
}

/// The steps of a profile's table, from a stored colour to XYZ under D50 (ICC.1, 10.10 to 10.12).
private struct ProfileStages {
    private let channels: Int
    private let input: [ToneCurve]
    private let grid: ColourGrid?
    private let middle: [ToneCurve]
    /// The three columns of factors, and the offsets; nil without a matrix.
    private let matrix: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)?
    private let output: [ToneCurve]
    private let connection: Connection

    /// The meaning of the last step's results.
    private enum Connection {
        case xyz
        /// CIE Lab, with a factor for its numbers. The numbers of versions 2 and 4 of the format differ by the factor
        /// 256/257.
        case lab(Double)
    }

    private static let longestTable = 4_096

    init?(_ element: ICCProfile.Element, channels: Int, connection: Int?) {
        let isLab = connection == ICCProfile.signature("Lab ")
        guard isLab || connection == ICCProfile.signature("XYZ ") else { return nil }
        switch element.type {
        case ICCProfile.signature("mft1"):
            self.init(table: element, channels, depth: 1, isLab ? .lab(1) : .xyz)
        case ICCProfile.signature("mft2"):
            self.init(table: element, channels, depth: 2, isLab ? .lab(65_535 / 65_280) : .xyz)
        case ICCProfile.signature("mAB "):
            self.init(stages: element, channels, isLab ? .lab(1) : .xyz)
        default: return nil
        }
    }

    /// Reads "lut8Type" and "lut16Type": curves as tables, a grid, and curves as tables again.
    private init?(table element: ICCProfile.Element, _ channels: Int, depth: Int, _ connection: Connection) {
        guard let inputs = element.byte(at: 8), inputs == channels, element.byte(at: 9) == 3,
            let points = element.byte(at: 10)
        else { return nil }
        let entries = depth == 1 ? (256, 256) : (element.short(at: 48) ?? 0, element.short(at: 50) ?? 0)
        guard 2...Self.longestTable ~= entries.0, 2...Self.longestTable ~= entries.1 else { return nil }
        var position = depth == 1 ? 48 : 52
        let curves = { (count: Int, entries: Int) -> [ToneCurve] in
            (0..<count).compactMap { _ in
                defer { position += entries * depth }
                return element.numbers(entries, depth: depth, at: position).map { .table($0) }
            }
        }
        input = curves(channels, entries.0)
        let grid = ColourGrid(element, points: Array(repeating: points, count: channels), depth: depth, at: position)
        guard let grid else { return nil }
        position += grid.length
        output = curves(3, entries.1)
        guard input.count == channels, output.count == 3 else { return nil }
        (self.channels, self.grid, middle, matrix, self.connection) = (channels, grid, [], nil, connection)
    }

    /// Reads "lutAToBType", whose steps lie at stated offsets and may be missing.
    private init?(stages element: ICCProfile.Element, _ channels: Int, _ connection: Connection) {
        guard element.byte(at: 8) == channels, element.byte(at: 9) == 3,
            let offsets = Self.offsets(element)
        else { return nil }
        guard let output = Self.curves(element, 3, at: offsets[0]), !output.isEmpty,
            let middle = Self.curves(element, 3, at: offsets[2]),
            let input = Self.curves(element, channels, at: offsets[4])
        else { return nil }
        if offsets[1] > 0 {
            let numbers = (0..<12).compactMap { element.fixed(at: offsets[1] + 4 * $0) }
            guard numbers.count == 12 else { return nil }
            let column = { (start: Int, step: Int) in
                SIMD3(numbers[start], numbers[start + step], numbers[start + 2 * step])
            }
            matrix = (column(0, 3), column(1, 3), column(2, 3), column(9, 1))
        } else {
            matrix = nil
        }
        if offsets[3] > 0 {
            let points = (0..<channels).compactMap { element.byte(at: offsets[3] + $0) }
            guard points.count == channels, let depth = element.byte(at: offsets[3] + 16), 1...2 ~= depth,
                let grid = ColourGrid(element, points: points, depth: depth, at: offsets[3] + 20)
            else { return nil }
            self.grid = grid
        } else {
            guard channels == 3 else { return nil }
            grid = nil
        }
        (self.channels, self.input, self.middle, self.output) = (channels, input, middle, output)
        self.connection = connection
    }

    /// Returns the offsets of the last curves, the matrix, the middle curves, the grid and the first curves.
    private static func offsets(_ element: ICCProfile.Element) -> [Int]? {
        let offsets = (0..<5).compactMap { element.number(at: 12 + 4 * $0) }
        return offsets.count == 5 ? offsets : nil
    }

    /// Reads consecutive curves. Returns no curves for the offset 0.
    private static func curves(_ element: ICCProfile.Element, _ count: Int, at offset: Int) -> [ToneCurve]? {
        guard offset > 0 else { return [] }
        var position = offset
        var curves: [ToneCurve] = []
        for _ in 0..<count {
            guard let part = element.part(from: position), let length = ToneCurve.length(of: part),
                let curve = ToneCurve(part)
            else { return nil }
            curves.append(curve)
            position += (length + 3) / 4 * 4
        }
        return curves
    }

    /// Returns X, Y and Z of a colour whose channels are from 0 to 1.
    func light(of color: [Double]) -> SIMD3<Double> {
        light(at: zip(color, 0...).map { bent($0, $1) })
    }

    /// Calls `body` with X, Y and Z of evenly spaced colours. The fourth channel changes slowest, then the first.
    func forEachPoint(_ points: Int, _ body: (SIMD3<Double>) -> Void) {
        // Each channel has the same few values, so compute the first curves only once.
        let values = (0..<channels).map { channel in
            (0..<points).map { bent(Double($0) / Double(points - 1), channel) }
        }
        var color = values.map { $0[0] }
        for fourth in 0..<(channels == 4 ? points : 1) {
            if channels == 4 { color[3] = values[3][fourth] }
            for first in 0..<points {
                color[0] = values[0][first]
                for second in 0..<points {
                    color[1] = values[1][second]
                    for third in 0..<points {
                        color[2] = values[2][third]
                        body(light(at: color))
                    }
                }
            }
        }
    }

    private func bent(_ value: Double, _ channel: Int) -> Double {
        input.isEmpty ? value : input[channel].light(value) ?? 0
    }

    /// Performs the steps after the first curves, and returns X, Y and Z.
    private func light(at color: [Double]) -> SIMD3<Double> {
        var values = grid?.value(at: color) ?? SIMD3(color[0], color[1], color[2])
        values = Self.bend(values, middle)
        if let matrix { values = matrix.0 * values.x + matrix.1 * values.y + matrix.2 * values.z + matrix.3 }
        values = Self.bend(values, output)
        switch connection {
        case .xyz: return values * (1 + 32_767 / 32_768)
        case .lab(let factor):
            let lightness = (values.x * factor * 100 + 16) / 116
            let a = (values.y * factor * 255 - 128) / 500
            let b = (values.z * factor * 255 - 128) / 200
            var light = SIMD3(lightness + a, lightness, lightness - b)
            for index in 0..<3 {
                let root = light[index]
                light[index] = root > 6 / 29 ? root * root * root : (root - 4 / 29) * 108 / 841
            }
            return light * BlackPoint.white
        }
    }

    private static func bend(_ values: SIMD3<Double>, _ curves: [ToneCurve]) -> SIMD3<Double> {
        guard curves.count == 3 else { return values }
        var bent = values
        for index in 0..<3 { bent[index] = curves[index].light(max(0, min(values[index], 1))) ?? 0 }
        return bent
    }
}

/// A profile's grid: three numbers for each point of evenly spaced colours.
private struct ColourGrid {
    /// The number of bytes that the grid has in the profile.
    let length: Int
    private let points: [Int]
    private let values: [SIMD3<Double>]

    /// The maximum number of points. Profiles of printing presses have up to 33 for each of four inks.
    private static let most = 1_500_000

    init?(_ element: ICCProfile.Element, points: [Int], depth: Int, at offset: Int) {
        var count = 1
        for number in points {
            guard number >= 2 else { return nil }
            count *= number
            guard count <= Self.most else { return nil }
        }
        guard let numbers = element.numbers(count * 3, depth: depth, at: offset) else { return nil }
        values = stride(from: 0, to: numbers.count, by: 3).map { SIMD3(numbers[$0], numbers[$0 + 1], numbers[$0 + 2]) }
        (self.points, length) = (points, count * 3 * depth)
    }

    /// Interpolates linearly between all neighbours of a colour whose channels are from 0 to 1.
    func value(at color: [Double]) -> SIMD3<Double> { value(at: color, 0, 0) }

    /// Interpolates along a channel and all later channels. `start` is the part of the point's index that the earlier
    /// channels determine.
    private func value(at color: [Double], _ channel: Int, _ start: Int) -> SIMD3<Double> {
        guard channel < points.count else { return values[start] }
        let position = max(0, min(color[channel], 1)) * Double(points[channel] - 1)
        let index = min(Int(position), points[channel] - 2)
        let share = position - Double(index)
        let next = start * points[channel] + index
        let below = value(at: color, channel + 1, next)
        // Most points of ``ColourTable`` coincide with a point of the profile's grid, and need no interpolation.
        guard share > 1e-9 else { return below }
        return below * (1 - share) + value(at: color, channel + 1, next + 1) * share
    }
}
