import Cells
import Commands
import TestSupport
import Testing

@testable import UI

@Suite struct ListLinesTests {
    /// Returns lines for sections of some lengths.
    private func lines(_ lengths: [Int], columns: Int, hasTitles: Bool = true) -> ListLines {
        var sections: [Range<Int>] = []
        for length in lengths {
            sections.append((sections.last?.upperBound ?? 0)..<(sections.last?.upperBound ?? 0) + length)
        }
        return ListLines(count: lengths.reduce(0, +), columns: columns, hasTitles: hasTitles) { [sections] index in
            sections.first { $0.contains(index) }
        }
    }

    @Test func eachSectionBeginsALine() {
        let lines = lines([5, 1, 3], columns: 3)
        let expected = [0..<3, 3..<5, 5..<6, 6..<9]
        for line in expected {
            for index in line { #expect(lines.line(of: index) == line) }
        }
        for (line, next) in zip(expected, expected.dropFirst()) {
            #expect(lines.line(after: line) == next && lines.line(before: next) == line)
        }
        #expect(lines.line(after: 6..<9) == nil && lines.line(before: 0..<3) == nil)
        #expect(lines.line(2, after: 0..<3) == 5..<6 && lines.line(-9, after: 5..<6) == 0..<3)
        #expect(expected.map { lines.beginsSection($0) } == [true, false, true, true])
    }

    /// The cost does not depend on the length of the list.
    @Test func aMillionEntriesNeedFewLookups() {
        var asked = 0
        let lines = ListLines(count: 1_000_000, columns: 7, hasTitles: true) { index in
            asked += 1
            return index / 100 * 100..<index / 100 * 100 + 100
        }
        var scroll = ListScroll()
        scroll.setCount(1_000_000)
        for command in [Command.down, .last, .up, .pageUp, .first, .pageDown, .halfPageDown, .right] {
            _ = scroll.perform(command, in: lines)
            scroll.layOut(lines, rows: 40, height: 8)
            #expect(scroll.window.contains(scroll.selected))
        }
        #expect(asked < 8 * 100)
    }

    /// After any steps, the selection is visible, the window has whole lines, and the end wastes no space.
    @Test(arguments: [1, 2, 5]) func randomStepsKeepAValidWindow(columns: Int) {
        var random = SeededNumbers(seed: UInt64(columns))
        for _ in 0..<60 {
            let lengths = (0..<Int.random(in: 1...9, using: &random)).map { _ in Int.random(in: 1...12, using: &random)
            }
            let hasTitles = Bool.random(using: &random)
            let lines = lines(lengths, columns: columns, hasTitles: hasTitles)
            var scroll = ListScroll()
            scroll.setCount(lines.count)
            for _ in 0..<40 {
                let (rows, height) = (Int.random(in: 5...30, using: &random), Int.random(in: 1...4, using: &random))
                switch Int.random(in: 0..<10, using: &random) {
                case 0: scroll.select(Int.random(in: 0..<lines.count, using: &random))
                case 1: scroll.roll(by: Int.random(in: -3...3, using: &random), in: lines)
                case 2: scroll.roll(to: Int.random(in: -1...lines.count, using: &random), in: lines)
                default: _ = scroll.perform(Command.allCases.randomElement(using: &random)!, in: lines)
                }
                scroll.layOut(lines, rows: rows, height: height)
                let window = scroll.window
                #expect(window.contains(scroll.selected))
                #expect(lines.line(of: window.lowerBound).lowerBound == window.lowerBound)
                #expect(lines.line(of: window.upperBound - 1).upperBound == window.upperBound)
                var (used, line) = (0, lines.line(of: window.lowerBound))
                while true {
                    let isTitled = hasTitles && (line.lowerBound == window.lowerBound || lines.beginsSection(line))
                    used += height + (isTitled ? 1 : 0)
                    guard let next = lines.line(after: line), next.lowerBound < window.upperBound else { break }
                    line = next
                }
                #expect(used <= rows || window == lines.line(of: scroll.selected))
                // At the end, the line above does not fit.
                if window.upperBound == lines.count, let above = lines.line(before: lines.line(of: window.lowerBound)) {
                    let isTitled = hasTitles && lines.beginsSection(lines.line(of: window.lowerBound))
                    let more = height + (hasTitles && isTitled ? 1 : 0)
                    #expect(used + more > rows, "\(above)")
                }
            }
        }
    }

    @Test func rollingMovesWholeLines() {
        let lines = lines([5, 1, 30], columns: 3, hasTitles: false)
        var scroll = ListScroll()
        scroll.setCount(36)
        scroll.layOut(lines, rows: 8, height: 2)
        scroll.select(1)
        #expect(scroll.window == 0..<9)
        scroll.roll(by: 1, in: lines)
        scroll.layOut(lines, rows: 8, height: 2)
        #expect(scroll.window == 3..<12 && scroll.selected == 4)
        scroll.roll(by: 99, in: lines)
        scroll.layOut(lines, rows: 8, height: 2)
        #expect(scroll.window == 24..<36)
        scroll.roll(by: 1, in: lines)
        #expect(scroll.window == 24..<36)
    }
}
