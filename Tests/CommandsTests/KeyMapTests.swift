import Cells
import Testing

@testable import Commands

@Suite struct KeyMapTests {
    private func map(_ bindings: (scope: String, key: String, command: String)...) throws -> KeyMap {
        var map = KeyMap()
        for binding in bindings { try map.bind(binding.key, to: binding.command, in: binding.scope) }
        return map
    }

    @Test func defaultKeysAreTheTables() {
        #expect(KeyMap().entries == CommandTable.entries)
        #expect(KeyMap().command(for: .character("j"), in: [.photos, .lists, .everywhere]) == .down)
        #expect(KeyMap().key(for: .down, in: [.photos, .lists, .everywhere]) == .character("j"))
    }

    @Test func aBindingReplacesTheKeysCommand() throws {
        let map = try map(("lists", "g", "last"), ("photos", "J", "next-section"))
        #expect(map.command(for: .character("g"), in: [.lists]) == .last)
        #expect(map.key(for: .last, in: [.lists]) == .character("g"))
        #expect(map.key(for: .first, in: [.lists]) == Key(.home))
        #expect(map.command(for: .character("J"), in: [.photos, .lists]) == .nextSection)
        #expect(map.command(for: .character("}"), in: [.photos, .lists]) == .nextSection)
        #expect(map.command(for: .character("J"), in: [.errors, .lists]) == nil)
        #expect(map != KeyMap())
    }

    @Test func anUnboundKeyHasNoCommand() throws {
        let map = try map(("galleries", "q", "none"), ("everywhere", "^Z", "none"))
        #expect(map.command(for: .character("q"), in: [.galleries, .lists, .everywhere]) == nil)
        #expect(map.command(for: .character("q"), in: [.log, .lists, .everywhere]) == .back)
        #expect(map.command(for: .control("z"), in: [.galleries, .lists, .everywhere]) == nil)
        #expect(map.key(for: .suspend, in: [.everywhere]) == nil)
    }

    @Test("While the user types, keys move in lists or act on all screens, but never on entries")
    func keysWhileTyping() throws {
        let map = try map(("photos", "^D", "delete"), ("photos", "F5", "renew"), ("photos", "F2", "none"))
        let scopes: [CommandTable.Scope] = [.photos, .lists, .everywhere]
        for key in [Key(.down), Key(.pageUp), .control("u"), Key(.function(1)), .control("l")] {
            #expect(map.worksWhileTyping(key, in: scopes), "\(key)")
        }
        for key in [.control("r"), Key(.tab), .control("d"), Key(.function(5)), Key(.function(2)), .control("y")] {
            #expect(!map.worksWhileTyping(key, in: scopes), "\(key)")
        }
    }

    /// A hint names a key that does what it says.
    @Test func hintsSkipKeysWithAnotherCommandInANearerScope() throws {
        let map = try map(("photos", "?", "refresh"), ("photos", "r", "none"), ("photos", "q", "none"))
        let scopes: [CommandTable.Scope] = [.photos, .lists, .everywhere]
        #expect(map.key(for: .help, in: scopes) == Key(.function(1)))
        #expect(map.key(for: .refresh, in: scopes) == .character("?"))
        #expect(map.key(for: .back, in: scopes) == Key(.escape))
    }

    @Test(arguments: [
        (
            "sheets", "x", "down",
            "Unknown scope “sheets”. Use one of " + CommandTable.Scope.allCases.map(\.name).joined(separator: ", ")
                + "."
        ),
        (
            "lists", "Ctrl-x", "down",
            "Unknown key “Ctrl-x”. Write a character, ^F for Ctrl+F, M-f for Alt+F, or a name like PgUp or F1."
        ),
        (
            "sorting", "x", "sort-by-colour",
            "Unknown command “sort-by-colour”. In the scope “sorting”, use one of sort-by-date, "
                + "sort-by-date-reversed, sort-by-name, sort-by-name-reversed, sort-by-size, sort-by-size-reversed, "
                + "sort-by-state, sort-by-state-reversed, sort-by-rating, sort-by-rating-reversed, none."
        ),
        (
            "errors", "x", "zoom-in",
            "“zoom-in” is not a command of the scope “errors”. Use one of open, retry, retry-all, copy, clear, none."
        ),
        ("lists", "g", "first", "The key “g” is already bound in the scope “lists”."),
    ]) func invalidBindingsAreRefused(scope: String, key: String, command: String, sentence: String) throws {
        var map = try map(("lists", "g", "last"))
        let before = map
        let error = #expect(throws: CommandsError.self) { try map.bind(key, to: command, in: scope) }
        #expect(error?.description == sentence)
        #expect(map == before)
    }

    @Test func namesAreHyphenated() {
        #expect(Command.nextSection.name == "next-section" && Command.up.name == "up")
        #expect(Command.switchXML.name == "switch-xml" && Command.switchNetworkDetail.name == "switch-network-detail")
        for command in Command.allCases { #expect(Command(named: command.name) == command) }
        for scope in CommandTable.Scope.allCases { #expect(CommandTable.Scope(named: scope.name) == scope) }
        #expect(Command(named: "nextSection") == nil && CommandTable.Scope(named: "Log") == nil)
        #expect(!Command.allCases.contains { $0.name == KeyMap.nothing })
    }
}
