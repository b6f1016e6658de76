import Cells
import Session
import Commands
import Foundation
import Model
import Settings
import TestSupport
import Testing

@testable import UI

/// Hints in the status line.
@MainActor @Suite(.unlessItHangs) struct HintTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
    }

    /// With it, all other keys are found.
    @Test func theHelpHintStaysOnASmallScreen() async throws {
        try await screens.sync(["a", "b"])
        screens.size = Size(columns: 40, rows: 12)
        func check() { #expect(screens.status.hasSuffix("? help"), "\(screens.status)") }
        check()
        screens.open()
        check()
        // It goes before a long text, and before what is said aside.
        try await screens.cache.writer.recordSyncFailure(
            Failure("the server answered 500, and went on about it for a while", remedy: .time))
        screens.activity.endUpdate(of: screens.cache.id)
        try await screens.until { screens.status.hasPrefix(" Update failed: ") }
        #expect(screens.status.contains("? help") && screens.status.contains("…"))
        for key in [Key(.enter), "T", "E", "L"] {
            screens.press(key)
            check()
        }
    }

    @Test func onTheSmallestScreenTheTextHasTheWholeLine() throws {
        screens.size = Size(columns: 20, rows: 5)
        #expect(!screens.status.contains("help") && screens.status.hasPrefix(" No gallery"))
    }

    @Test func aClickOnAHintPerformsItsCommand() async throws {
        try await screens.sync(["a", "b"])
        screens.open()
        let column = try #require(screens.status.range(of: "Enter view")).lowerBound
        let place = screens.status.distance(from: screens.status.startIndex, to: column)
        // Beside it there is nothing, and neither is there on the way up.
        screens.use(.press(1), place - 1, screens.size.rows - 1)
        screens.use(.release(1), place, screens.size.rows - 1)
        #expect(screens.title.hasPrefix(" example.org"))
        screens.use(.press(1), place + 9, screens.size.rows - 1)
        #expect(screens.title.hasPrefix(" Photo a"))
        screens.use(.press(1), 78, screens.size.rows - 1)
        _ = screens.frame()
        #expect(screens.title.hasPrefix(" Help"))
        // What was hinted at elsewhere is not there any more.
        screens.use(.press(1), 78, screens.size.rows - 1)
        #expect(screens.title.hasPrefix(" Help"))
    }
}
