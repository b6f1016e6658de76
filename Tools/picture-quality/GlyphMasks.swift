import Foundation
import PictureTestSupport

/// The coverage of each pixel of a cell by a character: blocks as terminals draw them, letters from a font.
struct GlyphMasks {
    static let width = 8
    static let height = 16
    private var masks: [Unicode.Scalar: [Float]] = [:]

    /// - Parameter font: the file of a monospaced font.
    init(font: String) throws {
        masks[" "] = Array(repeating: 0, count: Self.width * Self.height)
        let halves: [(Unicode.Scalar, (Int, Int) -> Bool)] = [
            ("▀", { _, y in y < 8 }), ("▄", { _, y in y >= 8 }), ("▌", { x, _ in x < 4 }), ("▐", { x, _ in x >= 4 }),
            ("█", { _, _ in true }),
        ]
        for (character, isFilled) in halves { add(character, isFilled) }
        for (pattern, character) in " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█".unicodeScalars.enumerated() {
            add(character) { x, y in pattern >> (x / 4 + y / 8 * 2) & 1 == 1 }
        }
        var scalar: UInt32 = 0x1FB00
        for pattern in 1..<63 where pattern != 0b010101 && pattern != 0b101010 {
            // Rows of five, six and five pixels.
            add(Unicode.Scalar(scalar) ?? " ") { x, y in
                pattern >> (x / 4 + (y < 5 ? 0 : y < 11 ? 2 : 4)) & 1 == 1
            }
            scalar += 1
        }
        try addLetters(font)
    }

    func mask(_ character: Unicode.Scalar) throws -> [Float] {
        guard let mask = masks[character] else { throw QualityError.unknownShape(character) }
        return mask
    }

    private mutating func add(_ character: Unicode.Scalar, _ isFilled: (Int, Int) -> Bool) {
        masks[character] = (0..<Self.width * Self.height).map { isFilled($0 % Self.width, $0 / Self.width) ? 1 : 0 }
    }

    /// Draws all letters large in a row, and averages them down.
    private mutating func addLetters(_ font: String) throws {
        let text = String(String.UnicodeScalarView((33...126).map { Unicode.Scalar(UInt8($0)) }))
        let escaped = text.replacing("\\", with: "\\\\").replacing("%", with: "%%")
        let pgm = try Tool.run(
            "/usr/bin/convert",
            [
                "-background", "black", "-fill", "white", "-font", font, "-pointsize", "133", "label:\(escaped)",
                "-depth", "8", "-compress", "none", "pgm:-",
            ], input: [])
        let numbers = String(decoding: pgm, as: UTF8.self).split(whereSeparator: \.isWhitespace).dropFirst()
            .compactMap { Float($0) }
        let (width, height) = (Int(numbers[0]), Int(numbers[1]))
        let advance = Double(width) / 94
        for code in 33...126 {
            let left = Double(code - 33) * advance
            var mask = [Float](repeating: 0, count: Self.width * Self.height)
            var counts = mask
            for y in 0..<height {
                for x in Int(left.rounded())..<min(width, Int((left + advance).rounded())) {
                    let column = min(Self.width - 1, Int((Double(x) - left) / advance * Double(Self.width)))
                    let place = y * Self.height / height * Self.width + max(0, column)
                    mask[place] += numbers[3 + y * width + x] / 255
                    counts[place] += 1
                }
            }
            masks[Unicode.Scalar(UInt8(code))] = zip(mask, counts).map { $1 > 0 ? $0 / $1 : 0 }
        }
    }
}
