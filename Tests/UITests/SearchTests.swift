import Cells
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

/// Search with `/`, filter with `f`, sort with `,`, and go through sections with `{` and `}`.
@MainActor @Suite(.unlessItHangs) struct SearchTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    private func begin(_ photos: [(name: String, date: String)], at photo: String? = "0") async throws {
        try await screens.sync(
            photos.enumerated().map {
                try TestScreens.entry(
                    "\($0)", name: $1.name, date: Timestamp(iso8601: $1.date + "T12:00:00Z")!.milliseconds / 1000)
            })
        screens.open(at: photo)
    }

    private func beginAtTheSea() async throws {
        try await begin([
            ("Owl", "2004-01-01"), ("Sea at dawn", "2005-05-05"), ("Oak", "2006-06-06"), ("Dawn", "2006-07-07"),
            ("Séance", "2007-07-07"), ("Kids", "2007-08-08"),
        ])
    }

    /// The names of the visible photos, from top to bottom.
    private var names: [String] {
        let frame = screens.frame()
        let all = ["Owl", "Sea at dawn", "Oak", "Dawn", "Séance", "Kids"]
        return (1..<screens.size.rows - 1).compactMap { row in
            all.first { frame.text(inRow: row).hasSuffix(" " + $0) }
        }
    }

    @Test func eachLetterSelectsTheNextMatch() async throws {
        try await beginAtTheSea()
        screens.press("/", "s")
        try await screens.until { screens.selected == "Sea at dawn" && screens.status.hasPrefix(" 2 photos found") }
        screens.type("éa")
        try await screens.until { screens.status.hasPrefix(" 2 photos found") }
        screens.type("n")
        try await screens.until { screens.selected == "Séance" && screens.status.hasPrefix(" 1 photo found") }
        // The list still shows all photos.
        #expect(names == ["Owl", "Sea at dawn", "Oak", "Dawn", "Séance", "Kids"])
        screens.press(Key(.backspace), Key(.backspace), Key(.backspace))
        try await screens.until { screens.selected == "Sea at dawn" }
        screens.press(Key(.backspace))
        try await screens.until { screens.selected == "Owl" && screens.status.hasPrefix(" Type to search.") }
    }

    @Test func nextAndPreviousWrapAround() async throws {
        try await beginAtTheSea()
        screens.press("n")
        #expect(screens.status.contains("No search yet. Press / to search."))
        screens.press("/")
        screens.type("dawn")
        try await screens.until { screens.selected == "Sea at dawn" }
        screens.press(Key(.enter), "n")
        #expect(screens.selected == "Dawn")
        screens.press("n")
        #expect(screens.selected == "Sea at dawn")
        screens.press("N")
        #expect(screens.selected == "Dawn")
        screens.press("G", "n")
        #expect(screens.selected == "Sea at dawn")
        screens.press("G", "N")
        #expect(screens.selected == "Dawn")
    }

    @Test func highlightsMatches() async throws {
        try await beginAtTheSea()
        let hit = screens.context.theme.hit
        screens.press("/")
        screens.type("da")
        try await screens.until { screens.selected == "Sea at dawn" }
        let frame = screens.frame()
        let row = try #require((1..<23).first { frame.text(inRow: $0).hasSuffix("Sea at dawn") })
        let name = try #require(frame.text(inRow: row).range(of: "Sea at dawn"))
        let start = frame.text(inRow: row).distance(from: frame.text(inRow: row).startIndex, to: name.lowerBound)
        #expect(
            (0..<11).map { frame[start + $0, row].style == hit } == [Bool](repeating: false, count: 7) + [
                true, true, true, true,
            ])
        screens.press(Key(.escape))
        try await screens.until { screens.selected == "Owl" }
        #expect(screens.frame()[start + 8, row].style != hit)
    }

    /// Matches count from a photo that does not match, too, even after it changed.
    @Test func theNextMatchCountsFromTheSelection() async throws {
        try await beginAtTheSea()
        screens.press("/")
        screens.type("dawn")
        try await screens.until { screens.selected == "Sea at dawn" }
        screens.press(Key(.enter), "G")
        #expect(screens.selected == "Kids")
        try await screens.store(TestScreens.picture(red: 1), as: .thumbnail, of: "2")
        try await screens.store(TestScreens.picture(red: 1), as: .thumbnail, of: "5")
        screens.press("N")
        #expect(screens.selected == "Dawn")
        screens.press("k")
        #expect(screens.selected == "Oak")
        try await screens.until { try screens.photo("2").thumbnail.held != nil }
        screens.press("n")
        #expect(screens.selected == "Dawn")
    }

    @Test func escapeRestoresTheEarlierFilter() async throws {
        try await beginAtTheSea()
        screens.press("f")
        screens.type("2006")
        try await screens.until { names == ["Oak", "Dawn"] }
        screens.press(Key(.enter), "j", "/")
        screens.type("ki")
        try await screens.until { screens.selected == "Kids" }
        screens.press(Key(.escape))
        try await screens.until { names == ["Oak", "Dawn"] && screens.selected == "Dawn" }
        // Sorting keeps the selection.
        screens.press(",", "n")
        try await screens.until { names == ["Dawn", "Oak"] }
        #expect(screens.selected == "Dawn")
    }

    @Test("Keys that a search does not know move the selection, but do not act on photos")
    func unknownKeysWhileTyping() async throws {
        try await beginAtTheSea()
        screens.press("/")
        screens.type("o")
        try await screens.until { screens.status.hasPrefix(" 2 photos found") }
        screens.press(.control("r"), Key(.tab))
        #expect(names.count == 6 && screens.text.contains("/ o"))
        screens.press(Key(.down))
        #expect(screens.selected == "Sea at dawn")
        // The first reload is that of the user, after the search.
        screens.press(Key(.enter), .control("r"))
        try await screens.until { screens.status.contains("Reloading") }
        #expect(screens.status == " Reloading “Sea at dawn”.")
        let asked = try #require(await screens.wishes.snapshots().next()?.asked)
        #expect(asked[try screens.subject("0", .thumbnail)] == nil)
    }

    @Test func enterBeforeTheSearchEndsSelectsTheFirstMatch() async throws {
        try await beginAtTheSea()
        screens.press("/", "k", Key(.enter))
        try await screens.until { screens.selected == "Kids" }
        // Enter does nothing in an empty list.
        screens.press("f")
        screens.type("zebra")
        try await screens.until { screens.text.contains("No matches") }
        screens.press(Key(.enter), Key(.enter))
        #expect(screens.text.contains("No matches"))
    }

    @Test("A photo that the user opens before a search ends stays selected", arguments: [Key(.enter), "S"] as [Key])
    func openingBeforeTheSearchEnds(key: Key) async throws {
        try await beginAtTheSea()
        screens.press("/", "k", Key(.enter), key)
        #expect(screens.title.hasPrefix(" Owl "))
        try await screens.until { screens.root.openGallery?.lists.found != nil }
        screens.press("q")
        #expect(screens.selected == "Owl" && screens.title.contains("1 of 6"))
    }

    /// In a long list the index of the selection is unknown until the list is complete.
    @Test func sortingALongListKeepsTheSelection() async throws {
        try await screens.sync(
            (0..<3_000).map { try TestScreens.entry("\($0)", name: "Photo \(9_000 - $0)", date: Int64($0)) })
        screens.open(at: "2500")
        try await screens.until { screens.title.hasSuffix("2501 of 3000") }
        screens.press(",", "n")
        try await screens.until { screens.title.hasSuffix("500 of 3000") }
        #expect(screens.selected == "Photo 6500")
    }

    /// Lists receive every commit, also during a search.
    @Test func listsReceiveCommitsDuringASearch() async throws {
        try await beginAtTheSea()
        screens.press("/")
        for (number, letter) in "dawn".enumerated() {
            screens.type(String(letter))
            try await screens.store(TestScreens.picture(red: UInt8(number)), as: .thumbnail, of: "\(number)")
        }
        try await screens.until { screens.selected == "Sea at dawn" }
        screens.press(Key(.escape))
        try await screens.sync([
            TestScreens.entry("0", name: "Owl", date: 1_072_958_400),
            TestScreens.entry("9", name: "Oak", date: 2_000_000_000),
        ])
        try await screens.until { names == ["Owl", "Oak"] }
    }

    @Test func escapeRestoresTheSelection() async throws {
        try await beginAtTheSea()
        screens.press("j", "j", "/")
        screens.type("kids")
        try await screens.until { screens.selected == "Kids" }
        screens.press(Key(.escape))
        #expect(screens.selected == "Oak")
        try await screens.until { !screens.text.contains("/ kids") }
        #expect(screens.title.contains("3 of 6"))
    }

    @Test("Escape keeps the match selected if an update removed the photo where the search began")
    func escapeAfterTheOriginIsGone() async throws {
        try await beginAtTheSea()
        screens.press("j", "/")
        screens.type("ki")
        try await screens.until { screens.selected == "Kids" }
        try await screens.sync([
            TestScreens.entry("0", name: "Owl", date: 1), TestScreens.entry("5", name: "Kids", date: 2),
        ])
        try await screens.until { screens.title.contains("2 of 2") }
        screens.press(Key(.escape))
        #expect(screens.selected == "Kids")
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" Kids "))
    }

    @Test("A search does not undo a change of the subfolders that it overlaps")
    func subfoldersDuringASearch() async throws {
        let entries = try ["2024/a", "2022/b"].map { id -> GalleryEntry in
            var entry = try TestScreens.entry(id, date: 1, thumbnail: false)
            entry.revision = "1"
            return entry
        }
        try await screens.sync([entries[0]])
        var place = Place(gallery: screens.cache.address)
        place.folder = .top
        // No screen shows these lists, so only this test makes them read the subfolders again.
        let lists = try PhotoLists(screens.cache, at: place, screens.context)
        try await screens.until { lists.folder != nil }
        try await screens.sync(entries)
        lists.follow(.reset, of: lists.all)
        lists.search("a", for: .finding)
        try await screens.until { lists.found != nil }
        lists.search("", for: .finding)
        try await screens.until { lists.found == nil }
        #expect(lists.entries.folders.map(\.path.text) == ["2022", "2024"])
    }

    @Test func theHeadingCountsTheMatches() async throws {
        try await beginAtTheSea()
        screens.press("/")
        screens.type("2006")
        try await screens.until { screens.selected == "Oak" }
        screens.press(Key(.enter))
        try await screens.until { screens.title.hasSuffix("3 of 6 · “2006” 1 of 2") }
        screens.press("n")
        #expect(screens.title.hasSuffix("4 of 6 · “2006” 2 of 2"))
        screens.press("j")
        #expect(screens.title.hasSuffix("5 of 6 · “2006” 2 found"))
        // A narrow window shows only the match.
        screens.press("n")
        screens.size.columns = 40
        #expect(screens.title.hasSuffix(" “2006” 1 of 2"))
        screens.size.columns = 80
        screens.press("/", .control("u"), Key(.enter))
        try await screens.until { screens.title.hasSuffix(" 3 of 6") }
    }

    @Test func aFilterShowsOnlyTheMatches() async throws {
        try await beginAtTheSea()
        screens.press("f")
        screens.type("2006")
        try await screens.until { names == ["Oak", "Dawn"] }
        #expect(screens.title.hasSuffix("“2006”  1 of 2") && screens.selected == "Oak")
        // A narrow window cuts a long filter.
        screens.size.columns = 40
        screens.type(" 2006")
        try await screens.until { screens.title.hasSuffix(" “2006 20…” 1 of 2") }
        screens.press(Key(.enter), " ")
        try await screens.until { screens.title.hasSuffix(" “2006 …” 1 marked") }
        screens.press("k", " ")
        screens.size.columns = 80
        #expect(screens.selected == "Dawn")
        // A new match appears, and the selection stays.
        try await screens.sync([
            TestScreens.entry("3", name: "Dawn", date: 1_152_273_600),
            TestScreens.entry("7", name: "Owl", date: 1_150_000_000),
        ])
        try await screens.until { names == ["Owl", "Dawn"] && screens.selected == "Dawn" }
        screens.press("q")
        try await screens.until { screens.title.hasSuffix("2 of 2") && !screens.title.contains("“") }
        // The next `q` returns to the galleries.
        screens.press("q")
        #expect(!screens.title.contains("of 2"))
    }

    @Test func reportsASearchWithoutMatches() async throws {
        try await beginAtTheSea()
        screens.press("f")
        screens.type("zebra")
        try await screens.until { screens.text.contains("No matches") && names.isEmpty }
        screens.press(Key(.escape))
        try await screens.until { names.count == 6 }
        screens.press("/")
        screens.type("zebra")
        try await screens.until { screens.status.hasPrefix(" No matches") }
        #expect(screens.selected == "Owl")
        screens.press(Key(.enter), "n")
        #expect(screens.status.contains("No match for “zebra”."))
        // The user leaves the filter, and the earlier selection returns.
        screens.press("j", "j", "f")
        screens.type("zebra")
        try await screens.until { screens.text.contains("No matches") && names.isEmpty }
        screens.press(Key(.enter), "q")
        try await screens.until { names.count == 6 }
        #expect(screens.selected == "Oak")
        // A selected match stays selected.
        screens.press("j", "f")
        screens.type("kids")
        try await screens.until { names == ["Kids"] }
        screens.press(Key(.enter), "q")
        try await screens.until { names.count == 6 }
        #expect(screens.selected == "Kids")
    }

    @Test("The selection before a filter returns even if the filter was typed as a command or changed")
    func leavesAFilterWithoutMatches() async throws {
        try await beginAtTheSea()
        screens.press("j", "j", ":")
        screens.type("filter zebra")
        screens.press(Key(.enter))
        try await screens.until { screens.text.contains("No matches") && names.isEmpty }
        screens.press("f")
        screens.type("s")
        try await screens.until { screens.status.hasPrefix(" No matches") }
        screens.press(Key(.enter))
        // The earlier photo is not visible, so that actions do not affect it.
        screens.press(".")
        #expect(screens.root.question == nil)
        screens.press("q")
        try await screens.until { names.count == 6 }
        #expect(screens.selected == "Oak")
    }

    @Test func twoKeysSort() async throws {
        try await beginAtTheSea()
        screens.press("j", ",")
        #expect(screens.status.hasPrefix(" Sort by  d date  n name  s size  t state  r rating"))
        screens.press("n")
        try await screens.until { names == ["Dawn", "Kids", "Oak", "Owl", "Sea at dawn", "Séance"] }
        #expect(screens.selected == "Sea at dawn")
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "5")
        screens.press(",", "S")
        try await screens.until { names.first == "Kids" && screens.text.contains("Cached, ") }
        screens.press(",", "T")
        try await screens.note(.bad(Failure("no picture", remedy: .none)), for: .original, of: "2")
        try await screens.until { names.first == "Oak" }
        #expect(screens.selected == "Sea at dawn")
        screens.press(",", "D")
        try await screens.until { names.first == "Kids" && names.last == "Owl" }
        // Any other key cancels.
        screens.press(",", "x")
        #expect(names.first == "Kids")
    }

    @Test("In the order of states, a thumbnail that arrives does not move its photo")
    func statesWithThumbnails() async throws {
        try await beginAtTheSea()
        screens.press(",", "T")
        try await screens.until { names.first == "Kids" }
        try await screens.store(TestScreens.picture(red: 9), as: .thumbnail, of: "5")
        try await screens.note(.bad(Failure("no picture", remedy: .none)), for: .original, of: "2")
        try await screens.until { names.first == "Oak" }
        #expect(names == ["Oak", "Kids", "Séance", "Dawn", "Sea at dawn", "Owl"])
    }

    @Test func keysGoThroughSectionsWithTitles() async throws {
        try await beginAtTheSea()
        // A short list has sections only on request.
        #expect(!screens.text.contains("──"))
        screens.press("#")
        #expect(
            screens.frame().text(inRow: 1).hasPrefix(" 2004 ───")
                && screens.frame().text(inRow: 1).hasSuffix(" 1 photo"))
        #expect(screens.frame().text(inRow: 9).hasPrefix(" 2006 ───"))
        screens.press("}")
        #expect(screens.selected == "Sea at dawn")
        screens.press("}", "}")
        #expect(screens.selected == "Séance")
        screens.press("}")
        #expect(screens.selected == "Kids", "after the last section comes its last photo")
        screens.press("{")
        #expect(screens.selected == "Séance")
        screens.press("{")
        #expect(screens.selected == "Oak")
        screens.press("#")
        try await screens.until { screens.text.contains("June 2006 ──") }
        screens.press("#")
        try await screens.until { screens.text.contains("Tuesday  6 June 2006 ──") }
        screens.press("#")
        try await screens.until { !screens.text.contains("──") }
        #expect(screens.selected == "Oak")
    }

    /// With any number of titles, the selected photo is completely visible.
    @Test(arguments: [8, 11, 24, 40]) func theSelectedPhotoIsVisible(rows: Int) async throws {
        try await begin((0..<120).map { ("Photo \($0)", "\(1990 + $0 * 7 % 31)-0\(1 + $0 % 9)-11") }, at: nil)
        screens.size.rows = rows
        for key in ["G", "k", "k", "g", "j", "}", "}", "}", "{", "G", "{", "{"] + [String](repeating: "k", count: 60) {
            screens.press(.character(Character(key)))
            let frame = screens.frame()
            let row = try #require((1..<rows - 1).first { frame.text(inRow: $0).contains("▌ Photo") }, "\(key)")
            #expect(row + 1 < rows - 1 && frame.text(inRow: row + 1).contains("▌"), "\(key)")
        }
        screens.press("G")
        let last = screens.frame()
        #expect((1..<rows - 1).contains { last.text(inRow: $0).contains("▌ Photo") })
    }
}
