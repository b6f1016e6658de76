import Text

/// What stands for a character where only ASCII can be shown.
enum ASCIIFallback {
    /// ASCII of the same width. A letter stands without its marks: each of them would take a column of its own.
    static func text(for text: String) -> String {
        guard let scalar = text.unicodeScalars.first else { return "" }
        if scalar.isASCII { return String(scalar) }
        let plain = replacements[scalar] ?? sextant(scalar) ?? "?"
        return text.displayWidth == 2 ? String(repeating: plain, count: 2) : String(plain)
    }

    /// What Vitrine itself draws with. Text in other scripts becomes question marks: a wrong letter would be worse.
    private static let replacements: [Unicode.Scalar: Character] = [
        "─": "-", "━": "=", "│": "|", "┃": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+",
        "┴": "+", "┼": "+", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "…": "~", "·": ".", "•": "*", "▸": ">", "◂": "<",
        "→": ">", "←": "<", "↑": "^", "↓": "v", "✓": "x", "✗": "!", "█": "#", "▓": "#", "▒": "+", "░": ".", "▀": "\"",
        "▄": "_", "▌": "|", "▐": "|", "▘": "'", "▝": "'", "▖": ".", "▗": ".", "▚": "\\", "▞": "/", "▙": "L", "▟": "J",
        "▛": "P", "▜": "7", "–": "-", "—": "-", "‘": "'", "’": "'", "“": "\"", "”": "\"", "×": "x", "°": "o",
        "\u{FFFD}": "?", "␛": "?",
    ]

    /// Sixths of a cell, in the order of their patterns: something that fills as many of them, above or below.
    private static func sextant(_ scalar: Unicode.Scalar) -> Character? {
        guard (0x1FB00...0x1FB3B).contains(scalar.value) else { return nil }
        let number = Int(scalar.value) - 0x1FB00
        // The left and the right half, which are older, are left out.
        let pattern = number + (number < 20 ? 1 : number < 40 ? 2 : 3)
        let isAbove = (pattern & 0b000011).nonzeroBitCount > (pattern & 0b110000).nonzeroBitCount
        switch pattern.nonzeroBitCount {
        case 1: return isAbove ? "'" : pattern & 0b001100 == 0 ? "." : "-"
        case 2: return isAbove ? "\"" : pattern & 0b001100 == 0 ? "_" : ":"
        case 3: return "+"
        case 4: return "o"
        default: return "#"
        }
    }
}
