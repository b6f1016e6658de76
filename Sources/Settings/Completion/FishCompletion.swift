/// What makes fish complete command lines.
struct FishCompletion {
    /// A file for `vendor_completions.d`, called `vitrine.fish`.
    var text: String {
        (["# Completes command lines of vitrine. Written by: vitrine completions fish", ""] + commands + arguments
            + options).map { $0 + "\n" }.joined()
    }

    private static let names = Completions.named.map(\.name).joined(separator: " ")

    private var commands: [String] {
        Completions.named.map { command in
            line(
                "not __fish_seen_subcommand_from \(Self.names)",
                "-a \(command.name) -d \(quoted(command.forms[0].meaning))")
        }
    }

    private var arguments: [String] {
        Completions.named.compactMap { command in
            let condition = "__fish_seen_subcommand_from \(command.name)"
            // Files are completed unless something else is said.
            switch command.arguments.first {
            case .words(let words)?:
                return line(
                    condition + "; and not __fish_seen_subcommand_from \(words.joined(separator: " "))",
                    "-f -a \(quoted(words.joined(separator: " ")))")
            case .folder?: return line(condition, "-f -a '(__fish_complete_directories)'")
            case nil: return line(condition, "-f")
            case .gallery?, .file?, .anything?: return nil
            }
        }
    }

    private var options: [String] {
        InvocationTable.everyOption.map { option in
            let names = "-l \(option.name)" + (option.letter.map { " -s \($0)" } ?? "")
            let end = " -d " + quoted(option.meaning)
            let text = names + value(option) + end
            guard case .commands(let commands) = option.owner else { return "complete -c vitrine " + text }
            return line("__fish_seen_subcommand_from \(commands.joined(separator: " "))", text)
        }
    }

    private func value(_ option: InvocationOption) -> String {
        switch option.values {
        case nil: ""
        case .words(let words)?: " -x -a " + quoted(words.joined(separator: " "))
        case .file?: " -r -F"
        case .folder?: " -x -a '(__fish_complete_directories)'"
        case .anything?: " -x"
        }
    }

    private func line(_ condition: String, _ rest: String) -> String {
        "complete -c vitrine -n \(quoted(condition)) \(rest)"
    }

    /// In fish, a backslash stands before what would end the word.
    private func quoted(_ text: String) -> String {
        "'" + text.reduce(into: "") { $0 += "'\\".contains($1) ? "\\\($1)" : String($1) } + "'"
    }
}
