/// A QR code of a short text (ISO/IEC 18004). Cameras read the code from the screen.
///
///     QRCode("https://example.org/")?[3, 4]      // whether this module is dark
///
/// The code contains the text's bytes with the lowest level of error correction. Screens are clean, so codes need
/// little correction, and a small code fits on more screens.
public struct QRCode: Hashable, Sendable {
    /// The longest text in bytes.
    public static let maximumLength = 271
    /// The number of modules (the squares of the code) on each side.
    public let side: Int
    private let modules: [Bool]

    /// Whether a module is dark. All modules outside the code are light.
    public subscript(column: Int, row: Int) -> Bool {
        guard (0..<side).contains(column), (0..<side).contains(row) else { return false }
        return modules[row * side + column]
    }

    /// Encodes a text. Returns nil if the text is longer than ``maximumLength``.
    public init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.maximumLength + 1))
        guard let version = QRVersion.all.first(where: { bytes.count <= $0.capacity }) else { return nil }
        var matrix = QRMatrix(version)
        matrix.place(version.withCorrection(version.codewords(for: bytes)))
        side = version.side
        modules = matrix.withBestMask()
    }
}

/// A size of QR code, with the lowest level of error correction.
private struct QRVersion {
    let number: Int
    /// The number of bytes in the code, including error correction.
    let total: Int
    /// The number of bytes for error correction in each block.
    let check: Int
    let blocks: Int
    /// The rows and columns on which alignment patterns are centred.
    let alignment: [Int]

    /// The sizes that Vitrine uses (ISO/IEC 18004, tables 1, 9 and E.1).
    static let all = [
        QRVersion(number: 1, total: 26, check: 7, blocks: 1, alignment: []),
        QRVersion(number: 2, total: 44, check: 10, blocks: 1, alignment: [6, 18]),
        QRVersion(number: 3, total: 70, check: 15, blocks: 1, alignment: [6, 22]),
        QRVersion(number: 4, total: 100, check: 20, blocks: 1, alignment: [6, 26]),
        QRVersion(number: 5, total: 134, check: 26, blocks: 1, alignment: [6, 30]),
        QRVersion(number: 6, total: 172, check: 18, blocks: 2, alignment: [6, 34]),
        QRVersion(number: 7, total: 196, check: 20, blocks: 2, alignment: [6, 22, 38]),
        QRVersion(number: 8, total: 242, check: 24, blocks: 2, alignment: [6, 24, 42]),
        QRVersion(number: 9, total: 292, check: 30, blocks: 2, alignment: [6, 26, 46]),
        QRVersion(number: 10, total: 346, check: 18, blocks: 4, alignment: [6, 28, 50]),
    ]

    var side: Int { 17 + 4 * number }
    private var dataCount: Int { total - check * blocks }
    /// The number of bits that encode the length of the text.
    private var lengthBits: Int { number < 10 ? 8 : 16 }
    /// The longest text in bytes.
    var capacity: Int { dataCount - (4 + lengthBits + 7) / 8 }

    /// Returns the bytes for a text: the mode, the length, the text and padding.
    func codewords(for text: [UInt8]) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
        }
        append(0b0100, 4)
        append(text.count, lengthBits)
        for byte in text { append(Int(byte), 8) }
        append(0, min(4, 8 * dataCount - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        for index in 0..<max(0, dataCount - bytes.count) { bytes.append(index.isMultiple(of: 2) ? 0xEC : 0x11) }
        return bytes
    }

    /// Divides bytes into blocks, adds error correction, and interleaves the blocks.
    func withCorrection(_ data: [UInt8]) -> [UInt8] {
        let short = total / blocks - check
        let shortBlocks = blocks - total % blocks
        let divisor = ReedSolomon(degree: check)
        var rest = data[...]
        let parts = (0..<blocks).map { index in
            let part = Array(rest.prefix(index < shortBlocks ? short : short + 1))
            rest = rest.dropFirst(part.count)
            return part
        }
        let checks = parts.map(divisor.remainder)
        let columns = (0...short).flatMap { column in parts.compactMap { column < $0.count ? $0[column] : nil } }
        return columns + (0..<check).flatMap { column in checks.map { $0[column] } }
    }
}

