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

    /// The help lists all other keys.
    @Test func theHelpHintStaysOnASmallScreen() async throws {
        try await screens.sync(["a", "b"])
        screens.size = Size(columns: 40, rows: 12)
        func check() { #expect(screens.status.hasSuffix("? help"), "\(screens.status)") }
        check()
        screens.open()
        check()
        // The hint has precedence over a long status and over the indicator.
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
        // A click beside the hint does nothing, and neither does a release on it.
        screens.use(.press(1), place - 1, screens.size.rows - 1)
        screens.use(.release(1), place, screens.size.rows - 1)
        #expect(screens.title.hasPrefix(" example.org"))
        screens.use(.press(1), place + 9, screens.size.rows - 1)
        #expect(screens.title.hasPrefix(" Photo a"))
        screens.use(.press(1), 78, screens.size.rows - 1)
        _ = screens.frame()
        #expect(screens.title.hasPrefix(" Help"))
        // The hints of the previous screen are gone.
        screens.use(.press(1), 78, screens.size.rows - 1)
        #expect(screens.title.hasPrefix(" Help"))
    }
}
