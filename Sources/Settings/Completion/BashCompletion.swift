/// What makes bash complete command lines.
struct BashCompletion {
    /// A file for `bash-completion/completions`, or for `source`.
    var text: String {
        """
        # Completes command lines of vitrine. Written by: vitrine completions bash

        _vitrine() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= place=0 i
            COMPREPLY=()
            # “=” is a word of its own here.
            if [[ $current == = ]]; then
                current=
            elif [[ $previous == = ]]; then
                previous=${COMP_WORDS[COMP_CWORD-2]}
            fi
            case $previous in
        \(values)
            esac
            for ((i = 1; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
                \(pattern { $0.values != nil })) [[ ${COMP_WORDS[i+1]} == = ]] && ((i++)); ((i++)) ;;
                =) ((i++)) ;;
                -*) ;;
                *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((place++)); fi ;;
                esac
            done
            if [[ $current == -* ]]; then
                case $command in
        \(options)
                esac
                _vitrine_words "$current" \(words(forAll))
                return
            fi
            case $command:$place in
        \(arguments)
            esac
        }

        # Those of the words that begin so, behind those that are there.
        _vitrine_words() {
            local word begun=$1
            shift
            for word; do [[ $word == "$begun"* ]] && COMPREPLY+=("$word"); done
        }

        # Files, or with -d folders; what is added behind a folder's name is a slash.
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

    /// What stands behind options.
    private var values: String {
        InvocationTable.everyOption.compactMap { option in
            let names = Completions.names(option).joined(separator: "|")
            switch option.values {
            case nil: return nil
            case .words(let words)?: return line(names, #"_vitrine_words "$current" \#(self.words(words)); return"#)
            case .file?: return line(names, #"_vitrine_files -f "$current"; return"#)
            case .folder?: return line(names, #"_vitrine_files -d "$current"; return"#)
            case .anything?: return line(names, "return")
            }
        }.joined(separator: "\n")
    }

    /// What stands behind commands, place by place.
    private var arguments: String {
        var lines: [String] = []
        for command in InvocationTable.subcommands {
            for (place, argument) in command.arguments.enumerated() {
                let isLast = place == command.arguments.count - 1 && !command.name.isEmpty
                // Words stand there once.
                let isRepeated: Bool = if case .words = argument { false } else { isLast }
                let names = command.name.isEmpty ? words(Completions.named.map(\.name)) : ""
                let first = names.isEmpty ? "" : #"_vitrine_words "$current" \#(names); "#
                lines.append(line("\(command.name):\(isRepeated ? "*" : "\(place)")", first + action(argument)))
            }
        }
        return lines.joined(separator: "\n")
    }

    private func action(_ argument: Subcommand.Argument) -> String {
        switch argument {
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
