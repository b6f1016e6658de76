import Cells
import Model
import Settings
import Synchronization
import TestSupport
import Testing

@testable import UI

/// What is kept of how galleries are looked at, and what becomes of it.
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

    /// Sorted by name backwards, filtered, on the second of what is found.
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
        // Left for the list of galleries, and opened again.
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
        // Out of the filter, and in again: what counts is how it was left.
        _ = screens.root.handle(InterfaceEvent.openGallery(screens.cache.address))
        try await screens.until { screens.title.contains("2 of 2") }
        #expect(screens.root.place == place)
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

    @Test("BEHAVIOURS 6.3: the place is saved one second after the first change")
    func written() async throws {
        try await fill()
        screens.open()
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(1))
        // However much changes meanwhile, it is one write, of what there is then.
        screens.press("j")
        _ = screens.frame()
        #expect(screens.waits.count == 1)
        screens.waits.pass()
        await screens.waits.nextEnd()
        _ = await screens.root.finish()
        #expect(written.places.withLock { $0.map { $0.map(\.photo) } } == [["b"]])
        // Where nothing changes nothing is waited for.
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
