import Commands

/// The manual page, made from the tables of commands, options and keys.
public enum ManPage {
    /// All of it, for `man -l`.
    ///
    /// - Parameter version: what the program calls itself.
    public static func text(version: String) -> String {
        var page = Roff()
        page.title("VITRINE", section: 1, source: "Vitrine \(version)", manual: "User Commands")
        page.section("NAME")
        page.paragraph("vitrine - a terminal browser for photo galleries on the network")
        page.section("SYNOPSIS")
        page.example(InvocationTable.subcommands.flatMap { command in command.forms.map { line(command, $0) } })
        page.section("DESCRIPTION")
        page.paragraph(
            "Vitrine shows photo galleries that lie on web servers or on a disk. It opens at once on what it already has, "
                + "fetches what is new in the background, and redraws what changed. Photos are drawn pixel by pixel where "
                + "the terminal takes them, and with characters everywhere else.")
        addCommands(to: &page)
        addOptions(to: &page)
        addKeys(to: &page)
        addSettings(to: &page)
        addFiles(to: &page)
        addEnvironment(to: &page)
        page.section("EXIT STATUS")
        for (code, meaning) in InvocationTable.exitCodes { page.term(Roff.bold(String(code)), meaning + ".") }
        page.term(Roff.bold("128 + n"), "ended by signal n.")
        return page.text
    }

    private static func line(_ command: Subcommand, _ form: Subcommand.Form) -> String {
        ["vitrine", command.name, form.usage].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func addCommands(to page: inout Roff) {
        page.section("COMMANDS")
        for command in InvocationTable.subcommands {
            for form in command.forms {
                let words = [Roff.bold(["vitrine", command.name].filter { !$0.isEmpty }.joined(separator: " "))]
                let usage = form.usage.isEmpty ? [] : [Roff.plain(form.usage)]
                page.term((words + usage).joined(separator: " "), form.meaning + ".")
            }
        }
    }

    private static func addOptions(to page: inout Roff) {
        page.section("OPTIONS")
        for option in InvocationTable.everyOption {
            let names = [option.letter.map { "-\($0)" }, "--" + option.name].compactMap { $0 }.map(Roff.bold)
            let value = option.value.map { " " + Roff.italic($0) } ?? ""
            page.term(names.joined(separator: ", ") + value, option.explanation + ".")
        }
    }

    private static func addKeys(to page: inout Roff) {
        page.section("KEYS")
        page.paragraph(
            "Of a key that has several meanings the one of the nearest scope holds. A number before a key is so many times, "
                + "or the place to go to. “:” begins a command by its name, which stands here in parentheses.")
        for scope in CommandTable.Scope.allCases {
            page.subsection("\(scope.rawValue) (\(scope.name))")
            for entry in CommandTable.entries where entry.scope == scope {
                let keys = entry.keys.map { Roff.bold($0.description) + " " }.joined()
                page.term(keys + "(" + Roff.italic(entry.usage) + ")", entry.meaning + ".")
            }
        }
    }

    private static func addSettings(to page: inout Roff) {
        page.section("SETTINGS")
        page.paragraph(
            "Most options are settings too: lines “name = value” of the settings file, with yes or no for a switch. Lines that "
                + "begin with “#” say nothing. A line that is wrong is named, and the rest holds. With what holds where nothing "
                + "is set, or what their values are, these are:")
        page.example(
            SettingsTable.options.map { option in
                "\(option.name) = " + (option.defaultValue.isEmpty ? option.value ?? "" : option.defaultValue)
            })
        page.paragraph(
            "“bind SCOPE KEY = command” binds a key, with the names of scopes and commands under KEYS; the command “none” takes "
                + "its meaning away:")
        page.example(["bind photos J = next-section", "bind everywhere ^Z = none"])
    }

    private static func addFiles(to page: inout Roff) {
        // As they are called where no variable says otherwise.
        let home = "/home"
        let usual = Locations { $0 == "HOME" ? home : nil }
        page.section("FILES")
        for (path, meaning) in [
            (usual.settingsFile, "settings"), (usual.galleriesFile, "the galleries that are remembered"),
            (usual.passwordsFile, "passwords, if they are to be kept in a file"), (usual.placesFile, "where one was"),
            (usual.networkFile, "what was found out about hosts"),
            (usual.commandsFile, "commands that were typed by their names"),
            (usual.cache, "what was fetched; it may be removed at any time"),
        ] {
            page.term(Roff.italic("~" + path.dropFirst(home.count)), meaning + ".")
        }
        page.paragraph("XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME move them.")
    }

    private static func addEnvironment(to page: inout Roff) {
        page.section("ENVIRONMENT")
        for (names, meaning) in [
            ("http_proxy, https_proxy, all_proxy, no_proxy", "proxies, and what is reached without one"),
            ("CURL_CA_BUNDLE", "the certificates that servers are checked with, where ca-file does not name them"),
            ("NO_COLOR", "turns colours off"), ("COLORTERM", "truecolor: the terminal has all of them"),
            ("ESCDELAY", "the milliseconds that are waited after Escape for the rest of a key"),
            ("BROWSER", "opens addresses"),
        ] {
            page.term(Roff.bold(names), meaning + ".")
        }
    }
}

/// A manual page in the language of `man`: macros at the beginnings of lines, and text.
private struct Roff {
    private(set) var text = ""

    /// Begins a page.
    mutating func title(_ name: String, section: Int, source: String, manual: String) {
        macro("TH", name, String(section), "", source, manual)
    }

    mutating func section(_ name: String) { macro("SH", name) }
    mutating func subsection(_ name: String) { macro("SS", name) }
    mutating func paragraph(_ text: String) {
        macro("PP")
        line(Self.plain(text))
    }

    /// A term, ready for roff, and what there is to say of it.
    mutating func term(_ term: String, _ meaning: String) {
        macro("TP")
        line(term)
        line(Self.plain(meaning))
    }

    /// Lines as they are.
    mutating func example(_ lines: [String]) {
        macro("PP")
        macro("nf")
        macro("RS")
        for line in lines { self.line(Self.plain(line)) }
        macro("RE")
        macro("fi")
    }

    private mutating func macro(_ name: String, _ arguments: String...) {
        // What is in quotes is one argument.
        text += "." + ([name] + arguments.map { "\"" + Self.plain($0) + "\"" }).joined(separator: " ") + "\n"
    }

    private mutating func line(_ line: String) {
        // Else it would be a macro.
        let isControl = line.hasPrefix(".") || line.hasPrefix("'")
        text += (isControl ? "\\&" : "") + line + "\n"
    }

    static func bold(_ text: String) -> String { "\\fB" + plain(text) + "\\fR" }
    static func italic(_ text: String) -> String { "\\fI" + plain(text) + "\\fR" }

    /// Text that is shown as it is, in whatever encoding the page is read.
    static func plain(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\(rs"
            // Else they are typographers' signs, and cannot be typed.
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\"": result += "\\(dq"
            // Not in every encoding, and nothing is put in its place there.
            case "…": result += "..."
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
    }
}
