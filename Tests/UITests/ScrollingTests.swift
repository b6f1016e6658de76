import Cells
import Model
import TestSupport
import Testing

@testable import Cache
@testable import SQLite
@testable import UI

/// The database queries of each frame while a long list scrolls.
@MainActor @Suite(.unlessItHangs) struct ScrollingTests {
    @Test func eachFrameReadsOnlyItsWindow() async throws {
        let screens = try TestScreens()
        try await screens.sync(
            (0..<6_000).map { try TestScreens.entry("\($0)", name: "Sea \($0)", date: Int64($0) * 100_000) })
        screens.open()
        let list = try #require(screens.root.children.compactMap { $0 as? PhotosScreen }.last)
        try await screens.until { list.lists.shown.key(at: 5_999) != nil }
        screens.press("/", "s")
        try await screens.until { list.lists.found?.count == 6_000 }
        screens.press(Key(.enter))
        let keys = [
            Key(.pageDown), Key(.pageDown), Key(.end), Key(.pageUp), Key(.home), "}", "}", "{", "n", "N", "j", "k",
        ]
        for key in keys + keys.shuffled() + keys.shuffled() {
            let before = (list.lists.shown.reader.connection.work, list.lists.reader.connection.work)
            screens.press(key)
            _ = screens.frame()
            let after = (list.lists.shown.reader.connection.work, list.lists.reader.connection.work)
            let statements = after.0.statements - before.0.statements + after.1.statements - before.1.statements
            let rows = after.0.rows - before.0.rows + after.1.rows - before.1.rows
            #expect(statements == 1, "\(key)")
            #expect(rows == list.scroll.window.count, "\(key)")
        }
    }
}
