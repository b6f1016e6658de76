import Foundation
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Random transactions on real tables, in every order, direction, filter, folder and division. The difference applied to the old
/// list gives the new one, and the new one agrees with the tables.
@Suite struct ArrangementTests {
    private static let words = [
        "Sea", "séa", "Seaside", "owl", "OWL 2006", "IMG_10", "IMG_2", "a\"b", "Łódź", "2006-07",
        // Both spellings of `й`.
        "\u{41C}\u{43E}\u{439} 10", "\u{41C}\u{43E}\u{438}\u{306} 10",
    ]
    private static let filters = [
        "", "sea", "SEA", "img 10", "2006", "2006-07", "owl 2006-07", "lodz", "\"", "a\"b",
        "10 \u{43C}\u{43E}\u{439}", "10 \u{43C}\u{43E}\u{438}\u{306}",
    ]

    /// Folders in natural order. A photo's number determines its folder.
    private static let folders = ["", "A", "a", "a/c", "a2", "a10", "a b", "b"]
    private static let folderFilters: [FolderFilter?] = [
        nil, .own(.top), .whole(.top), .own(FolderPath("a")), .whole(FolderPath("a")), .own(FolderPath("none")),
    ]

    private static func folder(of key: Int64) -> String { folders[Int(key) % folders.count] }

    private static func id(_ key: Int64) -> String { FolderPath(folder(of: key)).prefix + "\(key)" }

