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

    /// Opens a sheet of photos named by their numbers, at one of them.
    private func open(_ count: Int, at photo: String? = nil) async throws {
        // Date 0 would mean that the date is unknown.
        try await screens.sync((0..<count).map { try TestScreens.entry("\($0)", date: Int64($0) + 1) })
        screens.open(at: photo)
        screens.press(Key(.tab))
        _ = screens.frame()
    }

    private func sheet(hasTitles: Bool = false) -> SheetLayout {
        SheetLayout(
            in: Size(columns: screens.size.columns - 1, rows: screens.size.rows - 2), hasTitles: hasTitles,
            cellAspect: screens.context.capabilities.cellAspect)
    }

    /// The name of the photo with the selection mark.
    private var selected: String? {
        let frame = screens.frame()
        for row in (1..<screens.size.rows - 1).reversed() {
            for column in 0..<screens.size.columns where frame[column, row].text == "▌" {
                let name =
                    column + SheetLayout.margin..<column + sheet(hasTitles: frame.text.contains("───")).cell.columns
                return String(name.reduce("") { $0 + frame[$1, row].text }.reversed().drop { $0 == " " }.reversed())
            }
        }
        return nil
    }

    @Test func photosStandSideBySide() async throws {
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
        #expect(sheet().columns == 4)
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
        // Another `q` leaves the list.
        screens.press("q")
        #expect(screens.title.hasPrefix(" Galleries"))
    }

    @Test(
        arguments: [
            Size(columns: 80, rows: 24), Size(columns: 200, rows: 60), Size(columns: 40, rows: 12),
            Size(columns: 20, rows: 5),
        ])
    func everySizeShowsTheSelection(size: Size) async throws {
        screens.size = size
        try await open(200, at: "100")
        for keys in ["", "jjjjjjjj", "llll", "kkkkkkkkkkkk", "G", "g", "}", "#", "jjjj", "G", "k", "#", "{"] {
            for key in keys { screens.press(.character(key)) }
            let number = try #require(screens.root.place.photo)
            // A small window cuts the name.
            let name = try #require(selected)
            #expect("Photo \(number)".hasPrefix(name.prefix { $0 != "…" }) && name.count > 5, "\(keys)")
        }
    }

    @Test("BEHAVIOURS 3.1: the sheet fetches visible thumbnails first, then the next in the scrolling direction")
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

    @Test func showsPicturesBadgesAndMatches() async throws {
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
        // Names are cut to their width on the screen.
        let names = frame.text(inRow: 7)
        #expect(names.hasPrefix("  Owl, awake, and …") && names.contains("日本日本日本日本…"))
        screens.press("/")
        screens.type("awake")
        try await screens.until { selected == "Owl, awake, and …" }
        #expect(screens.frame()[7, 7].style == Theme(Capabilities(colours: .full)).hit)
    }

    @Test func clicksSelectAndTheWheelScrolls() async throws {
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

    /// The first visible photo has its section's title above it, too.
    @Test func sectionsBeginNewLines() async throws {
        let dates: [Int64] = [1, 2, 3, 4, 5, 400, 401, 800, 801, 802]
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
        #expect(selected == "Photo 9", "the selection returns to its column")
        screens.press("{", "{")
        #expect(selected == "Photo 5")
    }

    @Test func theSelectionFollowsItsPhoto() async throws {
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
