import Cells
import Model
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct PhotoBadgeTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// The column of badges, from the first row down.
    private var column: String {
        let frame = screens.frame()
        return (1..<10).map { frame[0, $0].text }.joined()
    }

    /// Both closing the gallery and quitting count as leaving.
    @Test(arguments: [false, true]) func photosAddedSinceTheLastVisitAreNew(quits: Bool) async throws {
        try await screens.sync(["a", "b"])
        screens.open()
        // On the first visit no photo counts as new.
        try await screens.sync(["a", "b", "c"])
        try await screens.until { screens.title.hasSuffix("of 3") }
        #expect(column == "         ")
        if !quits { screens.press("q") }
        #expect(await screens.root.finish() == nil)
        try await screens.sync(["a", "d", "c"])
        screens.open()
        #expect(screens.text.contains("Photo d") && column == "   ●     ")
        // Photos stay new during the visit.
        try await screens.sync(["a", "d", "e"])
        try await screens.until { screens.text.contains("Photo e") }
        #expect(column == "   ●  ●  ")
        screens.press("q")
        #expect(await screens.root.finish() == nil)
        screens.open()
        #expect(column == "         ")
    }

    @Test func badgesHaveTheirOwnColumn() async throws {
        try await screens.sync(["a", "b", "c"])
        screens.open()
        let before = screens.text
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        try await screens.note(.bad(Failure("no", remedy: .none)), for: .thumbnail, of: "b")
        try await screens.note(.putOff(Failure("no", remedy: .none)), for: .original, of: "c")
        try await screens.until { column == "   ×▪ ×  " }
        screens.press(" ", " ")
        #expect(column == "✓  ✓×▪×  ")
        // The names do not move.
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

    @Test func aLowRowShowsTheMostImportantBadges() throws {
        let theme = Theme(Capabilities())
        var surface = Surface(size: Size(columns: 1, rows: 3))
        PhotoBadge.draw(
            PhotoBadge.allCases, in: &surface, Rect(column: 0, row: 0, columns: 1, rows: 2), theme, isPlain: false)
        #expect(surface.text == "✓\n●\n")
    }
}
