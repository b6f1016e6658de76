import Cells
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct SheetTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// The sheet of so many photos, `0` and on, on one of them.
    private func open(_ count: Int, at photo: String? = nil) async throws {
        try await screens.sync((0..<count).map { "\($0)" })
        screens.open(at: photo)
        screens.press(Key(.tab))
        _ = screens.frame()
    }

    private var sheet: SheetLayout? { (screens.root.children.last as? PhotosScreen)?.sheet }

    /// The name below the picture that has the mark at its left.
    private var selected: String? {
        let frame = screens.frame()
        for row in (1..<screens.size.rows - 1).reversed() {
            for column in 0..<screens.size.columns where frame[column, row].text == "▌" {
                let name = column + SheetLayout.margin..<column + (sheet?.cell.columns ?? 0)
                return String(name.reduce("") { $0 + frame[$1, row].text }.reversed().drop { $0 == " " }.reversed())
            }
        }
        return nil
    }

    @Test func photosStandBesideEachOther() async throws {
        try await open(5)
        let lines = screens.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[0].hasSuffix("1 of 5"))
        #expect(lines[3] == "▌         …                  …                  …                  …")
        #expect(lines[7] == "▌ Photo 0            Photo 1            Photo 2            Photo 3")
        #expect(lines[14] == "  Photo 4")
        #expect(selected == "Photo 0")
        screens.press(Key(.tab))
        #expect(screens.selected == "Photo 0")
    }

    @Test func keysMoveInBothDirections() async throws {
        try await open(30)
        let columns = try #require(sheet?.columns)
        #expect(columns == 4)
        let steps: [(Key, Int)] = [
            ("l", 1), ("h", 0), ("h", 0), ("j", 4), ("l", 5), (Key(.right), 6), ("l", 7), ("l", 8), ("k", 4),
            (Key(.left), 3), ("G", 29), ("h", 28), ("k", 24), ("l", 25), ("l", 26), ("j", 29), ("k", 26), ("g", 0),
            (Key(.pageDown), 12), (.control("d"), 16), (Key(.pageUp), 4), ("]", 5), ("[", 4), (" ", 5),
        ]
        for (key, number) in steps {
            screens.press(key)
            #expect(selected == "Photo \(number)", "\(key)")
            #expect(screens.title.hasSuffix("\(number + 1) of 30"))
        }
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" Photo 5"))
        screens.press("]", "q")
        #expect(selected == "Photo 6")
        // What leads left from the first one does not lead out of the list; this does.
        screens.press("q")
        #expect(screens.title.hasPrefix(" Galleries"))
    }

    @Test(
        arguments: [
            Size(columns: 80, rows: 24), Size(columns: 200, rows: 60), Size(columns: 40, rows: 12),
            Size(columns: 20, rows: 5),
        ])
    func everySizeShowsTheSelected(size: Size) async throws {
        screens.size = size
        try await open(200, at: "100")
        for keys in ["", "jjjjjjjj", "llll", "kkkkkkkkkkkk", "G", "g", "}", "#", "jjjj", "G", "k", "#", "{"] {
            for key in keys { screens.press(.character(key)) }
            let number = try #require(screens.root.place.photo)
            // In a small window it is cut.
            let name = try #require(selected)
            #expect("Photo \(number)".hasPrefix(name.prefix { $0 != "…" }) && name.count > 5, "\(keys)")
        }
    }

    @Test("BEHAVIOURS 3.1: on the sheet, too, what is seen is wished for, and then what one goes to")
    func wishes() async throws {
        try await open(200, at: "100")
        func wished() async throws -> [Int] {
            _ = screens.frame()
            let names = try Dictionary(
                uniqueKeysWithValues: (0..<200).map { (try screens.subject("\($0)", .thumbnail), $0) })
            return await screens.wished().compactMap { names[$0.subject] }
        }
        let seen = try await wished()
        let window = try #require((screens.root.children.last as? PhotosScreen)?.scroll.window)
        #expect(window.count == 12 && window.contains(100))
        let after = Array(window.upperBound..<window.upperBound + 12)
        let before = Array(window.lowerBound - 12..<window.lowerBound)
        #expect(seen == Array(window) + after + before.reversed())
        screens.press(Key(.pageUp))
        let upwards = try await wished()
        #expect(Array(upwards.prefix(24)) == before + (before[0] - 12..<before[0]).reversed())
    }

    @Test func pictureBadgesAndHitsAreShown() async throws {
        try await screens.sync([
            TestScreens.entry("a", name: "Owl, awake, and a name that goes on", date: 1),
            TestScreens.entry("b", name: "日本日本日本日本日本日本", date: 2),
        ])
        try await screens.store(TestScreens.picture(red: 200), as: .thumbnail, of: "a")
        screens.open()
        screens.press(Key(.tab), " ")
        try await screens.until { screens.frame()[2, 1].style.background == .rgb(200, 0, 0) }
        let frame = screens.frame()
        for row in 1...6 {
            #expect((2...18).allSatisfy { frame[$0, row].style.background == .rgb(200, 0, 0) })
        }
        #expect(frame[1, 1].text == "✓" && frame[0, 1].text == " ")
        // Cut by what it takes on the screen.
        let names = frame.text(inRow: 7)
        #expect(names.hasPrefix("  Owl, awake, and …") && names.contains("日本日本日本日本…"))
        screens.press("/")
        screens.type("awake")
        try await screens.until { selected == "Owl, awake, and …" }
        #expect(screens.frame()[7, 7].style == Theme(Capabilities(colours: .full)).hit)
    }

    @Test func aClickSelectsAndTheWheelScrolls() async throws {
        try await open(100)
        _ = screens.frame()
        screens.use(.press(1), 25, 10)
        #expect(selected == "Photo 5")
        screens.use(.wheelDown, 25, 10)
        #expect(selected == "Photo 5" && !screens.text.contains("Photo 3 "))
        screens.use(.wheelDown, 25, 10)
        #expect(selected == "Photo 9")
        for _ in 0..<3 { screens.use(.wheelUp, 25, 10) }
        #expect(selected == "Photo 9" && screens.text.contains("Photo 0 "))
        screens.use(.press(1), 25, 2)
        screens.use(.press(1), 25, 2)
        #expect(screens.title.hasPrefix(" Photo 1 "))
    }

    /// A section begins a new line, and the one that is seen first has its title above it.
    @Test func sectionsBeginLines() async throws {
        let dates: [Int64] = [0, 1, 2, 3, 4, 400, 401, 800, 801, 802]
        try await screens.sync(dates.enumerated().map { try TestScreens.entry("\($0)", date: $1 * 86_400) })
        screens.open()
        screens.press(Key(.tab), "#")
        func rows(_ text: String) -> [Int] {
            let frame = screens.frame()
            return (0..<24).filter { frame.text(inRow: $0).contains(text) }
        }
        #expect(rows("1970 ───") == [1] && rows("Photo 0 ") == [8] && rows("Photo 4") == [15])
        #expect(rows("1971 ───") == [])
        screens.press("j", "j")
        #expect(selected == "Photo 5")
        #expect(rows("1971 ───").count == 1 && rows("1970 ───").count == 1)
        screens.press("l", "l")
        #expect(selected == "Photo 7")
        screens.press("l", "l", "k", "k")
        #expect(selected == "Photo 4", "the line is short")
        screens.press("j", "j")
        #expect(selected == "Photo 9", "and one goes back to where one came from")
        screens.press("{", "{")
        #expect(selected == "Photo 5")
    }

    @Test func theSelectionStaysOnItsPhoto() async throws {
        try await screens.sync([TestScreens.entry("x", date: 100), TestScreens.entry("y", date: 200)])
        screens.open(at: "y")
        screens.press(Key(.tab))
        #expect(selected == "Photo y")
        try await screens.sync(
            (0..<50).map { try TestScreens.entry("\($0)", date: Int64($0)) } + [TestScreens.entry("y", date: 200)])
        try await screens.until { screens.title.hasSuffix("51 of 51") }
        #expect(selected == "Photo y")
    }
}
