import Cells
import Session
import Logging
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct TransfersScreenTests {
    private let screens: TestScreens

    init() async throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
        try await screens.sync((0..<40).map { "\($0)" })
    }

    private func transfer(
        _ id: String, _ stage: TransferReport.Stage, _ rendition: Rendition = .thumbnail
    ) throws -> TransferReport {
        TransferReport(
            try screens.subject(id, rendition), host: "pictures.example.org", importance: .visible, stage: stage)
    }

    /// Reports a half received photo, a requested and a waiting thumbnail, and many queued ones.
    private func busy() throws -> TrafficReport {
        let failure = Failure("the server answered 503 (server error)", remedy: .time)
        return TrafficReport(
            quality: .fair, running: 2, width: 8, limit: 64, window: 512_000, bandwidth: 3_400_000, roundTrip: 0.045,
            received: 2_000_000, queued: 300, waiting: 1,
            transfers: try [
                transfer("0", .running(Progress(done: 1_200_000, total: 2_400_000), speed: 400_000), .original),
                transfer("1", .running(Progress(done: 0))),
                transfer("2", .waiting(failure, attempts: 3, until: Timestamp(milliseconds: 1_154_245_637_000))),
                transfer("3", .queued), transfer("4", .queued),
            ])
    }

    private func note(_ report: TrafficReport, at seconds: Int64 = 1_000) {
        screens.activity.setTraffic(report, at: Timestamp(milliseconds: seconds * 1000))
    }

    /// Lets the throttle's interval pass.
    private func passPause() async {
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
    }

    private func rows(containing text: String) -> [String] {
        let frame = screens.frame()
        return (0..<screens.size.rows).map { frame.text(inRow: $0) }.filter { $0.contains(text) }
    }

    @Test func showsAllTransfers() async throws {
        screens.press("T")
        #expect(screens.title.hasPrefix(" Transfers") && screens.text.contains("No transfers"))
        note(TrafficReport(running: 1, received: 1_000_000))
        try await screens.until { screens.title.contains("1 running") }
        note(try busy(), at: 1_001)
        await passPause()
        try await screens.until { screens.title.hasSuffix("2 running, 300 queued, 1 waiting") }
        let frame = screens.frame()
        #expect(frame.text(inRow: 1).contains(#/^ Network fair  1\.0 MB/s  .*█  peak 1\.0 MB/s$/#))
        #expect(frame.text(inRow: 2) == " 2 transfers, 8 in parallel · 512.0 KB in flight · 3.4 MB/s possible")
        #expect(frame.text(inRow: 3) == " 45 ms round trip · 2.0 MB received")
        #expect(frame.text(inRow: 5).contains(#/^ ▌ Photo 0 +photo +━━━━━───── 1\.2 MB of 2\.4 MB/#))
        #expect(frame.text(inRow: 6).contains(#/^   Photo 1 +thumbnail  requested$/#))
        #expect(frame.text(inRow: 7).contains("retry at 2006-07-30 07:47: the server"))
        #expect(frame.text(inRow: 8).hasSuffix("queued"))
        #expect(screens.text.contains("… and 298 more queued"))
    }

    @Test(arguments: [(40, 12), (80, 24), (110, 30), (200, 60), (20, 5)])
    func everySize(columns: Int, rows: Int) async throws {
        screens.size = Size(columns: columns, rows: rows)
        screens.press("T")
        note(try busy())
        try await screens.until { screens.selected != nil }
        #expect(screens.selected?.hasPrefix("Photo 0") == true)
        screens.press("G")
        #expect(screens.selected?.hasPrefix("Photo 4") == true)
        screens.press("g", "j", "j")
        #expect(screens.selected?.hasPrefix("Photo 2") == true)
        #expect(screens.text.contains("pictures.example.org") == (columns >= 80))
        #expect(screens.text.contains("example.org/album/index.xml") == (columns >= 80))
        // A wide window shows the whole reason for the wait.
        #expect(
            columns < 80 || screens.text.contains("the server answered 503 (server error) · tried 3 times, retry"))
    }

    @Test func anUnknownNetworkHasNoState() throws {
        screens.press("T")
        #expect(!screens.text.contains("etwork") && screens.frame().text(inRow: 1).hasPrefix(" 0 B/s"))
        var settings = Settings()
        settings.offline = true
        let offline = try TestScreens(settings)
        offline.press("T")
        #expect(offline.frame().text(inRow: 1).hasPrefix(" Offline  0 B/s"))
    }

    @Test func plainTextHasPlainBars() {
        let speeds: [Int64] = [0, 1, 2, 3, 4, 5, 6, 7]
        #expect(Sparkline.text(speeds, columns: 60, Signs()) == " ▂▃▄▅▆▇█")
        #expect(Sparkline.text(speeds, columns: 3, Signs()) == "▆▇█")
        #expect(Sparkline.text(speeds, columns: 60, Signs(hasUnicode: false)) == " .-=+*##")
        #expect(Sparkline.text([0, 0], columns: 60, Signs(hasUnicode: false)) == "  ")
        #expect(Sparkline.text([0, .max, 1], columns: 60, Signs()) == " █▁")
        #expect(Sparkline.text([1], columns: 0, Signs()).isEmpty)
    }

    @Test func theSelectionFollowsItsTransfer() async throws {
        screens.press("T")
        note(try busy())
        try await screens.until { screens.selected?.hasPrefix("Photo 0") == true }
        screens.press("j", "j", "j")
        #expect(screens.selected?.hasPrefix("Photo 3") == true)
        // Two thumbnails before it have arrived.
        note(TrafficReport(running: 1, transfers: try [transfer("2", .queued), transfer("3", .queued)]), at: 1_001)
        await passPause()
        try await screens.until { rows(containing: "Photo 0").isEmpty }
        #expect(screens.selected?.hasPrefix("Photo 3") == true)
        // Now the photo has arrived, too.
        note(TrafficReport(running: 1, transfers: try [transfer("2", .queued)]), at: 1_002)
        await passPause()
        try await screens.until { rows(containing: "Photo 3").isEmpty }
        #expect(screens.selected?.hasPrefix("Photo 2") == true)
    }

    @Test func pauseAndResume() async throws {
        screens.press("T", "p")
        #expect(screens.wishes.isPaused && screens.title.hasPrefix(" Transfers (paused)"))
        #expect(screens.status.hasPrefix(" Paused: no new transfers") && screens.status.contains("p resume"))
        // Every other screen shows the pause, too. Otherwise missing pictures would have no explanation.
        screens.press("q")
        #expect(screens.status.hasSuffix("paused"))
        screens.press("T", "p")
        #expect(!screens.wishes.isPaused && screens.title.hasPrefix(" Transfers  "))
        screens.press("q")
        #expect(!screens.status.contains("paused"))
    }

    @Test func oneIsDeclinedAndTriedAgain() async throws {
        screens.open()
        _ = screens.frame()
        screens.press("T")
        note(try busy())
        try await screens.until { screens.selected?.hasPrefix("Photo 0") == true }
        screens.press("j", "x")
        let subject = try screens.subject("1", .thumbnail)
        #expect(await screens.wishes.snapshots().next()?.declined == [subject])
        #expect(await screens.importance(of: subject) == nil)
        // It stays declined after the return to the list.
        screens.press("q")
        _ = screens.frame()
        #expect(await screens.importance(of: subject) == nil)
        #expect(await screens.importance(of: try screens.subject("2", .thumbnail)) == .visible)
        // Refresh accepts it again.
        screens.press("r")
        #expect(await screens.importance(of: subject) == .visible)
    }

    @Test func tryingNowIsHeard() async throws {
        screens.open()
        _ = screens.frame()
        screens.press("T")
        note(try busy())
        try await screens.until { screens.selected?.hasPrefix("Photo 0") == true }
        let snapshots = screens.wishes.snapshots()
        _ = await snapshots.next()
        screens.press("j", "j", "r")
        #expect(await snapshots.next()?.retried == [try screens.subject("2", .thumbnail)])
        screens.press("R")
        #expect(await snapshots.next()?.areAllRetried == true)
    }

    @Test func whatTheListBelowWantsStaysWanted() async throws {
        screens.open()
        _ = screens.frame()
        let before = await screens.wished()
        #expect(!before.isEmpty)
        screens.press("T")
        #expect(await screens.wished() == before)
        // This also holds below another screen.
        screens.press("L")
        #expect(await screens.wished() == before)
        // Users open the log and the help while pictures load.
        screens.press("q", "q", "L")
        #expect(await screens.wished() == before)
        screens.press("q", "?")
        #expect(await screens.wished() == before)
    }

    @Test func onlyWhileItIsOnTopAreTransfersListed() {
        #expect(!screens.activity.isTrafficWatched)
        screens.press("T")
        #expect(screens.activity.isTrafficWatched)
        screens.press("L")
        #expect(!screens.activity.isTrafficWatched)
        screens.press("q")
        #expect(screens.activity.isTrafficWatched)
        screens.press("q")
        #expect(!screens.activity.isTrafficWatched)
    }

    // MARK: - On the other screens

    @Test("BEHAVIOURS 5.7: the indicator shows running transfers, and returns to idle")
    func indicator() async throws {
        screens.size = Size(columns: 100, rows: 24)
        screens.open()
        #expect(!screens.status.contains("↓"))
        note(TrafficReport(running: 3, received: 0), at: 10)
        try await screens.until { screens.status.hasSuffix("↓ 3 · 0 B/s") }
        note(TrafficReport(running: 2, received: 1_200_000), at: 11)
        await passPause()
        try await screens.until { screens.status.hasSuffix("↓ 2 · 1.2 MB/s") }
        note(TrafficReport(running: 0, received: 1_300_000), at: 11)
        await passPause()
        try await screens.until { !screens.status.contains("↓") }
        #expect(screens.status.contains("? help") && !screens.status.contains("/s"))
    }

    @Test func theIndicatorMakesRoomForWhatIsSaid() async throws {
        screens.size = Size(columns: 40, rows: 12)
        screens.open()
        note(TrafficReport(running: 3, received: 0), at: 10)
        try await screens.until { screens.status.contains("↓ 3") }
        try await screens.cache.writer.recordSyncFailure(Failure("the server cannot be reached", remedy: .time))
        try await screens.until { screens.status.hasPrefix(" Update failed: the server ca") }
        #expect(!screens.status.contains("↓ 3 ·"))
    }
}
