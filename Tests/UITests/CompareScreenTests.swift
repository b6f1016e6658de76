import Cells
import Model
import Session
import Settings
import TestSupport
import Testing
import Text

@testable import UI

/// The screen with two photos, and rating with keys.
@MainActor @Suite(.unlessItHangs) struct CompareScreenTests {
    private let screens: TestScreens

    init() async throws {
        screens = try await TestScreens.offering(["a", "b", "c", "d"], columns: 80)
        for (index, id) in ["a", "b", "c", "d"].enumerated() {
            try await screens.store(TestScreens.picture(red: UInt8(60 * index + 40)), as: .original, of: id)
        }
    }

    private var texts: [String] { (0..<screens.size.rows).map { screens.frame().text(inRow: $0) } }
    private var heading: String { texts[0] }
    private var names: String { texts[screens.size.rows - 3] }
    private func rating(_ id: String) throws -> Int { try screens.photo(id).rating.value }

    @Test("c compares the selected photo with the next one, and Tab selects the other")
    func pair() async throws {
        screens.open(at: "b")
        screens.press("c")
        #expect(heading.hasPrefix(" Compare"))
        #expect(names.contains("Photo b") && names.contains("Photo c"))
        #expect(await screens.importance(of: try screens.subject("b", .original)) != nil)
        #expect(names.hasPrefix("▌ Photo b") || names.hasPrefix("> Photo b"), "\(names)")
        screens.press(Key(.tab))
        #expect(!names.hasPrefix("▌ ") && !names.hasPrefix("> "))
        screens.press("q")
        #expect(!heading.contains("Compare"))
    }

    @Test("The last photo is compared with the one before")
    func last() {
        screens.open(at: "d")
        screens.press("c")
        #expect(names.contains("Photo d") && names.contains("Photo c"))
    }

    @Test("Enter keeps the selected photo and replaces the other, until no photo is left")
    func keeps() {
        screens.open(at: "a")
        screens.press("c", Key(.enter))
        #expect(names.contains("Photo a") && names.contains("Photo c"))
        screens.press(Key(.tab), Key(.enter))
        #expect(names.contains("Photo d") && names.contains("Photo c"))
        screens.press(Key(.enter))
        #expect(screens.status.contains("No more photos to compare."))
    }

    @Test("Photos that left the filtered list lead to the next and previous photos")
    func ratedOutOfTheList() async throws {
        screens.open(at: "b")
        screens.press("f")
        screens.type("rating:0")
        try await screens.until { screens.status.contains("4 photos found") }
        screens.press(Key(.enter), "c", "5", Key(.tab), "5")
        try await screens.until { try rating("b") == 5 && rating("c") == 5 && heading.contains(" 2 photos") }
        #expect(names.contains("Photo b") && names.contains("Photo c"))
        screens.press(Key(.enter))
        #expect(names.contains("Photo c") && names.contains("Photo d"))
        screens.press("]")
        #expect(screens.status.contains("This is the last photo.") && names.contains("Photo c"))
        screens.press("[")
        #expect(names.contains("Photo a") && names.contains("Photo d"))
    }

    @Test("A compared photo that left the filtered list shows its latest rating and facts")
    func changedOutsideTheList() async throws {
        try await screens.sync(["a", "b", "c", "d", "e"])
        screens.open(at: "e")
        screens.press("f")
        screens.type("rating:0")
        try await screens.until { screens.status.contains("5 photos found") }
        screens.press(Key(.enter), "c", "3")
        try await screens.until { screens.text.contains("★★★") }
        screens.press("5")
        try await screens.until { screens.text.contains("★★★★★") }
        screens.press("x")
        try await screens.until { screens.text.contains("rejected") }
        #expect(names.contains("Photo e") && screens.text.contains("Loading"))
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "e")
        let size = ByteText.text(try #require(try screens.photo("e").size))
        try await screens.until { texts[screens.size.rows - 2].prefix(40).contains(size) }
        try await screens.until { !screens.text.contains("Loading") }
    }

    @Test("Marked photos are compared with one another alone")
    func marked() async throws {
        screens.open(at: "a")
        screens.press(" ", "j", " ")
        try await screens.until { screens.text.contains("2 marked") }
        screens.press("c")
        #expect(names.contains("Photo a") && names.contains("Photo c"))
        screens.press("]")
        #expect(screens.status.contains("This is the last photo."))
    }

    @Test("Both photos zoom and scroll together")
    func lockstep() async throws {
        screens.open(at: "a")
        screens.press("c")
        try await screens.until {
            _ = screens.frame()
            return !screens.text.contains("Loading")
        }
        #expect(heading.contains("fit"))
        screens.press("+", "+")
        #expect(!heading.contains("fit") && heading.contains("%"), "\(heading)")
        let before = heading
        screens.press(Key(.tab))
        #expect(heading == before)
        screens.press("w")
        #expect(heading.contains("fit"))
    }

