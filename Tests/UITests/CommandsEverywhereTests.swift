import Cells
import Commands
import Foundation
import Settings
import TestSupport
import Testing

@testable import UI

/// One table defines the commands. Every list of commands has exactly these.
@MainActor @Suite(.unlessItHangs) struct CommandsEverywhereTests {
    /// A command in a list: its scope, its keys and its description.
    private struct Line: Hashable, CustomStringConvertible {
        let scope: String
        let keys: String
        let meaning: String

        var description: String { "\(scope): \(keys) \(meaning)" }
    }

    private let table = CommandTable.entries

    @Test("Help, manual page, command line and completions have the commands of the tables")
    func oneTable() async throws {
        let lines = Set(
            table.map {
                Line(
                    scope: $0.scope.rawValue, keys: $0.keys.map(\.description).joined(separator: " "),
                    meaning: $0.meaning)
            })
        #expect(lines.count == table.count)
        let names = Set(table.map(\.command.name))
        #expect(names == Set(Command.allCases.map(\.name)))

        let screens = try await TestScreens.offering(["a", "b"], columns: 160)
        let (help, typed) = try await listed(screens)
        #expect(help.symmetricDifference(lines).map(\.description) == [], "the help")
        #expect(typed.symmetricDifference(names) == [], "the command line")

        let page = ManPage.text(version: "1.0").split(separator: "\n").map(Self.plain)
        let (explained, usages) = keys(of: page)
        #expect(explained.symmetricDifference(lines).map(\.description) == [], "the manual page")
        #expect(usages.symmetricDifference(table.map(\.usage)) == [], "the manual page")

        // The program's subcommands and options have their own table.
        let commands = Set(InvocationTable.subcommands.map(\.name).filter { !$0.isEmpty })
        let options = Set(InvocationTable.everyOption.map { "--" + $0.name })
        #expect(self.commands(of: section("COMMANDS", of: page)) == commands)
        #expect(self.options(of: section("OPTIONS", of: page)) == options)
        let usage = HelpText.text.split(separator: "\n").map(String.init)
        #expect(self.commands(of: usage) == commands)
        #expect(self.options(of: usage) == options)
        for shell in Invocation.Shell.allCases {
            let (found, known) = completed(by: shell)
            #expect(found.symmetricDifference(commands) == [], "\(shell)")
            #expect(known.symmetricDifference(options) == [], "\(shell)")
        }
    }

    // MARK: - Inside

    /// Returns the commands in the help, and the completions of all screens' command lines.
    private func listed(_ screens: TestScreens) async throws -> (help: Set<Line>, typed: Set<String>) {
        var typed: Set<String> = []
        func note() throws {
            let top = try #require(screens.root.children.last)
            let offered = KeyMap().entries(in: top.commandScopes).filter(top.offers)
            let names = completions(screens, offered.count)
            #expect(names == offered.map(\.command.name))
            typed.formUnion(names)
        }
        try note()
        screens.open()
        try note()
        screens.press(Key(.tab))
        try note()
        screens.press(Key(.enter))
        try note()
        screens.type("c")
        try note()
        screens.type("qii")
        try note()
        for key in "TEL" {
            screens.press(.character(key))
            try note()
        }
        screens.press(Key(.function(2)))
        try note()
        screens.press("?")
        screens.size.rows = table.count * 2
        return (help(screens.frame()), typed)
    }

    /// Presses Tab so many times, and returns the completions.
    private func completions(_ screens: TestScreens, _ count: Int) -> [String] {
        screens.press(":")
        let names = (0..<count).map { _ in
            screens.press(Key(.tab))
            return String(screens.status.dropFirst().prefix { $0 != " " })
        }
        // After the last completion, Tab returns to the first.
        screens.press(Key(.tab))
        #expect(screens.status.dropFirst().hasPrefix(names[0]))
        screens.press(Key(.escape))
        return names
    }

