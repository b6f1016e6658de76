import Testing

@testable import Settings

/// The parser and the table have the same commands and options.
@Suite struct InvocationTableTests {
    @Test func namesAndLettersAreUnique() {
        let names = InvocationTable.everyOption.map(\.name)
        #expect(Set(names).count == names.count)
        let letters = InvocationTable.everyOption.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
        let commands = InvocationTable.subcommands.map(\.name)
        #expect(Set(commands).count == commands.count)
        #expect(InvocationTable.options.allSatisfy { $0.setting == nil || SettingsTable.option(named: $0.name) == nil })
    }

    /// Returns a complete command line of a subcommand.
    private static func line(_ command: Subcommand) -> [String] {
        let words = command.arguments.map { argument in
            if case .words(let words) = argument { words[0] } else { "x" }
        }
        return command.name.isEmpty ? words : [command.name] + words
    }

    @Test(arguments: InvocationTable.subcommands.map(\.name)) func everyCommandIsUnderstood(name: String) throws {
        let command = try #require(InvocationTable.subcommand(named: name))
        let invocation = try Invocation(Self.line(command))
        if case .browse = invocation.command { #expect(name.isEmpty) }
        for argument in command.arguments {
            guard case .words(let words) = argument else { continue }
            for word in words {
                #expect(throws: Never.self) { try Invocation([name, word, "x"].prefix(name == "cache" ? 3 : 2)) }
            }
        }
    }

    /// Tries every option with every command.
    @Test(arguments: InvocationTable.subcommands.map(\.name)) func optionsBelongToTheirCommands(name: String) throws {
        let command = try #require(InvocationTable.subcommand(named: name))
        for option in InvocationTable.options where option.name != "help" && option.name != "version" {
            var line = Self.line(command)
            // Nothing else may be said beside these.
            if option.name == "all" { line = Array(line.prefix(name == "cache" ? 2 : 1)) }
            if name == "export", option.name == "unattended" { line = ["export"] }
            if name == "cache", option.name == "photos" { line = ["cache", "clear", "x"] }
            line.append("--" + option.name + (option.value == nil ? "" : "=80x24"))
            if option.owner == .everything || command.options.contains(where: { $0.name == option.name }) {
                #expect(throws: Never.self, "\(line)") { try Invocation(line) }
            } else {
                #expect(throws: SettingsError.misplacedOption("--" + option.name), "\(line)") { try Invocation(line) }
            }
        }
    }

    @Test func theUsageNamesTheOptions() {
        for command in InvocationTable.subcommands {
            for option in command.options {
                #expect(
                    command.forms.contains { $0.usage.contains("--" + option.name) }, "\(command.name) \(option.name)")
            }
        }
    }

    @Test func whatCanStandBehindAnOption() throws {
        func values(_ name: String) throws -> ValueKind? {
            try #require(InvocationTable.everyOption.first { $0.name == name }).values
        }
        #expect(try values("log-level") == .words(["error", "info", "debug"]))
        #expect(try values("colors") == .words(["auto", "none", "16", "256", "full"]))
        #expect(try values("transfers") == .words(["auto"]))
        #expect(try values("config") == .file && values("cache-dir") == .folder)
        #expect(try values("row-height") == .anything && values("offline") == nil)
    }
}
