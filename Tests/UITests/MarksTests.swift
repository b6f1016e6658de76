import Cells
import Commands
import Model
import TestSupport
import Testing
import Text

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct MarksTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    private func open(_ count: Int) async throws {
        try await screens.sync(
            (0..<count).map { try TestScreens.entry("\($0)", name: "Photo \($0)", date: Int64(count - $0)) })
        screens.open()
    }

    /// The names of the photos with a mark's badge.
    private var marked: [String] {
        let frame = screens.frame()
        return (1..<screens.size.rows - 1).filter { frame[0, $0].text == "✓" }
            .map { String(frame.text(inRow: $0).drop { $0 != "P" }) }
    }

    private var heading: String? {
        screens.title.firstMatch(of: #/(\d+ marked) · \d+ of \d+$/#).map { String($0.1) }
    }

    @Test func spaceMarksAPhotoAndSelectsTheNext() async throws {
        try await open(5)
        #expect(marked.isEmpty && heading == nil)
        screens.press(" ", " ")
        #expect(marked == ["Photo 4", "Photo 3"] && heading == "2 marked" && screens.selected == "Photo 2")
        screens.press("k", " ")
        #expect(marked == ["Photo 4"] && heading == "1 marked" && screens.selected == "Photo 2")
        screens.press("G", " ")
        #expect(marked == ["Photo 4", "Photo 0"] && screens.selected == "Photo 0")
        screens.press("u")
        #expect(marked.isEmpty && heading == nil)
    }

    @Test func marksRangesAllPhotosAndTheInverse() async throws {
        try await open(7)
        screens.press("M")
        #expect(screens.status == " Mark the start of the range first, with Space." && marked.isEmpty)
        screens.press("j", " ", "j", "j", "M")
        #expect(marked == ["Photo 5", "Photo 4", "Photo 3", "Photo 2"])
        // The next range starts there and goes backwards.
        screens.press("g", "M")
        #expect(marked == ["Photo 6", "Photo 5", "Photo 4", "Photo 3", "Photo 2"] && heading == "5 marked")
        screens.press("*")
        #expect(marked == ["Photo 1", "Photo 0"] && heading == "2 marked")
        screens.press(.control("a"))
        #expect(heading == "7 marked")
        screens.press("*")
        #expect(heading == nil)
    }

    /// With a filter, "mark all" marks the listed photos; other marks stay.
    @Test func unlistedPhotosKeepTheirMarks() async throws {
        try await open(12)
        screens.press(" ", "f")
        screens.type("1")
        screens.press(Key(.enter))
        try await screens.until { screens.title.hasSuffix("of 3") }
        screens.press(.control("a"))
        // Photo 11 was marked before, and matches the filter.
        #expect(heading == "3 marked")
        screens.press("*")
        #expect(heading == nil)
        screens.press(" ", "q")
        try await screens.until { screens.title.hasSuffix("of 12") }
        #expect(heading == "1 marked")
    }

    @Test func marksMoveAndDisappearWithTheirPhotos() async throws {
        try await open(4)
        screens.press(" ", " ", ",", "n")
        try await screens.until { marked == ["Photo 2", "Photo 3"] }
        try await screens.sync([TestScreens.entry("3", name: "Photo, the last", date: 9)])
        try await screens.until { screens.title.hasSuffix("1 marked · 1 of 1") }
        #expect(marked == ["Photo, the last"])
        try await screens.sync([String]())
        try await screens.until { screens.text.contains("No photos") }
        #expect(!screens.title.contains("marked"))
    }

    /// Commands during a long change wait for it.
    @Test func longChangesRunInTheOrderOfTheKeys() async throws {
        let count = FetchedResults.firstLoad + 1_000
        try await open(count)
        try await screens.until { screens.title.hasSuffix("1 of \(count)") }
        func results() throws -> FetchedResults {
            try #require((screens.root.children.last as? PhotosScreen)?.lists.shown)
        }
        try await screens.until { try results().isComplete }
        screens.press(.control("a"))
        #expect(heading == nil)
        // This unmarks the first photo, inverts all, and marks the second.
        screens.press("g", " ", "*", " ")
        try await screens.until { heading == "2 marked" }
        #expect(marked.map { $0.prefix(10) } == ["Photo \(count - 1)", "Photo \(count - 2)"])
        screens.press("G", "M", "u")
        #expect(heading == nil)
        screens.press("g", " ", "G", "M")
        try await screens.until { heading == "\(count) marked" }
    }

    @Test("Actions and marks leave out no photo of a list that is still loading")
    func aListThatIsLoading() async throws {
        let notice = " The list is still loading."
        try await screens.sync(
            (0..<FetchedResults.firstLoad + 1_000).map { try TestScreens.entry("\($0)", date: Int64($0)) })
        // The test does not wait before it presses the keys, so the list cannot load the other rows.
        screens.open(at: "1500")
        screens.press(" ", "g", " ")
        #expect(screens.title.contains("2 marked"))
        let list = try #require(screens.root.children.last as? PhotosScreen)
        for key in ["y", "S", "."] as [Key] {
            screens.press(key)
            #expect(screens.status == notice)
        }
        #expect(screens.copied.isEmpty && screens.root.question == nil && screens.root.children.last === list)
        screens.press("g")
        screens.type("1200 ")
        #expect(screens.status == notice && screens.title.contains("2 marked") && list.scroll.selected == 0)
        screens.press("G", "M")
        #expect(screens.status == notice && screens.title.contains("2 marked"))
        // Loaded photos need not wait for the others.
        screens.press("u", "g", " ", " ", "y")
        #expect(screens.copied.last?.split(separator: "\n").count == 2 && !list.lists.all.isComplete)
        try await screens.until { list.lists.all.isComplete }
        screens.press("G", " ", "y")
        try await screens.until { screens.copied.last?.split(separator: "\n").count == 3 }
    }

    @Test func actionsWaitForMarkAll() async throws {
        let count = FetchedResults.firstLoad + 1_000
        try await open(count)
        try await screens.until { screens.title.hasSuffix("1 of \(count)") }
        try await screens.until { (screens.root.children.last as? PhotosScreen)?.lists.shown.isComplete == true }
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "\(count - 1)")
        screens.press(.control("a"), "D")
        try await screens.until { screens.status.contains("Delete") }
        #expect(screens.status == " Delete \(NumberFormat.current.text(count)) photos from the cache? (y/n)")
        screens.press("n", "u", .control("a"), "y")
        try await screens.until { screens.copied.count == 1 }
        let sent = CountText.text(screens.copied[0].split(separator: "\n").count, of: count)
        #expect(screens.status == " Sent the addresses of the first \(sent) photos to the clipboard.")
    }

    @Test(arguments: [3, 4, 900]) func aNumberMarksThatManyPhotosOnce(number: Int) async throws {
        try await open(5)
        screens.press("j", "j", "j")
        screens.type("\(number) ")
        #expect(marked == ["Photo 1", "Photo 0"] && screens.selected == "Photo 0")
        screens.press("g")
        screens.type("2 ")
        #expect(marked == ["Photo 4", "Photo 3", "Photo 1", "Photo 0"] && screens.selected == "Photo 2")
    }

    @Test("A number marks very many photos in one change, in the background")
    func aNumberMarksVeryManyPhotos() async throws {
        let count = FetchedResults.firstLoad + 1_000
        try await open(count)
        try await screens.until { (screens.root.children.last as? PhotosScreen)?.lists.shown.isComplete == true }
        screens.press("g")
        screens.type("1500 ")
        #expect(heading == nil && screens.selected == "Photo \(count - 1_501)")
        try await screens.until { heading == "1500 marked" }
        screens.press("G")
        screens.type("\(CommandArgument.largestNumber) ")
        #expect(heading == "1501 marked" && screens.selected == "Photo 0")
        // The range begins at the last row that the number marked.
        screens.press("k", "M")
        #expect(heading == "1502 marked")
    }

    @Test func theASCIIBadgeIsALetter() async throws {
        try await open(2)
        screens.root.adopt(Capabilities(unicode: false))
        screens.press(" ")
        #expect(screens.frame()[0, 1].text == "M")
    }
}
