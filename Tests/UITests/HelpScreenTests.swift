import Commands
import Cells
import Settings
import Testing

@testable import UI

@MainActor @Suite struct HelpScreenTests {
    private nonisolated static let sizes = [
        Size(columns: 80, rows: 24), Size(columns: 40, rows: 12), Size(columns: 20, rows: 5),
    ]
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// Returns all rows of the help, in the order of scrolling.
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
            screens.press(Key(.down))
        }
    }

    /// Removes spaces, so that line breaks do not matter in comparisons.
    private func words(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    @Test("BEHAVIOURS 7.4: the help has every key and description on every screen size", arguments: sizes)
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

    @Test func aWideHelpHasOneLinePerCommand() {
        let rows = rows(Self.sizes[0])
        for entry in CommandTable.entries {
            let typed = entry.parameter?.isNeeded == true ? [":" + entry.usage] : []
            let keys = (entry.keys.map(\.description) + typed).joined(separator: " ")
            #expect(rows.contains { $0.hasPrefix("   " + keys) && $0.hasSuffix("  " + entry.meaning) }, "\(keys)")
        }
    }

    @Test func theHelpStartsWithTheCurrentScreen() {
        screens.press("?")
        #expect(screens.rowBesideBar(1) == " Galleries")
        screens.press(Key(.escape))
        screens.open()
        screens.press("?")
        #expect(screens.rowBesideBar(1) == " Photos")
    }

    @Test func theHelpKeyClosesTheHelp() {
        for key in [Key(.function(1)), .control("c"), Key(.escape)] {
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
        screens.press(Key(.pageDown))
        let second = screens.text
        #expect(second != first)
        screens.press(Key(.end))
        let last = screens.text
        #expect(last != second)
        screens.press(Key(.pageDown), Key(.down))
        #expect(screens.text == last)
        screens.press(Key(.home))
        #expect(screens.text == first)
        screens.press(Key(.pageUp), Key(.up))
        #expect(screens.text == first)
        // A resize while scrolled is harmless.
        screens.press(Key(.end))
        screens.size = Size(columns: 20, rows: 5)
        #expect(!screens.text.isEmpty)
    }

    @Test("^D and ^U scroll the help by half a page", arguments: sizes)
    func halfPages(size: Size) {
        screens.size = size
        screens.press("?")
        func page() -> [String] { (1..<size.rows - 1).map { screens.rowBesideBar($0) } }
        let first = page()
        screens.press(.control("d"))
        #expect(page().dropLast(first.count / 2) == first.dropFirst(first.count / 2))
        screens.press(.control("u"))
        #expect(page() == first)
    }

    @Test(arguments: sizes.prefix(2)) func typingFiltersTheHelp(size: Size) throws {
        screens.size = size
        screens.press("?")
        let all = screens.text
        screens.type("next SECTION")
        #expect(words(screens.text).contains("nextsection") && screens.text.contains("Filter: next"))
        let frame = screens.frame()
        let shown = words((1..<size.rows - 2).map { frame.text(inRow: $0) }.joined())
        let found = CommandTable.entries.filter { shown.contains(words($0.meaning)) }
        #expect(found.map(\.command) == [.nextSection])
        screens.press(.control("w"), .control("w"))
        screens.type("no such thing")
        #expect(screens.text.contains("No matches"))
        for _ in 0..<13 { screens.press(Key(.backspace)) }
        #expect(screens.text == all)
        screens.press(Key(.escape))
        #expect(screens.title.hasPrefix(" Galleries"))
    }

    /// The help has the user's own key bindings.
    @Test func theHelpShowsTheUsersKeys() throws {
        var settings = Settings()
        try settings.keys.bind("J", to: "page-down", in: "lists")
        try settings.keys.bind("^Z", to: "none", in: "everywhere")
        let screens = try TestScreens(settings)
        screens.press("?")
        screens.type("a page down")
        #expect(screens.text.contains("   J PgDn ^F Space "))
        for _ in 0..<20 { screens.press(Key(.backspace)) }
        screens.type("^z")
        #expect(screens.text.contains("No matches"))
    }
}
