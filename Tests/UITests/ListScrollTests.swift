import Commands
import Testing

@testable import UI

@Suite struct ListScrollTests {
    private func scroll(count: Int, visible: Int, selected: Int = 0) -> ListScroll {
        var scroll = ListScroll()
        scroll.setCount(count)
        scroll.select(selected)
        scroll.setVisible(visible)
        return scroll
    }

    @Test func anEmptyListHasNothingToSelect() {
        var empty = scroll(count: 0, visible: 5)
        #expect(empty.isEmpty && empty.window.isEmpty && empty.selected == 0)
        for command in [Command.up, .down, .pageDown, .pageUp, .last, .first] {
            _ = empty.perform(command)
            #expect(empty.window.isEmpty && empty.selected == 0 && empty.first == 0)
        }
        empty.setCount(-1)
        #expect(empty.isEmpty)
    }

    @Test func rollingMovesTheWindow() {
        var list = scroll(count: 10, visible: 4, selected: 0)
        list.roll(by: 1)
        #expect(list.window == 1..<5 && list.selected == 1)
        list.select(3)
        list.roll(by: 2)
        #expect(list.window == 3..<7 && list.selected == 3)
        list.roll(by: 99)
        #expect(list.window == 6..<10 && list.selected == 6)
        list.roll(by: -4)
        #expect(list.window == 2..<6 && list.selected == 5)
        list.roll(by: -99)
        #expect(list.window == 0..<4 && list.selected == 3)
        var empty = scroll(count: 0, visible: 4)
        empty.roll(by: 3)
        #expect(empty.window.isEmpty && empty.selected == 0)
    }

    @Test func theFirstLayoutCentresTheSelection() {
        #expect(scroll(count: 100, visible: 5, selected: 50).window == 48..<53)
        #expect(scroll(count: 100, visible: 5, selected: 1).window == 0..<5)
        #expect(scroll(count: 100, visible: 5, selected: 99).window == 95..<100)
        #expect(scroll(count: 3, visible: 5, selected: 2).window == 0..<3)
    }

    @Test func selectingScrollsJustFarEnough() {
        var list = scroll(count: 100, visible: 5)
        for _ in 0..<4 { _ = list.perform(.down) }
        #expect(list.selected == 4 && list.window == 0..<5)
        _ = list.perform(.down)
        #expect(list.selected == 5 && list.window == 1..<6)
        _ = list.perform(.up)
        #expect(list.selected == 4 && list.window == 1..<6)
    }

    @Test func pagesMoveWindowAndSelection() {
        var list = scroll(count: 20, visible: 6, selected: 2)
        let steps: [(Command, selected: Int, first: Int)] = [
            (.pageDown, 8, 6), (.halfPageDown, 11, 9), (.pageDown, 17, 14), (.pageDown, 19, 14), (.last, 19, 14),
            (.halfPageUp, 16, 11), (.pageUp, 10, 5), (.pageUp, 4, 0), (.pageUp, 0, 0), (.up, 0, 0), (.last, 19, 14),
            (.down, 19, 14), (.first, 0, 0),
        ]
        for (command, selected, first) in steps {
            _ = list.perform(command)
            #expect(list.selected == selected && list.first == first, "\(command)")
        }
    }

    @Test func performsMovingCommands() {
        var list = scroll(count: 20, visible: 6, selected: 2)
        for command in Self.moves {
            let isPerformed = list.perform(command)
            #expect(isPerformed, "\(command)")
        }
    }

    private static let moves: Set<Command> = [
        .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .first, .last,
    ]

    @Test func ignoresOtherCommands() {
        var list = scroll(count: 20, visible: 6, selected: 2)
        let before = list
        let others = Set(Command.allCases).subtracting(Self.moves)
        for command in others {
            let isPerformed = list.perform(command)
            #expect(!isPerformed, "\(command)")
        }
        #expect(list.selected == before.selected && list.window == before.window && list.count == before.count)
    }

    @Test func aShorterListKeepsTheSelectionInside() {
        var list = scroll(count: 20, visible: 6, selected: 19)
        list.setCount(10)
        #expect(list.selected == 9 && list.window == 4..<10)
        list.setVisible(3)
        #expect(list.selected == 9 && list.window == 7..<10)
        list.setVisible(30)
        #expect(list.selected == 9 && list.window == 0..<10)
        list.setVisible(0)
        #expect(list.window == 9..<10)
    }

    @Test func theSelectionIsAlwaysVisible() {
        var list = scroll(count: 37, visible: 7)
        let commands = Command.allCases
        for step in 0..<500 {
            _ = list.perform(commands[step * 7 % commands.count])
            if step % 5 == 0 { list.setCount(step * 13 % 50) }
            if step % 3 == 0 { list.setVisible(step * 11 % 9) }
            #expect(list.isEmpty ? list.window.isEmpty : list.window.contains(list.selected))
            #expect(list.window.count == min(list.count, list.visible))
        }
    }
}
