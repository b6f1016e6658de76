import Glibc

/// Writes valid and invalid colour profiles.
public struct ICCFile: Sendable {
    /// A profile's curve.
    public enum Curve: Sendable {
        /// A power.
        case gamma(Double)
        /// sRGB's curve as a formula.
        case formula
        /// A table.
        case table([UInt16])
    }

    /// Four letters for the colour space of the picture.
    public var space = "RGB "
    /// Four letters for the space that the profile converts to.
    public var connection = "XYZ "
    /// The curve of all channels.
    public var curve = Curve.formula
    /// XYZ under D50 of red, green and blue.
    public var primaries: [[Double]]

    /// Creates a profile with these primaries.
    public init(primaries: [[Double]]) {
        self.primaries = primaries
    }

    /// sRGB's primaries.
    public static let sRGB = ICCFile(
        primaries: [[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410]])
    /// Display P3's primaries.
    public static let displayP3 = ICCFile(
        primaries: [[0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407]])

    /// The profile.
    public var bytes: [UInt8] {
        var elements: [(String, [UInt8])] = []
        for (letter, values) in zip(["r", "g", "b"], primaries) {
            elements.append(("\(letter)XYZ", Array("XYZ \0\0\0\0".utf8) + values.flatMap(Self.fixed)))
            elements.append(("\(letter)TRC", coded))
        }
        elements.append(("kTRC", coded))
        return Self.file(elements, kind: "mntr", space: space, connection: connection, version: 0x0400_0000)
    }

    /// Returns a profile with these elements.
    fileprivate static func file(
        _ elements: [(String, [UInt8])], kind: String, space: String, connection: String, version: Int
    ) -> [UInt8] {
        var (table, content): ([UInt8], [UInt8]) = ([], [])
        let start = 128 + 4 + 12 * elements.count
        for (name, element) in elements {
            let padded = element + Array(repeating: 0, count: (4 - element.count % 4) % 4)
            table += Array(name.utf8) + big(start + content.count) + big(element.count)
            content += padded
        }
        var head = big(start + content.count) + big(0) + big(version) + Array(kind.utf8)
        head += Array(space.utf8) + Array(connection.utf8) + Array(repeating: 0, count: 12) + Array("acsp".utf8)
        head += Array(repeating: 0, count: 68 - head.count) + [0.9642, 1, 0.8249].flatMap(fixed)
        head += Array(repeating: 0, count: 128 - head.count)
        return head + big(elements.count) + table + content
    }

    /// The profile as a JPEG's segments, cut into parts.
    public func segments(partsOf length: Int = 60_000) -> [UInt8] { Self.segments(bytes, partsOf: length) }

    /// Returns any bytes as a profile's segments.
    public static func segments(_ bytes: [UInt8], partsOf length: Int) -> [UInt8] {
        let starts = Array(stride(from: 0, to: bytes.count, by: length))
        return starts.enumerated().flatMap { index, start in
            let part = bytes[start..<min(start + length, bytes.count)]
            let content = Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(starts.count)] + part
            return [0xFF, 0xE2, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
        }
    }

    private var coded: [UInt8] {
        switch curve {
        case .gamma(let power): Array("curv\0\0\0\0\0\0\0\u{1}".utf8) + Self.short(Int(power * 256)) + [0, 0]
        case .formula:
            Array("para\0\0\0\0\0\u{3}\0\0".utf8)
                + [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045].flatMap(Self.fixed)
        case .table(let values):
            Array("curv\0\0\0\0".utf8) + Self.big(values.count) + values.flatMap { Self.short(Int($0)) }
        }
    }

