import Cells
import Model
import Settings
import Testing

@testable import Screens

@MainActor @Suite(.timeLimit(.minutes(1))) struct RefreshTests {
    private func screens(_ change: (inout Settings) -> Void = { $0.syncOnOpen = false }) throws -> TestScreens {
        var settings = Settings()
        change(&settings)
        return try TestScreens(settings)
    }

    @Test("BEHAVIOURS 2.3: r asks for an update, r again joins it, x stops it")
    func keys() async throws {
        let screens = try screens()
        screens.open()
        #expect(!screens.wishes.isStanding(screens.list))
        screens.press("r")
        #expect(screens.wishes.isStanding(screens.list))
        screens.activity.note(.getting(Progress(done: 0)), of: screens.cache.id)
        screens.press("r", "r", "r")
        #expect(screens.wishes.isStanding(screens.list))
        #expect(await screens.wished().filter { $0.subject == screens.list }.count == 1)
        screens.press("x")
        #expect(!screens.wishes.isStanding(screens.list))
        // And a held x does not begin one.
        screens.press("x", "x")
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 2.3: so it is while a photo is looked at")
    func keysOnAPhoto() async throws {
        let screens = try screens()
        try await screens.sync(["a"])
        screens.open(isPhotoOpen: true)
        screens.press("r", "r")
        #expect(screens.wishes.isStanding(screens.list))
        screens.press("x")
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 3.2: r gives what was bad another chance")
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

    @Test("BEHAVIOURS 2.4: opening a gallery, at the start or later, asks for an update")
    func onOpening() throws {
        let screens = try screens { _ in }
        screens.open()
        #expect(screens.wishes.isStanding(screens.list))
        // Leaving it stops that, and opening another one asks for that one's.
        screens.press("q")
        #expect(!screens.wishes.isStanding(screens.list))
        let other = try Address("http://example.org/other.xml")
        screens.root.send(.openGallery(other))
        #expect(screens.wishes.isStanding(.list(GalleryID(other))) && !screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 2.4: an update begins whenever the interval has passed, until the gallery is left")
    func atIntervals() async throws {
        let screens = try screens {
            $0.syncOnOpen = false
            $0.syncInterval = 5
        }
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
        // The wait is given up, and nothing comes of it.
        await screens.waits.nextEnd()
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 2.4: on focus if that is set, whatever screen is on top", arguments: [true, false])
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

    @Test("BEHAVIOURS 2.4: without a gallery nothing is asked for")
    func withoutGallery() async throws {
        let screens = try screens { $0.syncOnFocus = true }
        screens.bringToFront(true)
        screens.press("r")
        #expect(await screens.wished().isEmpty)
    }

    @Test func offlineNothingIsAskedFor() async throws {
        let screens = try screens {
            $0.offline = true
            $0.syncOnFocus = true
        }
        screens.open()
        screens.bringToFront(true)
        screens.press("r")
        #expect(screens.status == " Offline: nothing is fetched.")
        #expect(!screens.wishes.isStanding(screens.list))
    }

    @Test("BEHAVIOURS 3.1: every thumbnail is asked for if that is set, after everything else")
    func allThumbnails() async throws {
        let screens = try screens { $0.allThumbnails = true }
        screens.open()
        #expect(await screens.importance(of: .everyPicture(screens.cache.id, .thumbnail)) == .rest)
        screens.press("q")
        #expect(await screens.wished().isEmpty)
    }
}
