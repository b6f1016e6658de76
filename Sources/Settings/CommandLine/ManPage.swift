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
            SettingsTable.options.filter(\.isSetting).map { option in
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