    fileprivate static func fixed(_ number: Double) -> [UInt8] { big(Int((number * 65_536).rounded())) }
    fileprivate static func short(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
    fileprivate static func big(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// A colour profile with a table, as scanners and presses have one.
public struct TableProfile: Sendable, CustomStringConvertible {
    /// The type of the table's element.
    public enum Kind: String, Sendable, CaseIterable {
        /// Numbers of one byte.
        case bytes = "mft1"
        /// Numbers of two bytes.
        case words = "mft2"
        /// Curves, a grid, curves, a matrix and curves.
        case stages = "mAB "
    }

    private let kind: Kind
    private let space: String
    private let connection: String

    /// Creates a profile for a space with three or four channels.
    public init(_ kind: Kind, _ space: String, _ connection: String) {
        (self.kind, self.space, self.connection) = (kind, space, connection)
    }

    /// The kind, the colour space and the connection space.
    public var description: String { "\(kind) \(space) \(connection)" }

    /// The profile.
    public var bytes: [UInt8] {
        let copyright = Array("text\0\0\0\0none\0".utf8)
        let white = Array("XYZ \0\0\0\0".utf8) + Self.white.flatMap(ICCFile.fixed)
        let elements = [("A2B0", element), ("cprt", copyright + [0, 0, 0]), ("wtpt", white), ("desc", Self.name)]
        return ICCFile.file(
            elements, kind: space == "CMYK" ? "prtr" : "scnr", space: space, connection: connection,
            version: kind == .stages ? 0x0400_0000 : 0x0200_0000)
    }

    private static let white = [0.9642, 1, 0.8249]
    private static let name =
        Array("desc\0\0\0\0".utf8) + ICCFile.big(5) + Array("test\0".utf8) + Array(repeating: 0, count: 8 + 3 + 67 + 1)

    private var channels: Int { space == "CMYK" ? 4 : 3 }
    private var points: Int { channels == 4 ? 7 : 9 }

    private var element: [UInt8] {
        let head = Array(kind.rawValue.utf8) + [0, 0, 0, 0, UInt8(channels), 3]
        guard kind != .stages else { return head + [0, 0] + stages }
        let depth = kind == .bytes ? 1 : 2
        var bytes = head + [UInt8(points), 0] + [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap(ICCFile.fixed)
        if depth == 2 { bytes += ICCFile.short(256) + ICCFile.short(2) }
        // The first curves have a gamma of 1.6, the last none.
        let curve = (0...255).map { pow(Double($0) / 255, 1.6) }
        for _ in 0..<channels { bytes += Self.coded(curve, depth) }
        bytes += Self.coded(grid { pow($0, 1 / 1.6) }, depth)
        for _ in 0..<3 { bytes += Self.coded(depth == 1 ? (0...255).map { Double($0) / 255 } : [0, 1], depth) }
        return bytes
    }

    /// The parts of a "lutAToBType". The matrix doubles every number, and the grid holds the halves.
    private var stages: [UInt8] {
        let gamma = Array("para\0\0\0\0\0\0\0\0".utf8) + ICCFile.fixed(1.6)
        let identity = Array("curv\0\0\0\0\0\0\0\0".utf8)
        let matrix = [2.0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0].flatMap(ICCFile.fixed)
        let grid =
            Array(repeating: UInt8(points), count: channels) + Array(repeating: 0, count: 16 - channels)
            + [2, 0, 0, 0] + Self.coded(self.grid { pow($0, 1 / 1.6) }.map { $0 / 2 }, 2)
        let parts = [identity + identity + identity, matrix, identity + identity + identity, grid]
        var position = 32
        var offsets: [UInt8] = []
        var content: [UInt8] = []
        for part in parts + [Array(repeating: gamma, count: channels).flatMap { $0 }] {
            offsets += ICCFile.big(position)
            let padded = part + Array(repeating: 0, count: (4 - part.count % 4) % 4)
            content += padded
            position += padded.count
        }
        return offsets + content
    }

    /// The encoded colours of the grid's points, whose channels `straightened` returns.
    private func grid(_ straightened: (Double) -> Double) -> [Double] {
        var values: [Double] = []
        var count = 1
        for _ in 0..<channels { count *= points }
        for index in 0..<count {
            var (rest, color) = (index, [Double](repeating: 0, count: channels))
            for channel in (0..<channels).reversed() {
                color[channel] = straightened(Double(rest % points) / Double(points - 1))
                rest /= points
            }
            values += encoded(light(of: color))
        }
        return values
    }

    /// The light of a colour: a device with its own primaries, or overlapping inks.
    private func light(of color: [Double]) -> [Double] {
        var linear = [Double](repeating: 1, count: 3)
        if channels == 3 {
            for row in 0..<3 {
                linear[row] = 0.8 * pow(color[row], 1.8) + 0.2 * pow(color[(row + 1) % 3], 1.8)
            }
        } else {
            // How much of red, green and blue each ink takes.
            let inks = [[0.92, 0.35, 0.1], [0.12, 0.88, 0.4], [0.02, 0.08, 0.85], [0.95, 0.95, 0.95]]
            for (ink, taken) in zip(color, inks) {
                for row in 0..<3 { linear[row] *= 1 - ink * taken[row] }
            }
        }
        let rows = [[0.4361, 0.3851, 0.1431], [0.2225, 0.7169, 0.0606], [0.0139, 0.0971, 0.7141]]
        return rows.map { zip($0, linear).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    private func encoded(_ light: [Double]) -> [Double] {
        guard connection == "Lab " else { return light.map { $0 / (1 + 32_767 / 32_768) } }
        let roots = zip(light, Self.white).map { light, white in
            light / white > 216 / 24_389 ? cbrt(light / white) : (light / white * 24_389 / 27 + 16) / 116
        }
        let lab = [116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2])]
        let shares = [lab[0] / 100, (lab[1] + 128) / 255, (lab[2] + 128) / 255]
        return kind == .words ? shares.map { $0 * 65_280 / 65_535 } : shares
    }

    private static func coded(_ values: [Double], _ depth: Int) -> [UInt8] {
        values.flatMap { value in
            let share = max(0, min(value, 1))
            return depth == 1 ? [UInt8((share * 255).rounded())] : ICCFile.short(Int((share * 65_535).rounded()))
        }
    }
}
