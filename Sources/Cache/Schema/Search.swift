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
        func narrow(_ found: KeySet) {
            if hits == nil { hits = found } else { hits?.formIntersection(found) }
        }
        // One query for all words, which is faster than one for each.
        let words = terms.compactMap(\.plainWords)
        if !words.isEmpty {
            var found = KeySet()
            try forEachHit(words, candidates) { found.insert($0) }
            narrow(found)
        }
        for term in terms {
            var found = KeySet()
            switch term.meaning {
            case .words: continue
            case .dates(let dates, let sought):
                try forEachPhoto(from: dates, candidates) { found.insert($0) }
                if !sought.isEmpty { try forEachHit([sought], candidates) { found.insert($0) } }
            case .annotation(let field, let sought):
                try forEachAnnotated(field, sought, candidates) { found.insert($0) }
            case .property(let property): try forEachPhoto(with: property, candidates) { found.insert($0) }
            }
            narrow(found)
        }
        return hits
    }

    /// Calls `body` for the photos with all sought words in their texts.
    ///
    /// The index cannot search only the candidates, and reading all its matches after each commit would be slow. So this
    /// method compares the candidates' own words, as the index does.
    private func forEachHit(_ sought: [SoughtWords], _ candidates: Set<Int64>?, _ body: (Int64) -> Void) throws {
        guard let candidates else {
            let expression = sought.map(\.expression).joined(separator: " AND ")
            return try connection.forEachNumber(
                "rowid", "FROM photo_text WHERE photo_text MATCH ?", expression, body: body)
        }
        try connection.forEach(
            "SELECT key, name, words FROM photo_words WHERE key IN (SELECT value FROM json_each(?))", candidates.keyList
        ) { row in
            let words = try connection.words(in: row.text(1)) + connection.words(in: row.text(2))
            if sought.allSatisfy({ $0.areIn(words) }) { body(row.int(0)) }
        }
    }

    /// The SQL condition for photos with a date in a period. The number 0 stands for an unknown date.
    static let isDated = "date >= ? AND date < ? AND date <> \(Timestamp.unknown.milliseconds)"

    private func forEachPhoto(
        from dates: Range<Timestamp>, _ candidates: Set<Int64>?, _ body: (Int64) -> Void
    ) throws {
        let (start, end) = (dates.lowerBound.milliseconds, dates.upperBound.milliseconds)
        guard let candidates else {
            return try connection.forEachNumber(
                "key", "FROM photo WHERE \(Self.isDated)", start, end, body: body)
        }
        try connection.forEach(
            "SELECT key FROM photo WHERE \(Self.isDated) AND key IN (SELECT value FROM json_each(?))",
            start, end, candidates.keyList
        ) { body($0.int(0)) }
    }

    /// Calls `body` for the photos with a matching annotation, or a matching text of the same kind in their metadata.
    ///
    /// A text matches if each sought text begins one of its words.
    private func forEachAnnotated(
        _ field: SearchTerm.Field, _ sought: SoughtWords, _ candidates: Set<Int64>?, _ body: (Int64) -> Void
    ) throws {
        // Remember the results, because many photos have the same tags and places. Equal strings may differ in bytes.
        var known: [[UInt8]: Bool] = [:]
        func isSought(_ text: String) throws -> Bool {
            let bytes = Array(text.utf8)
            if let answer = known[bytes] { return answer }
            let answer = sought.areIn(try connection.words(in: text))
            if known.count < Self.mostKnownTexts { known[bytes] = answer }
            return answer
        }
        var (photos, condition, value) = (
            "photo_text JOIN photo ON photo.key = photo_text.rowid", "photo_text MATCH ?", sought.expression
        )
        if candidates != nil {
            var hits: Set<Int64> = []
            try forEachHit([sought], candidates) { hits.insert($0) }
            (photos, condition, value) = ("photo", "photo.key IN (SELECT value FROM json_each(?))", hits.keyList)
        }
        let column = field.metadataColumn
        try connection.forEach(
            """
            SELECT photo.key, photo.annotations, \(column) FROM \(photos)
            LEFT JOIN metadata ON metadata.photo = photo.key
            WHERE \(condition) AND (photo.annotations NOT NULL OR \(column) <> '')
            """, value
        ) { row in
            let texts = field.texts(in: PhotoAnnotations(text: row.text(1))) + [row.text(2)]
            if try texts.contains(where: isSought) { body(row.int(0)) }
        }
    }

    /// The maximum number of texts whose results a search remembers.
    private static let mostKnownTexts = 4_096

    private func forEachPhoto(
        with property: SearchTerm.Property, _ candidates: Set<Int64>?, _ body: (Int64) -> Void
    ) throws {
        if let candidates {
            return try connection.forEach(
                """
                SELECT key, rating, is_favorite, video_milliseconds NOT NULL FROM photo
                WHERE key IN (SELECT value FROM json_each(?))
                """, candidates.keyList
            ) { row in
                let isHit =
                    switch property {
                    case .favorite: row.int(2) != 0
                    case .video: row.int(3) != 0
                    case .rejected: row.int(1) < 0
                    case .stars(0): row.int(1) == 0
                    case .stars(let count): row.int(1) >= count
                    }
                if isHit { body(row.int(0)) }
            }
        }
        switch property {
        case .favorite: try connection.forEachNumber("key", "FROM photo WHERE is_favorite", body: body)
        case .video: try connection.forEachNumber("key", "FROM photo WHERE video_milliseconds NOT NULL", body: body)
        case .rejected: try connection.forEachNumber("key", "FROM photo WHERE rating <> 0 AND rating < 0", body: body)
        case .stars(0):
            // SQLite reads all keys from an index of another column, which is smaller than the table.
            try connection.forEachNumber(
                "key", "FROM photo WHERE key NOT IN (SELECT key FROM photo WHERE rating <> 0)", body: body)
        case .stars(let count):
            // The first condition lets SQLite use the index.
            try connection.forEachNumber("key", "FROM photo WHERE rating <> 0 AND rating >= ?", count, body: body)
        }
    }

    /// Returns the ids of the photos that the gallery's list marks as favorites.
    public func favorites() throws -> Set<String> {
        Set(try connection.map("SELECT id FROM photo WHERE is_favorite") { $0.text(0) })
    }

    /// Returns the matches of a filter in a photo's name, for highlighting. The ranges count bytes.
    public func marks(of filter: PhotoFilter, in name: String) throws -> [Range<Int>] {
        guard filter != .all else { return [] }
        let sought = try SearchTerm.plainWords(of: filter.text).flatMap { try connection.spellings(of: $0).joined() }
        guard !sought.isEmpty else { return [] }
        return try connection.words(in: name).filter { word in sought.contains { word.text.hasPrefix($0) } }
            .map(\.range)
    }

    /// Returns the indexes of the texts that contain all words of a search. Words match as in a search for photos.
    public func matches(of search: String, in texts: [String]) throws -> [Int] {
        let sought = SoughtWords(spellings: try connection.spellings(of: search))
        return try texts.indices.filter { sought.areIn(try connection.words(in: texts[$0])) }
    }
}