    @Test("A photo that arrives after the other was enlarged has the same zoom")
    func lateArrival() async throws {
        screens.size = Size(columns: 200, rows: 60)
        try await screens.sync(["a", "b", "c", "d", "e"])
        screens.open(at: "e")
        screens.press("c")
        try await screens.until { screens.frame()[150, 28].style.background == .rgb(220, 0, 0) }
        #expect(names.contains("Photo e") && screens.text.contains("Loading"))
        screens.press("+")
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "e")
        try await screens.until { !screens.text.contains("Loading") }
        #expect(heading.contains("150 %"), "\(heading)")
    }

    @Test("l and h select a side if both enlarged photos are wholly visible")
    func selectsBesideEnlargedPhotos() async throws {
        screens.size = Size(columns: 200, rows: 60)
        screens.open(at: "a")
        screens.press("c")
        try await screens.until { !screens.text.contains("Loading") }
        func isFirstSelected() -> Bool { names.hasPrefix("▌ Photo a") }
        screens.press("+")
        #expect(heading.contains("150 %") && isFirstSelected())
        screens.press("l")
        #expect(!isFirstSelected())
        screens.press("h")
        #expect(isFirstSelected())
        // The photos are wider than their halves of the screen.
        screens.press("+", "+", "l")
        #expect(heading.contains("338 %") && isFirstSelected())
    }

    @Test("A digit rates the selected photo of a comparison, and the screen shows the stars")
    func digits() async throws {
        screens.open(at: "a")
        screens.press("c", "4")
        try await screens.until { try rating("a") == 4 && screens.text.contains("★★★★") }
        screens.press(Key(.tab), "x")
        try await screens.until { try rating("b") == -1 && screens.text.contains("rejected") }
        screens.press("u")
        try await screens.until { try rating("b") == 0 }
    }

    @Test("The command line offers only the commands that the comparison performs")
    func typedCommands() async throws {
        screens.open(at: "a")
        screens.press("c")
        let lines = [
            "goto 2", "refresh", "stop", "slideshow", "play", "information", "show-in-list", "compare", "delete",
        ]
        for line in lines {
            screens.type(":" + line)
            screens.press(Key(.enter))
            let name = line.prefix { $0 != " " }
            #expect(screens.status == " The command “\(name)” does not apply to this screen.")
        }
        screens.type(":copy")
        screens.press(Key(.enter))
        #expect(screens.copied == ["http://example.org/album/p/a"])
        screens.type(":rate 4")
        screens.press(Key(.enter))
        try await screens.until { try rating("a") == 4 }
        screens.type(":fill")
        screens.press(Key(.enter))
        #expect(heading.hasPrefix(" Compare") && !heading.contains("fit"))
    }

    @Test("A full stop asks for the rating in the list and on the photo screen", arguments: [false, true])
    func question(isPhotoOpen: Bool) async throws {
        screens.open(at: "b", isPhotoOpen: isPhotoOpen)
        screens.press(".")
        #expect(screens.text.contains("Rate 1 photo:"))
        screens.press("3")
        try await screens.until { try rating("b") == 3 && screens.text.contains("★★★") }
        // A number before the key needs no question, and other keys answer no.
        screens.press("5", ".")
        try await screens.until { try rating("b") == 5 }
        screens.press(".", "n")
        screens.press(".", "x")
        try await screens.until { try rating("b") == -1 && screens.text.contains("rejected") }
    }

    @Test("All marked photos are rated at once")
    func several() async throws {
        screens.open(at: "a")
        screens.press(" ", " ", ".")
        try await screens.until { screens.text.contains("Rate 2 photos:") }
        screens.press("2")
        try await screens.until { screens.status.contains("2 photos: ★★") }
        #expect(try rating("a") == 2 && rating("b") == 2 && rating("c") == 0)
    }

    @Test("A photo that leaves the gallery ends the comparison")
    func gone() async throws {
        screens.open(at: "a")
        screens.press("c")
        try await screens.sync(["a", "c"])
        try await screens.until { !heading.contains("Compare") }
        #expect(screens.status.contains("One of the compared photos is no longer in the gallery."))
    }

    @Test("The comparison fits every window", arguments: [(20, 5), (40, 12), (80, 24), (200, 60)])
    func sizes(columns: Int, rows: Int) {
        screens.size = Size(columns: columns, rows: rows)
        screens.open(at: "a")
        screens.press("c")
        #expect(texts.joined().contains("Photo b"))
    }

    @Test("Plain mode and a single photo have nothing to compare")
    func nothing() async throws {
        try await screens.sync(["a"])
        screens.open(at: "a")
        screens.press("c")
        #expect(screens.status.contains("There is no other photo to compare."))
    }
}
