import Cells
import Model
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct PhotoBadgeTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// The column of badges, from the first row on.
    private var column: String {
        let frame = screens.frame()
        return (1..<10).map { frame[0, $0].text }.joined()
    }

    /// So it is for who leaves the gallery, and for who quits.
    @Test(arguments: [false, true]) func whatHasComeSinceOneLeftIsNew(quits: Bool) async throws {
        try await screens.sync(["a", "b"])
        screens.open()
        // One who was never here has seen nothing, and so nothing is new.
        try await screens.sync(["a", "b", "c"])
        try await screens.until { screens.title.hasSuffix("of 3") }
        #expect(column == "         ")
        if !quits { screens.press("q") }
        #expect(await screens.root.finish() == nil)
        try await screens.sync(["a", "d", "c"])
        screens.open()
        #expect(screens.text.contains("Photo d") && column == "   ●     ")
        // As long as one looks at them.
        try await screens.sync(["a", "d", "e"])
        try await screens.until { screens.text.contains("Photo e") }
        #expect(column == "   ●  ●  ")
        screens.press("q")
        #expect(await screens.root.finish() == nil)
        screens.open()
        #expect(column == "         ")
    }

    @Test func theyHaveAColumnOfTheirOwn() async throws {
        try await screens.sync(["a", "b", "c"])
        screens.open()
        let before = screens.text
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        try await screens.note(.bad(Failure("no", remedy: .none)), for: .thumbnail, of: "b")
        try await screens.note(.putOff(Failure("no", remedy: .none)), for: .original, of: "c")
        try await screens.until { column == "   ×▪ ×  " }
        screens.press(" ", " ")
        #expect(column == "✓  ✓×▪×  ")
        // Names stay where they are.
        for name in ["Photo a", "Photo b", "Photo c"] {
            let lines = [before, screens.text].map { text in
                text.split(separator: "\n").first { $0.contains(name) }.map { line in
                    line.prefix { $0 != "P" }.count
                }
            }
            #expect(lines[0] == 12 && lines[1] == 12)
        }
        screens.root.adopt(Capabilities(unicode: false))
        #expect(column == "M  MFHF  ")
    }

    /// Where there are fewer lines than badges, what counts most is shown.
    @Test func aRowHasAsManyAsItHasLines() throws {
        let theme = Theme(Capabilities())
        var surface = Surface(size: Size(columns: 1, rows: 3))
        PhotoBadge.draw(
            PhotoBadge.allCases, in: &surface, Rect(column: 0, row: 0, columns: 1, rows: 2), theme, isPlain: false)
        #expect(surface.text == "✓\n●\n")
    }
}
