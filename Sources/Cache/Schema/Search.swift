import Model
import SQLite

extension CacheReader {
    /// The photos that a filter lets through; nil if it lets all of them through.
    ///
    /// - Parameter candidates: asked of these alone.
    func hits(_ filter: PhotoFilter, among candidates: Set<Int64>? = nil) throws -> KeySet? {
        guard filter != .all else { return nil }
        let terms = try SearchTerm.terms(of: filter.text, connection)
        guard !terms.isEmpty else { return nil }
        // Words alone are one question, which the index answers faster than many.
        let words = terms.filter { $0.dates == nil }.compactMap(\.expression).joined(separator: " AND ")
        var hits: KeySet?
        func narrow(_ found: KeySet) {
            if hits == nil { hits = found } else { hits?.formIntersection(found) }
        }
        if !words.isEmpty {
            var found = KeySet()
            try forEachHit(words, candidates) { found.insert($0) }
            narrow(found)
        }
        for term in terms {
            guard let dates = term.dates else { continue }
            var found = KeySet()
            try forEachPhoto(from: dates, candidates) { found.insert($0) }
            if let expression = term.expression { try forEachHit(expression, candidates) { found.insert($0) } }
            narrow(found)
        }
        return hits
    }

    /// The whole question for a few candidates as well: to find a single row in it, the index goes through all that has a
    /// word's beginning.
    private func forEachHit(_ expression: String, _ candidates: Set<Int64>?, _ body: (Int64) -> Void) throws {
        try connection.forEachNumber("rowid", "FROM photo_text WHERE photo_text MATCH ?", expression) { row in
            if candidates?.contains(row) != false { body(row) }
        }
    }

    private func forEachPhoto(
        from dates: Range<Timestamp>, _ candidates: Set<Int64>?, _ body: (Int64) -> Void
    ) throws {
        let (start, end) = (dates.lowerBound.milliseconds, dates.upperBound.milliseconds)
        guard let candidates else {
            return try connection.forEachNumber(
                "key", "FROM photo WHERE date >= ? AND date < ?", start, end, body: body)
        }
        try connection.forEach(
            "SELECT key FROM photo WHERE key IN (SELECT value FROM json_each(?)) AND date >= ? AND date < ?",
            candidates.keyList, start, end
        ) { body($0.int(0)) }
    }

    /// Where in a photo's name the words of a filter stand, in bytes: what is marked on the screen.
    public func marks(of filter: PhotoFilter, in name: String) throws -> [Range<Int>] {
        guard filter != .all else { return [] }
        let sought = try connection.words(in: filter.text)
        guard !sought.isEmpty else { return [] }
        return try connection.words(in: name).filter { word in
            sought.contains { word.text.hasPrefix($0.text) }
        }.map(\.range)
    }
}

/// A word that somebody searches for: the beginning of a word of a photo's, a time, or either.
private struct SearchTerm: Equatable, Sendable {
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

/// The words by which photos are found: of their names, and of what they say of themselves.
///
/// The index holds no copy of the text, and so has to be told what was there before it changes: "the values … must match
/// the current content of the table", or the index no longer is what the rows say. Everything that changes a name or
/// metadata goes through here, within its transaction.
enum PhotoText {
    /// Takes a photo's words out, as they are now. Before its row, or its metadata, changes or goes.
    static func remove(_ key: Int64, _ connection: Connection) throws {
        try connection.run(
            """
            INSERT INTO photo_text (photo_text, rowid, name, words)
            SELECT 'delete', key, name, words FROM photo_words WHERE key = ?
            """, key)
    }

    /// Puts a photo's words in, as they are now.
    static func add(_ key: Int64, _ connection: Connection) throws {
        try connection.run(
            "INSERT INTO photo_text (rowid, name, words) SELECT key, name, words FROM photo_words WHERE key = ?", key)
    }

    /// Runs what changes a photo's words.
    static func whileChanging(_ key: Int64, _ connection: Connection, _ change: () throws -> Void) throws {
        try remove(key, connection)
        try change()
        try add(key, connection)
    }

    /// Makes the index anew if it does not agree with itself, or with the rows. Returns whether that was so.
    static func mend(_ connection: Connection) throws -> Bool {
        do {
            try connection.execute("INSERT INTO photo_text (photo_text, rank) VALUES ('integrity-check', 1)")
            return false
        } catch SQLiteError.damagedIndex {
            try rebuild(connection)
            return true
        }
    }

    /// Makes the index anew of what the rows say: faster than row by row where there are many, and the cure where it is
    /// damaged.
    static func rebuild(_ connection: Connection) throws {
        try connection.execute("INSERT INTO photo_text (photo_text) VALUES ('rebuild')")
    }
}
