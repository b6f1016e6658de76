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
        var (table, content): ([UInt8], [UInt8]) = ([], [])
        let start = 128 + 4 + 12 * elements.count
        for (name, element) in elements {
            table += Array(name.utf8) + Self.big(start + content.count) + Self.big(element.count)
            content += element
        }
        var head = Self.big(start + content.count) + Self.big(0) + Self.big(0x0400_0000) + Array("mntr".utf8)
        head += Array(space.utf8) + Array(connection.utf8) + Array(repeating: 0, count: 12) + Array("acsp".utf8)
        head += Array(repeating: 0, count: 128 - head.count)
        return head + Self.big(elements.count) + table + content
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

    private static func fixed(_ number: Double) -> [UInt8] { big(Int((number * 65_536).rounded())) }
    private static func short(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
    private static func big(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
