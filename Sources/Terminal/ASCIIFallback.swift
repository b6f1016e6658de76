import Text

/// What stands for a character where only ASCII can be shown.
enum ASCIIFallback {
    /// ASCII of the same width.
    static func text(for text: String) -> String {
        guard let scalar = text.unicodeScalars.first, !scalar.isASCII else { return String(text.prefix(1)) }
        let plain = replacements[scalar] ?? "?"
        return text.displayWidth == 2 ? String(repeating: plain, count: 2) : String(plain)
    }

    /// What Vitrine itself draws with. Text in other scripts becomes question marks: a wrong letter would be worse.
    private static let replacements: [Unicode.Scalar: Character] = [
        "─": "-", "━": "=", "│": "|", "┃": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+",
        "┴": "+", "┼": "+", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "…": "~", "·": ".", "•": "*", "▸": ">", "◂": "<",
        "→": ">", "←": "<", "↑": "^", "↓": "v", "✓": "x", "✗": "!", "█": "#", "▓": "#", "▒": "+", "░": ".", "▀": "\"",
        "▄": "_", "▌": "|", "▐": "|", "–": "-", "—": "-", "‘": "'", "’": "'", "“": "\"", "”": "\"", "×": "x", "°": "o",
        "\u{FFFD}": "?", "␛": "?",
    ]
}
