import Cells
import Foundation

/// Parses the cells of coloured terminal text as chafa writes it. Throws for anything else.
struct CellText {
    private(set) var rows: [[ShownCell]] = [[]]
    private var foreground: SIMD3<Float>?
    private var background: SIMD3<Float>?
    private var isReversed = false
    private let palette: TerminalPalette

    init(_ bytes: [UInt8], _ palette: TerminalPalette) throws {
        self.palette = palette
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\n": rows.append([])
            case "\u{1B}":
                let sequence = scalars.prefix { !$0.properties.isAlphabetic }
                scalars = scalars.dropFirst(sequence.count)
                let final = scalars.popFirst()
                guard sequence.first == "[" else {
                    throw QualityError.unknownSequence("ESC \(String(String.UnicodeScalarView(sequence)))")
                }
                if final == "m" { try select(String(String.UnicodeScalarView(sequence.dropFirst()))) }
            default:
                let (front, behind) = (foreground ?? ShownCell.white, background ?? ShownCell.black)
                rows[rows.count - 1].append(
                    isReversed ? ShownCell(scalar, behind, front) : ShownCell(scalar, front, behind))
            }
        }
        rows.removeAll { $0.isEmpty }
    }

    private mutating func select(_ text: String) throws {
        var codes = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }[...]
        while let code = codes.popFirst() {
            switch code {
            case 0: (foreground, background, isReversed) = (nil, nil, false)
            case 1, 22: break
            case 7: isReversed = true
            case 27: isReversed = false
            case 30...37: foreground = palette.colour(code - 30)
            case 90...97: foreground = palette.colour(code - 82)
            case 40...47: background = palette.colour(code - 40)
            case 100...107: background = palette.colour(code - 92)
            case 39: foreground = nil
            case 49: background = nil
            case 38: foreground = extended(&codes)
            case 48: background = extended(&codes)
            default: throw QualityError.unknownSequence("ESC [\(text)m")
            }
        }
    }

    private func extended(_ codes: inout ArraySlice<Int>) -> SIMD3<Float> {
        if codes.popFirst() == 5 { return palette.colour(codes.popFirst() ?? 0) }
        return SIMD3(
            Float(codes.popFirst() ?? 0), Float(codes.popFirst() ?? 0), Float(codes.popFirst() ?? 0))
    }
}

/// A cell as a terminal shows it: a character and two colours.
struct ShownCell {
    let character: Unicode.Scalar
    let foreground: SIMD3<Float>
    let background: SIMD3<Float>

    static let white = SIMD3<Float>(repeating: 255)
    static let black = SIMD3<Float>.zero

    init(_ character: Unicode.Scalar, _ foreground: SIMD3<Float>, _ background: SIMD3<Float>) {
        self.character = character
        self.foreground = foreground
        self.background = background
    }

    /// Converts Vitrine's cell for a terminal with white text on black.
    init(_ cell: Cell, _ palette: TerminalPalette) {
        let front = palette.colour(cell.style.foreground) ?? Self.white
        let behind = palette.colour(cell.style.background) ?? Self.black
        let isReversed = cell.style.attributes.contains(.reverse)
        self.init(
            cell.text.unicodeScalars.first ?? " ", isReversed ? behind : front, isReversed ? front : behind)
    }
}

/// The colours of xterm's palette.
struct TerminalPalette {
    private let sixteen: [UInt32] = [
        0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00,
        0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
    ]

    /// Returns a colour's value; nil for the terminal's own.
    func colour(_ colour: Colour) -> SIMD3<Float>? {
        switch colour {
        case .terminal: nil
        case .rgb(let red, let green, let blue): SIMD3(Float(red), Float(green), Float(blue))
        case .palette(let index): self.colour(Int(index))
        }
    }

    func colour(_ index: Int) -> SIMD3<Float> {
        switch index {
        case 0..<16:
            let value = sixteen[index]
            return SIMD3(Float(value >> 16), Float(value >> 8 & 255), Float(value & 255))
        case 16..<232:
            let levels: [Float] = [0, 95, 135, 175, 215, 255]
            let cube = index - 16
            return SIMD3(levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
        default: return SIMD3(repeating: Float(8 + 10 * (index - 232)))
        }
    }
}

/// The reason why pictures cannot be compared.
enum QualityError: Error, CustomStringConvertible {
    /// Another program's output has an unknown sequence.
    case unknownSequence(String)
    /// A character's shape is unknown.
    case unknownShape(Unicode.Scalar)
    /// A photo has no pixels.
    case noPixels

    var description: String {
        switch self {
        case .unknownSequence(let text): "Unknown sequence in the text: \(text)."
        case .unknownShape(let character): "The shape of “\(character)” is unknown."
        case .noPixels: "A photo has no pixels."
        }
    }
}
