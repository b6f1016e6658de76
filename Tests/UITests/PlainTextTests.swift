import Cells
import Session
import Model
import Settings
import TestSupport
import Testing

@testable import UI

/// The plain interface for screen readers.
@MainActor @Suite(.unlessItHangs) struct PlainTextTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.plain = true
        settings.sections = .year
        screens = try TestScreens(settings, remembered: [Address("http://example.org/album/index.xml")])
    }

    /// Line and block characters, which a screen reader would read out one by one.
    private var drawings: [Character] {
        screens.text.filter { $0.unicodeScalars.contains { (0x2500...0x259F).contains($0.value) } }
    }

    private func fill() async throws {
        try await screens.sync([
            TestScreens.entry("a", date: 1_154_245_637), TestScreens.entry("b", date: 1_185_781_637),
            TestScreens.entry("c", date: 1_185_781_638),
        ])
        try await screens.store(TestScreens.picture(red: 255), as: .thumbnail, of: "b")
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "b")
    }

    @Test func aListIsTextWithTheCursorOnTheSelection() async throws {
        try await fill()
        screens.open(at: "b")
        let frame = screens.frame()
        let rows = (0..<screens.size.rows).map { frame.text(inRow: $0) }
        #expect(drawings.isEmpty && frame.placements.isEmpty)
        // The row has no picture, and no room for one.
        let row = try #require(rows.firstIndex { $0.contains(" > Photo b") })
        #expect(frame.cursor == Point(column: 0, row: row))
        #expect(rows[row + 1].hasPrefix("    ") && rows.count { $0.contains(">") } == 1)
        screens.press("j")
        let next = screens.frame()
        #expect(next.cursor.map { next.text(inRow: $0.row) }?.hasSuffix(" > Photo c") == true)
    }

    @Test func noScreenHasDrawings() async throws {
        try await fill()
        screens.log.error(.cache, "something")
        screens.open()
        for key in ["?", "T", "E", "L"] as [Key] {
            screens.press(key)
            #expect(drawings.isEmpty, "\(key)")
            screens.press(Key(.escape))
        }
        screens.press("q", "a")
        #expect(drawings.isEmpty && screens.text.contains("Address:"))
        // While the user types, the cursor is in the text field.
        #expect(screens.frame().cursor?.row == screens.size.rows - 2)
    }

    @Test func plainModeHasNoSheetAndNoPane() async throws {
        try await fill()
        screens.size.columns = 200
        screens.open(at: "b")
        #expect(!screens.status.contains("sheet"))
        screens.press(Key(.tab))
        #expect(screens.status == " Plain mode has no contact sheet." && screens.root.place.view != .sheet)
        screens.press("i")
        #expect(screens.status == " Plain mode has no preview pane.")
        screens.press(":")
        screens.type("s")
        #expect(drawings.isEmpty && screens.text.contains(":"))
    }

    @Test func aPhotoIsItsMetadata() async throws {
        try await fill()
        screens.open(at: "b", isPhotoOpen: true)
        try await screens.until { screens.text.contains("40 × 30") }
        #expect(drawings.isEmpty && screens.title.hasPrefix(" Photo b "))
        // The screen draws no picture, and does not report that it loads one.
        #expect(!screens.status.contains("Loading"))
    }

    @Test("Keys for the look of a photo have no hints, and say why they do nothing")
    func pictureKeys() async throws {
        try await fill()
        screens.open(at: "b", isPhotoOpen: true)
        #expect(screens.status.contains("next") && !screens.status.contains("larger"))
        for key in ["+", "-", "=", "w", "W", "<", ">"] as [Key] {
            screens.press(key)
            #expect(screens.status == " Plain mode shows no pictures.", "\(key)")
            screens.press(Key(.escape))
        }
        #expect(screens.root.place.isPhotoOpen && !screens.root.place.fillsScreen)
    }

    @Test("The hint of a cached video opens another program, because plain mode does not play videos")
    func videoHints() async throws {
        var film = try TestScreens.entry("a", date: 1_154_245_637)
        (film.revision, film.videoMilliseconds) = ("1", 5_000)
        try await screens.sync([film])
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a")
        screens.open(at: "a", isPhotoOpen: true)
        #expect(try screens.photo("a").isVideoFile)
        #expect(screens.status.contains("o play") && !screens.status.contains("a play"))
    }

    @Test func photosThatWouldFillTheScreenCanBeLeft() async throws {
        try await fill()
        var place = Place(gallery: screens.cache.address, photo: "b", isPhotoOpen: true)
        place.fillsScreen = true
        screens.root.start(at: place)
        #expect(screens.root.place.fillsScreen)
        screens.press("l")
        #expect(screens.title.hasPrefix(" Photo c "))
        screens.press("h")
        #expect(screens.title.hasPrefix(" Photo b "))
    }

    @Test func barsArePercents() async throws {
        try await fill()
        screens.open(at: "a", isPhotoOpen: true)
        screens.activity.setProgress(Progress(done: 255, total: 1_000), of: try screens.subject("a", .original))
        try await screens.until { screens.status.contains("25 percent") }
        screens.activity.setProgress(Progress(done: 1_000, total: 1_000), of: try screens.subject("a", .original))
        try await screens.until { screens.status.contains("complete") }
        #expect(drawings.isEmpty)
    }
}
