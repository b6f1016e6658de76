import Commands
import Cells
import Testing

@testable import UI

@MainActor @Suite struct CommandTableTests {
    /// The scopes of every screen.
    private nonisolated static let screens: [[CommandTable.Scope]] = [
        [.galleries, .lists, .everywhere], [.photos, .lists, .everywhere], [.sheet, .photos, .lists, .everywhere],
        [.photo, .everywhere],
        [.fields, .photo, .everywhere],
        [.transfers, .lists, .everywhere], [.errors, .lists, .everywhere], [.log, .lists, .everywhere],
        [.settings, .lists, .everywhere],
        [.lists, .everywhere],
    ]

    @Test("BEHAVIOURS 7.4: every command is in the table, with a key and a description")
    func complete() {
        #expect(Set(CommandTable.entries.map(\.command)) == Set(Command.allCases))
        for entry in CommandTable.entries {
            // A command without a key needs an argument.
            let canBeGiven = !entry.keys.isEmpty || entry.parameter?.isNeeded == true
            #expect(canBeGiven && !entry.meaning.isEmpty, "\(entry.command)")
        }
    }

    @Test("BEHAVIOURS 7.4: no key is bound twice in one context", arguments: CommandTable.Scope.allCases)
    func unambiguous(scope: CommandTable.Scope) {
        let keys = CommandTable.entries.filter { $0.scope == scope }.flatMap(\.keys)
        #expect(Set(keys).count == keys.count)
        let commands = CommandTable.entries.filter { $0.scope == scope }.map(\.command)
        #expect(Set(commands).count == commands.count)
    }

    /// The scopes of the screens with folders, albums or two photos.
    private nonisolated static let folders: [[CommandTable.Scope]] = [
        [.comparison, .rating, .everywhere],
        [.albums, .lists, .everywhere],
        [.folders, .photos, .lists, .everywhere], [.sheet, .folders, .photos, .lists, .everywhere],
    ]

    @Test("BEHAVIOURS 7.4: every command of a screen can be reached", arguments: screens + folders)
    func reachable(scopes: [CommandTable.Scope]) {
        for entry in CommandTable.entries where scopes.contains(entry.scope) {
            // A nearer scope may override some of a command's keys, but not all.
            let isReachable = entry.keys.contains { KeyMap().command(for: $0, in: scopes) == entry.command }
            #expect(isReachable || entry.keys.isEmpty, "\(entry.command) in \(scopes)")
        }
    }

    @Test func scopesMatchTheScreens() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        var seen: [[CommandTable.Scope]] = []
        func note() { seen.append(screens.root.children.last?.scopes ?? []) }
        note()
        screens.open()
        note()
        screens.press(Key(.tab))
        note()
        screens.press(Key(.enter))
        note()
        screens.type("ii")
        note()
        for key in [.character("T"), .character("E"), .character("L"), Key(.function(2)), .character("?")] as [Key] {
            screens.press(key)
            note()
        }
        #expect(seen == Self.screens)
    }

    @Test func theNearestScopeWins() {
        #expect(KeyMap().command(for: "h", in: [.photo, .everywhere]) == .left)
        #expect(KeyMap().command(for: "h", in: [.photos, .lists, .everywhere]) == .back)
        // In the list of galleries, the back key does not end the program.
        #expect(KeyMap().command(for: "h", in: [.galleries, .lists, .everywhere]) == nil)
        #expect(KeyMap().command(for: " ", in: [.lists]) == .pageDown)
        #expect(KeyMap().command(for: "%", in: CommandTable.Scope.allCases) == nil)
        #expect(KeyMap().key(for: .open, in: [.photos]) == Key(.enter))
        #expect(KeyMap().key(for: .zoomIn, in: [.photos, .everywhere]) == nil)
    }

    @Test func hintsNameWorkingKeys() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        var count = 0
        func check() throws {
            let top = try #require(screens.root.children.last)
            for hint in top.footing.hints {
                let key = try #require(KeyMap().key(for: hint.command, in: top.scopes))
                #expect(KeyMap().command(for: key, in: top.scopes) == hint.command)
                count += 1
            }
        }
        try check()
        screens.open()
        try check()
        for key in [Key(.enter), .character("T"), .character("E"), .character("L"), Key(.function(2)), .character("?")]
        {
            screens.press(key)
            try check()
        }
        #expect(count > 10)
    }
}
