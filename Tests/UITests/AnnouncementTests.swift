import Cells
import Model
import TestSupport
import Testing

@testable import UI

/// Notices and questions in windows that are too small for them.
@MainActor @Suite(.unlessItHangs) struct AnnouncementTests {
    private func said(_ screens: TestScreens) -> [String] {
        let frame = screens.frame()
        let rows = (0..<screens.size.rows).map { frame.text(inRow: $0) }
        return Array(rows.drop { !$0.hasPrefix("──") }.dropFirst())
    }

    @Test func longNoticesUseSeveralLines() async throws {
        let screens = try await TestScreens.offering(["a", "b"], columns: 40)
        screens.open()
        screens.press("i")
        #expect(said(screens) == [" The preview pane needs at least 120", " columns."])
        screens.press("j")
        #expect(said(screens).isEmpty && screens.status.hasPrefix(" Updated:"))
        screens.size = Size(columns: 20, rows: 5)
        screens.press("i")
        #expect(said(screens) == [" The preview pane", " needs at least 120", " columns."])
    }

    @Test(arguments: [Size(columns: 40, rows: 12), Size(columns: 20, rows: 5)])
    func everyAnswerIsVisible(size: Size) async throws {
        let address = try Address("http://example.org/album/index.xml")
        let screens = try TestScreens(remembered: [address])
        try await screens.sync(["a"])
        screens.size = size
        let galleries = try #require(screens.root.children.first as? GalleriesScreen)
        galleries.lookUpSizes()
        try await screens.until { !galleries.facts.isEmpty }
        screens.press("d")
        let text = screens.text
        for answer in ["l from the list", "c and its cache", "n no"] { #expect(text.contains(answer), "\(text)") }
        #expect(size.columns == 20 || text.contains("“http://example.org/album/index.xml”?"))
    }

    @Test func theSortMenuIsShownWhole() async throws {
        let screens = try await TestScreens.offering(["a", "b"], columns: 40)
        screens.open()
        screens.press(",")
        #expect(
            said(screens) == [
                " Sort by  d date  n name  s size", " t state  r rating", " Shift: reverse order",
            ])
        screens.size = Size(columns: 20, rows: 5)
        for word in ["d date", "n name", "s size", "t state"] { #expect(screens.text.contains(word)) }
    }
}
