import Cells
import Model
import Settings
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct MouseTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    // MARK: - Lists

    private func openList(_ count: Int) async throws {
        try await screens.sync((0..<count).map { "p\($0)" })
        screens.open()
        _ = screens.frame()
    }

    @Test func theWheelScrollsAList() async throws {
        try await openList(40)
        screens.use(.wheelDown, 10, 5)
        screens.use(.wheelDown, 10, 5)
        #expect(!screens.text.contains("Photo p1 ") && screens.text.contains("Photo p2"))
        #expect(screens.selected == "Photo p2")
        screens.use(.wheelUp, 10, 5)
        #expect(screens.text.contains("Photo p1") && screens.selected == "Photo p2")
    }

    @Test func aClickSelectsAndASecondOneOpens() async throws {
        try await openList(40)
        let row = try #require((1..<23).first { screens.frame().text(inRow: $0).contains("Photo p3") })
        // A click anywhere in the lines of an entry selects it.
        screens.use(.press(1), 70, row + 1)
        screens.use(.release(1), 70, row + 1)
        #expect(screens.selected == "Photo p3")
        screens.use(.press(3), 70, row + 1)
        #expect(screens.root.place.isPhotoOpen == false)
        screens.use(.press(1), 5, row)
        #expect(screens.title.hasPrefix(" Photo p3 ") && screens.root.place.isPhotoOpen)
    }

    @Test func aClickBesideTheListDoesNothing() async throws {
        try await openList(2)
        for (column, row) in [(0, 0), (5, 20), (5, 23), (500, 500)] { screens.use(.press(1), column, row) }
        #expect(screens.selected == "Photo p0" && !screens.root.place.isPhotoOpen)
    }

    @Test func clicksDoNotDisturbTyping() async throws {
        try await openList(5)
        screens.type("/")
        screens.use(.press(1), 10, 1)
        screens.use(.press(1), 10, 1)
        #expect(!screens.root.place.isPhotoOpen)
        screens.press(Key(.escape))
        screens.use(.press(1), 10, 1)
        #expect(screens.root.place.isPhotoOpen)
    }

    @Test func aClickDismissesANotice() async throws {
        try await openList(5)
        screens.root.send(.notice("Look."))
        screens.use(.wheelDown, 10, 5)
        #expect(screens.status == " Look.")
        screens.use(.press(1), 79, 22)
        #expect(screens.status != " Look.")
    }

    @Test func theMouseAnswersNoQuestion() async throws {
        try await openList(5)
        screens.type("L")
        screens.type("c")
        screens.use(.press(1), 10, 3)
        #expect(screens.status == " Clear the log? (y/n)")
    }

    @Test func helpAndLogScroll() async throws {
        try await openList(5)
        screens.type("?")
        let before = screens.text
        screens.use(.wheelDown, 10, 5)
        #expect(screens.text != before)
        screens.use(.wheelUp, 10, 5)
        #expect(screens.text == before)
    }

    @Test func aClickOpensAGallery() async throws {
        let addresses = try ["http://a.example/", "http://b.example/"].map { try Address($0) }
        let screens = try TestScreens(remembered: addresses)
        _ = screens.frame()
        screens.use(.press(1), 10, 3)
        #expect(screens.selected == "http://b.example/")
        screens.use(.press(1), 10, 4)
        #expect(screens.title.contains("b.example"))
    }

    // MARK: - A photo

    /// A picture with a line of another colour down its middle.
    private func openPhoto() async throws {
        try await screens.sync(["a", "b"])
        try await screens.store(TestScreens.picture(red: 100), as: .original, of: "a")
        screens.open(at: "a", isPhotoOpen: true)
        try await screens.until { screens.frame()[40, 12].style.background == .rgb(100, 0, 0) }
    }

    private var photo: PhotoScreen? { screens.root.children.last as? PhotoScreen }

    @Test("BEHAVIOURS 3.5: the wheel zooms around the mouse")
    func wheel() async throws {
        try await openPhoto()
        let view = try #require(photo?.picture.view)
        screens.use(.wheelUp, 50, 10)
        screens.use(.wheelUp, 50, 10)
        var expected = view
        expected.zoomIn(around: Point(column: 50, row: 9))
        expected.zoomIn(around: Point(column: 50, row: 9))
        #expect(photo?.picture.view == expected && screens.title.hasSuffix("%"))
        for _ in 0..<3 { screens.use(.wheelDown, 3, 3) }
        #expect(photo?.picture.view == view && screens.title.hasSuffix("fit"))
    }

    @Test("BEHAVIOURS 3.5: dragging scrolls an enlarged photo")
    func drag() async throws {
        try await openPhoto()
        screens.press("+", "+", "+", "+", "+")
        _ = screens.frame()
        let view = try #require(photo?.picture.view)
        // Dragging without a pressed button does nothing.
        screens.use(.drag(1), 30, 8)
        #expect(photo?.picture.view == view)
        screens.use(.press(1), 40, 10)
        screens.use(.drag(1), 38, 9)
        screens.use(.drag(1), 35, 11)
        var expected = view
        expected.pan(columns: 2, rows: 1)
        expected.pan(columns: 3, rows: -2)
        #expect(photo?.picture.view == expected && expected != view)
        screens.use(.release(1), 35, 11)
        screens.use(.drag(1), 10, 10)
        #expect(photo?.picture.view == expected)
    }

    @Test func theWheelScrollsTheMetadata() async throws {
        try await openPhoto()
        screens.size = Size(columns: 80, rows: 10)
        screens.type("ii")
        _ = screens.frame()
        let view = photo?.picture.view
        // The panel has more lines after the photo was read.
        try await screens.until {
            screens.use(.wheelDown, 10, 7)
            _ = screens.frame()
            return !screens.text.contains("Photo a\n")
        }
        #expect(photo?.picture.view == view)
    }
}
