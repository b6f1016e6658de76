import Cells
import Model
import PictureTestSupport
import Pixels
import Settings
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct PlaybackTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
    }

    private var middle: Colour {
        screens.frame()[screens.size.columns / 2, screens.size.rows / 2].style.background
    }

    private static let colours: [Colour] = [.rgb(255, 0, 0), .rgb(0, 255, 0), .rgb(0, 0, 255)]

    /// Opens an animation of frames in one colour each, with delays in hundredths of a second.
    private func open(_ delays: UInt16...) async throws {
        var file = GIFFile(
            size: PixelSize(width: 40, height: 30),
            palette: [
                PixelColor(red: 255, green: 0, blue: 0), PixelColor(red: 0, green: 255, blue: 0),
                PixelColor(red: 0, green: 0, blue: 255),
            ])
        file.frames = delays.enumerated().map { number, delay in
            var frame = GIFFile.Frame(size: file.size, filled: UInt8(number))
            frame.delay = delay
            return frame
        }
        try await screens.sync(["a", "b"])
        try await screens.store(file.bytes, as: .original, of: "a")
        try await screens.store(TestScreens.picture(red: 100), as: .original, of: "b")
        screens.open(at: "a", isPhotoOpen: true)
        try await screens.until { middle == Self.colours[0] }
    }

    @Test func playsEachFrameForItsTimeInALoop() async throws {
        try await open(7, 5, 300)
        #expect(screens.status.contains("animated: press a to play") && screens.waits.count == 0)
        screens.press("a")
        #expect(screens.title.hasSuffix("fit · playing") && !screens.status.contains("animated"))
        #expect(screens.status.contains("a stop"))
        for (colour, time) in [(0, 70), (1, 50), (2, 3000), (0, 70), (1, 50)] {
            try await screens.until { middle == Self.colours[colour] }
            #expect(await screens.waits.nextBegin() == .milliseconds(time))
            #expect(screens.waits.count == 1)
            screens.waits.pass()
        }
        try await screens.until { middle == Self.colours[2] }
        // A stopped animation keeps its frame and has no clock.
        screens.press("a")
        #expect(middle == Self.colours[2] && screens.waits.count == 0)
        #expect(!screens.title.contains("playing") && screens.status.contains("animated: press a to play"))
    }

    /// The terminal replaces a frame in place, without characters in between.
    @Test func aPlayingPictureIsAMovingOne() async throws {
        screens.context.capabilities.pixels = PixelCapabilities(.kitty, cellWidth: 2, cellHeight: 4)
        try await open(7, 5)
        #expect(screens.frame().placements.map(\.isMoving) == [false])
        screens.press("a")
        #expect(screens.frame().placements.map(\.isMoving) == [true])
        screens.press("a")
        #expect(screens.frame().placements.map(\.isMoving) == [false])
    }

    @Test(arguments: ["]", "l", "+", "j"] as [Key]) func movingKeysStopIt(key: Key) async throws {
        try await open(7, 5)
        screens.press("a")
        _ = screens.frame()
        _ = await screens.waits.nextBegin()
        screens.press(key)
        #expect(!screens.title.contains("playing") && screens.waits.count == 0)
    }

    @Test func reopeningShowsTheFirstFrame() async throws {
        try await open(7, 5)
        screens.press("a")
        _ = screens.frame()
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
        try await screens.until { middle == Self.colours[1] }
        screens.press("]")
        try await screens.until { middle == .rgb(100, 0, 0) }
        #expect(!screens.status.contains("animated"))
        screens.press("[")
        try await screens.until { middle == Self.colours[0] }
        #expect(screens.status.contains("animated") && screens.waits.count == 0)
    }

    @Test func theClockStopsBehindAnotherScreen() async throws {
        try await open(7, 5)
        screens.press("a")
        await screens.expectClockStopsBehindAnotherScreen(.milliseconds(70))
        #expect(screens.title.hasSuffix("playing"))
    }

    @Test func aStillPictureDoesNotPlay() async throws {
        try await open(7)
        #expect(!screens.status.contains("animated"))
        screens.press("a")
        #expect(
            screens.status == " Nothing to play: this photo is neither an animation nor a video."
                && screens.waits.count == 0)
        #expect(!screens.title.contains("playing"))
    }

    /// A frame stays until the next one is drawn; no clock runs during the wait.
    @Test func waitsForTheNextFrame() async {
        let playback = AnimationPlayback(screens.context)
        playback.start()
        playback.startClock(for: 40)
        #expect(await screens.waits.nextBegin() == .milliseconds(40))
        playback.startClock(for: 40)
        #expect(screens.waits.count == 1)
        await withCheckedContinuation { continuation in
            playback.onDue = { continuation.resume() }
            screens.waits.pass()
        }
        #expect(playback.isDue && playback.frame == 0)
        playback.startClock(for: 40)
        #expect(screens.waits.count == 0)
        playback.advance(to: 1)
        #expect(!playback.isDue && playback.frame == 1)
        playback.startClock(for: 30)
        #expect(await screens.waits.nextBegin() == .milliseconds(30))
        playback.stop()
        #expect(screens.waits.count == 0)
    }

    @Test(arguments: [(0, 100), (10, 20), (20, 20), (70, 70), (655_350, 655_350)])
    func everyFrameHasAMinimumTime(said: Int, shown: Int) async {
        let playback = AnimationPlayback(screens.context)
        playback.start()
        playback.startClock(for: said)
        #expect(await screens.waits.nextBegin() == .milliseconds(shown))
        playback.stop()
    }
}
