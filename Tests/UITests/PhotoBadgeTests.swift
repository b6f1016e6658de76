import Cells
import Model
import Pictures
import Settings
import TestSupport
import Testing
import Text

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
        // Pictures in letters have higher rows.
        #expect(column == "M      MF")
    }

    /// A picture of letters that no text contains.
    private func picture(_ size: Size) -> DrawnPicture {
        DrawnPicture(
            cells: CellBlock(size: size, cells: Array(repeating: Cell(Glyph("#")), count: size.columns * size.rows)))
    }

    /// Expects an empty cell before and after each row of a picture.
    private func expectGaps(_ surface: Surface, _ size: Size, sourceLocation: SourceLocation = #_sourceLocation) {
        var count = 0
        for row in 0..<surface.size.rows {
            for column in 0..<surface.size.columns where surface[column, row].text == "#" {
                count += 1
                for beside in [column - 1, column + 1] where beside < surface.size.columns {
                    #expect(
                        beside >= 0 && "# ".contains(surface[beside, row].text), "\(size)",
                        sourceLocation: sourceLocation)
                }
            }
        }
        #expect(count > 0, "\(size)", sourceLocation: sourceLocation)
    }

    @Test(
        "Empty cells separate a picture in letters from badges and marks, at every width", arguments: [3, 10, 22, 58])
    func gaps(rows: Int) async throws {
        try await screens.sync(["a"])
        let photo = try screens.photo("a")
        let capabilities = Capabilities(unicode: false, colours: .none)
        let theme = Theme(capabilities)
        for columns in 20...200 {
            let size = Size(columns: columns, rows: rows)
            var surface = Surface(size: size)
            let row = PhotoRow(
                in: size, wantedHeight: 0, isInLetters: true, theme: theme, capabilities: capabilities)
            row.draw(
                photo, picture(row.thumbnailSize), matches: [], badges: PhotoBadge.allCases, isSelected: true,
                in: &surface, frame: Rect(column: 0, row: 0, columns: columns, rows: row.height))
            expectGaps(surface, size)
            surface = Surface(size: size)
            let layout = SheetLayout(in: size, hasTitles: false, cellAspect: 0.5, isInLetters: true)
            let cell = SheetCell(layout: layout, theme: theme, isPlain: true)
            for frame in layout.frames(in: Rect(column: 0, row: 0, columns: columns, rows: layout.cell.rows)) {
                cell.draw(
                    photo, picture(layout.picture), matches: [], badges: PhotoBadge.allCases, isSelected: true,
                    in: &surface, frame: frame)
            }
            expectGaps(surface, size)
        }
    }

    @Test func picturesInLettersAreLarge() {
        func row(_ columns: Int, _ rows: Int, isInLetters: Bool = true, _ settings: Settings = Settings()) -> PhotoRow {
            let capabilities = Capabilities(unicode: false)
            return PhotoRow(
                in: Size(columns: columns, rows: rows), wantedHeight: settings.rowHeight, isInLetters: isInLetters,
                theme: Theme(capabilities, settings), capabilities: capabilities)
        }
        #expect(row(80, 22).thumbnailSize == Size(columns: 16, rows: 6) && row(80, 22).height == 7)
        #expect(row(80, 22, isInLetters: false).thumbnailSize == Size(columns: 8, rows: 3))
        // A small window still shows several photos, with their names.
        #expect(row(40, 10).thumbnailSize == Size(columns: 8, rows: 3) && row(40, 10).height == 3)
        #expect(row(20, 3).thumbnailSize == Size(columns: 5, rows: 2))
        #expect(row(24, 58).thumbnailSize.columns < 10)
        var settings = Settings()
        settings.rowHeight = 4
        #expect(row(80, 22, settings).height == 4)
        // Plain mode has no pictures.
        settings = Settings()
        settings.plain = true
        #expect(row(80, 22, settings).height == 3 && row(80, 22, settings).thumbnailSize.columns == 0)
    }

    @Test func aLowRowShowsTheMostImportantBadges() throws {
        let theme = Theme(Capabilities())
        var surface = Surface(size: Size(columns: 1, rows: 3))
        PhotoBadge.draw(
            PhotoBadge.allCases, in: &surface, Rect(column: 0, row: 0, columns: 1, rows: 2), theme, isPlain: false)
        #expect(surface.text == "✓\n●\n")
    }
}
