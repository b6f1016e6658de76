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
