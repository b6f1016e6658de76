import Cells
import Concurrency
import Session
import Model
import Numbers
import Pictures
import TestSupport
import Testing

@testable import UI

/// Going from photo to photo: drawing ahead, and substitutes until a photo is drawn.
@MainActor @Suite(.unlessItHangs) struct PhotoTravelTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// The colour in the middle of the screen.
    private var middle: Colour {
        screens.frame()[screens.size.columns / 2, screens.size.rows / 2].style.background
    }

    private func open(_ ids: [String], at id: String, photos: [String: UInt8] = [:]) async throws {
        try await screens.sync(ids)
        for (id, red) in photos { try await screens.store(TestScreens.picture(red: red), as: .original, of: id) }
        screens.open(at: id, isPhotoOpen: true)
    }

    /// Waits until the fitted photo is drawn.
    private func untilDrawn(_ id: String) async throws {
        let held = try screens.photo(id).original.held ?? 0
        let view = Viewport(
            size: Size(columns: screens.size.columns, rows: screens.size.rows - 2),
            style: screens.context.drawingStyle)
        let order = view.order(try screens.subject(id, .original), edition: held)
        _ = screens.frame()
        try await screens.until { screens.context.pipeline.picture(order) != nil }
    }

    @Test("BEHAVIOURS 3.5: after a rest, the first frame shows the next photo")
    func firstFrame() async throws {
        try await open(["a", "b", "c", "d"], at: "b", photos: ["a": 50, "b": 100, "c": 150, "d": 200])
        try await screens.until { middle == .rgb(100, 0, 0) }
        for id in ["a", "c", "d"] { try await untilDrawn(id) }
        for (key, red) in [("]", 150), ("]", 200), ("[", 150), ("[", 100), ("[", 50)] as [(Key, UInt8)] {
            screens.press(key)
            let frame = screens.frame()
            #expect(frame[40, 12].style.background == .rgb(red, 0, 0))
            #expect(!frame.text.contains("Loading…"))
        }
    }

    @Test("BEHAVIOURS 3.5: the previous photo stays until the next one has a picture")
    func olderStays() async throws {
        try await open(["a", "b"], at: "a", photos: ["a": 100])
        try await screens.until { middle == .rgb(100, 0, 0) }
        screens.press("]")
        var frame = screens.frame()
        #expect(frame.text(inRow: 0).hasPrefix(" Photo b ") && frame.text(inRow: 23).hasPrefix(" Loading…"))
        #expect(frame[40, 14].style.background == .rgb(100, 0, 0))
        // The thumbnail arrives first.
        try await screens.store(TestScreens.picture(red: 30), as: .thumbnail, of: "b")
        try await screens.until { middle == .rgb(30, 0, 0) }
        try await screens.store(TestScreens.picture(red: 200), as: .original, of: "b")
        try await screens.until {
            frame = screens.frame()
            let seen = frame[40, 12].style.background
            #expect(seen == .rgb(30, 0, 0) || seen == .rgb(200, 0, 0))
            return seen == .rgb(200, 0, 0)
        }
        #expect(!frame.text.contains("Loading…"))
    }

    @Test("BEHAVIOURS 3.5: a failed photo does not show the previous one")
    func failedIsNotTheOneBefore() async throws {
        try await open(["a", "b"], at: "a", photos: ["a": 100])
        try await screens.note(.bad(Failure("gone", remedy: .none)), for: .original, of: "b")
        try await screens.until { middle == .rgb(100, 0, 0) }
        screens.press("]")
        let frame = screens.frame()
        #expect(frame.text.contains("Load failed: gone") && frame[40, 14].style.background == .terminal)
    }

    @Test("BEHAVIOURS 5.7: the next photos in the current direction are fetched after the visible one")
    func prefetch() async throws {
        try await open(["a", "b", "c", "d", "e"], at: "b")
        func importances() async throws -> [Importance?] {
            var found: [Importance?] = []
            for id in ["a", "b", "c", "d", "e"] {
                found.append(await screens.importance(of: try screens.subject(id, .original)))
            }
            return found
        }
        #expect(try await importances() == [nil, .lookedAt, .near, .near, nil])
        screens.press("]")
        #expect(try await importances() == [nil, .rest, .lookedAt, .near, .near])
        screens.press("[")
        #expect(try await importances() == [.near, .lookedAt, .rest, nil, nil])
        // A photo inserted there is fetched, too.
        let entries = try ["a", "x", "b"].enumerated().map { try TestScreens.entry($1, date: Int64($0)) }
        try await screens.sync(entries)
        try await screens.until { screens.title.hasSuffix("3 of 3") }
        #expect(await screens.importance(of: try screens.subject("x", .original)) == .near)
        screens.press("q")
        #expect(await !screens.wished().contains { $0.subject == (try? screens.subject("x", .original)) })
    }

    @Test("BEHAVIOURS 3.5: each photo keeps its turn")
    func turned() async throws {
        try await open(["a", "b"], at: "a", photos: ["a": 100, "b": 150])
        try await screens.until { middle == .rgb(100, 0, 0) }
        /// Returns the columns of the picture of 40 × 30 pixels, turned or not.
        func columns() -> Int {
            screens.frame().row(12).count { $0.style.background == .rgb(100, 0, 0) }
        }
        #expect(columns() == 40)
        screens.press(">")
        try await screens.until { columns() == 30 }
        screens.press("]")
        try await screens.until { middle == .rgb(150, 0, 0) }
        screens.press("[")
        try await screens.until { columns() == 30 }
        screens.press("<")
        try await screens.until { columns() == 40 }
    }

    @Test("BEHAVIOURS 3.5: the next photo fills the screen like the previous one")
    func fills() async throws {
        try await open(["a", "b"], at: "a", photos: ["a": 100, "b": 150])
        try await screens.until { middle == .rgb(100, 0, 0) }
        screens.press("W")
        #expect(screens.title.hasSuffix("fill"))
        try await screens.until { screens.frame().row(1).allSatisfy { $0.style.background == .rgb(100, 0, 0) } }
        screens.press("]")
        try await screens.until { screens.frame().row(22).allSatisfy { $0.style.background == .rgb(150, 0, 0) } }
        screens.press("w")
        #expect(screens.title.hasSuffix("fit"))
    }

    @Test("BEHAVIOURS 3.5: a loading photo is drawn again after each tenth of the file")
    func arrives() async throws {
        try await open(["a"], at: "a")
        let (photo, bytes) = (try screens.photo("a"), TestScreens.picture(red: 120))
        let part = try screens.begin(bytes, of: "a")
        let subject = try screens.subject("a", .original)
        func note(_ done: ByteCount) { screens.activity.setProgress(Progress(done: done, total: 1_000), of: subject) }
        note(50)
        try await screens.until { screens.status.hasPrefix(" Loading… 50 B of") }
        #expect(screens.waits.count == 0 && middle == .terminal)
        note(100)
        #expect(await screens.waits.nextBegin() == .milliseconds(500))
        try await screens.until { middle == .rgb(120, 0, 0) }
        // More arrives soon after.
        note(900)
        try await screens.until { screens.status.hasPrefix(" Loading… 900 B of") }
        // The progress text waits for the throttle, too.
        #expect(await screens.waits.nextBegin() == Throttle.interval && screens.waits.count == 2)
        screens.waits.pass()
        while await screens.waits.nextBegin() != .milliseconds(500) {}
        #expect(try screens.photo("a") == photo)
        withExtendedLifetime(part) {}
    }
}
