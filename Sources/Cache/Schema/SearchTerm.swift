import Model
import SQLite

/// A word that somebody searches for: the beginning of a word of a photo's, a time, or either.
struct SearchTerm: Equatable, Sendable {
    /// For the full-text index; nil if there is nothing in it that could be a word.
    let expression: String?
    /// When a photo that it stands for was taken.
    let dates: Range<Timestamp>?

    /// The terms that a text is made of; none if it says nothing, and then every photo matches.
    static func terms(of text: String, _ connection: Connection) throws -> [SearchTerm] {
        // Each word once: somebody may paste a page.
        var known: Set<Substring> = []
        return try text.split(whereSeparator: \.isWhitespace).compactMap { word in
            guard known.insert(word).inserted else { return nil }
            let expression = try expression(String(word), connection)
            let dates = dates(word)
            return expression == nil && dates == nil ? nil : SearchTerm(expression: expression, dates: dates)
        }
    }

    /// What is typed as one word may be several: `IMG_0001`. Each is quoted, so that nothing in it is taken for a part of
    /// the index's own language.
    private static func expression(_ word: String, _ connection: Connection) throws -> String? {
        let words = try connection.words(in: word)
        guard !words.isEmpty else { return nil }
        return words.map { "\"\($0.text.replacing("\"", with: "\"\""))\" *" }.joined(separator: " AND ")
    }

    /// `2006`, `2006-07` and `2006-07-30`.
    private static func dates(_ word: Substring) -> Range<Timestamp>? {
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), parts[0].utf8.count == 4,
            parts.dropFirst().allSatisfy({ $0.utf8.count == 2 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        let numbers = parts.compactMap { Int($0) } + [1, 1]
        let day = LocalDay(year: numbers[0], month: numbers[1], day: numbers[2])
        guard (1...12).contains(day.month), (1...31).contains(day.day) else { return nil }
        let rules: [SectionRule] = [.year, .month, .day]
        return day.moments(of: rules[parts.count - 1])
    }
}
