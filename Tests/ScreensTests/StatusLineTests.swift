import Cells
import Model
import Settings
import TestSupport
import Testing

@testable import Screens

@MainActor @Suite(.unlessItHangs) struct StatusLineTests {
    @Test("BEHAVIOURS 2.2: why an update failed is said though the cache could not be told")
    func failureOnlyKnownNow() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        screens.open()
        screens.activity.note(Failure("The disk is full", remedy: .time), of: screens.cache.id)
        try await screens.until { screens.status.hasPrefix(" Update failed: The disk is full · Updated: ") }
        screens.activity.note(.getting(Progress(done: 0)), of: screens.cache.id)
        try await screens.until { screens.status.hasPrefix(" Updating…") }
    }

    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
    }

    private func until(shows status: String) async throws {
        try await screens.until { screens.status.hasPrefix(" " + status) }
        #expect(screens.status.hasPrefix(" " + status))
    }

    @Test("BEHAVIOURS 2.2: the status line follows an update from its beginning to its end")
    func follows() async throws {
        #expect(screens.status.hasPrefix(" No gallery"))
        screens.open()
        #expect(screens.status.hasPrefix(" Not updated"))
        screens.activity.note(.getting(Progress(done: 0)), of: screens.cache.id)
        try await until(shows: "Updating… ")
        screens.activity.note(.getting(Progress(done: 1_000, total: 2_000)), of: screens.cache.id)
        try await until(shows: "Updating… 1.0 KB of 2.0 KB")
        #expect(screens.status.contains("━━━━━─────"))
        screens.activity.note(.waiting(Failure("no network", remedy: .network)), of: screens.cache.id)
        try await until(shows: "Waiting for network")
        screens.activity.note(.parsing(entries: 2), of: screens.cache.id)
        try await until(shows: "Updating… reading 2 photos")
        screens.activity.note(.committing, of: screens.cache.id)
        try await until(shows: "Updating… storing")
        try await screens.sync(["a", "b"])
        screens.activity.noteEnd(of: screens.cache.id)
        try await until(shows: "Updated: ")
        let updated = String(screens.status.dropFirst().prefix(28))
        #expect(updated == "Updated: 2006-07-30 07:47:17")

        screens.activity.note(.getting(Progress(done: 0)), of: screens.cache.id)
        try await until(shows: "Updating…")
        screens.activity.noteEnd(of: screens.cache.id, cancelled: true)
        try await until(shows: "Update cancelled · \(updated)")
        try await screens.cache.writer.noteSyncFailure(Failure("the server answered 500", remedy: .time))
        screens.activity.noteEnd(of: screens.cache.id)
        try await until(shows: "Update failed: the server answered 500 · \(updated)")
    }

    @Test("BEHAVIOURS 2.2: the last success is known at the next start, beside the error that came after it")
    func acrossRestarts() async throws {
        try await screens.sync(["a"])
        try await screens.cache.writer.noteSyncFailure(Failure("the server answered 500", remedy: .time))
        screens.open()
        #expect(screens.status.hasPrefix(" Update failed: the server answered 500 · Updated: 2006-07-30 07:47:17"))
    }

    @Test("BEHAVIOURS 2.3: what is hinted at is to refresh, or to stop while an update runs")
    func hints() async throws {
        screens.open()
        #expect(screens.status.contains("r refresh") && !screens.status.contains("x stop"))
        screens.activity.note(.getting(Progress(done: 0)), of: screens.cache.id)
        try await until(shows: "Updating…")
        #expect(screens.status.contains("x stop") && !screens.status.contains("r refresh"))
    }

    @Test func anErrorIsCutRatherThanTheScreen() async throws {
        screens.size = Size(columns: 20, rows: 5)
        let reason = String(repeating: "日本", count: 40) + "\u{1B}[2J"
        try await screens.cache.writer.noteSyncFailure(Failure(reason, remedy: .none))
        screens.open()
        #expect(screens.status.hasPrefix(" Update failed: "))
        #expect(screens.status.hasSuffix("…") && !screens.text.contains("\u{1B}"))
    }
}
