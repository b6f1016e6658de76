import Model
import SQLite

extension CacheReader {
    /// Returns the photos that match a filter. Returns nil if all photos match.
    ///
    /// - Parameter candidates: limits the search to these photos.
    func hits(_ filter: PhotoFilter, among candidates: Set<Int64>? = nil) throws -> KeySet? {
        guard filter != .all else { return nil }
        var hits = try filter.folder.flatMap { try keys(in: $0, among: candidates) }
        let terms = try SearchTerm.terms(of: filter.text, connection)
        guard !terms.isEmpty else { return hits }
        // One query for all words, which is faster than one for each.
        let words = terms.filter { $0.dates == nil }.compactMap(\.expression).joined(separator: " AND ")
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

    /// Calls `body` for the matches of a full-text query. The index cannot search only the candidates, so this method
    /// checks each match.
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

    /// Returns the matches of a filter in a photo's name, for highlighting. The ranges count bytes.
    public func marks(of filter: PhotoFilter, in name: String) throws -> [Range<Int>] {
        guard filter != .all else { return [] }
        let sought = try connection.words(in: filter.text)
        guard !sought.isEmpty else { return [] }
        return try connection.words(in: name).filter { word in
            sought.contains { word.text.hasPrefix($0.text) }
        }.map(\.range)
    }
}

/// One word of a search. The word matches the beginning of another word, or a date.
private struct SearchTerm: Equatable, Sendable {
    /// The full-text query for the word; nil if it contains no letters and digits.
    let expression: String?
    /// The period that the word names, such as `2006-07`; nil if it is no date.
    let dates: Range<Timestamp>?

    /// Splits a search text into terms. Without terms, every photo matches.
    static func terms(of text: String, _ connection: Connection) throws -> [SearchTerm] {
        // Each word once, because the user may paste a long text.
        var known: Set<Substring> = []
        return try text.split(whereSeparator: \.isWhitespace).compactMap { word in
            guard known.insert(word).inserted else { return nil }
            let expression = try expression(String(word), connection)
            let dates = dates(word)
            return expression == nil && dates == nil ? nil : SearchTerm(expression: expression, dates: dates)
        }
    }

    /// Returns the full-text query for a word. The index may split the word, as in `IMG_0001`; quotes prevent the parts
    /// from being query syntax.
    private static func expression(_ word: String, _ connection: Connection) throws -> String? {
        let words = try connection.words(in: word)
        guard !words.isEmpty else { return nil }
        return words.map { "\"\($0.text.replacing("\"", with: "\"\""))\" *" }.joined(separator: " AND ")
    }

    /// Returns the period that a text such as `2006`, `2006-07` or `2006-07-30` names. Returns nil for other texts.
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

/// The full-text index of photos' names and metadata.
///
/// The index holds no copy of its text, so SQLite needs the old words before each change: "the values … must match the
/// current content of the table". Every change of a name or of metadata uses these functions, in its transaction.
enum PhotoText {
    /// Removes a photo's current words from the index. Call this function before a change of the photo's row or
    /// metadata.
    static func remove(_ key: Int64, _ connection: Connection) throws {
        try connection.run(
            """
            INSERT INTO photo_text (photo_text, rowid, name, words)
            SELECT 'delete', key, name, words FROM photo_words WHERE key = ?
            """, key)
    }

    /// Adds a photo's current words to the index.
    static func add(_ key: Int64, _ connection: Connection) throws {
        try connection.run(
            "INSERT INTO photo_text (rowid, name, words) SELECT key, name, words FROM photo_words WHERE key = ?", key)
    }

    /// Runs a change of a photo's words, and updates the index.
    static func whileChanging(_ key: Int64, _ connection: Connection, _ change: () throws -> Void) throws {
        try remove(key, connection)
        try change()
        try add(key, connection)
    }

    /// Rebuilds the index if it does not match the rows. Returns true if it rebuilt the index.
    static func repair(_ connection: Connection) throws -> Bool {
        do {
            try connection.execute("INSERT INTO photo_text (photo_text, rank) VALUES ('integrity-check', 1)")
            return false
        } catch SQLiteError.damagedIndex {
            try rebuild(connection)
            return true
        }
    }

    /// Rebuilds the index from the rows. For many changes this is faster than updating the index for each.
    static func rebuild(_ connection: Connection) throws {
        try connection.execute("INSERT INTO photo_text (photo_text) VALUES ('rebuild')")
    }
}
