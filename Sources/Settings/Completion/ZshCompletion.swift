/// What makes zsh complete command lines.
struct ZshCompletion {
    /// A file for a folder of `fpath`, called `_vitrine`.
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
            let arguments = command.arguments.enumerated().map { place, argument in
                // The name itself is the first word.
                let isLast = place == command.arguments.count - 1
                let isRepeated: Bool = if case .words = argument { false } else { isLast }
                return " '\(isRepeated ? "*" : "\(place + 2)"): :\(action(argument))'"
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
                // With a value “--name=value” and “--name value” are the same, and “-nvalue” and “-n value”.
                let sign = option.values == nil ? "" : name.hasPrefix("--") ? "=" : "+"
                let value = option.values.map { ":\(option.value ?? "value"):\(action($0))" } ?? ""
                let text = "\(name)\(sign)[\(escaped(option.meaning))]\(value)"
                return "        " + Completions.quoted(text) + end
            }
        }.joined(separator: "\n")
    }

    private func action(_ values: InvocationOption.Values) -> String {
        switch values {
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .file: "_files"
        case .folder: "_files -/"
        case .anything: " "
        }
    }

    private func action(_ argument: Subcommand.Argument) -> String {
        switch argument {
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .gallery, .file: "_files"
        case .folder: "_files -/"
        case .anything: " "
        }
    }

    /// Brackets and colons end what is said of an option.
    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += "[]:\\".contains($1) ? "\\\($1)" : String($1) }
    }
}
