import Cells
import Model
import TestSupport
import Testing
import Text

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct MarksTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    private var marks: Marks? { (screens.root.children.last as? PhotosScreen)?.marks }

    private func open(_ count: Int) async throws {
        try await screens.sync(
            (0..<count).map { try TestScreens.entry("\($0)", name: "Photo \($0)", date: Int64(count - $0)) })
        screens.open()
    }

    /// The names beside the sign.
    private var marked: [String] {
        let frame = screens.frame()
        return (1..<screens.size.rows - 1).filter { frame[0, $0].text == "✓" }
            .map { String(frame.text(inRow: $0).drop { $0 != "P" }) }
    }

    private var heading: String? {
        screens.title.firstMatch(of: #/(\d+ marked) · \d+ of \d+$/#).map { String($0.1) }
    }

    @Test func spaceMarksAndGoesOn() async throws {
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

    @Test func rangesAllAndTheOthers() async throws {
        try await open(7)
        screens.press("M")
        #expect(screens.status == " Space marks the photo where the range begins." && marked.isEmpty)
        screens.press("j", " ", "j", "j", "M")
        #expect(marked == ["Photo 5", "Photo 4", "Photo 3", "Photo 2"])
        // From there, backwards.
        screens.press("g", "M")
        #expect(marked == ["Photo 6", "Photo 5", "Photo 4", "Photo 3", "Photo 2"] && heading == "5 marked")
        screens.press("*")
        #expect(marked == ["Photo 1", "Photo 0"] && heading == "2 marked")
        screens.press(.control("a"))
        #expect(heading == "7 marked")
        screens.press("*")
        #expect(heading == nil)
    }

    /// With a filter, all are all that are listed; marks on others stay.
    @Test func whatIsNotListedKeepsItsMark() async throws {
        try await open(12)
        screens.press(" ", "f")
        screens.type("1")
        screens.press(Key(.enter))
        try await screens.until { screens.title.hasSuffix("of 3") }
        screens.press(.control("a"))
        // Photo 11 is both.
        #expect(heading == "3 marked")
        screens.press("*")
        #expect(heading == nil)
        screens.press(" ", "q")
        try await screens.until { screens.title.hasSuffix("of 12") }
        #expect(heading == "1 marked")
    }

    @Test func marksFollowTheirPhotosAndGoWithThem() async throws {
        try await open(4)
        screens.press(" ", " ", ",", "n")
        try await screens.until { marked == ["Photo 2", "Photo 3"] }
        try await screens.sync([TestScreens.entry("3", name: "Photo, the last", date: 9)])
        try await screens.until { screens.title.hasSuffix("1 marked · 1 of 1") }
        #expect(marked == ["Photo, the last"])
        try await screens.sync([String]())
        try await screens.until { screens.text.contains("No photos") }
        #expect(marks?.keys.isEmpty == true)
    }

    /// What is asked for while many are gone through is done behind that.
    @Test func manyAreMarkedInTheOrderOfTheKeys() async throws {
        let count = FetchedResults.firstLoad + 1_000
        try await open(count)
        try await screens.until { screens.title.hasSuffix("1 of \(count)") }
        let marks = try #require(marks)
        func results() throws -> FetchedResults {
            try #require((screens.root.children.last as? PhotosScreen)?.results)
        }
        try await screens.until { try results().isComplete }
        screens.press(.control("a"))
        #expect(!marks.isSettled && marks.keys.isEmpty)
        // The first one's mark goes again; then there is one.
        screens.press("g", " ", "*", " ")
        try await screens.until { marks.isSettled }
        #expect(heading == "2 marked")
        #expect(marks.keys.contains(try #require(try results().key(at: 0))))
        #expect(marks.keys.contains(try #require(try results().key(at: 1))))
        screens.press("G", "M", "u")
        #expect(marks.isSettled && marks.keys.isEmpty)
        screens.press("g", " ", "G", "M")
        try await screens.until { heading == "\(count) marked" }
        #expect(marks.keys.count == count)
    }

    @Test func whatIsDoneRightAfterManyWereMarkedIsDoneWithThem() async throws {
        let count = FetchedResults.firstLoad + 1_000
        try await open(count)
        try await screens.until { screens.title.hasSuffix("1 of \(count)") }
        try await screens.until { (screens.root.children.last as? PhotosScreen)?.results.isComplete == true }
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "\(count - 1)")
        screens.press(.control("a"), "D")
        try await screens.until { screens.status.contains("Delete") }
        #expect(screens.status == " Delete \(NumberFormat.current.text(count)) photos from the cache? (y/n)")
        screens.press("n", "u", .control("a"), "y")
        try await screens.until { screens.copied.count == 1 }
        #expect(screens.copied[0].split(separator: "\n").count == count)
    }

    @Test(arguments: [3, 4, 900]) func aNumberMarksSoManyAndNoneTwice(number: Int) async throws {
        try await open(5)
        screens.press("j", "j", "j")
        screens.type("\(number) ")
        #expect(marked == ["Photo 1", "Photo 0"] && screens.selected == "Photo 0")
        screens.press("g")
        screens.type("2 ")
        #expect(marked == ["Photo 4", "Photo 3", "Photo 1", "Photo 0"] && screens.selected == "Photo 2")
    }

    @Test func withASCIIAloneTheSignIsALetter() async throws {
        try await open(2)
        screens.root.adopt(Capabilities(unicode: false))
        screens.press(" ")
        #expect(screens.frame()[0, 1].text == "M")
    }
}
