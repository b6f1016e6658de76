import Cells
import Model
import PictureTestSupport
import Pictures
import Pixels
import Settings
import Synchronization
import TestSupport
import Testing

@testable import UI

/// The frames of a video in one colour each. Each request returns the next frame, whatever its time.
private final class StandInVideo: VideoFrames {
    private struct State {
        var requests: [Duration] = []
        var next = 0
        var hasEnded = false
        var failure: PictureError?
    }

    private let times: [Duration]
    private let state = Mutex(State())
    private let onUse: @Sendable () -> Void

    /// - Parameter onUse: called after each request and at the end.
    init(_ times: [Duration], failing failure: PictureError? = nil, onUse: @escaping @Sendable () -> Void) {
        (self.times, self.onUse) = (times, onUse)
        state.withLock { $0.failure = failure }
    }

    var requests: [Duration] { state.withLock { $0.requests } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    static func colour(_ index: Int) -> Colour { .rgb(10, UInt8(20 + index), 30) }

    func frame(at time: Duration) async throws(PictureError) -> VideoFrame? {
        let (index, failure) = state.withLock { state in
            if let last = state.requests.last, time < last { state.next = 0 }
            state.requests.append(time)
            defer { state.next += 1 }
            return (state.next, state.failure)
        }
        onUse()
        if let failure { throw failure }
        guard times.indices.contains(index) else { return nil }
        var cell = Cell.blank
        cell.style.background = Self.colour(index)
        let block = CellBlock(size: Size(columns: 20, rows: 6), cells: Array(repeating: cell, count: 120))
        return VideoFrame(
            picture: DrawnPicture(cells: block), time: times[index], isLast: index == times.count - 1)
    }

    func end() {
        state.withLock { $0.hasEnded = true }
        onUse()
    }
}

/// The frames of a video at their times, as a decoder returns them.
private final class TimedVideo: VideoFrames {
    private let times: [Duration]
    private let knowsNext: Bool
    private let count = Mutex(0)

    init(_ times: [Duration], knowsNext: Bool) { (self.times, self.knowsNext) = (times, knowsNext) }

    var requests: Int { count.withLock { $0 } }

    func frame(at time: Duration) async throws(PictureError) -> VideoFrame? {
        count.withLock { $0 += 1 }
        guard let index = times.lastIndex(where: { $0 <= time }) else { return nil }
        let next = times.indices.contains(index + 1) ? times[index + 1] : nil
        let block = CellBlock(size: Size(columns: 1, rows: 1), cells: [.blank])
        return VideoFrame(
            picture: DrawnPicture(cells: block), time: times[index], next: knowsNext ? next : nil,
            isLast: next == nil)
    }

    func end() {}
}

/// The videos that a test has opened.
@MainActor private final class OpenedVideos {
    var all: [StandInVideo] = []
}

@MainActor @Suite(.unlessItHangs) struct VideoPlaybackTests {
    private let screens: TestScreens
    private let videos = OpenedVideos()

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
    }

    private var middle: Colour {
        screens.frame()[screens.size.columns / 2, screens.size.rows / 2].style.background
    }

    private func entry(_ id: String, date: Int64, isVideo: Bool) throws -> GalleryEntry {
        var entry = try TestScreens.entry(id, date: date, thumbnail: false)
        entry.revision = "1"
        entry.videoMilliseconds = isVideo ? 300_000 : nil
        return entry
    }

    /// Opens a cached video, whose poster is red, before a photo.
    private func open(_ times: [Int] = [0, 100, 200], failing failure: PictureError? = nil) async throws {
        try await screens.sync([
            try entry("a.mp4", date: 1, isVideo: true), try entry("b.jpg", date: 2, isVideo: false),
        ])
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a.mp4")
        try await screens.store(TestScreens.picture(red: 100), as: .original, of: "b.jpg")
        screens.context.videoFrames = { [videos, checkAgain = screens.checkAgain] _ in
            let video = StandInVideo(times.map { .seconds($0) }, failing: failure, onUse: checkAgain)
            videos.all.append(video)
            return video
        }
        screens.open(at: "a.mp4", isPhotoOpen: true)
        try await screens.until { middle == .rgb(255, 0, 0) }
    }

