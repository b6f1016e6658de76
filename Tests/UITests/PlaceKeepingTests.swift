import Cells
import Model
import Settings
import Synchronization
import TestSupport
import Testing

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
