import Foundation
import Model
import SQLite
import Testing

@testable import Cache

@MainActor @Suite struct FetchedResultsTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func names(_ results: FetchedResults) throws -> [String] {
        try results.photos(in: 0..<results.count).map { $0?.galleryID ?? "?" }
    }

    private func sync(_ photos: [(id: String, name: String, date: Int64)]) async throws {
        try await test.sync(photos.map { try TestCache.entry($0.id, name: $0.name, date: $0.date) })
    }

    @Test("BEHAVIOURS 3.7: the oldest photo comes first by default")
    func orders() async throws {
        try await sync([("a", "IMG 10", 3000), ("b", "img 2", 1000), ("c", "Zoo", 2000), ("d", "apple", 2000)])
        let dates = try FetchedResults(of: test.cache)
        #expect(try names(dates) == ["b", "c", "d", "a"])
        #expect(
            try names(FetchedResults(of: test.cache, order: PhotoOrder(.date, ascending: false))) == [
                "a", "d", "c", "b",
            ])
        #expect(try names(FetchedResults(of: test.cache, order: PhotoOrder(.name))) == ["d", "b", "a", "c"])
        #expect(try await names(dates.arranged(PhotoOrder(), filter: PhotoFilter("IMG"))) == ["b", "a"])
        #expect(try await names(dates.arranged(PhotoOrder(.name), filter: PhotoFilter("img"))) == ["b", "a"])
        #expect(try await names(dates.arranged(PhotoOrder(.name))) == ["d", "b", "a", "c"])
        #expect(try await names(dates.arranged(PhotoOrder(.date, ascending: false))) == ["a", "d", "c", "b"])
        for index in 0..<4 {
            let key = try #require(dates.key(at: index))
            #expect(dates.index(of: key) == index)
        }
        let falling = try FetchedResults(of: test.cache, order: PhotoOrder(.date, ascending: false))
        for index in 0..<4 { #expect(falling.key(at: index).flatMap { falling.index(of: $0) } == index) }
        #expect(dates.key(at: 4) == nil && dates.key(at: -1) == nil && dates.index(of: PhotoKey(99)) == nil)
    }

    @Test("Each row knows its section and the rows in it, in both directions")
    func sections() async throws {
        let day: Int64 = 86_400_000
        try await sync([("a", "A", 100 * day), ("b", "B", 100 * day + 1), ("c", "C", 200 * day)])
        let first = PhotoSection.Name.period(LocalDay(of: Timestamp(milliseconds: 100 * day)))
        let second = PhotoSection.Name.period(LocalDay(of: Timestamp(milliseconds: 200 * day)))
        let rising = try FetchedResults(of: test.cache, sections: .day)
        for index in 0..<2 { #expect(rising.section(at: index) == PhotoSection(name: first, range: 0..<2)) }
        #expect(rising.section(at: 2) == PhotoSection(name: second, range: 2..<3))
        #expect(rising.section(at: 3) == nil && rising.section(at: -1) == nil)
        let falling = try FetchedResults(of: test.cache, order: PhotoOrder(.date, ascending: false), sections: .day)
        #expect(falling.section(at: 0) == PhotoSection(name: second, range: 0..<1))
        for index in 1..<3 { #expect(falling.section(at: index) == PhotoSection(name: first, range: 1..<3)) }
        #expect(falling.section(at: 3) == nil)
        #expect(try FetchedResults(of: test.cache).section(at: 0) == nil)
    }

    @Test("A set of photos has the order of a list, in both directions")
    func orderedSets() async throws {
        try await sync([("a", "A", 1000), ("b", "B x", 2000), ("c", "C", 3000), ("d", "D x", 4000)])
        var photos = KeySet()
        for id in ["d", "a", "b"] { photos.insert(try test.key(id)) }
        photos.insert(PhotoKey(1 << 40))
        for isRising in [true, false] {
            let results = try FetchedResults(of: test.cache, order: PhotoOrder(.date, ascending: isRising))
            let ids = isRising ? ["a", "b", "d"] : ["d", "b", "a"]
            #expect(try results.ordered(photos) == ids.map { try test.key($0) })
            #expect(results.ordered(KeySet()).isEmpty)
            let found = try await results.arranged(results.order, filter: PhotoFilter("x"))
            #expect(try found.ordered(photos) == ids.filter { $0 != "a" }.map { try test.key($0) })
        }
    }

    @Test("A photo that the filter excludes has a place before the next match, in both directions")
    func insertionIndices() async throws {
        try await sync([("a", "x a", 1000), ("b", "b", 2000), ("c", "x c", 3000), ("d", "d", 4000)])
        let all = try FetchedResults(of: test.cache)
        for (isRising, expected) in [(true, [0, 1, 1, 2]), (false, [1, 1, 0, 0])] {
            let found = try await all.arranged(PhotoOrder(.date, ascending: isRising), filter: PhotoFilter("x"))
            #expect(try names(found) == (isRising ? ["a", "c"] : ["c", "a"]))
            #expect(try ["a", "b", "c", "d"].map { found.insertionIndex(of: try test.key($0)) } == expected)
            // Steps begin beside a photo that the filter excludes, and at a photo that the list contains.
            let forwards: [Int?] = isRising ? [0, 0, 1, 1] : [1, 0, 0, -1]
            let backwards: [Int?] = isRising ? [0, 1, 1, 2] : [1, 1, 0, 0]
            #expect(try ["a", "b", "c", "d"].map { found.stepOrigin(of: try test.key($0), by: 2) } == forwards)
            #expect(try ["a", "b", "c", "d"].map { found.stepOrigin(of: try test.key($0), by: -1) } == backwards)
        }
    }

    @Test func differencesNameTheRows() async throws {
        try await sync([("a", "A", 1000), ("b", "B", 2000), ("c", "C", 3000), ("d", "D", 4000)])
        let results = try FetchedResults(of: test.cache)
        // a is removed, b renamed, c moves to the end, e is new between b and d.
        try await sync([("b", "B2", 2000), ("c", "C", 5000), ("d", "D", 4000), ("e", "E", 3500)])
        let difference = await results.nextDifference()
        #expect(try names(results) == ["b", "e", "d", "c"])
        #expect(
            difference
                == .rows(
                    RowDifference(
                        deleted: [0], inserted: [1], moved: [RowDifference.Move(from: 2, to: 3)], updated: [0])))
    }

    @Test func aListChangesOnlyWithItsDifference() async throws {
        try await sync([("a", "A", 1000)])
        let results = try FetchedResults(of: test.cache)
        for number in 2...30 {
            try await sync((1...number).map { ("\($0)", "N", Int64($0) * 1000) })
        }
        #expect(results.count == 1)
        // Twenty-nine commits make one difference.
        guard case .rows(let difference) = await results.nextDifference() else { return #expect(Bool(false)) }
        #expect(results.count == 30 && difference.inserted.count == 30 && difference.deleted == [0])
    }

    @Test func rowsOutsideTheFilterCauseNoDifference() async throws {
        try await sync([("a", "sea", 1000), ("b", "wood", 2000)])
        let results = try await FetchedResults(of: test.cache).arranged(PhotoOrder(), filter: PhotoFilter("sea"))
        try await sync([("a", "sea", 1000), ("b", "forest", 2000)])
        try await sync([("a", "sea", 1000), ("b", "seaside", 2000)])
        #expect(await results.nextDifference() == .rows(RowDifference(inserted: [1])))
        try await sync([("a", "wood", 1000), ("b", "seaside", 2000)])
        #expect(await results.nextDifference() == .rows(RowDifference(deleted: [0])))
    }

    @Test("Metadata that arrives brings its photo into a list with a search")
    func metadataOutsideTheFilter() async throws {
        try await sync([("a", "sea", 1000), ("b", "wood", 2000)])
        let results = try await FetchedResults(of: test.cache).arranged(PhotoOrder(), filter: PhotoFilter("leica"))
        try await test.hold("b")
        var metadata = PhotoMetadata(format: "JPEG", width: 40, height: 30)
        metadata.camera = "Leica M3"
        #expect(try await test.cache.writer.store(metadata, of: test.key("b"), edition: 1))
        #expect(await results.nextDifference() == .rows(RowDifference(inserted: [0])))
        #expect(try names(results) == ["b"])
    }

    @Test func anArrivingThumbnailUpdatesItsRow() async throws {
        try await sync([("a", "A", 1000), ("b", "B", 2000)])
        let results = try FetchedResults(of: test.cache)
        try await test.cache.writer.store(thumbnail: [1], of: test.key("b"), edition: 1)
        #expect(await results.nextDifference() == .rows(RowDifference(updated: [1])))
    }

    @Test func theBeginningLoadsFirstAndTheRestFollows() async throws {
        let total = FetchedResults.firstLoad + 500
        try await sync((0..<total).map { ("\($0)", "N\($0)", Int64($0) * 1000) })
        for ascending in [true, false] {
            let results = try FetchedResults(of: test.cache, order: PhotoOrder(.date, ascending: ascending))
            #expect(results.count == total)
            let first = try #require(try results.photos(in: 0..<1).first.flatMap { $0 })
            #expect(first.galleryID == (ascending ? "0" : "\(total - 1)"))
            #expect(results.key(at: total - 1) == nil)
            #expect(await results.nextDifference() == .reset)
            let last = try #require(try results.photos(in: total - 1..<total).first.flatMap { $0 })
            #expect(last.galleryID == (ascending ? "\(total - 1)" : "0"))
        }
    }

    @Test func sectionsFollowTheCalendar() async throws {
        setenv("TZ", "UTC", 1)
        let dates = [
            "2006-07-30T07:00:00Z", "2006-07-30T23:59:59Z", "2006-07-31T00:00:00Z", "2006-08-01T00:00:00Z",
            "2008-02-29T12:00:00Z",
        ]
        try await sync(dates.enumerated().map { ("\($0)", "N", Timestamp(iso8601: $1)!.milliseconds) })
        func sections(_ rule: SectionRule, ascending: Bool = true) throws -> [PhotoSection] {
            let order = PhotoOrder(.date, ascending: ascending)
            let results = try FetchedResults(of: test.cache, order: order, sections: rule)
            var sections: [PhotoSection] = []
            while let next = results.section(at: sections.last?.range.upperBound ?? 0) { sections.append(next) }
            for section in sections {
                for place in section.range { #expect(results.section(at: place) == section) }
            }
            return sections
        }
        func ranges(_ rule: SectionRule, ascending: Bool = true) throws -> [Range<Int>] {
            try sections(rule, ascending: ascending).map(\.range)
        }
        #expect(try ranges(.day) == [0..<2, 2..<3, 3..<4, 4..<5])
        #expect(try ranges(.month) == [0..<3, 3..<4, 4..<5])
        #expect(try ranges(.year) == [0..<4, 4..<5])
        #expect(try ranges(.year, ascending: false) == [0..<1, 1..<5])
        #expect(try ranges(.none) == [])
        #expect(try sections(.month)[1].name == .period(LocalDay(year: 2006, month: 8, day: 1)))
    }

    @Test("Photos with an unknown date have a section of their own, between the neighbouring days")
    func undated() async throws {
        let hour: Int64 = 3_600_000
        for moments in [[-2 * hour, -hour, 0, 0, hour, 2 * hour], [0, 0], [0, hour], [-hour, 0]] {
            try await sync(moments.enumerated().map { ("\($0)", "N", $1) })
            for rule in [SectionRule.day, .month, .year] {
                for ascending in [true, false] {
                    let order = PhotoOrder(.date, ascending: ascending)
                    let results = try FetchedResults(of: test.cache, order: order, sections: rule)
                    let sorted = ascending ? moments : moments.reversed()
                    var index = 0
                    while let section = results.section(at: index) {
                        #expect(section.range.lowerBound == index)
                        let found = sorted[section.range]
                        #expect((section.name == .undated) == (found.first == 0))
                        #expect(Set(found.map { $0.signum() }).count == 1)
                        index = section.range.upperBound
                    }
                    #expect(index == moments.count)
                }
            }
        }
    }

    @Test("A search for a date that does not exist finds no photo of another day")
    func datesThatDoNotExist() async throws {
        setenv("TZ", "UTC", 1)
        let dates = ["2006-02-28", "2006-03-01", "2006-03-02", "2008-02-29"]
        try await sync(dates.map { ($0, "N", Timestamp(iso8601: $0 + "T12:00:00Z")!.milliseconds) })
        let results = try FetchedResults(of: test.cache)
        for date in dates + ["2006-02-29", "2006-02-30", "2006-02-31", "2006-04-31", "2008-02-30"] {
            let found = try await results.arranged(PhotoOrder(), filter: PhotoFilter(date))
            #expect(try names(found) == dates.filter { $0 == date })
        }
    }

    @Test("Files of a local folder are sorted by their sizes even if Vitrine has not read them")
    func sizesOfLocalFiles() async throws {
        let address = Address(filePath: "/pictures")
        let cache = try CacheFolder(path: test.folder.path("local"), log: test.log).open(address)
        func sync(_ revisions: [String]) async throws {
            let entries = zip(["a", "b", "c"], revisions).map { id, revision in
                GalleryEntry(
                    id: id, name: id, date: Timestamp(milliseconds: 1000), photo: address.appending(id), thumbnail: nil,
                    revision: revision)
            }
            try await TestCache.sync(entries, into: cache)
        }
        try await sync(["100-1.0", "300-1.0", "200-1.0"])
        let falling = try FetchedResults(of: cache, order: PhotoOrder(.size, ascending: false))
        #expect(try names(falling) == ["b", "c", "a"])
        try await sync(["1000-2.0", "300-1.0", "200-1.0"])
        #expect(await falling.nextDifference() != nil)
        #expect(try names(falling) == ["a", "b", "c"])
        // On a server, the revision may be any text that begins with digits.
        var (unread, held) = (try TestCache.entry("a"), try TestCache.entry("b"))
        (unread.revision, held.revision) = ("900-1", "1-1")
        try await test.sync([unread, held])
        try await test.hold("b")
        #expect(try names(FetchedResults(of: test.cache, order: PhotoOrder(.size))) == ["a", "b"])
    }

    @Test("A search for the year 1970 finds no photo with an unknown date")
    func undatedIsInNoYear() async throws {
        try await sync([("a", "A", 0), ("b", "B", 180 * 86_400_000)])
        let keys = try ["a", "b"].map { try test.key($0).rawValue }
        for candidates in [nil, Set(keys)] as [Set<Int64>?] {
            // West of Greenwich, the number of an unknown date is in the year 1969.
            for (text, expected) in [("1969", []), ("1970", [keys[1]]), ("1970-01-01", [])] as [(String, [Int64])] {
                let hits = try #require(try test.cache.read { try $0.hits(PhotoFilter(text), among: candidates) })
                #expect(keys.filter { hits.contains($0) } == expected, "\(text)")
            }
        }
        let plan = try test.cache.read { reader in
            try reader.connection.map("EXPLAIN QUERY PLAN SELECT key FROM photo WHERE " + CacheReader.isDated, 1, 2) {
                $0.text(3)
            }
        }
        #expect(plan.count == 1 && plan.allSatisfy { $0.contains("SEARCH") && $0.contains("photo_by_date") })
    }
}
