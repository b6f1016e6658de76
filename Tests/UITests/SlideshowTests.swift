import Cache
import Cells
import Model
import Settings
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct SlideshowTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.slideshow = 7
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
    }

    private var middle: Colour {
        screens.frame()[screens.size.columns / 2, screens.size.rows / 2].style.background
    }

    private func open(_ photos: KeyValuePairs<String, UInt8?>) async throws {
        try await screens.sync(photos.map(\.key))
        for (id, red) in photos {
            if let red { try await screens.store(TestScreens.picture(red: red), as: .original, of: id) }
        }
        screens.open(at: photos[0].key, isPhotoOpen: true)
        try await screens.until { middle != .terminal }
    }

    @Test("BEHAVIOURS 3.5: a slideshow shows each photo for its time, in a loop")
    func goesOn() async throws {
        try await open(["a": 100, "b": 150])
        #expect(screens.waits.count == 0)
        screens.press("S")
        #expect(screens.title.hasSuffix("fit · slideshow"))
        for (name, red) in [("b", 150), ("a", 100), ("b", 150)] as [(String, UInt8)] {
            #expect(await screens.waits.nextBegin() == .seconds(7))
            screens.waits.pass()
            try await screens.until { screens.title.hasPrefix(" Photo \(name) ") && middle == .rgb(red, 0, 0) }
        }
        screens.press("S")
        #expect(screens.title.hasSuffix("fit") && screens.waits.count == 0)
    }

    @Test("BEHAVIOURS 3.5: the time of a photo starts when it is visible")
    func waitsForThePhoto() async throws {
        try await open(["a": 100, "b": nil, "c": 200])
        screens.press("S")
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(7))
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo b ") }
        #expect(screens.status.hasPrefix(" Loading…") && screens.waits.count == 0)
        #expect(await screens.importance(of: try screens.subject("c", .original)) == .near)
        try await screens.store(TestScreens.picture(red: 150), as: .original, of: "b")
        try await screens.until { middle == .rgb(150, 0, 0) }
        #expect(await screens.waits.nextBegin() == .seconds(7))
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo c ") }
    }

    @Test("BEHAVIOURS 3.5: a slideshow continues past a failed photo")
    func passesOver() async throws {
        try await open(["a": 100, "b": nil])
        try await screens.note(.bad(Failure("gone", remedy: .none)), for: .original, of: "b")
        screens.press("S")
        _ = screens.frame()
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
        try await screens.until { screens.text.contains("Load failed: gone") }
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo a ") }
    }

    @Test("A slideshow continues from a photo that left the filtered list")
    func continuesFromARatedPhoto() async throws {
        try await openWithoutStars(["a": 100, "b": 150, "c": 200])
        screens.press("G", Key(.enter), "S")
        try await screens.until { middle == .rgb(200, 0, 0) }
        _ = await screens.waits.nextBegin()
        screens.type("4.")
        try await screens.until { try screens.photo("c").rating.value == 4 && !screens.title.contains(" of ") }
        #expect(screens.title.contains("slideshow"))
        // After the last photo comes the first.
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo a ") }
    }

    /// Filters by photos without stars, and selects the first photo of the filtered list.
    private func openWithoutStars(_ photos: KeyValuePairs<String, UInt8?>) async throws {
        try await open(photos)
        screens.press("q", "f")
        screens.type("rating:0")
        try await screens.until { screens.status.contains("\(photos.count) photos found") }
        screens.press(Key(.enter), "g")
    }

    @Test(
        "A slideshow shows the only photo that is left in the list after the open one was rated",
        arguments: [true, false])
    func showsTheLastPhoto(isRunning: Bool) async throws {
        try await openWithoutStars(["a": 100, "b": 150])
        screens.press(Key(.enter))
        try await screens.until { middle == .rgb(100, 0, 0) }
        if isRunning { screens.press("S") }
        screens.type("4.")
        try await screens.until { try screens.photo("a").rating.value == 4 && !screens.title.contains(" of ") }
        if !isRunning { screens.press("S") }
        #expect(screens.title.contains("slideshow"))
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo b ") }
    }

    @Test("A slideshow of marked photos passes over those that left the filtered list")
    func passesOverRatedPhotos() async throws {
        try await openWithoutStars(["a": 100, "b": 110, "c": 120, "d": 130])
        screens.press(.control("a"), "S")
        try await screens.until { middle == .rgb(100, 0, 0) }
        _ = await screens.waits.nextBegin()
        let rated = try ["b", "c"].map { try screens.photo($0).key }
        try await screens.cache.writer.rate(rated, Rating(4))
        try await screens.until { screens.title.contains("1 of 2") }
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo d ") }
    }

    @Test("A slideshow of marked photos shows them even if a filter hides them")
    func showsHiddenMarkedPhotos() async throws {
        try await open(["a": 100, "b": 110, "c": 120])
        try await screens.cache.writer.rate([try screens.photo("c").key], Rating(4))
        screens.press("q", "g", " ", " ", "f")
        screens.type("rating:4")
        try await screens.until { screens.status.contains("1 photo found") }
        screens.press(Key(.enter), "S")
        for (name, red) in [("a", 100), ("b", 110), ("a", 100)] as [(String, UInt8)] {
            try await screens.until { screens.title.hasPrefix(" Photo \(name) ") && middle == .rgb(red, 0, 0) }
            _ = await screens.waits.nextBegin()
            screens.waits.pass()
        }
    }

    @Test("An action typed for one photo does not work on the slideshow's next photo")
    func actionsKeepTheirPhoto() async throws {
        try await open(["a": 100, "b": 150])
        screens.press("S")
        _ = screens.frame()
        _ = await screens.waits.nextBegin()
        screens.type(":rate 5")
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo b ") }
        screens.press(Key(.enter))
        #expect(screens.status == " The command “rate” does not apply to this screen.")
        screens.type(":goto 1")
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" Photo a "))
    }

    @Test("Offline, a slideshow reports an uncached photo and continues")
    func offline() async throws {
        var settings = Settings()
        (settings.slideshow, settings.offline) = (7, true)
        let screens = try TestScreens(settings)
        try await screens.sync(["a", "b"])
        screens.open(at: "a", isPhotoOpen: true)
        #expect(
            screens.status.hasPrefix(" Load failed ") && screens.text.contains("offline, and this photo is not cached"))
        screens.press("S")
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(7))
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo b ") }
    }

    @Test("BEHAVIOURS 3.5: moving keys end a slideshow", arguments: ["]", "[", "h", "+"] as [Key])
    func ends(key: Key) async throws {
        try await open(["a": 100, "b": 150, "c": 200])
        screens.press("]", "S")
        try await screens.until { middle == .rgb(150, 0, 0) }
        _ = await screens.waits.nextBegin()
        screens.press(key)
        #expect(!screens.title.contains("slideshow") && screens.waits.count == 0)
    }

    @Test("BEHAVIOURS 3.5: a jump to a photo's number ends a slideshow", arguments: [("a", 1), ("b", 2)])
    func endsAtAJump(name: String, number: Int) async throws {
        try await open(["a": 100, "b": 150, "c": 200])
        screens.press("]", "S")
        try await screens.until { middle == .rgb(150, 0, 0) }
        _ = await screens.waits.nextBegin()
        screens.type(":goto \(number)")
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" Photo \(name) "))
        #expect(!screens.title.contains("slideshow") && screens.waits.count == 0)
    }

    @Test func theClockStopsBehindAnotherScreen() async throws {
        try await open(["a": 100, "b": 150])
        screens.press("S")
        await screens.expectClockStopsBehindAnotherScreen(.seconds(7))
        #expect(screens.title.hasSuffix("slideshow"))
        screens.press("q")
        #expect(screens.waits.count == 0)
    }

    @Test func aSinglePhotoHasNoSlideshow() async throws {
        try await open(["a": 100])
        screens.press("S")
        #expect(screens.status == " There is no other photo to show." && screens.waits.count == 0)
    }

    @Test(arguments: [2, 3, 4, 5, 12, 97, 1_000]) func aShuffledSlideshowShowsEachPhotoOnce(count: Int) throws {
        var settings = Settings()
        settings.slideshowShuffled = true
        let slideshow = Slideshow(try TestScreens(settings).context)
        slideshow.start()
        var (index, seen) = (0, [0])
        for _ in 1..<count {
            let next = slideshow.indexes(after: index, of: count, limit: 2)
            #expect(next.count == 2 && next[1] == slideshow.indexes(after: next[0], of: count, limit: 1)[0])
            index = next[0]
            seen.append(index)
        }
        #expect(Set(seen).count == count)
        #expect(slideshow.indexes(after: index, of: count, limit: 1) == [0])
    }
}
