import Cells
import Model
import SQLite
import Settings
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import UI

/// Saving and restoring the user's place in galleries.
@MainActor @Suite(.unlessItHangs) struct PlaceKeepingTests {
    /// Every write.
    private final class Written: Sendable {
        let places = Mutex<[[Place]]>([])
    }

    private let written = Written()
    private let screens: TestScreens

    init() throws {
        let places = RememberedPlaces { [written] noted in written.places.withLock { $0.append(noted) } }
        screens = try TestScreens(places: places)
    }

    private func fill() async throws {
        try await screens.sync([
            TestScreens.entry("a", name: "Owl", date: 3), TestScreens.entry("b", name: "Lamp", date: 2),
            TestScreens.entry("c", name: "Owl, asleep", date: 1),
        ])
    }

    /// Sorts by name backwards, filters, and selects the second match.
    private func arrange() async throws {
        screens.type(",N")
        try await screens.until { screens.text.contains("Owl") && screens.selected != nil }
        screens.type("f")
        screens.type("owl")
        screens.press(Key(.enter))
        try await screens.until { screens.title.contains("of 2") }
        try await screens.until { screens.root.place.filter == "owl" }
        screens.press("G")
    }

    @Test("BEHAVIOURS 6.3: order, filter and selection are restored")
    func restored() async throws {
        try await fill()
        screens.open()
        try await arrange()
        let place = screens.root.place
        #expect(place.photo == "a" && place.filter == "owl" && place.order == PhotoOrder(.name, ascending: false))
        // Restore the place.
        screens.root.start(at: place)
        try await screens.until { screens.title.contains("2 of 2") }
        #expect(screens.selected == "Owl" && screens.root.place == place)
    }

    @Test("BEHAVIOURS 6.3: a gallery opens as the user left it")
    func openedAgain() async throws {
        try await fill()
        screens.open()
        try await arrange()
        let place = screens.root.place
        // Open the gallery again, without a given place.
        _ = screens.root.handle(InterfaceEvent.openGallery(screens.cache.address))
        try await screens.until { screens.title.contains("2 of 2") }
        #expect(screens.root.place == place)
    }

