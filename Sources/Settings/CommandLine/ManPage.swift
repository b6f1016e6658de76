import Commands

/// The manual page, made from the tables of commands, options and keys.
public enum ManPage {
    /// Returns the whole manual page as roff, which `man -l` shows.
    public static func text(version: String) -> String {
        var page = Roff()
        page.title("VITRINE", section: 1, source: "Vitrine \(version)", manual: "User Commands")
        page.section("NAME")
        page.paragraph("vitrine - a terminal browser for photo galleries on the network")
        page.section("SYNOPSIS")
        page.example(InvocationTable.subcommands.flatMap { command in command.forms.map(command.line(of:)) })
        page.section("DESCRIPTION")
        page.paragraph(
            "Vitrine shows photo galleries from web servers or a disk. It shows cached photos immediately, and fetches "
                + "updates in the background. Vitrine draws photos with pixels if the terminal supports pixels, "
                + "and with characters otherwise.")
        addCommands(to: &page)
        addOptions(to: &page)
        addKeys(to: &page)
        addSettings(to: &page)
        addFiles(to: &page)
        addEnvironment(to: &page)
        page.section("EXIT STATUS")
        for (code, meaning) in InvocationTable.exitCodes { page.term(Roff.bold(String(code)), meaning + ".") }
        page.term(Roff.bold("128 + n"), "signal n ended Vitrine.")
        return page.text
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
            "If a key has several meanings, the open view decides. A number before a key repeats the key, or is the "
                + "position to go to. To run a command by its name, type “:” and the name in parentheses.")
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
            "Settings are “name = value” lines in the settings file; to turn a setting on or off, write yes or no. "
                + "Lines that begin with “#” are comments. Vitrine reports and ignores invalid lines. "
                + "The following list shows each setting with its "
                + "default, or with the type of its value:"
        )
        page.example(
            SettingsTable.options.map { option in
                "\(option.name) = " + (option.defaultValue.isEmpty ? option.value ?? "" : option.defaultValue)
            })
        page.paragraph(
            "A line “bind SCOPE KEY = command” binds a key; the section KEYS lists the names of scopes and commands. "
                + "The command “none” unbinds "
                + "the key:")
        page.example(["bind photos J = next-section", "bind everywhere ^Z = none"])
    }

    private static func addFiles(to page: inout Roff) {
        // Show the paths that apply if no XDG variable is set.
        let home = "/home"
        let usual = Locations { $0 == "HOME" ? home : nil }
        page.section("FILES")
        for (path, meaning) in [
            (usual.settingsFile, "settings"), (usual.galleriesFile, "the list of galleries"),
            (usual.passwordsFile, "passwords, if you keep them in a file"),
            (usual.placesFile, "your position in each gallery"),
            (usual.networkFile, "network measurements of each host"),
            (usual.commandsFile, "typed commands"),
            (usual.runningFolder, "an empty file for each running Vitrine, to detect crashes"),
            (usual.reportsFolder, "results of exports that ended in the background"),
            (usual.state + "/export-….sh", "the command that continues an export, with the whole address"),
            (usual.ratingsFolder, "your ratings, a file for each gallery"),
            (usual.cache, "caches of galleries; safe to remove while Vitrine does not run"),
        ] {
            page.term(Roff.italic("~" + path.dropFirst(home.count)), meaning + ".")
        }
        page.paragraph(
            "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME and XDG_CACHE_HOME set the folders of Vitrine’s files."
        )
    }

    private static func addEnvironment(to page: inout Roff) {
        page.section("ENVIRONMENT")
        for (names, meaning) in [
            ("http_proxy, https_proxy, all_proxy, no_proxy", "proxies, and hosts to reach without a proxy"),
            ("CURL_CA_BUNDLE", "certificates to trust, if ca-file is not set"),
            ("NO_COLOR", "turns colours off"), ("COLORTERM", "if “truecolor”, the terminal has 16 million colours"),
            ("ESCDELAY", "milliseconds to wait after Escape for the rest of a key sequence"),
            ("BROWSER", "program that opens web addresses"),
            ("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN", "access key for S3 buckets"),
            ("AWS_REGION, AWS_DEFAULT_REGION", "region of S3 buckets"),
            ("AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL", "endpoint of S3 buckets"),
            ("AWS_PROFILE", "profile to use from ~/.aws/credentials and ~/.aws/config"),
            ("AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE", "files with profiles, instead of these two"),
        ] {
            page.term(Roff.bold(names), meaning + ".")
        }
    }
}

/// A writer of manual pages in the roff language.
private struct Roff {
    private(set) var text = ""

    /// Writes the title of the page.
    mutating func title(_ name: String, section: Int, source: String, manual: String) {
        macro("TH", name, String(section), "", source, manual)
    }

    mutating func section(_ name: String) { macro("SH", name) }
    mutating func subsection(_ name: String) { macro("SS", name) }
    mutating func paragraph(_ text: String) {
        macro("PP")
        line(Self.plain(text))
    }

    /// Writes a term with its description. The term may contain roff markup.
    mutating func term(_ term: String, _ meaning: String) {
        macro("TP")
        line(term)
        line(Self.plain(meaning))
    }

    /// Writes lines that roff must not join.
    mutating func example(_ lines: [String]) {
        macro("PP")
        macro("nf")
        macro("RS")
        for line in lines { self.line(Self.plain(line)) }
        macro("RE")
        macro("fi")
    }

    private mutating func macro(_ name: String, _ arguments: String...) {
        // Quotes make each text one argument.
        text += "." + ([name] + arguments.map { "\"" + Self.plain($0) + "\"" }).joined(separator: " ") + "\n"
    }

    private mutating func line(_ line: String) {
        // Without the escape, roff would read the line as a macro.
        let isControl = line.hasPrefix(".") || line.hasPrefix("'")
        text += (isControl ? "\\&" : "") + line + "\n"
    }

    static func bold(_ text: String) -> String { "\\fB" + plain(text) + "\\fR" }
    static func italic(_ text: String) -> String { "\\fI" + plain(text) + "\\fR" }

    /// Returns the text with roff escapes, so that roff shows exactly this text.
    static func plain(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\(rs"
            // If these are not escaped, roff shows typographic characters instead, and pasted commands fail.
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\"": result += "\\(dq"
            // Some encodings lack this character, and roff has no replacement.
            case "…": result += "..."
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
    }
}