    private var video: StandInVideo { get throws { try #require(videos.all.last) } }

    private func showsFrame(_ index: Int) -> Bool { middle == StandInVideo.colour(index) }

    @Test("A poster has the sign of a video and its length, and plays to its last frame")
    func plays() async throws {
        try await open()
        #expect(screens.text.contains(" ▸ 5:00"))
        #expect(screens.status.contains("a play  o open"))
        screens.press("a")
        #expect(screens.title.hasSuffix("fit · playing") && screens.status.contains("a stop"))
        try await screens.until { showsFrame(0) }
        #expect(screens.status.contains("0:00 / 5:00") && !screens.text.contains(" ▸ "))
        for (index, position) in [(1, "1:40"), (2, "3:20")] {
            let wait = try #require(await screens.waits.nextBegin())
            #expect(wait > .seconds(90) && wait <= .seconds(100 * index))
            screens.waits.pass()
            try await screens.until { showsFrame(index) }
            #expect(screens.status.contains("\(position) / 5:00"))
        }
        // The video stays at its end, and nothing goes on.
        #expect(!screens.title.contains("playing") && screens.waits.count == 0)
        #expect(try video.requests.count == 3 && !video.hasEnded)
        // The same key plays it again.
        screens.press("a")
        try await screens.until { showsFrame(0) }
        #expect(try videos.all.count == 1 && video.requests.dropFirst(3).first == .zero)
    }

    /// Text over a picture would remove its pixels.
    @Test("The sign of a video is beside its poster in pixels, or absent", arguments: [(30, true), (600, false)])
    func signBesidePixels(side: Int, isSigned: Bool) async throws {
        screens.context.capabilities.pixels = PixelCapabilities(.kitty, cellWidth: 10, cellHeight: 20)
        try await screens.sync([try entry("a.mp4", date: 1, isVideo: true)])
        let poster = PixelBuffer(width: side, height: side) { _, _ in PixelColor(red: 255, green: 0, blue: 0) }
        try await screens.store(PNGFile(poster).bytes, as: .original, of: "a.mp4")
        screens.open(at: "a.mp4", isPhotoOpen: true)
        try await screens.until { screens.title.hasSuffix("fit") && !screens.status.contains("Loading") }
        #expect(screens.frame().placements.count == 1 && screens.status.contains("video 5:00"))
        #expect(screens.text.contains(" ▸ 5:00") == isSigned)
    }

    @Test("BEHAVIOURS 3.11: The next frame is requested only after the last one is on the screen")
    func oneAtATime() async throws {
        try await open()
        let playback = VideoPlayback(screens.context) { .zero }
        let order = PictureOrder.preview(
            of: try screens.photo("a.mp4"), in: screens.cache.id, size: Size(columns: 20, rows: 6),
            style: screens.context.drawingStyle)
        await withCheckedContinuation { shown in
            playback.onChange = {
                playback.onChange = {}
                shown.resume()
            }
            playback.start(order, frameRate: 1)
        }
        #expect(try video.requests == [.zero] && screens.waits.count == 0)
        playback.frameWasDrawn()
        // The second frame is there, and waits until it is due.
        _ = await screens.waits.nextBegin()
        // Frames for other reasons request nothing.
        for _ in 0..<5 { playback.frameWasDrawn() }
        #expect(try video.requests.count == 2 && screens.waits.count == 1)
        playback.reset()
    }

    @Test("The same key stops and continues a video", arguments: ["a", "+", "j"] as [Key])
    func stops(key: Key) async throws {
        try await open()
        screens.press("a")
        try await screens.until { showsFrame(0) }
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
        try await screens.until { showsFrame(1) }
        _ = await screens.waits.nextBegin()
        screens.press(key)
        #expect(!screens.title.contains("playing") && screens.waits.count == 0)
        #expect(screens.status.contains("1:40 / 5:00"))
        screens.press("a")
        _ = screens.frame()
        try await screens.until { try video.requests.last.map { $0 >= .seconds(100) } == true }
    }

    @Test("Another zoom shows the visible frame again with another size")
    func zoom() async throws {
        try await open()
        screens.press("a")
        try await screens.until { showsFrame(0) }
        screens.press("+")
        try await screens.until { showsFrame(0) && videos.all.count == 2 }
        try await screens.until { try video.requests.count == 1 }
        #expect(videos.all[0].hasEnded && screens.waits.count == 0)
        #expect(try video.requests == [.zero])
    }

    @Test("A video goes on in a window of another size")
    func resizing() async throws {
        try await open()
        screens.press("a")
        try await screens.until { showsFrame(0) }
        _ = await screens.waits.nextBegin()
        screens.size.columns += 20
        try await screens.until { showsFrame(0) && videos.all.count == 2 }
        #expect(videos.all[0].hasEnded && screens.title.hasSuffix("playing"))
        // The same frame first, then the next one.
        try await screens.until {
            _ = screens.frame()
            return try video.requests.count == 2
        }
    }

    @Test("Leaving a video ends its process", arguments: ["]", "q"] as [Key])
    func leaving(key: Key) async throws {
        try await open()
        screens.press("a")
        try await screens.until { showsFrame(0) }
        let video = try video
        screens.press(key)
        _ = screens.frame()
        try await screens.until { video.hasEnded }
        #expect(screens.waits.count == 0)
    }

    @Test("BEHAVIOURS 3.11: Nothing is requested behind another screen")
    func covered() async throws {
        try await open()
        screens.press("a")
        try await screens.until { showsFrame(0) }
        _ = await screens.waits.nextBegin()
        screens.press("?")
        _ = screens.frame()
        #expect(screens.waits.count == 0)
        let count = try video.requests.count
        for _ in 0..<5 { _ = screens.frame() }
        #expect(try video.requests.count == count)
        screens.press(Key(.escape))
        try await screens.until {
            _ = screens.frame()
            return try video.requests.count > count
        }
        #expect(screens.title.hasSuffix("playing"))
    }

    @Test("A video that cannot be played keeps its poster, and the reason appears")
    func failure() async throws {
        try await open(failing: .decoderDied)
        screens.press("a")
        try await screens.until { screens.status.contains("Playback failed: The picture cannot be decoded.") }
        #expect(middle == .rgb(255, 0, 0) && !screens.title.contains("playing") && screens.waits.count == 0)
    }

    @Test("BEHAVIOURS 3.11: A slow decoder or terminal skips frames, and a stopped program goes on where it was")
    func skips() async throws {
        let moment = Mutex(Duration.zero)
        try await open([0, 1, 2, 3, 4])
        let playback = VideoPlayback(screens.context) { moment.withLock { $0 } }
        let photo = try screens.photo("a.mp4")
        let order = PictureOrder.preview(
            of: photo, in: screens.cache.id, size: Size(columns: 20, rows: 6), style: screens.context.drawingStyle)
        func show() async {
            await withCheckedContinuation { next in
                playback.onChange = {
                    playback.onChange = {}
                    next.resume()
                }
            }
        }
        playback.start(order, frameRate: 1)
        await show()
        // The terminal took 1.5 seconds.
        moment.withLock { $0 = .milliseconds(1_500) }
        playback.frameWasDrawn()
        await show()
        #expect(try video.requests.last == .milliseconds(1_500))
        // The program was stopped for a minute.
        moment.withLock { $0 = .seconds(60) }
        playback.frameWasDrawn()
        #expect(await screens.waits.nextBegin() == .seconds(1))
        #expect(try video.requests.last.map { $0 > .seconds(2) && $0 < .milliseconds(2_100) } == true)
        playback.reset()
        #expect(screens.waits.count == 0 && playback.picture == nil)
    }

    @Test("A picture that stays for seconds holds up neither the next ones nor the machine", arguments: [true, false])
    func still(knowsNext: Bool) async throws {
        let moment = Mutex(Duration.zero)
        try await open()
        let times = [.zero] + (0..<20).map { Duration.seconds(5) + .milliseconds(40 * $0) }
        let video = TimedVideo(times, knowsNext: knowsNext)
        screens.context.videoFrames = { _ in video }
        let playback = VideoPlayback(screens.context) { moment.withLock { $0 } }
        let photo = try screens.photo("a.mp4")
        let order = PictureOrder.preview(
            of: photo, in: screens.cache.id, size: Size(columns: 20, rows: 6), style: screens.context.drawingStyle)
        // A terminal that draws at once.
        playback.onChange = { [unowned playback] in playback.frameWasDrawn() }
        playback.start(order, frameRate: 25)
        var waits = 0
        while playback.position < .milliseconds(5_200), waits < 500 {
            let wait = try #require(await screens.waits.nextBegin())
            moment.withLock { $0 += wait }
            waits += 1
            screens.waits.pass()
        }
        // The frames come in time.
        let late = moment.withLock { $0 } - playback.position
        #expect(late >= .zero && late < .milliseconds(100), "\(late)")
        #expect(video.requests <= (knowsNext ? 20 : 140), "\(video.requests)")
        playback.reset()
    }

    @Test("The row of a video says that there is no thumbnail only while it draws none")
    func thumbnail() async throws {
        try await screens.sync([try entry("a.mp4", date: 1, isVideo: true)])
        screens.open()
        try await screens.until { screens.text.contains("No thumbnail: this server makes none") }
        try await screens.store(TestScreens.picture(red: 255), as: .thumbnail, of: "a.mp4")
        try await screens.until { !screens.text.contains("No thumbnail: this server makes none") }
    }

    @Test("A video on a server is not fetched, and the screen says how to play it")
    func remote() async throws {
        try await screens.sync([
            try entry("0.mp4", date: 0, isVideo: true), try entry("a.mp4", date: 1, isVideo: true),
            try entry("b.jpg", date: 2, isVideo: false),
        ])
        screens.open(at: "a.mp4", isPhotoOpen: true)
        try await screens.until { screens.text.contains("The server has no preview of this video.") }
        #expect(screens.status.contains("video 5:00 · not cached") && screens.status.contains("o play  s save"))
        #expect(await screens.importance(of: try screens.subject("a.mp4", .original)) == nil)
        #expect(await screens.importance(of: try screens.subject("b.jpg", .original)) == .near)
        screens.press("a")
        #expect(screens.status == " The video is not cached. To play it here, save it with s. o opens your player.")
        // In the other direction, the next item is a video, too. Leaving a video fetches nothing.
        screens.press("]", "[", "[")
        _ = screens.frame()
        #expect(await screens.importance(of: try screens.subject("0.mp4", .original)) == nil)
        #expect(await screens.importance(of: try screens.subject("a.mp4", .original)) == nil)
    }
}
