/// The text of `--help`, made from the tables of commands and options.
public enum HelpText {
    /// The whole text of `--help`.
    public static var text: String {
        "Vitrine: a terminal browser for photo galleries on the network.\n\nUsage:\n"
            + InvocationTable.subcommands.flatMap(forms).joined(separator: "\n") + "\n\nOptions:\n"
            + InvocationTable.everyOption.map { line($0.usage, $0.explanation, column: 28) }.joined(separator: "\n")
            + "\n\n" + closing
    }

    private static var closing: String {
        let codes = InvocationTable.exitCodes.map { "\($0.code) \($0.meaning)" }.joined(separator: ", ")
        return """
            Exit codes: \(codes).
            Settings: “name = value” lines with these names in $XDG_CONFIG_HOME/vitrine/config. Keys: press ? in Vitrine.

            """
    }

    private static func forms(_ command: Subcommand) -> [String] {
        command.forms.map { form in
            let words = ["vitrine", command.name, form.usage].filter { !$0.isEmpty }
            return line(words.joined(separator: " "), form.meaning, column: 34)
        }
    }

    private static func line(_ text: String, _ meaning: String, column: Int) -> String {
        // A long usage has its own line.
        let gap =
            text.count < column
            ? String(repeating: " ", count: column - text.count) : "\n" + String(repeating: " ", count: column + 2)
        return "  " + text + gap + meaning
    }
}
