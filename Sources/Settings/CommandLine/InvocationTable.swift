/// What the command line knows: its commands, and its options that are no settings. The parser, the help, the manual page
/// and what shells complete are made from this table and from ``SettingsTable``.
public enum InvocationTable {
    /// In the order in which the help lists them.
    public static let subcommands: [Subcommand] = [
        Subcommand(
            "", [.gallery],
            ("[OPTION]… [GALLERY]", "browse; GALLERY is a URL, a file or a folder; default: the last one")),
        Subcommand(
            "sync", [.gallery],
            (
                "[--list-only|--photos] [GALLERY…|--all]",
                "fill the cache: the list and the thumbnails; the list alone; the photos too"
            )),
        Subcommand(
            "list", [.gallery], ("[--json] GALLERY", "the cached photos: id, date, name, state; works offline")),
        Subcommand(
            "show", [.file],
            (
                "[--size COLSxROWS] [--symbols …] [--pixels …] [--colors …] FILE…", "draw pictures on standard output"
            )),
        Subcommand(
            "info", [.file], ("[--json] FILE|GALLERY#ID…", "what is known of photos, EXIF included")),
        Subcommand(
            "publish", [.folder], ("FOLDER", "make a folder of photos a gallery: gallery.xml and thumbnails/")),
        Subcommand(
            "export", [.gallery, .folder, .anything],
            ("GALLERY FOLDER [ID…]", "copy photos into a folder, fetching what is missing")),
        Subcommand(
            "cache", [.words(Invocation.CacheAction.names), .gallery],
            ("info|check [GALLERY|--all]", "sizes; verify it and mend what can be mended"),
            ("clear [--photos] GALLERY|--all", "remove it; the photos alone")),
        Subcommand(
            "config", [.words(["check", "list", "path"]), .file],
            ("list|path [--json]", "every option with its value; which settings file is read"),
            ("check [--json] [FILE]", "what is wrong with it, or with another one")),
        Subcommand("man", [], ("", "write the manual page; “vitrine man | man -l -” shows it")),
        Subcommand(
            "completions", [.words(Invocation.Shell.allCases.map(\.rawValue))],
            (
                Invocation.Shell.allCases.map(\.rawValue).joined(separator: "|"),
                "write what makes a shell complete command lines"
            )),
    ]

    /// Those that are no settings, in the order in which the help lists them, behind the settings.
    public static let options: [InvocationOption] = [
        InvocationOption("config", letter: "C", value: "FILE", "read this settings file"),
        InvocationOption("clear-setup", "forget the galleries and the place first, asking nothing"),
        InvocationOption("clear-cache", "remove all caches first, asking nothing"),
        InvocationOption(
            "no-color", setting: Invocation.Setting(name: "colors", value: "none"), "the same as --colors none"),
        InvocationOption("list-only", for: .commands(["sync"]), "the list alone"),
        InvocationOption("photos", for: .commands(["sync", "cache"]), "the photos too; clear the photos alone"),
        InvocationOption("all", for: .commands(["sync", "cache"]), "all galleries that are known"),
        InvocationOption("json", for: .commands(["list", "info", "config"]), "as JSON"),
        InvocationOption("size", value: "COLSxROWS", for: .commands(["show"]), "the room for a picture, in cells"),
        InvocationOption("help", letter: "h", "this text"),
        InvocationOption("version", letter: "V", "which version this is"),
        InvocationOption(
            "verbose", for: .option("version"), "what the terminal can do, and what decodes pictures"),
    ]

    /// All options, settings too.
    public static var everyOption: [InvocationOption] {
        [options[0]] + SettingsTable.options.map { InvocationOption($0) } + options.dropFirst()
    }

    /// What the program ends with, and what that says.
    public static let exitCodes: [(code: Int, meaning: String)] = [
        (0, "done"), (1, "some of it failed"), (2, "usage or settings"), (3, "not a terminal"),
        (4, "locked by another process"),
    ]

    static func option(named name: String) -> InvocationOption? {
        options.first { $0.name == name }
    }

    static func option(lettered letter: Character) -> InvocationOption? {
        options.first { $0.letter == letter }
    }

    static func subcommand(named name: String) -> Subcommand? {
        subcommands.first { $0.name == name }
    }
}