    /// Whether a name or date matches a filter, determined independently.
    private static func matches(_ filter: String, _ name: String, _ date: Int64) -> Bool {
        let day = LocalDay(of: Timestamp(milliseconds: date))
        let isIn2006 = day.year == 2006
        return switch filter {
        case "", "\"": true
        case "sea", "SEA": ["Sea", "séa", "Seaside"].contains(name)
        case "img 10": name == "IMG_10"
        case "2006": isIn2006 || name == "OWL 2006" || name == "2006-07"
        case "2006-07": isIn2006 && day.month == 7 || name == "2006-07"
        case "owl 2006-07": isIn2006 && day.month == 7 && ["owl", "OWL 2006"].contains(name)
        // `ł` is a letter of its own, not an accented `l`.
        case "lodz": false
        // Swift compares both spellings as equal.
        case "10 \u{43C}\u{43E}\u{439}": name == "\u{41C}\u{43E}\u{439} 10"
        case "a\"b": name == "a\"b"
        default: false
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func differencesLeadFromEachListToTheNext(part: UInt64) throws {
        setenv("TZ", "UTC", 1)
        var random = SeededNumbers(seed: part)
        for _ in 0..<125 {
            let connection = try Connection(path: ":memory:", access: .readWrite)
            try Schema.migrate(connection)
            let reader = CacheReader(connection)
            let query = PhotoQuery(
                order: PhotoOrder(
                    PhotoOrder.Criterion.allCases.randomElement(using: &random)!, ascending: .random(using: &random)),
                filter: PhotoFilter(
                    Self.filters.randomElement(using: &random)!,
                    in: Self.folderFilters.randomElement(using: &random)!),
                isByFolder: .random(using: &random))
            var rows = query.isByFolder ? try query.rows(reader) : OrderedRows(pieceSize: 2)
            // Ten sequences of changes on growing tables, ten thousand changes in all.
            for _ in 0..<10 {
                let old = shown(rows, query)
                let touched = try change(connection, &random)
                var difference = rows.apply(try query.keys(of: touched, reader))
                if query.isReversed {
                    difference = difference.reversed(oldCount: old.count, newCount: rows.count)
                }
                let new = shown(rows, query)
                #expect(difference.applied(to: old, new: new) == new)
                #expect(try shown(query.rows(reader), query) == new, "\(query)")
                try expectHits(query, new, connection)
                if query.isByFolder {
                    expectFolders(rows)
                } else if query.order.criterion == .date {
                    expectSections(rows)
                }
            }
        }
    }

    /// Tags and names. Three pairs differ only in the form of a letter.
    private static let texts = [
        "blue lake", "Bl\u{FC}tenlake 2006", "York", "New York", "\u{1112}\u{1161}\u{11AB}", "\u{D55C}", "\u{F900}",
        "\u{8C48}", "cafe\u{301}", "caf\u{E9}s", "a-b_c", "\u{41C}\u{43E}\u{439}", "",
    ]

    @Test("A search among some photos finds those of them that a search of all photos finds", arguments: 1...4)
    func candidates(seed: UInt64) throws {
        setenv("TZ", "UTC", 1)
        var random = SeededNumbers(seed: seed)
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try Schema.migrate(connection)
        func text() -> String { Self.texts.randomElement(using: &random)! }
        for key in 1...200 as ClosedRange<Int64> {
            var annotations = PhotoAnnotations()
            annotations.rating = Int.random(in: 0...5, using: &random)
            annotations.isFavorite = .random(using: &random)
            (annotations.tags, annotations.place, annotations.description) = ([text(), text()], text(), text())
            let stored = Bool.random(using: &random) ? annotations.text : nil
            let date = Int64.random(in: 1_130_000_000...1_180_000_000, using: &random) * 1000
            let rating: Int? = Bool.random(using: &random) ? nil : Int.random(in: -1...5, using: &random)
            let length: Int? = Bool.random(using: &random) ? nil : 1
            try connection.run(
                """
                INSERT INTO photo (key, id, name, name_key, date, photo_address, annotations, own_rating, video_milliseconds)
                VALUES (?, ?, ?, x'', ?, '', ?, ?, ?)
                """, key, "\(key)", text(), date, stored, rating, length)
            if Bool.random(using: &random) {
                try connection.run(
                    """
                    INSERT INTO metadata (photo, edition, format, width, height, description, town, words)
                    VALUES (?1, 1, 'JPEG', 1, 1, ?2, ?3, ?2 || ' ' || ?3)
                    """, key, text(), text())
            }
        }
        try PhotoText.rebuild(connection)
        let reader = CacheReader(connection)
        let values = Self.texts + ["b", "\u{1112}", "caf", "lake york", "2006", "\u{43C}\u{43E}\u{438}\u{306}", "none"]
        var searches = values + ["is:favorite", "is:video", "is:rejected", "2006-07", "rating:0", "rating:3"]
        for field in ["tag", "place", "caption", "person"] { searches += values.map { "\(field):\"\($0)\"" } }
        for _ in 0..<200 {
            let terms = (0...Int.random(in: 0...2, using: &random)).map { _ in searches.randomElement(using: &random)! }
            let filter = PhotoFilter(terms.joined(separator: " "))
            let some = Set((1...200 as ClosedRange<Int64>).filter { _ in Bool.random(using: &random) })
            let hits = try (all: reader.hits(filter), some: reader.hits(filter, among: some))
            #expect(
                some.filter { hits.all?.contains($0) != false } == some.filter { hits.some?.contains($0) != false },
                "\(filter.text)")
        }
    }

    @Test("The cost of a changed photo does not depend on the number of photos that match a search")
    func costOfAChange() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try Schema.migrate(connection)
        try connection.run(
            """
            INSERT INTO photo (id, name, name_key, date, photo_address, annotations, own_rating, video_milliseconds)
            WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < ?)
            SELECT n, 'Photo 1970 ' || n, x'', n, '', '+' || char(10) || '#photo', iif(n % 2, 0, 1), 1 FROM number
            """, 60_000)
        try PhotoText.rebuild(connection)
        // SQLite calls this function after each 100,000 steps of a statement.
        var pauses = 0
        func pause() -> Bool {
            pauses += 1
            return false
        }
        for search in ["photo", "1970", "tag:photo", "place:photo", "rating:0", "rating:1", "is:favorite", "is:video"] {
            let query = PhotoQuery(order: PhotoOrder(), filter: PhotoFilter(search))
            let keys = try connection.interrupting(when: pause) { try query.keys(of: [1], CacheReader(connection)) }
            #expect(pauses == 0 && keys.count == 1, "\(search)")
        }
    }

    private func shown(_ rows: OrderedRows, _ query: PhotoQuery) -> [Int64] {
        let all = (0..<rows.count).map { rows[$0] }
        return query.isReversed ? all.reversed() : all
    }

    private func expectFolders(_ rows: OrderedRows) {
        let shown = (0..<rows.count).map { Self.folder(of: rows[$0]) }
        #expect(shown == shown.sorted { Self.folders.firstIndex(of: $0)! < Self.folders.firstIndex(of: $1)! })
        let divider = SectionDivider(rows: rows, rule: .folder)
        for index in 0..<rows.count {
            let section = divider.section(at: index)
            #expect(section?.name == .folder(FolderPath(shown[index])))
            #expect(section.map { Array($0.range) } == shown.indices.filter { shown[$0] == shown[index] })
        }
    }