/// Computes the error correction of QR codes.
///
/// The computation uses the field of 256 elements with the polynomial 0x11D.
private struct ReedSolomon {
    /// The coefficients of the generator polynomial from the highest power down, without the first coefficient, 1.
    private let generator: [UInt8]

    init(degree: Int) {
        var generator = [UInt8](repeating: 0, count: degree)
        generator[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            // Multiplies the polynomial by (x - root).
            for index in 0..<degree {
                generator[index] =
                    Self.product(generator[index], root) ^ (index + 1 < degree ? generator[index + 1] : 0)
            }
            root = Self.product(root, 2)
        }
        self.generator = generator
    }

    func remainder(_ data: [UInt8]) -> [UInt8] {
        var remainder = [UInt8](repeating: 0, count: generator.count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in generator.indices { remainder[index] ^= Self.product(generator[index], factor) }
        }
        return remainder
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product = 0
        for shift in (0..<8).reversed() {
            product = product << 1 ^ (product >> 7) * 0x11D
            if right >> UInt8(shift) & 1 == 1 { product ^= Int(left) }
        }
        return UInt8(truncatingIfNeeded: product)
    }
}

/// The modules of a QR code under construction.
private struct QRMatrix {
    private let version: QRVersion
    private let side: Int
    private var isDark: [Bool]
    /// For each module, whether it belongs to a fixed pattern. Masks do not change fixed patterns.
    private var isFixed: [Bool]

    init(_ version: QRVersion) {
        self.version = version
        side = version.side
        isDark = Array(repeating: false, count: side * side)
        isFixed = isDark
        for index in 0..<side {
            fix(6, index, index.isMultiple(of: 2))
            fix(index, 6, index.isMultiple(of: 2))
        }
        for (column, row) in [(3, 3), (side - 4, 3), (3, side - 4)] { drawSquares(around: column, row, reach: 4) }
        for column in version.alignment {
            for row in version.alignment where !isInCorner(column, row) { drawSquares(around: column, row, reach: 2) }
        }
        drawFormat(mask: 0)
        drawVersion()
    }

    private mutating func fix(_ column: Int, _ row: Int, _ dark: Bool) {
        isDark[row * side + column] = dark
        isFixed[row * side + column] = true
    }

    /// Whether an alignment pattern would overlap a finder pattern.
    private func isInCorner(_ column: Int, _ row: Int) -> Bool {
        [(6, 6), (6, side - 7), (side - 7, 6)].contains { $0 == (column, row) }
    }

    /// Draws a finder pattern with its light border, or an alignment pattern.
    private mutating func drawSquares(around column: Int, _ row: Int, reach: Int) {
        for down in -reach...reach {
            for across in -reach...reach {
                let (column, row, ring) = (column + across, row + down, max(abs(across), abs(down)))
                guard (0..<side).contains(column), (0..<side).contains(row) else { continue }
                fix(column, row, reach == 4 ? ring != 2 && ring != 4 : ring != 1)
            }
        }
    }

    /// Draws the level of error correction and the mask, twice. A BCH code protects them.
    private mutating func drawFormat(mask: Int) {
        let data = 0b01 << 3 | mask
        let bits = (data << 10 | Self.remainder(data << 10, 0x537, degree: 10)) ^ 0x5412
        for index in 0..<15 {
            let dark = bits >> index & 1 == 1
            switch index {
            case 0...5: fix(8, index, dark)
            case 6: fix(8, 7, dark)
            case 7: fix(8, 8, dark)
            case 8: fix(7, 8, dark)
            default: fix(14 - index, 8, dark)
            }
            if index < 8 { fix(side - 1 - index, 8, dark) } else { fix(8, side - 15 + index, dark) }
        }
        fix(8, side - 8, true)
    }

