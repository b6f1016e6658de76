import Cells
import Session
import Logging
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct RefreshTests {
    private func screens(_ change: (inout Settings) -> Void = { $0.syncOnOpen = false }) throws -> TestScreens {
        var settings = Settings()
        change(&settings)
        return try TestScreens(settings)
    }

    @Test("BEHAVIOURS 2.3: r requests an update, r again joins it, x cancels it")
    func keys() async throws {
        let screens = try screens()
        screens.open()
        #expect(!screens.wishes.isStanding(screens.list))
        screens.press("r")
        #expect(screens.wishes.isStanding(screens.list))
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        screens.press("r", "r", "r")
        #expect(screens.wishes.isStanding(screens.list))
        #expect(await screens.wished().filter { $0.subject == screens.list }.count == 1)
        screens.press("x")
        #expect(!screens.wishes.isStanding(screens.list))
        // A held x does not begin an update.
        screens.press("x", "x")
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 2.3: the keys work on a photo too")
    func keysOnAPhoto() async throws {
        let screens = try screens()
        try await screens.sync(["a"])
        screens.open(isPhotoOpen: true)
        screens.press("r", "r")
        #expect(screens.wishes.isStanding(screens.list))
        screens.press("x")
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 3.2: r retries failed photos")
    func forgives() async throws {
        let screens = try screens()
        try await screens.sync(["a"])
        try await screens.note(.bad(Failure("gone", remedy: .none)), for: .thumbnail, of: "a")
        screens.open()
        #expect(screens.text.contains("Thumbnail: gone"))
        screens.press("r")
        try await screens.until { !screens.text.contains("Thumbnail: gone") }
        #expect(try screens.photo("a").thumbnail.isWanting)
    }

    @Test("BEHAVIOURS 2.4: opening a gallery requests an update")
    func onOpening() throws {
        let screens = try screens { _ in }
        screens.open()
        #expect(screens.wishes.isStanding(screens.list))
        // Leaving the gallery cancels its update, and opening another one requests that one's update.
        screens.press("q")
        #expect(!screens.wishes.isStanding(screens.list))
        let other = try Address("http://example.org/other.xml")
        screens.root.send(.openGallery(other))
        #expect(screens.wishes.isStanding(.list(GalleryID(other))) && !screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 2.4: an update starts after each interval while the gallery is open")
    func atIntervals() async throws {
        let screens = try screens(every: 5)
        try await screens.sync([], at: Self.now)
        screens.open()
        for _ in 0..<3 {
            #expect(await screens.waits.nextBegin() == .seconds(300))
            #expect(!screens.wishes.isStanding(screens.list))
            screens.waits.pass()
            await screens.waits.nextEnd()
            var snapshots = screens.wishes.snapshots().makeAsyncIterator()
            while !screens.wishes.isStanding(screens.list) { _ = await snapshots.next() }
            screens.wishes.fulfil(screens.list)
        }
        #expect(await screens.waits.nextBegin() == .seconds(300))
        screens.press("q")
        // The wait is cancelled, and requests no update.
        await screens.waits.nextEnd()
        #expect(!screens.wishes.isStanding(screens.list))
    }

    /// The server may have asked for the wait, and a second request would end it.
    @Test("BEHAVIOURS 2.4: neither an interval nor the focus ends an update's wait for a retry")
    func waitingForARetry() async throws {
        var settings = Settings()
        (settings.syncOnOpen, settings.syncOnFocus, settings.syncInterval) = (false, true, 5)
        let screens = try TestScreens(settings, now: Timestamp(milliseconds: Self.now * 1000))
        try await screens.sync([], at: Self.now)
        screens.open()
        #expect(await screens.waits.nextBegin() == .seconds(300))
        screens.wishes.ask(for: screens.list)
        let failure = Failure("the server answered 503 (server error)", remedy: .time)
        screens.activity.setPhase(.waiting(failure, until: nil), of: screens.cache.id)
        let snapshots = screens.wishes.snapshots()
        screens.waits.pass()
        // The next interval begins after the end of this one.
        var wait: Duration?
        while wait != .seconds(300) { wait = await screens.waits.nextBegin() }
        screens.bringToFront(true)
        #expect(snapshots.unfinished?.retried == [])
        screens.press("r")
        #expect(snapshots.unfinished?.retried == [screens.list])
    }

    private static let now: Int64 = 1_800_000_000

    /// Makes screens with a fixed time.
    private func screens(every interval: Int) throws -> TestScreens {
        var settings = Settings()
        (settings.syncOnOpen, settings.syncInterval) = (false, interval)
        return try TestScreens(settings, now: Timestamp(milliseconds: Self.now * 1000))
    }

    @Test("BEHAVIOURS 2.4: the interval counts from the last update")
    func sinceTheLastUpdate() async throws {
        let screens = try screens(every: 5)
        try await screens.sync([], at: Self.now - 200)
        screens.open()
        #expect(await screens.waits.nextBegin() == .seconds(100))
        // The cause does not matter: the user requested the update, or another process fetched it.
        try await screens.sync([TestScreens.entry("a", date: 0)], at: Self.now)
        #expect(await screens.waits.nextBegin() == .seconds(300))
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 2.4: an overdue gallery is updated when it is opened")
    func overdueOnOpening() async throws {
        let screens = try screens(every: 5)
        try await screens.sync([], at: Self.now - 86_400)
        screens.open()
        await asked(for: screens.list, screens)
        #expect(await screens.waits.nextBegin() == .seconds(300))
    }

    private func screens(_ lines: String..., interval: Int = 0) throws -> TestScreens {
        var settings = Settings()
        (settings.syncOnOpen, settings.syncInterval) = (false, interval)
        return try TestScreens(settings, list: GalleryList(text: lines.joined(separator: "\n")))
    }

    /// Returns when a list is requested.
    private func asked(for list: Wish.Subject, _ screens: TestScreens) async {
        var snapshots = screens.wishes.snapshots().makeAsyncIterator()
        while !screens.wishes.isStanding(list) { _ = await snapshots.next() }
    }

    @Test("BEHAVIOURS 2.4: a gallery's own interval overrides the general one, and never disables updates")
    func ownInterval() async throws {
        let place = "http://example.org/album/index.xml"
        let screens = try screens("\(place)\tevery 2h", interval: 5)
        // A gallery that was never updated is due at once, and then every two hours, open or not.
        await asked(for: screens.list, screens)
        screens.wishes.fulfil(screens.list)
        screens.open()
        var waits: [Duration?] = []
        while waits.last != .seconds(7_200) { waits.append(await screens.waits.nextBegin()) }
        #expect(!waits.contains(.seconds(300)) && !screens.wishes.isStanding(screens.list))
        screens.waits.pass()
        await asked(for: screens.list, screens)

        let never = try self.screens("\(place)\tnever", "http://example.org/other.xml\tevery 1d", interval: 5)
        never.open()
        // Only the other gallery is requested. It was never updated, so it is due at once.
        await asked(for: .list(GalleryID(try Address("http://example.org/other.xml"))), never)
        #expect(!never.wishes.isStanding(never.list))
    }

    @Test("BEHAVIOURS 2.4: galleries with their own interval are updated in the background")
    func othersAreUpdated() async throws {
        let other = try Address("http://example.org/other.xml")
        let screens = try screens("\(other.text)\tevery 30m", "http://example.org/third.xml", interval: 5)
        await asked(for: .list(GalleryID(other)), screens)
        // One timer serves all galleries. It is set to the first due time.
        screens.open()
        var waited: Duration?
        while waited != .seconds(300) { waited = await screens.waits.nextBegin() }
        screens.wishes.fulfil(.list(GalleryID(other)))
        screens.waits.pass()
        await asked(for: screens.list, screens)
        #expect(!screens.wishes.isStanding(.list(GalleryID(other))))
        #expect(await screens.wished().map(\.subject) == [screens.list])
    }

    @Test("BEHAVIOURS 2.4: the interval of a closed gallery counts from its update by another process, too")
    func updatedByAnotherProcess() async throws {
        let other = try Address("http://example.org/other.xml")
        let list = Wish.Subject.list(GalleryID(other))
        var settings = Settings()
        (settings.syncOnOpen, settings.syncInterval) = (false, 0)
        let screens = try TestScreens(
            settings, list: GalleryList(text: "\(other.text)\tevery 30m"),
            now: Timestamp(milliseconds: Self.now * 1000))
        await asked(for: list, screens)
        while await screens.waits.nextBegin() != .seconds(1_800) {}
        screens.wishes.fulfil(list)
        let theirs = try CacheFolder(path: screens.folder.path("cache"), log: Log()).open(other)
        _ = try await theirs.writer.commit(
            theirs.beginSync().finish(), skipped: 0, validators: Validators(),
            at: Timestamp(milliseconds: (Self.now - 600) * 1000))
        screens.waits.pass()
        // The update was ten minutes ago.
        while await screens.waits.nextBegin() != .seconds(1_200) {}
        #expect(!screens.wishes.isStanding(list))
        // No other process updates the gallery again.
        screens.waits.pass()
        await asked(for: list, screens)
    }

    @Test("BEHAVIOURS 2.4: the interval is set in the list of galleries")
    func intervalIsTyped() async throws {
        let screens = try screens("http://example.org/one.xml", "http://example.org/two.xml")
        screens.press("j", "i")
        #expect(screens.text.contains(" Update interval:"))
        screens.type("soon")
        screens.press(Key(.enter))
        #expect(screens.status == " “soon” is not an interval. Use a time like 30m, 2h, 1d (at most 7d), or never.")
        screens.press(.control("u"))
        screens.type("90m")
        screens.press(Key(.enter))
        #expect(screens.text.contains("never opened · every 90m") && screens.title.hasSuffix("not saved"))
        // The interval has no effect before it is saved.
        #expect(await screens.wished().isEmpty)
        screens.press("s")
        await asked(for: .list(GalleryID(try Address("http://example.org/two.xml"))), screens)
        try await screens.until { screens.status.contains("Saved the list of galleries") }
        #expect(screens.saved.lists.withLock { $0.last?.text }?.contains("two.xml\tevery 90m\n") == true)
        // An empty interval means the general setting.
        screens.press("i", .control("u"), Key(.enter))
        #expect(!screens.text.contains("every 90m"))
    }

    @Test func offlineSetsNoAlarm() async throws {
        var settings = Settings()
        settings.offline = true
        settings.syncInterval = 5
        let screens = try TestScreens(settings, list: GalleryList(text: "http://example.org/one.xml\tevery 1m"))
        screens.open()
        #expect(await screens.wished().isEmpty && screens.waits.count == 0)
    }

    @Test("BEHAVIOURS 2.4: the setting for focus updates on every screen", arguments: [true, false])
    func onFocus(isSet: Bool) async throws {
        let screens = try screens {
            $0.syncOnOpen = false
            $0.syncOnFocus = isSet
        }
        try await screens.sync(["a"])
        screens.open()
        for keys in [[], [Key(.enter)], [.character("L")], [.character("?")]] {
            for key in keys { screens.press(key) }
            screens.bringToFront(false)
            #expect(!screens.wishes.isStanding(screens.list))
            screens.bringToFront(true)
            #expect(screens.wishes.isStanding(screens.list) == isSet, "\(screens.title)")
            screens.wishes.stop(screens.list)
        }
    }

    @Test("BEHAVIOURS 2.4: without a gallery nothing is requested")
    func withoutGallery() async throws {
        let screens = try screens { $0.syncOnFocus = true }
        screens.bringToFront(true)
        screens.press("r")
        #expect(await screens.wished().isEmpty)
    }

    @Test func offlineRequestsNothing() async throws {
        let screens = try screens {
            $0.offline = true
            $0.syncOnFocus = true
        }
        screens.open()
        screens.bringToFront(true)
        screens.press("r")
        #expect(screens.status == " Offline: type “:set offline no” to refresh.")
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("Offline, a local folder is updated all the same, on opening, at intervals and with r")
    func offlineUpdatesLocalFolders() async throws {
        var settings = Settings()
        (settings.offline, settings.syncInterval) = (true, 5)
        let screens = try TestScreens(
            settings, now: Timestamp(milliseconds: Self.now), gallery: Address(filePath: "/pictures/album"))
        screens.open()
        #expect(screens.wishes.isStanding(screens.list))
        #expect(await screens.waits.nextBegin() == .seconds(300))
        screens.wishes.stop(screens.list)
        screens.press("r")
        #expect(screens.wishes.isStanding(screens.list) && !screens.status.contains("Offline"))
    }

    @Test("BEHAVIOURS 3.1: the setting for all thumbnails requests them last")
    func allThumbnails() async throws {
        let screens = try screens { $0.allThumbnails = true }
        screens.open()
        #expect(await screens.importance(of: .everyPicture(screens.cache.id, .thumbnail)) == .rest)
        screens.press("q")
        #expect(await screens.wished().isEmpty)
    }

    @Test("All pictures are requested without an update on opening, but not while offline")
    func allPicturesWithoutUpdate() async throws {
        let screens = try screens {
            ($0.syncOnOpen, $0.offline) = (false, true)
            ($0.allThumbnails, $0.allPhotos) = (true, true)
        }
        screens.open()
        #expect(await screens.wished().isEmpty)
        screens.press("q")
        var settings = screens.context.settings
        settings.offline = false
        screens.context.live.replace(with: settings)
        screens.press(Key(.function(5)))
        try await screens.until { !screens.context.settings.offline }
        screens.open()
        let sweeps = await screens.wished().map(\.subject)
        #expect(
            sweeps == [.everyPicture(screens.cache.id, .thumbnail), .everyPicture(screens.cache.id, .original)])
        screens.press("q")
        #expect(await screens.wished().isEmpty)
    }

    @Test("An open gallery requests all pictures as soon as Vitrine is no longer offline")
    func allPicturesAfterOffline() async throws {
        let screens = try screens { ($0.syncOnOpen, $0.offline, $0.allThumbnails) = (false, true, true) }
        screens.open()
        var settings = screens.context.settings
        settings.offline = false
        screens.context.live.replace(with: settings)
        screens.press(Key(.function(5)))
        try await screens.until { !screens.context.settings.offline }
        #expect(await screens.wished().map(\.subject) == [.everyPicture(screens.cache.id, .thumbnail)])
    }

    @Test("BEHAVIOURS 3.4: the setting for all photos requests them after the thumbnails")
    func allPhotos() async throws {
        let screens = try screens {
            $0.allThumbnails = true
            $0.allPhotos = true
        }
        screens.open()
        let sweeps = await screens.wished().filter { $0.importance == .rest }.map(\.subject)
        #expect(
            sweeps == [.everyPicture(screens.cache.id, .thumbnail), .everyPicture(screens.cache.id, .original)])
        screens.press("q")
        #expect(await screens.wished().isEmpty)
    }
}
