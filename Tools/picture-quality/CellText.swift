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