    /// Returns the lines of a help that fits on the screen.
    private func help(_ frame: Surface) -> Set<Line> {
        let typed = Dictionary(
            table.filter { $0.parameter?.isNeeded == true }.map { (":" + $0.usage, "") }, uniquingKeysWith: { $1 })
        var (lines, scope): (Set<Line>, String) = ([], "")
        for row in 1..<frame.size.rows - 1 {
            let text = frame.text(inRow: row)
            if let entry = text.wholeMatch(of: #/   (\S.*?)  +(\S.*?)/#) {
                let keys = String(entry.output.1)
                lines.insert(Line(scope: scope, keys: typed[keys] ?? keys, meaning: String(entry.output.2)))
            } else if !text.isEmpty {
                scope = text.trimmingCharacters(in: .whitespaces)
            }
        }
        return lines
    }

    // MARK: - The manual page

    /// Returns a line of the manual page without its markup.
    private static func plain(_ line: Substring) -> String {
        var text = String(line)
        for (escape, sign) in [
            ("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\&", ""), ("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"),
            ("\\(ha", "^"), ("\\(ti", "~"), ("\\(dq", "\""), ("\\(rs", "\\"),

        ] {
            text = text.replacingOccurrences(of: escape, with: sign)
        }
        return text.replacing(#/\\\[u([0-9A-F]+)\]/#) {
            UInt32($0.output.1, radix: 16).flatMap(UnicodeScalar.init).map { String($0) } ?? ""
        }
    }

    private func section(_ name: String, of page: [String]) -> [String] {
        Array(page.drop { $0 != ".SH \"\(name)\"" }.dropFirst().prefix { !$0.hasPrefix(".SH") })
    }

    /// Returns the page's lines about keys, and the usages of its commands.
    private func keys(of page: [String]) -> (lines: Set<Line>, usages: Set<String>) {
        let page = section("KEYS", of: page)
        var (lines, usages, scope): (Set<Line>, Set<String>, String) = ([], [], "")
        for (index, line) in page.enumerated() {
            if let heading = line.wholeMatch(of: #/\.SS "(.*) \(.*\)"/#) { scope = String(heading.output.1) }
            guard line == ".TP", index + 2 < page.count else { continue }
            guard let term = page[index + 1].wholeMatch(of: #/(.*?) ?\((.*)\)/#) else { continue }
            lines.insert(
                Line(scope: scope, keys: String(term.output.1), meaning: String(page[index + 2].dropLast())))
            usages.insert(String(term.output.2))
        }
        return (lines, usages)
    }

    // MARK: - In a shell

    /// Returns the subcommands in lines that begin with the program's name.
    private func commands(of lines: [String]) -> Set<String> {
        Set(lines.compactMap { $0.firstMatch(of: #/^ *vitrine ([a-z]+)/#).map { String($0.output.1) } })
    }

    /// Returns the options at the beginning of lines, after their short forms.
    private func options(of lines: [String]) -> Set<String> {
        Set(lines.compactMap { $0.firstMatch(of: #/^ *(?:-\w, )?(--[a-z-]+)/#).map { String($0.output.1) } })
    }

    /// Returns the commands and options in a shell's completions.
    private func completed(by shell: Invocation.Shell) -> (commands: Set<String>, options: Set<String>) {
        let text = Completions.text(for: shell)
        func all(_ pattern: Regex<(Substring, Substring)>) -> [String] {
            text.matches(of: pattern).map { String($0.output.1) }
        }
        switch shell {
        case .bash:
            let words =
                all(#/ :0\) _vitrine_words "\$current" ([a-z ]+);/#)
                + all(#/_vitrine_words "\$current" (-[-a-zA-Z ]+)/#)
            let each = words.flatMap { $0.split(separator: " ").map(String.init) }
            return (Set(each.filter { !$0.hasPrefix("-") }), Set(each.filter { $0.hasPrefix("--") }))
        case .zsh: return (Set(all(#/(?m)^        '([a-z]+):/#)), Set(all(#/'(--[a-z-]+?)(?:=-?)?\[/#)))
        case .fish: return (Set(all(#/' -a ([a-z]+) -d/#)), Set(all(#/ -l ([a-z-]+) /#).map { "--" + $0 }))
        }
    }
}
