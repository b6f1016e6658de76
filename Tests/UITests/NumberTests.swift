import Cells
import Commands
import Settings
import TestSupport
import Testing

@testable import UI

/// Numbers typed before commands.
@MainActor @Suite(.unlessItHangs) struct NumberTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        settings.rowHeight = 1
        settings.slideshow = 7
        screens = try TestScreens(settings)
    }

    /// Opens a gallery of photos 1 to `count`.
    private func open(_ count: Int, isPhotoOpen: Bool = false) async throws {
        try await screens.sync((1...count).map { "\($0)" })
        screens.open(at: "1", isPhotoOpen: isPhotoOpen)
    }

    @Test(arguments: [
        ("5j", "6"), ("12j3k", "10"), ("10G", "10"), ("7g", "7"), ("900G", "40"), ("99999999999999999999j", "40"),
        ("G4k", "36"), ("20j10j", "31"), ("0j", "2"), ("3j0k", "3"),
    ]) func lists(keys: String, selected: String) async throws {
        try await open(40)
        screens.type(keys)
        #expect(screens.selected == "Photo \(selected)")
    }

    @Test func theNumberIsShownUntilItIsUsed() async throws {
        try await open(40)
        #expect(!screens.status.hasSuffix("12"))
        screens.type("12")
        #expect(screens.status.hasSuffix("  12"))
        screens.press("j")
        #expect(!screens.status.hasSuffix("12") && screens.selected == "Photo 13")
        screens.press("j")
        #expect(screens.selected == "Photo 14")
    }

    @Test func escapeOnlyCancelsTheNumber() async throws {
        try await open(40)
        screens.type("12")
        screens.press(Key(.escape))
        #expect(screens.title.hasPrefix(" example.org") && !screens.status.hasSuffix("12"))
        screens.press("j")
        #expect(screens.selected == "Photo 2")
        // A key without a command also clears the number.
        screens.type("12%j")
        #expect(screens.selected == "Photo 3")
        screens.press(Key(.escape))
        #expect(screens.title.hasPrefix(" Galleries"))
    }

    @Test func aNumberIsBounded() async throws {
        try await open(2)
        screens.type("123456789123456789")
        #expect(screens.status.hasSuffix("  \(CommandArgument.largestNumber)"))
    }

    @Test func aCommandWithoutACountRunsOnce() async throws {
        try await open(3)
        screens.type("3T")
        #expect(screens.title.hasPrefix(" Transfers"))
        screens.press("q")
        #expect(screens.title.hasPrefix(" example.org") && !screens.status.hasSuffix("3"))
    }

    @Test func sectionsAndHits() async throws {
        let year: Int64 = 366 * 86_400
        try await screens.sync((1...6).map { try TestScreens.entry("\($0)", date: Int64($0) * year) })
        screens.open(at: "1")
        screens.press("#")
        try await screens.until { screens.text.contains("1971") }
        screens.type("3}")
        #expect(screens.selected == "Photo 4")
        screens.type("2{")
        #expect(screens.selected == "Photo 2")
        screens.type("/Photo")
        try await screens.until { screens.status.hasPrefix(" 6 photos found") }
        screens.press(Key(.enter))
        screens.type("2n")
        #expect(screens.selected == "Photo 4")
        screens.type("3N")
        #expect(screens.selected == "Photo 1")
    }

    @Test func galleriesTransfersAndTheLog() async throws {
        screens.type("3j")
        #expect(screens.title.hasPrefix(" Galleries"))
        for number in 1...60 { screens.log.info(.screen, "entry \(number).") }
        screens.press("L")
        // On the log screen, 1 to 6 are switches; the other digits begin a number.
        screens.type("1")
        #expect(!screens.log.isEnabled(.network) && !screens.status.hasSuffix("1"))
        screens.type("7g")
        #expect(screens.text.contains("entry 7.") && !screens.text.contains("entry 60."))
    }

    @Test func photos() async throws {
        try await open(9, isPhotoOpen: true)
        screens.type("4]")
        #expect(screens.title.hasPrefix(" Photo 5 "))
        screens.type("2h")
        #expect(screens.title.hasPrefix(" Photo 3 "))
        screens.type("80]")
        #expect(screens.title.hasPrefix(" Photo 9 "))
        screens.press(Key(.escape))
        #expect(screens.selected == "Photo 9")
    }

    /// In a photo's metadata, a number is a line and not a photo of the list.
    @Test func numbersScrollTheMetadata() async throws {
        try await open(9, isPhotoOpen: true)
        screens.press("i", "i")
        _ = screens.frame()
        screens.type("5G2g")
        #expect(screens.title.hasPrefix(" Photo 1 "))
    }

    @Test func aSlideshowTakesSeconds() async throws {
        try await screens.sync(["a", "b"])
        try await screens.store(TestScreens.picture(red: 100), as: .original, of: "a")
        screens.open(at: "a", isPhotoOpen: true)
        func middle() -> Colour { screens.frame()[40, 12].style.background }
        try await screens.until { middle() != .terminal }
        screens.type("20S")
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(20))
        // Another number during a slideshow changes its time instead of stopping it.
        screens.type("30S")
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(30))
        screens.press("S")
        #expect(!screens.title.contains("slideshow"))
        screens.press("S")
        _ = screens.frame()
        #expect(await screens.waits.nextBegin() == .seconds(7))
    }

    @Test func aSlideshowFromTheListTakesSecondsToo() async throws {
        try await screens.sync(["a", "b"])
        try await screens.store(TestScreens.picture(red: 100), as: .original, of: "a")
        screens.open(at: "a")
        _ = screens.frame()
        screens.type("20S")
        #expect(screens.title.contains("slideshow"))
        try await screens.until { screens.frame()[40, 12].style.background != .terminal }
        #expect(await screens.waits.nextBegin() == .seconds(20))
    }
}