/// The words that a search looks for, in each of their spellings.
private struct SoughtWords {
    let spellings: [[String]]

    /// Returns whether each word begins a word of a text. The words must have the same spelling.
    func areIn(_ words: [WordTokenizer.Word]) -> Bool {
        spellings.isEmpty
            || spellings.contains { sought in
                // Swift treats all forms of a letter as equal, and the index compares bytes.
                sought.allSatisfy { part in words.contains { $0.text.utf8.starts(with: part.utf8) } }
            }
    }

    /// Whether there are no words.
    var isEmpty: Bool { spellings.isEmpty }

    /// The full-text query for the words; empty without words. Quotes prevent the words from being query syntax.
    var expression: String {
        let queries = spellings.map { words in
            words.map { "\"\($0.replacing("\"", with: "\"\""))\" *" }.joined(separator: " AND ")
        }
        return queries.count < 2
            ? queries.first ?? "" : "(" + queries.map { "(\($0))" }.joined(separator: " OR ") + ")"
    }
}

/// One term of a search, such as `lake`, `2006-07` or `place:"New York"`.
private struct SearchTerm {
    /// The condition that a photo must satisfy.
    enum Meaning {
        /// Each word begins a word of the photo's name, metadata or annotations.
        case words(SoughtWords)
        /// The photo's date is in a period, such as `2006-07`, or each word begins a word of the photo.
        case dates(Range<Timestamp>, SoughtWords)
        /// Each word begins a word of one text of this kind.
        case annotation(Field, SoughtWords)
        /// The photo has a property.
        case property(Property)
    }

    /// A kind of text about a photo. Users type its name before a colon, as in `tag:lake`.
    enum Field: String, CaseIterable {
        case tag, person, place, author, caption

