import Text

/// A line of several facts, of which those give way that matter least where there is no room for all.
struct FittedLine {
    private struct Part {
        let text: String
        /// Columns that it needs at least.
        let least: Int
        let isOptional: Bool
    }

    private static let separator = " · "
    private var parts: [Part] = []

    /// Adds a fact, if there is one.
    ///
    /// - Parameters:
    ///   - least: columns that it may be cut to; nil if it is of no use when it is cut.
    ///   - isOptional: whether it may be left out. Of several the last goes first.
    mutating func add(_ text: String?, least: Int? = nil, isOptional: Bool = false) {
        guard let text, !text.isEmpty else { return }
        let width = text.displayWidth
        parts.append(Part(text: text, least: min(least ?? width, width), isOptional: isOptional))
    }

    /// The facts that fit: first those are cut that may be, then what is optional is left out.
    func text(width: Int) -> String {
        var parts = parts
        while Self.width(of: parts.map(\.least)) > width, let last = parts.lastIndex(where: \.isOptional) {
            parts.remove(at: last)
        }
        var excess = Self.width(of: parts.map(\.text.displayWidth)) - width
        let texts = parts.map { part in
            let cut = min(max(0, excess), part.text.displayWidth - part.least)
            excess -= cut
            return cut > 0 ? part.text.truncated(toWidth: part.text.displayWidth - cut) : part.text
        }
        return texts.joined(separator: Self.separator).truncated(toWidth: width)
    }

    private static func width(of widths: [Int]) -> Int {
        widths.reduce(0, +) + max(0, widths.count - 1) * separator.displayWidth
    }
}
