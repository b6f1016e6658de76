import Cells
import Session
import Model
import Numbers
import Settings
import TestSupport
import Testing

@testable import UI

/// When the photo screen requests a frame, and which list it follows.
@MainActor @Suite(.unlessItHangs) struct PhotoFramesTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// Counts the delivered list differences.
    private final class Deliveries {
        var count = 0
    }

    private func countDeliveries() -> Deliveries {
        let (deliveries, deliver) = (Deliveries(), screens.context.feed.deliver)
        screens.context.feed.deliver = { update in
            deliver(update)
            if case .results = update { deliveries.count += 1 }
        }
        return deliveries
    }

    @Test func distantChangesRequestNoFrame() async throws {
        try await screens.sync(["a", "b", "c", "d", "e", "f"])
        screens.open(at: "a", isPhotoOpen: true)
        _ = screens.frame()
        let deliveries = countDeliveries()
        let frames = screens.wantedFrames
        try await screens.store(TestScreens.picture(red: 1), as: .thumbnail, of: "f")
        try await screens.until { deliveries.count > 0 }
        #expect(screens.wantedFrames == frames)
        // The next photo is drawn ahead.
        try await screens.store(TestScreens.picture(red: 2), as: .thumbnail, of: "b")
        try await screens.until { screens.wantedFrames > frames }
    }

    @Test func progressRequestsFramesAtALimitedRate() async throws {
        try await screens.sync(["a"])
        screens.open(at: "a", isPhotoOpen: true)
        _ = screens.frame()
        let (subject, changes) = (try screens.subject("a", .original), screens.activity.changes())
        let frames = screens.wantedFrames
        for done in 1...50 {
            screens.activity.setProgress(Progress(done: ByteCount(done)), of: subject)
            // Delivers each event on its own.
            _ = await changes.next()
            try await screens.until { screens.status.contains(" \(done) B") }
        }
        #expect(screens.wantedFrames <= frames + 2)
        // The last event is delivered after the pause.
        screens.waits.pass()
        try await screens.until { screens.wantedFrames > frames + 2 }
    }

    @Test("A photo opened during sorting follows the new list")
    func goesWithTheNewList() async throws {
        try await screens.sync([
            TestScreens.entry("a", name: "Zoo", date: 1), TestScreens.entry("b", name: "Mill", date: 2),
            TestScreens.entry("c", name: "Ape", date: 3),
        ])
        screens.open(at: "a")
        screens.press(",", "n", Key(.enter))
        #expect(screens.title.hasPrefix(" Zoo ") && screens.title.hasSuffix("1 of 3"))
        try await screens.until { screens.title.hasSuffix("3 of 3") }
        screens.press("[")
        #expect(screens.title.hasPrefix(" Mill "))
        // The screen follows the new list's updates.
        try await screens.sync([
            TestScreens.entry("b", name: "Mill", date: 2), TestScreens.entry("c", name: "Ape", date: 3),
        ])
        try await screens.until { screens.title.hasSuffix("2 of 2") }
    }
}
