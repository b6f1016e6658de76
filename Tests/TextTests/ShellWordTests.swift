import Foundation
import Testing

@testable import Text

/// Shell words, parsed by a real shell.
@Suite struct ShellWordTests {
    @Test(
        "A shell parses a word back to the original",
        arguments: [
            "", "plain/word.jpg", "two words", "it's", "'", "''", "$HOME `id` $(id)", "a\\b\"c", "~", "*?[a]",
            "line\nbreak\n",
            "\u{1B}[2J\u{7}", "é 写真 \u{202E}", "-n", "#", "!x", "a;b&c|d<e>f(g)", "=x",
            "'\u{301}; echo run; '\u{301}", "'\u{200D}; echo run; '\u{FE0F}", "'\u{20E3}; echo run #",
        ])
    func isRead(word: String) throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "printf %s " + "x\(word)".shellWord + "; printf %s " + word.shellWord]
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect([UInt8](output) == Array(("x" + word + word).utf8))
    }

    @Test("A word that needs no quotes gets none")
    func plain() {
        #expect("/home/me/Pictures".shellWord == "/home/me/Pictures" && "a b".shellWord == "'a b'")
    }
}
