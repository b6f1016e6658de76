import Cells
import Session
import Model
import Settings
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct StatusLineTests {
    @Test("BEHAVIOURS 2.2: a failure is shown even if the cache cannot store it")
    func failureOnlyKnownNow() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        screens.open()
        screens.activity.setFailure(Failure("The disk is full", remedy: .time), of: screens.cache.id)
        try await screens.until { screens.status.hasPrefix(" Update failed: The disk is full · Updated: ") }
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
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

    @Test("BEHAVIOURS 2.2: the status line follows an update")
    func follows() async throws {
        #expect(screens.status.hasPrefix(" No gallery"))
        screens.open()
        #expect(screens.status.hasPrefix(" Not updated"))
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        try await until(shows: "Updating… ")
        screens.activity.setPhase(.getting(Progress(done: 1_000, total: 2_000)), of: screens.cache.id)
        try await until(shows: "Updating… 1.0 KB of 2.0 KB")
        #expect(screens.status.contains("━━━━━─────"))
        screens.activity.setPhase(.waiting(Failure("no network", remedy: .network), until: nil), of: screens.cache.id)
        try await until(shows: "Waiting for the network")
        screens.activity.setPhase(.parsing(entries: 2), of: screens.cache.id)
        try await until(shows: "Updating… reading 2 photos")
        screens.activity.setPhase(.committing, of: screens.cache.id)
        try await until(shows: "Updating… storing")
        try await screens.sync(["a", "b"])
        screens.activity.endUpdate(of: screens.cache.id)
        try await until(shows: "Updated: ")
        let updated = String(screens.status.dropFirst().prefix(28))
        #expect(updated == "Updated: 2006-07-30 07:47:17")

        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        try await until(shows: "Updating…")
        screens.activity.endUpdate(of: screens.cache.id, cancelled: true)
        try await until(shows: "Update cancelled · \(updated)")
        try await screens.cache.writer.recordSyncFailure(Failure("the server answered 500", remedy: .time))
        screens.activity.endUpdate(of: screens.cache.id)
        try await until(shows: "Update failed: the server answered 500 · \(updated)")
    }

    @Test("BEHAVIOURS 2.2: the last success survives a restart, beside a later error")
    func acrossRestarts() async throws {
        try await screens.sync(["a"])
        try await screens.cache.writer.recordSyncFailure(Failure("the server answered 500", remedy: .time))
        screens.open()
        #expect(screens.status.hasPrefix(" Update failed: the server answered 500 · Updated: 2006-07-30 07:47:17"))
    }

    @Test("BEHAVIOURS 2.3: the hint is refresh, or stop during an update")
    func hints() async throws {
        screens.open()
        #expect(screens.status.contains("r refresh") && !screens.status.contains("x stop"))
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        try await until(shows: "Updating…")
        #expect(screens.status.contains("x stop") && !screens.status.contains("r refresh"))
    }

    @Test(
        "BEHAVIOURS 2.3: the hint to stop a waiting update stays visible, however long the reason",
        arguments: [40, 80, 200])
    func stopIsInSight(columns: Int) async throws {
        let now = Timestamp(milliseconds: 1_154_245_637_000)
        var settings = Settings()
        settings.syncOnOpen = false
        let screens = try TestScreens(settings, now: now)
        screens.size = Size(columns: columns, rows: 24)
        try await screens.sync(["a"])
        screens.open()
        let failure = Failure("photos.of-a-long-name.example.org cannot be reached", remedy: .time)
        screens.activity.setPhase(.waiting(failure, until: now), of: screens.cache.id)
        try await screens.until { screens.status.hasPrefix(" Retry at 07:47") }
        #expect(screens.status.contains("x stop") && screens.status.hasSuffix("? help"))
        #expect(columns < 80 || screens.status.contains(" · photos.of-a-long"))
        // The line shows a whole date or none.
        #expect(screens.status.contains("Updated: 2006-07-30 07:47:17") || !screens.status.contains("· U"))
        #expect(columns < 200 || screens.status.contains("cannot be reached · Updated: 2006-07-30 07:47:17"))
    }

    @Test("The error count stays visible beside a long reason", arguments: [50, 80, 200])
    func badgeIsInSight(columns: Int) async throws {
        screens.size = Size(columns: columns, rows: 24)
        try await screens.sync(["a", "b"])
        let reason = "the server answered 500, and said much about it that takes more room than there is in a line"
        try await screens.note(.bad(Failure("gone", remedy: .none)), for: .original, of: "a")
        try await screens.cache.writer.recordSyncFailure(Failure(reason, remedy: .time))
        screens.open()
        try await screens.until { screens.status.contains("2 errors: E") }
        #expect(screens.status.hasPrefix(" Update failed: the se") && screens.status.contains("? help"))
    }

    @Test("An empty gallery shows the reason of a failure once")
    func theReasonIsShownOnce() async throws {
        screens.open()
        let failure = Failure("example.org cannot be reached", remedy: .time)
        screens.activity.setPhase(
            .waiting(failure, until: Timestamp(milliseconds: 1_154_245_637_000)), of: screens.cache.id)
        try await until(shows: "Retry at 2006-07-30 07:47 ")
        #expect(screens.text.components(separatedBy: "example.org cannot be reached").count == 2)
        screens.activity.endUpdate(of: screens.cache.id)
        try await screens.cache.writer.recordSyncFailure(failure)
        try await until(shows: "Update failed ")
        #expect(screens.text.components(separatedBy: "example.org cannot be reached").count == 2)
    }

    @Test("An empty gallery hints at no useless keys")
    func emptyGalleryHints() async throws {
        try await screens.sync([GalleryEntry]())
        screens.open()
        #expect(screens.status.contains("r refresh") && screens.status.contains("? help"))
        for hint in ["look", "search", "sheet"] { #expect(!screens.status.contains(hint)) }
        try await screens.sync(["a"])
        try await screens.until { screens.status.contains("Enter view") }
    }

    @Test func longErrorsAreCut() async throws {
        screens.size = Size(columns: 20, rows: 5)
        try await screens.sync(["a"])
        let reason = String(repeating: "日本", count: 40) + "\u{1B}[2J"
        try await screens.cache.writer.recordSyncFailure(Failure(reason, remedy: .none))
        screens.open()
        #expect(screens.status.hasPrefix(" Update failed: "))
        #expect(screens.status.hasSuffix("…") && !screens.text.contains("\u{1B}"))
    }
}