    private func expectHits(_ query: PhotoQuery, _ listed: [Int64], _ connection: Connection) throws {
        let expected = try connection.map("SELECT key, name, date FROM photo") {
            (
                key: $0.int(0),
                isHit: Self.matches(query.filter.text, $0.text(1), $0.int(2))
                    && Self.isListed($0.int(0), query.filter.folder)
            )
        }.filter(\.isHit).map(\.key)
        #expect(Set(expected) == Set(listed), "\(query)")
    }

    /// Whether a folder's list has a photo, determined independently.
    private static func isListed(_ key: Int64, _ filter: FolderFilter?) -> Bool {
        switch filter {
        case nil, .whole(.top): true
        case .whole: ["a", "a/c"].contains(folder(of: key))
        case .own(let path): folder(of: key) == path.text
        }
    }

    private func expectSections(_ rows: OrderedRows) {
        for rule in [SectionRule.day, .month, .year] {
            let divider = SectionDivider(rows: rows, rule: rule)
            var end = 0
            for index in 0..<rows.count {
                let day = LocalDay(of: Timestamp(milliseconds: rows.number(at: index)))
                let section = divider.section(at: index)
                #expect(section?.name == .period(day.start(of: rule)))
                #expect(section?.range.contains(index) == true)
                // The sections follow each other without gaps.
                if index == end { end = section?.range.upperBound ?? 0 }
                #expect(section?.range.upperBound == end)
            }
        }
    }

    /// Makes random changes like those of a commit, and returns the touched rows.
    private func change(_ connection: Connection, _ random: inout SeededNumbers) throws -> Set<Int64> {
        var touched: Set<Int64> = []
        for _ in 0...Int.random(in: 0..<5, using: &random) {
            let key = Int64.random(in: 1...14, using: &random)
            let exists = try connection.first("SELECT 1 FROM photo WHERE key = ?", key) { _ in true } ?? false
            let name = Self.words.randomElement(using: &random)!
            let date = Int64.random(in: 1_150_000_000...1_160_000_000, using: &random) * 1000
            touched.insert(key)
            switch (exists, Int.random(in: 0..<6, using: &random)) {
            case (false, _):
                try connection.run(
                    "INSERT INTO photo (key, id, name, name_key, date, photo_address) VALUES (?, ?, ?, ?, ?, '')", key,
                    Self.id(key), name, NaturalKey.bytes(of: name), date)
                try PhotoText.add(key, connection)
            case (true, 0):
                try PhotoText.remove(key, connection)
                try connection.run("DELETE FROM photo WHERE key = ?", key)
            case (true, 1):
                try PhotoText.whileChanging(key, connection) {
                    try connection.run(
                        "UPDATE photo SET name = ?, name_key = ? WHERE key = ?", name, NaturalKey.bytes(of: name), key)
                }
            case (true, 2): try connection.run("UPDATE photo SET date = ? WHERE key = ?", date, key)
            case (true, 3):
                try connection.run(
                    "UPDATE photo SET photo_held = 1, photo_size = ? WHERE key = ?",
                    Int.random(in: 1...9, using: &random),
                    key)
            case (true, 4):
                try connection.run(
                    "UPDATE photo SET photo_trouble = ? WHERE key = ?", Int.random(in: 1...2, using: &random), key)
            default: try connection.run("UPDATE photo SET thumbnail_held = 1 WHERE key = ?", key)
            }
        }
        return touched
    }
}

/// Moments at the limits of integers, which a damaged cache may contain.
@Suite struct LocalDayTests {
    @Test("Every moment belongs to a day that contains it")
    func bounds() {
        var numbers = BoundaryNumbers(seed: 1)
        for index in 0..<10_000 {
            let extremes: [Int64] = [.min, .max, .min + 1, .max - 1]
            let number = index < extremes.count ? extremes[index] : Int64(bitPattern: numbers.number())
            let day = LocalDay(of: Timestamp(milliseconds: number))
            for rule in [SectionRule.day, .month, .year] {
                let moments = day.moments(of: rule)
                #expect(moments.lowerBound <= moments.upperBound)
            }
        }
    }
}
