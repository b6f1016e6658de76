import Cells
import Session
import Commands
import Logging
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct ErrorsScreenTests {
    private let screens: TestScreens
    private let gone = RenditionState.Trouble.bad(Failure("the server answered 404 (not found)", remedy: .none))
    private let busy = Failure("the server answered 503 (server error)", remedy: .time)

    init() async throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
        try await screens.sync((0..<80).map { "\($0)" })
    }

    /// Reports a failure at the present time, with a retry after `next` seconds.
    private func fail(_ subject: Wish.Subject, _ failure: Failure, attempts: Int = 1, next: Int64? = nil) {
        let now = Timestamp(milliseconds: Log.systemTime())
        screens.activity.recordFailure(
            FailureReport(
                subject, failure, attempts: attempts, first: now, last: now,
                next: next.map { Timestamp(milliseconds: now.milliseconds + $0 * 1000) }))
    }

    private func rows() -> [String] {
        let frame = screens.frame()
        return (1..<screens.size.rows - 1).map { frame.text(inRow: $0) }
    }

    private func open(until text: String) async throws {
        screens.press("E")
        try await screens.until { screens.text.contains(text) }
    }

    @Test func listsFailuresOfThisRunAndOfTheCache() async throws {
        try await screens.note(gone, for: .thumbnail, of: "7")
        try await screens.note(gone, for: .original, of: "8")
        try await screens.cache.writer.recordSyncFailure(busy)
        fail(try screens.subject("1", .original), busy, attempts: 3, next: 60)
        // The cache has this failure, too. The screen shows it once.
        fail(try screens.subject("8", .original), Failure("not a picture", remedy: .none))
        try await open(until: "Photo 7")
        #expect(screens.title.hasPrefix(" Errors") && screens.title.hasSuffix(" 4"))
        let rows = rows()
        #expect(rows[0] == " example.org/album/index.xml")
        #expect(rows[1].contains(#/^ ▌ \d\d:\d\d:\d\d +Photo 8 +photo +1× +not a picture$/#))
        #expect(rows[2].contains(#/^   \d\d:\d\d:\d\d +Photo 1 +photo +3× +the server answered 503/#))
        #expect(rows[3].contains(#/^   earlier +list of photos +list +the server answered 503/#))
        #expect(rows[4].contains(#/^   earlier +Photo 7 +thumbnail +the server answered 404/#))
        #expect(screens.text.contains("no automatic retry"))
        screens.press("j")
        #expect(screens.text.contains(#/Tried 3 times since .*; will retry at/#))
        #expect(screens.status.hasPrefix(" 2 in this session"))
    }

    /// The text of a retry changes when its time has passed.
    @Test func aDueRetryWaitsForItsTurn() async throws {
        fail(try screens.subject("1", .original), busy, next: 60)
        try await open(until: "Photo 1")
        #expect(screens.text.contains(#/Tried once, at .*; will retry at/#))
        screens.context.wishes.pause()
        #expect(screens.text.contains("; paused, will retry later"))
        screens.context.wishes.resume()
        fail(try screens.subject("2", .original), busy, next: -1)
        try await screens.until { screens.text.contains("Photo 2") }
        screens.press("g")
        #expect(screens.text.contains("; queued for a retry"))
    }

    @Test func redrawsWhenTheSelectedRetryIsDue() async throws {
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let screens = try TestScreens(now: now)
        try await screens.sync(["a"])
        screens.activity.recordFailure(
            FailureReport(
                try screens.subject("a", .original), busy, attempts: 1, first: now, last: now,
                next: Timestamp(milliseconds: now.milliseconds + 60_000)))
        screens.press("E")
        var waited: Duration?
        while waited != .seconds(60) { waited = await screens.waits.nextBegin() }
        let frames = screens.wantedFrames
        screens.waits.pass()
        try await screens.until { screens.wantedFrames > frames }
        // A covered screen waits for no retry. Other code may wait, for example to save the place.
        screens.press("q")
        screens.press("E")
        while !screens.waits.durations.contains(.seconds(60)) { _ = await screens.waits.nextBegin() }
        screens.press("q")
        #expect(!screens.waits.durations.contains(.seconds(60)))
    }

    /// Also a permanent failure of a list is retried with the next update.
    @Test func aFailedListIsRetriedWithTheNextUpdate() async throws {
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let place = "http://example.org/album/index.xml"
        let screens = try TestScreens(list: GalleryList(text: "\(place)\tevery 2h"), now: now)
        try await screens.sync([TestScreens.entry("a", date: 0)], at: now.seconds - 3_600)
        screens.activity.endUpdate(of: screens.cache.id)
        // An hour after the last update, though the gallery is not open.
        let due = Timestamp(milliseconds: now.milliseconds + 3_600_000)
        while screens.context.nextUpdate(screens.cache.address) != due { _ = await screens.waits.nextBegin() }
        screens.activity.recordFailure(
            FailureReport(
                screens.list, Failure("the server answered 404 (not found)", remedy: .none), attempts: 1, first: now,
                last: now))
        screens.press("E")
        try await screens.until { screens.text.contains("list of photos") }
        #expect(screens.text.contains(#/Tried once, at 08:00:00; will retry with the update at 09:00:00/#))
    }

    @Test func openShowsAPhotoHiddenByTheFilter() async throws {
        try await screens.note(gone, for: .original, of: "8")
        screens.open()
        screens.press("f")
        screens.type("77")
        try await screens.until { screens.title.contains("1 of 1") }
        screens.press(Key(.enter))
        try await open(until: "Photo 8")
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" Photo 8 "))
        screens.press("q")
        #expect(screens.selected == "Photo 8" && screens.title.hasSuffix("9 of 80"))
    }

    @Test func galleriesHaveTheUsersTitles() async throws {
        try await screens.note(gone, for: .thumbnail, of: "7")
        var list = GalleryList([screens.cache.address])
        list.setTitle("At the lake", of: screens.cache.address)
        screens.context.galleries.save(list) { _ in }
        try await open(until: "Photo 7")
        #expect(rows()[0] == " At the lake")
    }

    @Test func theScreenIsEmptyWithoutErrors() {
        screens.press("E")
        #expect(screens.text.contains("No errors"))
        for key in "rRyjkG" { screens.press(.character(key)) }
        screens.press(Key(.enter))
        #expect(screens.text.contains("No errors") && screens.copied.isEmpty)
    }

    @Test func manyFailuresOfOneReasonAreCounted() async throws {
        for id in 0..<70 { try await screens.note(gone, for: .thumbnail, of: "\(id)") }
        screens.size = Size(columns: 100, rows: 24)
        try await open(until: "Photo 0")
        #expect(screens.title.hasSuffix(" 70"))
        screens.press("G")
        #expect(screens.selected?.contains("… and 20 thumbnails more") == true)
        // Refresh retries all of them.
        screens.press("r")
        try await screens.until { screens.text.contains("No errors") }
        #expect(try screens.cache.read { try $0.troubleCount() } == 0)
    }

    @Test(arguments: [(40, 12), (80, 24), (200, 60), (20, 5)])
    func everySize(columns: Int, rows: Int) async throws {
        screens.size = Size(columns: columns, rows: rows)
        let reason = "the server sent “\(String(repeating: "long words ", count: 10))”, which is \u{1B}[2J no picture"
        for id in 0..<30 { fail(try screens.subject("\(id)", .original), Failure(reason, remedy: .none)) }
        try await open(until: "Photo 2")
        #expect(screens.selected?.contains("Photo 29") == true)
        screens.press("G")
        #expect(screens.selected?.contains("Photo 0") == true)
        #expect(!screens.text.contains("\u{1B}"))
        screens.press("g")
        #expect(screens.selected?.contains("Photo 29") == true)
        // The whole reason is readable below the list.
        let all = screens.text.filter { !$0.isWhitespace }
        #expect(columns < 80 || all.contains("which is ␛[2J no picture".filter { !$0.isWhitespace }))
    }

    @Test func fetchedPhotosLeaveTheList() async throws {
        for id in ["1", "2", "3"] { fail(try screens.subject(id, .original), busy) }
        try await open(until: "Photo 3")
        screens.press("j")
        #expect(screens.selected?.contains("Photo 2") == true)
        fail(try screens.subject("4", .original), busy)
        try await screens.until { screens.text.contains("Photo 4") }
        #expect(screens.selected?.contains("Photo 2") == true)
        screens.activity.removeFailure(of: try screens.subject("2", .original))
        try await screens.until { !screens.text.contains("Photo 2") }
        #expect(screens.selected?.contains("Photo 1") == true)
    }

    @Test func retryStartsAtOnce() async throws {
        for id in ["1", "2"] { try await screens.note(gone, for: .original, of: id) }
        screens.open()
        _ = screens.frame()
        try await open(until: "Photo 1")
        screens.press("r")
        let subject = try screens.subject("1", .original)
        let snapshots = screens.wishes.snapshots()
        while !screens.wishes.isStanding(subject) { _ = await snapshots.next() }
        #expect(try screens.photo("1").original.isWanting && !screens.photo("2").original.isWanting)
        #expect(!screens.wishes.isStanding(try screens.subject("2", .original)))
        screens.press("R")
        while !screens.wishes.isStanding(try screens.subject("2", .original)) { _ = await snapshots.next() }
        #expect(try screens.photo("2").original.isWanting)
    }

    @Test("Offline, failures in a local folder can be retried")
    func retryOfLocalFiles() async throws {
        var settings = Settings()
        settings.offline = true
        let screens = try TestScreens(settings, gallery: Address(filePath: "/pictures/album"))
        // A list on the disk may name photos on servers, such as b.
        let local = GalleryEntry(
            id: "a", name: "Photo a", date: Timestamp(milliseconds: 1_000),
            photo: Address(filePath: "/pictures/album/a.jpg"), thumbnail: nil)
        try await screens.sync([local, TestScreens.entry("b", date: 2)])
        for id in ["a", "b"] { try await screens.note(gone, for: .original, of: id) }
        screens.press("E")
        try await screens.until { screens.text.contains("Photo a") && screens.text.contains("Photo b") }
        screens.press("R")
        #expect(!screens.status.contains("Offline"))
        try await screens.until { try screens.photo("a").original.isWanting }
        #expect(try !screens.photo("b").original.isWanting)
    }

    @Test func retryDoesNothingOffline() async throws {
        var settings = Settings()
        settings.offline = true
        let screens = try TestScreens(settings)
        try await screens.sync(["a"])
        try await screens.note(gone, for: .original, of: "a")
        screens.press("E")
        try await screens.until { screens.text.contains("Photo a") }
        screens.press("r")
        #expect(screens.status == " Offline: type “:set offline no” to retry.")
        #expect(try !screens.photo("a").original.isWanting)
        let snapshots = screens.wishes.snapshots()
        _ = await snapshots.next()
        screens.press("R")
        screens.wishes.pause()
        #expect(await snapshots.next()?.areAllRetried == false)
    }

    @Test func clearRemovesTheFailuresOfThisRun() async throws {
        try await screens.note(gone, for: .original, of: "1")
        fail(try screens.subject("2", .original), busy)
        try await open(until: "Photo 1")
        screens.press("c")
        #expect(screens.status == " Clear the errors of this session? (y/n)")
        screens.press("y")
        try await screens.until { !screens.text.contains("Photo 2") }
        #expect(screens.activity.failureCount == 0 && screens.text.contains("Photo 1"))
    }

    @Test("With no errors in this session, c clears nothing and does not ask")
    func nothingToClear() async throws {
        try await screens.note(gone, for: .original, of: "1")
        try await open(until: "Photo 1")
        screens.press("c")
        #expect(screens.status == " No errors in this session." && screens.root.question == nil)
    }

    @Test func copyTakesTheReason() async throws {
        fail(try screens.subject("2", .original), Failure("no \u{7} bell", remedy: .none))
        try await open(until: "Photo 2")
        screens.press("y")
        #expect(screens.copied == ["no ␇ bell"])
        #expect(screens.status == " Sent the reason to the clipboard.")
        screens.root.adopt(Capabilities(clipboard: false))
        screens.press("y")
        #expect(screens.copied.count == 1 && screens.status == " " + ClipboardText.unavailable)
    }

    @Test(arguments: [Rendition.original, .thumbnail])
    func openShowsTheFailedPhoto(rendition: Rendition) async throws {
        fail(try screens.subject("5", rendition), busy)
        try await open(until: "Photo 5")
        screens.press(Key(.enter))
        #expect(screens.root.place.photo == "5" && screens.root.place.isPhotoOpen == (rendition == .original))
        // An open gallery stays open.
        if rendition == .thumbnail { screens.press(Key(.enter)) }
        screens.press("q", ",", "D")
        try await screens.until { screens.root.place.photo == "5" && screens.title.contains("75 of 80") }
        try await open(until: "Photo 5")
        screens.press(Key(.enter))
        if rendition == .original { screens.press("q") }
        #expect(screens.title.contains("75 of 80"))
    }

    @Test("A gallery that opens from the errors keeps its order and view", arguments: [true, false])
    func openKeepsOrderAndView(isPhoto: Bool) async throws {
        fail(try isPhoto ? screens.subject("5", .original) : screens.list, busy)
        screens.open(at: "7")
        screens.press(",", "N", Key(.tab))
        try await screens.until { screens.title.contains("73 of 80") }
        screens.press("q")
        try await open(until: isPhoto ? "Photo 5" : "list of photos")
        screens.press(Key(.enter))
        let place = screens.root.place
        #expect(place.photo == (isPhoto ? "5" : "7") && place.isPhotoOpen == isPhoto)
        #expect(place.order == PhotoOrder(.name, ascending: false) && place.view == .sheet)
    }

    @Test("If a failed photo has left the gallery, no other photo opens")
    func openShowsNoOtherPhoto() async throws {
        fail(try screens.subject("5", .original), busy)
        try await screens.sync(["1", "2"])
        screens.press("E", Key(.enter))
        #expect(screens.root.openGallery != nil && !screens.root.place.isPhotoOpen)
    }

    // MARK: - On the other screens

    @Test("BEHAVIOURS 2.2: the number of errors is beside the status")
    func badge() async throws {
        screens.open()
        #expect(!screens.status.contains("error"))
        try await screens.note(gone, for: .thumbnail, of: "1")
        try await screens.until { screens.status.contains("1 error: E") }
        try await screens.note(gone, for: .original, of: "1")
        try await screens.until { screens.status.contains("2 errors: E") }
        // Failures of other galleries do not count here.
        fail(.list(GalleryID(try Address("http://example.org/other.xml"))), busy)
        screens.press("r")
        try await screens.until { !screens.status.contains("error") }
        screens.press("q")
        #expect(screens.status.contains("1 error: E"))
    }

    @Test func theBadgesNumberIsBounded() {
        #expect(ErrorText.badge(0, KeyMap()) == nil)
        #expect(ErrorText.badge(999, KeyMap()) == "999 errors: E")
        #expect(ErrorText.badge(1_000, KeyMap()) == "over 999 errors: E")
    }
}