        /// The column of the metadata with texts of this kind; NULL if there is none.
        var metadataColumn: String {
            switch self {
            case .place: "metadata.town"
            case .caption: "metadata.description"
            case .tag, .person, .author: "NULL"
            }
        }

        /// Returns a photo's annotations of this kind.
        func texts(in annotations: PhotoAnnotations) -> [String] {
            switch self {
            case .tag: annotations.tags
            case .person: annotations.people
            case .place: [annotations.place]
            case .author: [annotations.author]
            case .caption: [annotations.description]
            }
        }
    }

    /// A property of a photo other than its texts.
    enum Property {
        case favorite, video, rejected
        /// At least this number of stars; or no stars, if the number is 0.
        case stars(Int)

        /// Reads `is:favorite`, `is:video`, `is:rejected` or a rating such as `rating:4`. Returns nil for other texts.
        init?(_ word: Substring) {
            switch word.lowercased() {
            case "is:favorite": self = .favorite
            case "is:video": self = .video
            case "is:rejected": self = .rejected
            case let text where text.hasPrefix("rating:") && text.utf8.count == 8:
                guard let digit = text.utf8.last, (0x30...0x35).contains(digit) else { return nil }
                self = .stars(Int(digit) - 0x30)
            default: return nil
            }
        }

        /// Whether a word is the beginning of a property, such as `is:fav`. Then the user is still typing.
        static func isUnfinished(_ word: Substring) -> Bool {
            let text = word.lowercased()
            return text.contains(":")
                && ["is:favorite", "is:video", "is:rejected", "rating:"].contains { $0.hasPrefix(text) }
        }
    }

    let meaning: Meaning

    /// The words that may be in any text; nil for other terms.
    var plainWords: SoughtWords? {
        if case .words(let sought) = meaning { sought } else { nil }
    }

    /// Splits a search text into terms. Without terms, every photo matches.
    static func terms(of text: String, _ connection: Connection) throws -> [SearchTerm] {
        // Use each word once, because the user may paste a long text.
        var known: Set<Substring> = []
        return try parts(of: text).compactMap { word in
            guard known.insert(word).inserted else { return nil }
            return try meaning(of: word, connection).map(SearchTerm.init)
        }
    }

    private static func meaning(of word: Substring, _ connection: Connection) throws -> Meaning? {
        if let property = Property(word) { return .property(property) }
        if Property.isUnfinished(word) { return nil }
        if let (field, value) = field(word) {
            // Without words, the user is still typing.
            let sought = SoughtWords(spellings: try connection.spellings(of: value))
            return sought.isEmpty ? nil : .annotation(field, sought)
        }
        // The index may split the word, as in `IMG_0001`.
        let sought = SoughtWords(spellings: try connection.spellings(of: String(word)))
        if let dates = dates(word) { return .dates(dates, sought) }
        return sought.isEmpty ? nil : .words(sought)
    }

    /// Returns the search words that may be anywhere in a photo's texts.
    static func plainWords(of text: String) -> [String] {
        parts(of: text).filter { Property($0) == nil && !Property.isUnfinished($0) && field($0) == nil }.map(
            String.init)
    }

    /// Splits a search text at its spaces. Spaces in quotes after a colon do not count, as in `place:"New York"`.
    private static func parts(of text: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = text[...]
        while !rest.isEmpty {
            rest = rest.drop(while: \.isWhitespace)
            var end = rest.firstIndex(where: \.isWhitespace) ?? rest.endIndex
            if let start = rest[..<end].firstRange(of: ":\"")?.upperBound {
                end = rest[start...].firstIndex(of: "\"").map { rest.index(after: $0) } ?? rest.endIndex
            }
            if end > rest.startIndex { parts.append(rest[..<end]) }
            rest = rest[end...]
        }
        return parts
    }

    /// Splits a word such as `tag:lake` into field and value. Returns nil for other words.
    private static func field(_ word: Substring) -> (Field, String)? {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let field = Field(rawValue: parts[0].lowercased()) else { return nil }
        return (field, String(parts[1]))
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
        guard (1...12).contains(day.month), (1...31).contains(day.day), day.exists else { return nil }
        let rules: [SectionRule] = [.year, .month, .day]
        return day.moments(of: rules[parts.count - 1])
    }
}

/// The full-text index of photos' names, metadata and annotations.
///
/// The index holds no copy of its text, so SQLite needs the old words before each change: "the values … must match the
/// current content of the table". Code that changes these texts must call these functions in the same transaction.
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
