import Foundation
import TestSupport
import Testing

@testable import Settings

@Suite(.ownThread) struct CompletionsTests {
    private let folder = TestFolder()

    private static let commands = Set(InvocationTable.subcommands.map(\.name).filter { !$0.isEmpty })
    private static let optionNames = Set(InvocationTable.everyOption.map { "--" + $0.name })

    private static func options(of command: String) -> Set<String> {
        let own = InvocationTable.everyOption.filter { option in
            if case .commands(let commands) = option.owner { commands.contains(command) } else { true }
        }
        return Set(own.map { "--" + $0.name } + own.compactMap { $0.letter.map { "-\($0)" } })
    }

    /// Returns the completions of a real bash for the last word of a line.
    private func complete(_ words: String...) throws -> Set<String> {
        let path = folder.write("vitrine.bash", Completions.text(for: .bash))
        let script = """
            source "$0"
            specification=$(complete -p vitrine)
            function=${specification#*-F }
            COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1))
            "${function%% *}"
            ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
            exit 0
            """
        folder.write("here/photo one.jpg", "")
        folder.write("here/inside/two.jpg", "")
        let bash = try Command(
            "/bin/bash", ["--norc", "-c", "cd '\(folder.path("here"))'; " + script, path, "vitrine"] + words)
        #expect(bash.status == 0 && bash.errors == "")
        return Set(bash.lines)
    }

    @Test func bashAcceptsTheScript() throws {
        let path = folder.write("vitrine.bash", Completions.text(for: .bash))
        let bash = try Command("/bin/bash", ["-n", path])
        #expect(bash.status == 0 && bash.errors == "")
    }

    @Test func bashCompletesCommands() throws {
        #expect(try complete("") == Self.commands.union(["photo one.jpg", "inside"]))
        #expect(try complete("co") == ["completions", "config"])
        #expect(try complete("--offline", "-l", "debug", "sy") == ["sync"])
        #expect(try complete("--sync-on-open", "=", "no", "--colors", "=", "16", "pub") == ["publish"])
    }

    @Test(arguments: ["", "sync", "list", "show", "info", "publish", "export", "cache", "config", "man", "completions"])
    func bashCompletesOptions(command: String) throws {
        #expect(Self.commands.contains(command) || command.isEmpty)
        let found = command.isEmpty ? try complete("-") : try complete(command, "-")
        #expect(found == Self.options(of: command))
    }

    @Test func bashCompletesValues() throws {
        #expect(try complete("--log-level", "") == ["error", "info", "debug"])
        #expect(try complete("--log-level", "=") == ["error", "info", "debug"])
        #expect(try complete("-l", "d") == ["debug"])
        #expect(try complete("--colors", "=", "f") == ["full"])
        #expect(try complete("--mouse", "=") == ["yes", "no"])
        #expect(try complete("sync", "--offline", "=", "n") == ["no"])
        #expect(try complete("--clear-cache", "=") == [])
        #expect(try complete("--config", "") == ["photo one.jpg", "inside"])
        #expect(try complete("--cache-dir", "") == ["inside"])
        #expect(try complete("--row-height", "") == [])
        #expect(try complete("show", "--size", "") == [])
        #expect(try complete("show", "ph") == ["photo one.jpg"])
        #expect(try complete("publish", "") == ["inside"])
        #expect(try complete("export", "a", "") == ["inside"])
        #expect(try complete("export", "a", "b", "") == [])
        #expect(try complete("export", "https", ":", "//example.org/photos/", "") == ["inside"])
        #expect(try complete("export", "http", ":", "//example.org", ":", "8080/?a", "=", "b", "") == ["inside"])
        #expect(try complete("sync", "https", ":", "//") == [])
        #expect(try complete("cache", "") == ["info", "clear", "check"])
        #expect(try complete("cache", "clear", "ph") == ["photo one.jpg"])
        #expect(try complete("completions", "") == ["bash", "zsh", "fish"])
        #expect(try complete("completions", "bash", "") == [])
        #expect(try complete("man", "") == [])
    }

    /// Uses a key in a real terminal.
    @Test func bashCompletesTypedText() throws {
        let path = folder.write("vitrine.bash", Completions.text(for: .bash))
        let session = try TerminalSession(
            "/bin/bash", arguments: ["--norc", "--noprofile", "-i"], environment: environment)
        #expect(session.until(shows: "ready>"))
        session.type("source \(path) && echo it is $((20 + 22))\r")
        #expect(session.until(shows: "it is 42"))
        session.type("vitrine compl\tz\t")
        #expect(session.until(shows: "ready> vitrine completions zsh"))
    }

