import Commands
import Cells
import Testing

@testable import Screens

@MainActor @Suite struct HelpScreenTests {
    private nonisolated static let sizes = [
        Size(columns: 80, rows: 24), Size(columns: 40, rows: 12), Size(columns: 20, rows: 5),
    ]
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// Every row that comes into view from the first to the last.
    private func rows(_ size: Size) -> [String] {
        screens.size = size
        screens.press("?")
        var rows: [String] = []
        var before: [String] = []
        while true {
            let page = (1..<size.rows - 1).map { screens.rowBesideBar($0) }
            if page == before { return rows }
            rows += before.isEmpty ? page : [page[page.count - 1]]
            before = page
            screens.press("j")
        }
    }

    /// Text without the spaces between its words, so that it is found wherever its lines were broken.
    private func words(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    @Test("BEHAVIOURS 7.4: the help has every key and all of what it does, however small the screen", arguments: sizes)
    func everything(size: Size) {
        let rows = rows(size)
        let all = words(rows.joined())
        for entry in CommandTable.entries {
            let isThere = all.contains(words(entry.meaning)) && entry.keys.allSatisfy { all.contains($0.description) }
            #expect(isThere, "\(entry.meaning)")
        }
        #expect(!rows.contains { $0.contains("…") })
        for scope in CommandTable.Scope.allCases { #expect(rows.contains(" " + scope.rawValue)) }
    }

    @Test func wideEnoughEachCommandHasOneLine() {
        let rows = rows(Self.sizes[0])
        for entry in CommandTable.entries {
            let keys = entry.keys.map(\.description).joined(separator: " ")
            #expect(rows.contains { $0.hasPrefix("   " + keys) && $0.hasSuffix("  " + entry.meaning) }, "\(keys)")
        }
    }

    @Test func itBeginsWithWhereOneIs() {
        screens.press("?")
        #expect(screens.rowBesideBar(1) == " Galleries")
        screens.press("q")
        screens.open()
        screens.press("?")
        #expect(screens.rowBesideBar(1) == " Photos")
    }

    @Test func itIsLeftAsItWasCome() {
        for key in ["?", "q", Key(.escape)] {
            screens.press("?")
            #expect(screens.title.hasPrefix(" Help"))
            screens.press(key)
            #expect(screens.title.hasPrefix(" Galleries"))
        }
    }

    @Test(arguments: sizes) func paging(size: Size) {
        screens.size = size
        screens.press("?")
        let first = screens.text
        screens.press(" ")
        let second = screens.text
        #expect(second != first)
        screens.press("G")
        let last = screens.text
        #expect(last != second)
        screens.press(" ", "j")
        #expect(screens.text == last)
        screens.press("g")
        #expect(screens.text == first)
        screens.press(Key(.pageUp), "k")
        #expect(screens.text == first)
        // A smaller window in the middle of it does no harm.
        screens.press("G")
        screens.size = Size(columns: 20, rows: 5)
        #expect(!screens.text.isEmpty)
    }
}