    @Test(
        "A long gallery opens before it is sorted, and keeps a selection that the user chose", arguments: [false, true])
    func longGallery(isChosen: Bool) async throws {
        try await screens.sync((0..<3_000).map { try TestScreens.entry("\($0)", date: Int64($0)) })
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "2999")
        var place = Place(gallery: screens.cache.address)
        place.order = PhotoOrder(.size, ascending: false)
        screens.root.start(at: place)
        let list = try #require(screens.root.children.compactMap { $0 as? PhotosScreen }.last)
        _ = screens.frame()
        let rows = list.lists.all.reader.connection.work.rows
        #expect(rows < 1_100)
        if isChosen { screens.press("j") }
        try await screens.until { list.lists.all.order == place.order }
        let id = isChosen ? "1" : "2999"
        let key = try screens.photo(id).key
        #expect(screens.root.place.photo == id)
        #expect(list.lists.all.key(at: list.scroll.selected) == key)
        #expect(screens.root.place.order == place.order)
    }

    @Test("BEHAVIOURS 6.3: an order that a long gallery cannot restore now is kept for the next attempt")
    func failedSort() async throws {
        try await screens.sync((0..<1_100).map { try TestScreens.entry("\($0)", date: Int64($0)) })
        // The list by date begins with other rows, but the first sort reads this row, whose number is too large.
        let number = try screens.photo("1099").key.rawValue
        let database = try Connection(path: screens.cache.folder + "/gallery.sqlite", access: .readWrite)
        try database.execute("UPDATE photo SET key = 5000000000 WHERE key = \(number)")
        var place = Place(gallery: screens.cache.address)
        place.order = PhotoOrder(.size, ascending: false)
        screens.root.start(at: place)
        let list = try #require(screens.root.children.compactMap { $0 as? PhotosScreen }.last)
        try await screens.until { list.lists.failure != nil }
        #expect(list.lists.all.order == PhotoOrder())
        #expect(screens.root.place.order == place.order)
        try database.execute("UPDATE photo SET key = \(number) WHERE key = 5000000000")
        list.lists.sort(by: try #require(place.order))
        try await screens.until { list.lists.all.order == place.order }
        #expect(screens.root.place.order == place.order)
    }

    @Test("BEHAVIOURS 6.3: the contact sheet is restored")
    func sheet() async throws {
        try await fill()
        screens.open(at: "b")
        #expect(screens.root.place.view == nil)
        screens.press(Key(.tab))
        let place = screens.root.place
        #expect(place.view == .sheet)
        screens.root.start(at: place)
        #expect(screens.root.place == place)
    }

    /// Replaces the settings as another settings file does.
    private func change(_ settings: Settings) async throws {
        screens.context.live.replace(with: settings)
        screens.press(Key(.function(5)))
        try await screens.until { screens.context.settings == settings }
    }

    private var byName: Settings {
        var settings = Settings()
        (settings.order, settings.sections) = (PhotoOrder(.name, ascending: false), .month)
        return settings
    }

    @Test("Changed settings apply to a gallery that was open, if the user chose no order and no sections there")
    func settingsOfAnOpenGallery() async throws {
        try await fill()
        screens.open(at: "a")
        try await screens.until { screens.title.contains("3 of 3") }
        try await change(byName)
        #expect(screens.root.place.order == nil && screens.root.place.sections == nil)
        _ = screens.root.handle(InterfaceEvent.openGallery(screens.cache.address))
        try await screens.until { screens.title.contains("2 of 3") }
        #expect(screens.selected == "Owl")
        // The sections of the opened gallery come from the setting, too.
        try await change(Settings())
        #expect(screens.root.place.order == nil && screens.root.place.sections == nil)
    }

    @Test("An order and sections that the user chose for a gallery survive changed settings")
    func choicesSurviveSettings() async throws {
        try await fill()
        screens.open(at: "a")
        // The order is that of the setting so far. All photos are of one year and month.
        screens.press(",", "d", "#", "#")
        #expect(screens.root.place.order == nil && screens.root.place.sections == .day)
        try await change(byName)
        #expect(screens.root.place.order == PhotoOrder() && screens.root.place.sections == .day)
    }

    @Test("BEHAVIOURS 6.3: a photo that filled the screen is restored so")
    func zoom() async throws {
        try await fill()
        screens.open(at: "b", isPhotoOpen: true)
        screens.press("W")
        let place = screens.root.place
        #expect(place.isPhotoOpen && place.fillsScreen)
        screens.root.start(at: place)
        #expect(screens.root.place == place)
    }

    /// Filters by photos without stars, opens the photo "b", and rates it, so that it leaves the filtered list.
    private func rateOutOfTheFilter() async throws {
        try await fill()
        screens.open(at: "b")
        screens.press("f")
        screens.type("rating:0")
        try await screens.until { screens.status.contains("3 photos found") }
        screens.press(Key(.enter), Key(.enter))
        #expect(screens.title.hasPrefix(" Lamp "))
        screens.type("4.")
        try await screens.until { screens.root.openGallery?.selectedGalleryID == "a" }
    }

    @Test("BEHAVIOURS 6.3: an open photo is restored even if the filter excludes the photo since its rating")
    func ratedOutOfTheFilterAndRestored() async throws {
        try await rateOutOfTheFilter()
        let place = screens.root.place
        #expect(place.isPhotoOpen && place.photo == "b" && place.filter == "rating:0")
        screens.root.start(at: place)
        #expect(screens.title.hasPrefix(" Lamp "))
        // The filter is restored, too.
        try await screens.until { !screens.title.contains(" of ") }
        #expect(screens.title.hasPrefix(" Lamp ") && screens.root.place == place)
    }

    @Test("BEHAVIOURS 6.3: the open photo is saved even if the list already selects the next photo")
    func ratedOutOfTheFilterAndSaved() async throws {
        try await rateOutOfTheFilter()
        _ = screens.frame()
        _ = await screens.root.finish()
        #expect(written.places.withLock { $0.last?.map(\.photo) } == ["b"])
        screens.press("]")
        #expect(screens.title.hasPrefix(" Owl "))
        _ = await screens.root.finish()
        #expect(written.places.withLock { $0.last?.map(\.photo) } == ["a"])
    }

    @Test("BEHAVIOURS 6.3: the place is saved one second after the first change")
    func written() async throws {
        try await fill()
        screens.open()
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(1))
        // Further changes within the second cause no second write. It saves the latest state.
        screens.press("j")
        _ = screens.frame()
        #expect(screens.waits.count == 1)
        screens.waits.pass()
        await screens.waits.nextEnd()
        _ = await screens.root.finish()
        #expect(written.places.withLock { $0.map { $0.map(\.photo) } } == [["b"]])
        // Without a change, no write is scheduled.
        _ = screens.frame()
        #expect(screens.waits.count == 0)
        screens.press("j")
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(1))
        // The end does not wait.
        _ = await screens.root.finish()
        #expect(written.places.withLock { $0.map { $0.map(\.photo) } } == [["b"], ["a"]])
    }

    @Test func aLeftGalleryIsSavedToo() async throws {
        try await fill()
        screens.open(at: "b")
        screens.press("q")
        _ = screens.frame()
        _ = await screens.root.finish()
        #expect(written.places.withLock { $0.map { $0.map(\.photo) } } == [["b", nil]])
    }
}