    /// Draws the version number, twice. Only codes from version 7 on contain their version number.
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        let bits = version.number << 12 | Self.remainder(version.number << 12, 0x1F25, degree: 12)
        for index in 0..<18 {
            let dark = bits >> index & 1 == 1
            fix(side - 11 + index % 3, index / 3, dark)
            fix(index / 3, side - 11 + index % 3, dark)
        }
    }

    private static func remainder(_ value: Int, _ divisor: Int, degree: Int) -> Int {
        var value = value
        for shift in (0..<8).reversed() where value >> (shift + degree) & 1 == 1 { value ^= divisor << shift }
        return value
    }

    /// Writes the bits into pairs of columns, from right to left. Goes up and down in turn, and skips fixed modules.
    mutating func place(_ bytes: [UInt8]) {
        var bits = bytes.lazy.flatMap { byte in (0..<8).map { byte >> (7 - UInt8($0)) & 1 == 1 } }.makeIterator()
        var goesUp = true
        // The column of the timing pattern belongs to no pair.
        for right in stride(from: side - 1, through: 1, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
            for step in 0..<side {
                let row = goesUp ? side - 1 - step : step
                for index in [row * side + right, row * side + right - 1] where !isFixed[index] {
                    isDark[index] = bits.next() ?? false
                }
            }
            goesUp.toggle()
        }
    }

    /// Tries all masks, and returns the modules with the lowest penalty.
    func withBestMask() -> [Bool] {
        let masked = (0..<8).map { mask in
            var matrix = self
            matrix.drawFormat(mask: mask)
            for index in isDark.indices where !isFixed[index] {
                if Self.inverts(mask, index % side, index / side) { matrix.isDark[index].toggle() }
            }
            return matrix
        }
        return masked.min { $0.penalty < $1.penalty }?.isDark ?? isDark
    }

    private static func inverts(_ mask: Int, _ column: Int, _ row: Int) -> Bool {
        let product = column * row
        return switch mask {
        case 0: (column + row).isMultiple(of: 2)
        case 1: row.isMultiple(of: 2)
        case 2: column.isMultiple(of: 3)
        case 3: (column + row).isMultiple(of: 3)
        case 4: (row / 2 + column / 3).isMultiple(of: 2)
        case 5: product % 2 + product % 3 == 0
        case 6: (product % 2 + product % 3).isMultiple(of: 2)
        default: ((column + row) % 2 + product % 3).isMultiple(of: 2)
        }
    }

    /// The penalty for patterns that cameras read badly (ISO/IEC 18004, section 7.8.3).
    private var penalty: Int {
        let rows = (0..<side).map { row in (0..<side).map { isDark[row * side + $0] } }
        let columns = (0..<side).map { column in (0..<side).map { isDark[$0 * side + column] } }
        let lines = (rows + columns).reduce(0) { $0 + Self.penalty(of: $1) }
        var squares = 0
        for row in 1..<side {
            for column in 1..<side {
                let corner = rows[row][column]
                if rows[row][column - 1] == corner, rows[row - 1][column] == corner, rows[row - 1][column - 1] == corner
                {
                    squares += 3
                }
            }
        }
        let percent = isDark.count(where: { $0 }) * 100 / isDark.count
        return lines + squares + abs(percent - 50) / 5 * 10
    }

    /// Returns the penalty for long runs of one colour and for imitations of a finder pattern.
    private static func penalty(of line: [Bool]) -> Int {
        var runs: [Int] = []
        for index in line.indices {
            if index > 0, line[index] == line[index - 1] { runs[runs.count - 1] += 1 } else { runs.append(1) }
        }
        var penalty = runs.reduce(0) { $0 + ($1 >= 5 ? $1 - 2 : 0) }
        for index in runs.indices.dropFirst(2).dropLast(2) where runs[index] % 3 == 0 {
            let unit = runs[index] / 3
            let isFinder = [index - 2, index - 1, index + 1, index + 2].allSatisfy { runs[$0] == unit }
            let isDark = line[0] == index.isMultiple(of: 2)
            // The border outside the code is light, too.
            let before = index > 2 ? runs[index - 3] : 4 * unit
            let after = index + 3 < runs.count ? runs[index + 3] : 4 * unit
            if isFinder, isDark, before >= 4 * unit || after >= 4 * unit { penalty += 40 }
        }
        return penalty
    }
}
