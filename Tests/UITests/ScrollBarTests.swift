import Cells
import Model
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct ScrollBarTests {
    private let theme = Theme(Capabilities())

    private func scroll(_ count: Int, first: Int = 0, visible: Int) -> ListScroll {
        var scroll = ListScroll()
        scroll.setCount(count)
        scroll.setVisible(visible)
        scroll.roll(by: first)
        return scroll
    }

    /// Returns the scroll bar of a list of ten rows.
    private func bar(_ scroll: ListScroll, rows: Int = 10) -> String {
        var (bar, surface) = (ScrollBar(), Surface(size: Size(columns: 5, rows: rows)))
        bar.draw(scroll, in: &surface, Rect(surface.size), theme)
        return (0..<rows).map { surface[4, $0].text }.joined()
    }

    @Test func itShowsWhatIsSeen() {
        #expect(bar(scroll(20, visible: 10)) == "█████│││││")
        #expect(bar(scroll(20, first: 4, visible: 10)) == "││█████│││")
        #expect(bar(scroll(20, first: 99, visible: 10)) == "│││││█████")
        #expect(bar(scroll(1_000_000, visible: 10)) == "█│││││││││")
        // The handle touches an end of the bar only at that end of the list.
        #expect(bar(scroll(1_000_000, first: 1, visible: 10)) == "│█││││││││")
        #expect(bar(scroll(1_000_000, first: 999_989, visible: 10)) == "││││││││█│")
        #expect(bar(scroll(11, first: 1, visible: 10)) == "│█████████")
    }

    @Test func whereAllIsSeenThereIsNone() {
        #expect(bar(scroll(10, visible: 10)) == "          ")
        #expect(bar(scroll(0, visible: 10)) == "          ")
        #expect(bar(scroll(10, visible: 1), rows: 1) == " ")
    }

    @Test func aMouseTakesHoldOfIt() throws {
        let list = scroll(1_000, visible: 10)
        var (bar, surface) = (ScrollBar(), Surface(size: Size(columns: 5, rows: 10)))
        bar.draw(list, in: &surface, Rect(surface.size), theme)
        func mouse(_ action: InputEvent.Mouse.Action, _ column: Int, _ row: Int) -> InputEvent.Mouse {
            InputEvent.Mouse(action, at: Point(column: column, row: row))
        }
        func follow(_ action: InputEvent.Mouse.Action, _ column: Int, _ row: Int) -> Int? {
            bar.follow(mouse(action, column, row), list)
        }
        #expect(follow(.press(1), 3, 5) == nil && follow(.drag(1), 4, 5) == nil)
        #expect(follow(.press(3), 4, 5) == nil)
        #expect(follow(.press(1), 4, 9) == 990)
        // While the button is held, the mouse may leave the bar.
        #expect(follow(.drag(1), 0, 3) == 330 && follow(.drag(1), 4, -7) == 0 && follow(.drag(1), 4, 70) == 990)
        #expect(follow(.release(1), 4, 5) == nil && follow(.drag(1), 4, 5) == nil)
    }

    @Test(arguments: [false, true]) func listAndSheetAreScrolledWithIt(isSheet: Bool) async throws {
        let screens = try TestScreens()
        try await screens.sync((0..<300).map { try TestScreens.entry("\($0)", date: Int64($0) + 1) })
        screens.open()
        if isSheet { screens.press(Key(.tab)) }
        // In a list with sections, titles end before the bar.
        let right = (1...22).map { screens.frame()[79, $0].text }.joined()
        #expect(right == "█" + String(repeating: "│", count: 21))
        screens.use(.press(1), 79, 22)
        #expect(screens.title.hasSuffix("of 300") && screens.text.contains("Photo 299"))
        #expect(screens.frame()[79, 22].text == "█")
        screens.use(.drag(1), 79, 1)
        #expect(screens.text.contains("Photo 0 ") && screens.frame()[79, 1].text == "█")
        screens.use(.release(1), 79, 1)
        screens.use(.drag(1), 79, 22)
        #expect(screens.text.contains("Photo 0 "))
    }

    @Test func helpHasOneToo() throws {
        let screens = try TestScreens()
        screens.press("?")
        #expect(screens.frame()[79, 1].text == "█")
        screens.use(.press(1), 79, 22)
        #expect(screens.frame()[79, 22].text == "█" && screens.frame()[79, 1].text == "│")
        screens.size = Size(columns: 80, rows: 400)
        #expect((1..<399).allSatisfy { screens.frame()[79, $0].text == " " })
    }
}
