import Testing

@testable import Settings

@Suite struct HelpTextTests {
    @Test func everyOptionIsExplained() throws {
        let lines = HelpText.text.split(separator: "\n").map(String.init)
        for option in SettingsTable.options {
            let name = "--" + option.name + (option.value.map { " " + $0 } ?? "")
            let index = try #require(lines.firstIndex { $0.contains(name) }, "\(option.name)")
            // Long options have their description in the next line.
            let explanation = lines[index] + lines[index + 1]
            #expect(explanation.contains(option.meaning), "\(option.name)")
            if let letter = option.letter { #expect(lines[index].contains("  -\(letter), --"), "\(option.name)") }
        }
    }

    @Test func everyExplainedOptionIsParsed() throws {
        let options = HelpText.text.split(separator: "\n").drop { $0 != "Options:" }.dropFirst()
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("       ") }
        #expect(options.count == SettingsTable.options.count + InvocationTable.options.count)
        for line in options {
            let words = line.split(separator: " ")
            let name = try #require(words.first { $0.hasPrefix("--") })
            // The parser knows the option, with or without a value.
            do {
                _ = try Invocation([String(name), "x"])
            } catch SettingsError.unknownOption {
                Issue.record("\(name) is not understood")
            } catch {}
        }
    }

    @Test(arguments: InvocationTable.subcommands.map(\.name)) func everyCommandIsExplained(name: String) throws {
        let command = try #require(InvocationTable.subcommand(named: name))
        for form in command.forms {
            let usage = ["vitrine", name, form.usage].filter { !$0.isEmpty }.joined(separator: " ")
            #expect(HelpText.text.contains("  \(usage) ") || HelpText.text.contains("  \(usage)\n"))
            #expect(HelpText.text.contains(form.meaning))
        }
    }

    @Test("The help offers --json only for the list of settings, and says that all photos include no videos")
    func formsOfConfigAndVideos() {
        #expect(HelpText.text.contains("vitrine config list [--json]|path"))
        let lines = HelpText.text.split(separator: "\n")
        for name in ["--all-photos", "--photos"] {
            #expect(lines.contains { $0.contains(" \(name) ") && $0.contains(" no video") }, "\(name)")
        }
    }

    @Test func linesFitATerminal() {
        #expect(HelpText.text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test func namesExitCodesAndFiles() {
        for word in ["Exit codes: 0 ", "$XDG_CONFIG_HOME/vitrine/config", "--help", "--version"] {
            #expect(HelpText.text.contains(word))
        }
    }
}
