/// What makes shells complete command lines, made from the tables of commands and options.
public enum Completions {
    /// The text for a shell, which reads it as it is.
    public static func text(for shell: Invocation.Shell) -> String {
        switch shell {
        case .bash: BashCompletion().text
        case .zsh: ZshCompletion().text
        case .fish: FishCompletion().text
        }
    }

    /// A word that a shell takes as it is.
    static func quoted(_ text: String) -> String {
        "'" + text.reduce(into: "") { $0 += $1 == "'" ? #"'\''"# : String($1) } + "'"
    }

    /// Commands that have a name.
    static var named: [Subcommand] { InvocationTable.subcommands.filter { !$0.name.isEmpty } }

    /// An option as it is typed, in all its forms.
    static func names(_ option: InvocationOption) -> [String] {
        ["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? [])
    }
}
