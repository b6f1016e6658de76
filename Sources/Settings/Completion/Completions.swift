/// Shell completions, made from the tables of commands and options.
public enum Completions {
    /// Returns the completion script for a shell.
    public static func text(for shell: Invocation.Shell) -> String {
        switch shell {
        case .bash: BashCompletion().text
        case .zsh: ZshCompletion().text
        case .fish: FishCompletion().text
        }
    }

    /// Returns the text, quoted for bash and zsh.
    static func quoted(_ text: String) -> String {
        "'" + text.reduce(into: "") { $0 += $1 == "'" ? #"'\''"# : String($1) } + "'"
    }

    /// The commands that have a name. The full-screen browser has none.
    static var named: [Subcommand] { InvocationTable.subcommands.filter { !$0.name.isEmpty } }

    /// Returns the long and the short form of an option.
    static func names(_ option: InvocationOption) -> [String] {
        ["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? [])
    }
}

/// The completion script for bash.
private struct BashCompletion {
    /// The script for bash. Users put the script into `bash-completion/completions` or read it with `source`.
    var text: String {
        """
        # Completes command lines of vitrine. Written by: vitrine completions bash

        _vitrine() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} sign= command= position=0 i
            COMPREPLY=()
            # bash splits words at “=”, and addresses also at “:”.
            if [[ $current == = ]]; then
                sign='=' current=
            elif [[ $previous == : && $current == //* ]]; then
                return
            elif [[ $previous == = ]]; then
                sign='=' previous=${COMP_WORDS[COMP_CWORD-2]}
            fi
            case $previous in
        \(values)
            esac
            case $sign$previous in
        \(switches)
            =-*) return ;;
            esac
            for ((i = 1; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
                \(pattern { $0.values != nil })) [[ ${COMP_WORDS[i+1]} == = ]] && ((i++)); ((i++)) ;;
                =|:) ((i++)) ;;
                -*) ;;
                *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((position++)); fi ;;
                esac
            done
            if [[ $current == -* ]]; then
                case $command in
        \(options)
                esac
                _vitrine_words "$current" \(words(forAll))
                return
            fi
            case $command:$position in
        \(arguments)
            esac
        }

        # Adds the words that begin with the first argument.
        _vitrine_words() {
            local word begun=$1
            shift
            for word; do [[ $word == "$begun"* ]] && COMPREPLY+=("$word"); done
        }

        # Adds files, or folders with -d.
        _vitrine_files() {
            local path
            while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$2")
            compopt -o filenames 2>/dev/null
        }

        complete -F _vitrine vitrine

        """
    }

    private var options: String {
        Completions.named.filter { !$0.options.isEmpty }.map { command in
            let names = words(command.options.flatMap(Completions.names))
            return #"        \#(command.name)) _vitrine_words "$current" \#(names) ;;"#
        }.joined(separator: "\n")
    }

    private var forAll: [String] {
        InvocationTable.everyOption.filter { if case .commands = $0.owner { false } else { true } }
            .flatMap(Completions.names)
    }

    /// The branches of the shell's `case` statement that complete the values of options.
    private var values: String {
        InvocationTable.everyOption.compactMap { option in
            let names = Completions.names(option).joined(separator: "|")
            switch option.values {
            case nil: return nil
            case .anything?: return line(names, "return")
            case let kind?: return line(names, action(kind) + "; return")
            }
        }.joined(separator: "\n")
    }

    /// The branches of the shell's `case` statement that complete a switch's words after “=”.
    private var switches: String {
        InvocationTable.everyOption.filter { !$0.switchWords.isEmpty }.map { option in
            line("=--\(option.name)", action(.words(option.switchWords)) + "; return")
        }.joined(separator: "\n")
    }

    /// The branches of the shell's `case` statement that complete arguments, by position.
    private var arguments: String {
        var lines: [String] = []
        for command in InvocationTable.subcommands {
            for (position, argument) in command.arguments.enumerated() {
                let place = command.repeats(position) ? "*" : "\(position)"
                let names = command.name.isEmpty ? words(Completions.named.map(\.name)) : ""
                let first = names.isEmpty ? "" : #"_vitrine_words "$current" \#(names); "#
                lines.append(line("\(command.name):\(place)", first + action(argument)))
            }
        }
        return lines.joined(separator: "\n")
    }

    private func action(_ kind: ValueKind) -> String {
        switch kind {
        case .words(let words): #"_vitrine_words "$current" \#(self.words(words))"#
        case .gallery, .file: #"_vitrine_files -f "$current""#
        case .folder: #"_vitrine_files -d "$current""#
        case .anything: "return"
        }
    }

    private func pattern(_ isWanted: (InvocationOption) -> Bool) -> String {
        InvocationTable.everyOption.filter(isWanted).flatMap(Completions.names).joined(separator: "|")
    }

    private func line(_ pattern: String, _ action: String) -> String { "    \(pattern)) \(action) ;;" }
    private func words(_ words: [String]) -> String { words.joined(separator: " ") }
}

/// The completion script for zsh.
private struct ZshCompletion {
    /// The script for zsh. Users save the script as `_vitrine` in a folder of `fpath`.
    var text: String {
        """
        #compdef vitrine
        # Completes command lines of vitrine. Written by: vitrine completions zsh

        _vitrine() {
            local context state state_descr line
            typeset -A opt_args
            local -a shared=(
        \(lines(InvocationTable.everyOption.filter { if case .commands = $0.owner { false } else { true } }))
            )
            local command=
            local -i i
            for ((i = 2; i < CURRENT; i++)); do
                if (( ${_vitrine_commands[(Ie)${words[i]}]} )); then command=${words[i]}; break; fi
            done
            case $command in
        \(commands)
            *) _arguments -s $shared '1: :_vitrine_first' ;;
            esac
        }

        typeset -ga _vitrine_commands=(\(Completions.named.map(\.name).joined(separator: " ")))

        _vitrine_first() {
            local -a named=(
        \(descriptions)
            )
            _describe -t commands command named
            _files
        }

        _vitrine "$@"

        """
    }

    private var commands: String {
        Completions.named.map { command in
            let options =
                command.options.isEmpty ? "" : "\\\n" + lines(command.options, behind: " \\") + "\n           "
            let arguments = command.arguments.enumerated().map { position, argument in
                // The command's name is word 1, so its first argument is word 2.
                let place = command.repeats(position) ? "*" : "\(position + 2)"
                return " '\(place): :\(action(argument))'"
            }.joined()
            return "    \(command.name)) _arguments -s $shared \(options) '1: : '\(arguments) ;;"
        }.joined(separator: "\n")
    }

    private var descriptions: String {
        Completions.named.map { command in
            "        " + Completions.quoted("\(command.name):\(escaped(command.forms[0].meaning))")
        }.joined(separator: "\n")
    }

    private func lines(_ options: [InvocationOption], behind end: String = "") -> String {
        options.flatMap { option in
            Completions.names(option).map { name in
                let (sign, value) = self.value(option, of: name)
                let text = "\(name)\(sign)[\(escaped(option.meaning))]\(value)"
                return "        " + Completions.quoted(text) + end
            }
        }.joined(separator: "\n")
    }

    /// Returns the sign between an option's name and its value, and the values.
    private func value(_ option: InvocationOption, of name: String) -> (sign: String, value: String) {
        guard let kind = option.values else {
            // “=-” allows only “--name=value”. The second colon makes the value optional.
            let words = option.switchWords
            return words.isEmpty ? ("", "") : ("=-", "::\(words.joined(separator: "|")):\(action(.words(words)))")
        }
        // “=” allows “--name=value” and “--name value”; “+” allows “-nvalue” and “-n value”.
        return (name.hasPrefix("--") ? "=" : "+", ":\(option.value ?? "value"):\(action(kind))")
    }

    private func action(_ kind: ValueKind) -> String {
        switch kind {
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .gallery, .file: "_files"
        case .folder: "_files -/"
        case .anything: " "
        }
    }

    /// Returns the text with brackets and colons escaped, because they would end a description.
    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += "[]:\\".contains($1) ? "\\\($1)" : String($1) }
    }
}

/// The completion script for fish.
private struct FishCompletion {
    /// The script for fish. Users save the script as `vitrine.fish` in `vendor_completions.d`.
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
            // fish completes files by default.
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
        case nil where option.switchWords.isEmpty: ""
        // Without “-x”, fish offers the words only after “=”.
        case nil: " -f -a " + quoted(option.switchWords.joined(separator: " "))
        case .words(let words)?: " -x -a " + quoted(words.joined(separator: " "))
        case .gallery?, .file?: " -r -F"
        case .folder?: " -x -a '(__fish_complete_directories)'"
        case .anything?: " -x"
        }
    }

    private func line(_ condition: String, _ rest: String) -> String {
        "complete -c vitrine -n \(quoted(condition)) \(rest)"
    }

    /// Returns the text, quoted for fish.
    private func quoted(_ text: String) -> String {
        "'" + text.reduce(into: "") { $0 += "'\\".contains($1) ? "\\\($1)" : String($1) } + "'"
    }
}
