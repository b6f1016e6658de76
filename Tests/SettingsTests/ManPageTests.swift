import Cells
import Commands
import Foundation
import TestSupport
import Testing

@testable import Settings

@Suite struct ManPageTests {
    private let page = ManPage.text(version: "1.0")

    /// Returns a line as readers see it.
    private static func read(_ line: Substring) -> String {
        var text = ["\\fB", "\\fI", "\\fR", "\\&"].reduce(String(line)) { $0.replacingOccurrences(of: $1, with: "") }
        for (escape, sign) in [
            ("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\(dq", "\""),
        ] {
            text = text.replacingOccurrences(of: escape, with: sign)
        }
        return text.replacingOccurrences(of: "\\(rs", with: "\\")
    }

    /// Returns the terms of a section or subsection.
    private func terms(_ heading: String) -> [String] {
        let lines = page.split(separator: "\n")
        let isEnd = { (line: Substring) in line.hasPrefix(".SH") || line.hasPrefix(".SS") && heading.hasPrefix(".SS") }
        let section = lines.drop { Self.read($0) != heading }.dropFirst().prefix { !isEnd($0) }
        return zip(section, section.dropFirst()).filter { $0.0 == ".TP" }.map { Self.read($0.1) }
    }

    @Test func listsEveryCommand() {
        let forms = InvocationTable.subcommands.flatMap { command in
            command.forms.map { form in
                ["vitrine", command.name, form.usage].filter { !$0.isEmpty }.joined(separator: " ")
                    .replacingOccurrences(of: "…", with: "...")
            }
        }
        #expect(terms(".SH \"COMMANDS\"") == forms)
    }

    @Test func listsEveryOption() {
        let names = terms(".SH \"OPTIONS\"").compactMap { term in
            term.split(separator: " ").first { $0.hasPrefix("--") }.map(String.init)
        }
        #expect(names == InvocationTable.everyOption.map { "--" + $0.name })
    }

    @Test(arguments: CommandTable.Scope.allCases) func listsEveryKey(scope: CommandTable.Scope) {
        let entries = CommandTable.entries.filter { $0.scope == scope }
        let expected = entries.map { entry in
            (entry.keys.map(\.description) + ["(\(entry.usage))"]).joined(separator: " ")
        }
        #expect(terms(".SS \"\(scope.rawValue) (\(scope.name))\"") == expected)
    }

    @Test func hasTheUsualSections() {
        let sections = page.split(separator: "\n").filter { $0.hasPrefix(".SH") }.map { $0.dropFirst(5).dropLast() }
        #expect(
            sections == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "KEYS", "SETTINGS", "FILES", "ENVIRONMENT",
                "EXIT STATUS",
            ])
        #expect(page.allSatisfy(\.isASCII) && page.contains("cache\\-limit = 2G"))
        #expect(terms(".SH \"EXIT STATUS\"") == InvocationTable.exitCodes.map { String($0.code) } + ["128 + n"])
        #expect(terms(".SH \"FILES\"").contains("~/.config/vitrine/config"))
    }

    @Test func listsFilesAndVariables() {
        let files = terms(".SH \"FILES\"")
        for name in ["running", "reports", "export-....sh"] {
            #expect(files.contains("~/.local/state/vitrine/" + name), "\(files)")
        }
        let variables = terms(".SH \"ENVIRONMENT\"").flatMap { $0.components(separatedBy: ", ") }
        for name in ["AWS_DEFAULT_REGION", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"] {
            #expect(variables.contains(name), "\(variables)")
        }
    }

    @Test(
        .ownThread, .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/man")),
        arguments: ["C", "C.UTF-8"])
    func manShowsItWithoutWarnings(locale: String) throws {
        let file = TestFolder()
        let path = file.write("vitrine.1", page)
        var environment = ProcessInfo.processInfo.environment
        environment["LC_ALL"] = locale
        environment["MANWIDTH"] = "80"
        let man = try TestSupport.Command("/usr/bin/man", ["--warnings", "-l", path], environment: environment)
        #expect(man.status == 0 && man.errors == "")
        #expect(man.text.contains("VITRINE(1)") && man.text.contains("--cache-dir DIR"))
    }
}