    @Test func zshHasAllOptions() throws {
        let text = Completions.text(for: .zsh)
        #expect(text.hasPrefix("#compdef vitrine\n"))
        let names = text.matches(of: /'(--[a-z-]+)=?-?\[/).map { String($0.output.1) }
        #expect(Set(names) == Self.optionNames)
        let commands = text.matches(of: /(?m)^        '([a-z]+):/).map { String($0.output.1) }
        #expect(Set(commands) == Self.commands && commands.count == Self.commands.count)
    }

    @Test func fishHasAllOptions() throws {
        let text = Completions.text(for: .fish)
        let names = text.matches(of: #/ -l ([a-z-]+) /#).map { "--" + $0.output.1 }
        #expect(Set(names) == Self.optionNames && names.count == Self.optionNames.count)
        let commands = text.matches(of: /' -a ([a-z]+) -d/).map { String($0.output.1) }
        #expect(Set(commands) == Self.commands && commands.count == Self.commands.count)
    }

    @Test(arguments: [Invocation.Shell.zsh, .fish]) func otherShellsAcceptTheScript(shell: Invocation.Shell) throws {
        let path = folder.write("vitrine.\(shell.rawValue)", Completions.text(for: shell))
        let check = try Command("/usr/bin/\(shell.rawValue)", ["-n", path], environment: environment)
        #expect(check.status == 0 && check.errors == "")
    }

    /// Uses a key in a real terminal.
    @Test func zshCompletesTypedText() throws {
        folder.write("functions/_vitrine", Completions.text(for: .zsh))
        let session = try TerminalSession(
            "/usr/bin/zsh", arguments: ["-f", "-i", "-o", "NO_PROMPT_SP"], columns: 200, environment: environment)
        #expect(session.until(shows: "ready>"))
        let functions = folder.path("functions")
        session.type(
            "fpath=(\(functions) $fpath); autoload -Uz compinit && compinit -D -u && echo it is $((20 + 22))\r")
        #expect(session.until(shows: "it is 42"))
        session.type("vitrine compl\tz\t")
        #expect(session.until(shows: "ready> vitrine completions zsh"))
        // ^U removes the line.
        session.type("\u{15}vitrine --colors=fu\t")
        #expect(session.until(shows: "ready> vitrine --colors=full"))
        session.type("\u{15}vitrine --mouse=n\t")
        #expect(session.until(shows: "ready> vitrine --mouse=no"))
        session.type("\u{15}vitrine sync --list\t")
        #expect(session.until(shows: "ready> vitrine sync --list-only"))
    }

    /// Returns the completions of a real fish for the end of a line.
    private func completeInFish(_ line: String) throws -> Set<String> {
        let path = folder.write("vitrine.fish", Completions.text(for: .fish))
        folder.write("here/photo.jpg", "")
        folder.write("here/inside/two.jpg", "")
        let script = "cd $argv[1]; and source $argv[2]; and complete -C $argv[3]"
        let fish = try Command(
            "/usr/bin/fish", ["--no-config", "-c", script, folder.path("here"), path, line], environment: environment)
        #expect(fish.status == 0 && fish.errors == "")
        // A description follows each.
        return Set(fish.lines.compactMap { $0.split(separator: "\t").first.map(String.init) })
    }

    @Test(arguments: ["", "sync", "list", "show", "info", "publish", "export", "cache", "config", "man", "completions"])
    func fishCompletesOptions(command: String) throws {
        // fish also offers the form of switches that a word can follow.
        let switches = InvocationTable.everyOption.filter { !$0.switchWords.isEmpty }.map { "--\($0.name)=" }
        #expect(try completeInFish("vitrine \(command) -") == Self.options(of: command).union(switches))
    }

    @Test func fishCompletesValues() throws {
        #expect(try completeInFish("vitrine ") == Self.commands.union(["photo.jpg", "inside/"]))
        #expect(try completeInFish("vitrine -l d") == ["debug"])
        #expect(try completeInFish("vitrine --mouse=") == ["--mouse=yes", "--mouse=no"])
        #expect(try completeInFish("vitrine sync --offline=n") == ["--offline=no"])
        #expect(try completeInFish("vitrine publish ") == ["inside/"])
        #expect(try completeInFish("vitrine show ph") == ["photo.jpg"])
        #expect(try completeInFish("vitrine completions ") == ["bash", "zsh", "fish"])
    }

    /// The variables of a shell that reads none of the user's files.
    private var environment: [String: String] {
        ["TERM": "xterm", "PS1": "ready> ", "HOME": folder.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
    }
}
