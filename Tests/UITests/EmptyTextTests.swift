import Cells
import Session
import Model
import Settings
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct EmptyTextTests {
    private nonisolated static let sizes = [
        Size(columns: 80, rows: 24), Size(columns: 200, rows: 60), Size(columns: 40, rows: 12),
        Size(columns: 20, rows: 5),
    ]

    /// Returns the text between heading and footing, with its lines joined.
    private func said(_ screens: TestScreens) -> String {
        let frame = screens.frame()
        return (1..<screens.size.rows - 1).map { frame.text(inRow: $0) }
            .joined(separator: " ").split(separator: " ").joined(separator: " ")
    }

    /// Expects the whole text, or on a small screen its beginning.
    private func expect(_ screens: TestScreens, _ text: String, _ size: Size) {
        let said = said(screens)
        let isWhole = size.rows > 5
        #expect(isWhole ? said == text : !said.isEmpty && text.hasPrefix(said), "\(size): \(said)")
    }

    @Test("BEHAVIOURS 6.2: an unreachable gallery shows the reason and what to do", arguments: sizes)
    func unreachable(size: Size) async throws {
        let screens = try TestScreens()
        screens.size = size
        let failure = Failure("example.org cannot be reached", remedy: .network)
        screens.open()
        expect(screens, "Fetching the list of photos…", size)
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        try await screens.until { said(screens).contains("x") || size.rows == 5 }
        expect(screens, "Fetching the list of photos… Press x to cancel.", size)
        screens.activity.setPhase(.waiting(failure, until: nil), of: screens.cache.id)
        try await screens.until { said(screens).hasPrefix("The update failed") }
        expect(
            screens,
            "The update failed: example.org cannot be reached "
                + "Vitrine will retry. Press r to retry now, x to cancel.",
            size)
        screens.activity.endUpdate(of: screens.cache.id)
        try await screens.cache.writer.recordSyncFailure(failure)
        try await screens.until {
            !said(screens).contains("automatically") && said(screens).hasPrefix("The update failed")
        }
        expect(screens, "The update failed: example.org cannot be reached Press r to try again.", size)
    }

    @Test(arguments: sizes) func offline(size: Size) throws {
        var settings = Settings()
        settings.offline = true
        let screens = try TestScreens(settings)
        screens.size = size
        screens.open()
        expect(
            screens,
            "This gallery is not in the cache Vitrine is offline and fetches nothing. "
                + "Type “:set offline no” to fetch the gallery.",
            size)
    }

    @Test(arguments: sizes) func notUpdated(size: Size) throws {
        var settings = Settings()
        settings.syncOnOpen = false
        let screens = try TestScreens(settings)
        screens.size = size
        screens.open()
        expect(screens, "Gallery not fetched yet Press r to fetch the list of photos.", size)
    }

    @Test(arguments: sizes) func emptyAndThenFailed(size: Size) async throws {
        let screens = try TestScreens()
        screens.size = size
        try await screens.sync([String]())
        screens.open()
        expect(screens, "No photos Press r to check for photos.", size)
        try await screens.cache.writer.recordSyncFailure(Failure("gone", remedy: .none))
        try await screens.until {
            screens.status.contains("failed") || size.rows == 5 && said(screens).contains("before")
        }
        expect(
            screens, "No photos The last update failed. The previous list had no photos. Press r to try again.", size)
    }

    @Test(arguments: sizes) func noMatches(size: Size) async throws {
        let screens = try TestScreens()
        screens.size = size
        try await screens.sync(["a", "b"])
        screens.open()
        screens.press("f")
        screens.type("zebra")
        try await screens.until { said(screens).contains("No matches") }
        screens.press(Key(.enter))
        expect(screens, "No matches Press f to change the filter. Press q to show all photos.", size)
        screens.press("q")
        try await screens.until { said(screens).contains("Photo a") }
    }

    @Test(arguments: sizes) func withoutGalleries(size: Size) throws {
        let screens = try TestScreens()
        screens.size = size
        expect(screens, "No galleries yet: press a to add one.", size)
    }

    @Test(arguments: sizes) func firstRun(size: Size) async throws {
        let preset = try Address("http://example.org/first.xml")
        let screens = try TestScreens(presets: [preset])
        screens.size = size
        let advice =
            "Press Enter to open this built-in gallery. Press a to add your own gallery: an address, a file or a folder. "
            + "Press ? to list all keys."
        try await screens.until { said(screens).hasSuffix(advice) || size.rows == 5 && said(screens).contains("▌") }
        // After the first visit, the advice is gone.
        screens.press(Key(.enter), "q")
        try await screens.until { !said(screens).contains("never opened") }
        #expect(!said(screens).contains("to list all keys"))
    }

    @Test func ownGalleriesEndTheAdvice() async throws {
        let addresses = try ["http://example.org/first.xml", "http://example.org/other.xml"].map { try Address($0) }
        let screens = try TestScreens(presets: [addresses[0]], remembered: [addresses[1]])
        let galleries = try #require(screens.root.children.last as? GalleriesScreen)
        try await screens.until { galleries.hasLookedUp }
        #expect(!said(screens).contains("to list all keys"))
    }
}
