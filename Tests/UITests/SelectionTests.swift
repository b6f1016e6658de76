import Cells
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct SelectionTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// Opens a gallery with a photo for each letter, in alphabetical order, at one of them.
    private func open(_ letters: String, at letter: Character) async throws {
        try await sync(letters)
        screens.open(at: String(letter))
        #expect(screens.selected == "Photo \(letter)")
    }

    private func sync(_ letters: String) async throws {
        try await screens.sync(
            letters.map { try TestScreens.entry(String($0), date: Int64($0.asciiValue ?? 0)) })
    }

    @Test(
        "BEHAVIOURS 3.7: the selection stays on its photo while others come and go",
        arguments: [("bdf", "abdf"), ("abdf", "bdf"), ("bdf", "bcdef"), ("abcdefghij", "dj"), ("d", "abcd")])
    func staysOnItsPhoto(before: String, after: String) async throws {
        try await open(before, at: "d")
        try await sync(after)
        try await screens.until { screens.title.hasSuffix("of \(after.count)") }
        #expect(screens.selected == "Photo d")
        #expect(screens.root.place.photo == "d")
    }

    @Test("BEHAVIOURS 3.7: the selection follows its photo to another index")
    func moves() async throws {
        try await open("abcd", at: "b")
        try await screens.sync([
            TestScreens.entry("a", date: 1), TestScreens.entry("c", date: 2), TestScreens.entry("b", date: 3),
        ])
        try await screens.until { screens.title.hasSuffix("3 of 3") }
        #expect(screens.selected == "Photo b")
    }

    @Test("BEHAVIOURS 3.7: until the user selects a photo, the first row stays selected", arguments: [false, true])
    func top(selects: Bool) async throws {
        try await sync("d")
        screens.open()
        try await screens.until { screens.title.hasSuffix("1 of 1") }
        if selects { screens.type("j") }
        try await sync("abcd")
        try await screens.until { screens.title.hasSuffix("of 4") }
        #expect(screens.selected == (selects ? "Photo d" : "Photo a"))
    }

    @Test("BEHAVIOURS 3.7: until the user selects a photo or searches, the first row of each order is selected")
    func sorted() async throws {
        try await sync("abcd")
        screens.open()
        screens.press(",", "D")
        try await screens.until { screens.root.openGallery?.lists.all.order == PhotoOrder(.date, ascending: false) }
        #expect(screens.selected == "Photo d" && screens.title.hasSuffix("1 of 4"))
        // The match of a filter stays selected.
        screens.press("f", "b")
        try await screens.until { screens.selected == "Photo b" }
        screens.press(Key(.enter), "q")
        try await screens.until { screens.title.hasSuffix("3 of 4") }
        #expect(screens.selected == "Photo b")
    }

    @Test(
        "BEHAVIOURS 3.7: after its photo is gone, the selection moves to the next one, or the last",
        arguments: [
            ("abcdef", "c", "abdef", "d"), ("abcdef", "c", "aef", "e"), ("abcdef", "f", "abc", "c"),
            ("abcdef", "d", "ef", "e"), ("bdf", "d", "abcf", "f"), ("abc", "b", "xyz", "y"),
        ])
    func gone(before: String, selected: Character, after: String, next: Character) async throws {
        try await open(before, at: selected)
        try await sync(after)
        let number = (after.firstIndex(of: next).map { after.distance(from: after.startIndex, to: $0) } ?? 0) + 1
        try await screens.until {
            screens.title.hasSuffix("of \(after.count)") && ![nil, "Photo \(selected)"].contains(screens.selected)
        }
        #expect(screens.selected == "Photo \(next)")
        #expect(screens.title.hasSuffix("\(number) of \(after.count)"))
    }

    @Test("BEHAVIOURS 3.7: the list scrolls to the selection after it has moved")
    func scrollsAlong() async throws {
        let ids = (0..<100).map { "\($0)" }
        try await screens.sync(try ids.enumerated().map { try TestScreens.entry($1, date: Int64($0) + 1_000) })
        screens.open(at: "50")
        let more = try (0..<60).map { try TestScreens.entry("new \($0)", date: Int64($0)) }
        try await screens.sync(more + ids.enumerated().map { try TestScreens.entry($1, date: Int64($0) + 1_000) })
        try await screens.until { screens.title.hasSuffix("111 of 160") }
        #expect(screens.selected == "Photo 50")
        screens.press("j")
        #expect(screens.selected == "Photo 51")
    }

    @Test("BEHAVIOURS 6.3: gallery, selection and open photo are restored")
    func restored() async throws {
        try await sync("abc")
        screens.open(at: "b", isPhotoOpen: true)
        #expect(screens.title.contains("Photo b") && screens.title.contains("2 of 3"))
        #expect(screens.root.place == Place(gallery: screens.cache.address, photo: "b", isPhotoOpen: true))
        screens.press("q", "j")
        #expect(screens.root.place == Place(gallery: screens.cache.address, photo: "c"))
        screens.press("q")
        #expect(screens.root.place == Place())
    }

    @Test("BEHAVIOURS 6.3: if the photo is gone, the first one is selected", arguments: [true, false])
    func restoredWithout(isPhotoOpen: Bool) async throws {
        try await sync("abc")
        screens.open(at: "x", isPhotoOpen: isPhotoOpen)
        #expect(screens.selected == "Photo a")
        #expect(screens.root.place == Place(gallery: screens.cache.address, photo: "a"))
    }

    @Test("An open photo that the cache lacks opens alone as soon as it arrives")
    func openedOnArrival() async throws {
        try await sync("abc")
        screens.open(at: "d", isPhotoOpen: true)
        try await sync("abcd")
        try await screens.until { screens.root.place.isPhotoOpen }
        #expect(screens.title.contains("Photo d"))
        screens.press("q")
        #expect(screens.selected == "Photo d" && !screens.root.place.isPhotoOpen)
    }

    @Test("BEHAVIOURS 6.3: a long list that is still loading restores its selection, too")
    func restoredInALongList() async throws {
        let count = FetchedResults.firstLoad + 100
        try await screens.sync(try (0..<count).map { try TestScreens.entry("\($0)", date: Int64($0)) })
        screens.open(at: "\(count - 2)")
        try await screens.until { screens.selected == "Photo \(count - 2)" }
        #expect(screens.title.hasSuffix("\(count - 1) of \(count)"))
        screens.press("q")
        screens.open(at: "\(count - 2)", isPhotoOpen: true)
        #expect(screens.title.contains("Photo \(count - 2)"))
        try await screens.until { screens.title.contains("\(count - 1) of \(count)") }
    }
}
