/// What `--help` prints, made from the table of options.
public enum HelpText {
    /// The whole text.
    public static var text: String {
        usage + "\nOptions:\n" + options.map(line).joined(separator: "\n") + "\n\n" + closing
    }

    private static let usage = """
        Vitrine: a terminal browser for photo galleries on the network.

        Usage:
          vitrine [OPTION]… [GALLERY]       browse; GALLERY is a URL, a file or a folder; default: the last one
          vitrine sync [--list-only|--photos] [GALLERY…|--all]
                                            fill the cache: the list and the thumbnails; the list alone; the photos too
          vitrine list [--json] GALLERY     the cached photos: id, date, name, state; works offline
          vitrine show [--size COLSxROWS] [--symbols …] [--pixels …] [--colors …] FILE…
                                            draw pictures on standard output
          vitrine info [--json] FILE|GALLERY#ID…
                                            what is known of photos, EXIF included
          vitrine publish FOLDER            make a folder of photos a gallery: gallery.xml and thumbnails/
          vitrine export GALLERY FOLDER [ID…]
                                            copy photos into a folder, fetching what is missing
          vitrine cache info|check [GALLERY|--all]
                                            sizes; verify it and mend what can be mended
          vitrine cache clear [--photos] GALLERY|--all
                                            remove it; the photos alone

        """

    private static let options: [(String, String)] =
        [("-C, --config FILE", "read this settings file")]
        + SettingsTable.options.map { option in
            let letter = option.letter.map { "-\($0), " } ?? "    "
            return (letter + "--" + option.name + (option.value.map { " " + $0 } ?? ""), option.meaning)
        }
        + [
            ("    --clear-setup", "forget the galleries and the place first, asking nothing"),
            ("    --clear-cache", "remove all caches first, asking nothing"),
            ("    --no-color", "the same as --colors none"), ("-h, --help", "this text"),
            ("-V, --version", "which version this is"),
            ("    --verbose", "with --version: what the terminal can do, and what decodes pictures"),
        ]

    private static let closing = """
        Exit codes: 0 done, 1 some of it failed, 2 usage or settings, 3 not a terminal, 4 locked by another process.
        Settings: “name = value” lines in $XDG_CONFIG_HOME/vitrine/config, by the names above. Keys: press ? inside.

        """

    private static func line(_ option: (String, String)) -> String {
        // A long value, a choice of many, has a line to itself.
        let gap =
            option.0.count < 28
            ? String(repeating: " ", count: 28 - option.0.count) : "\n" + String(repeating: " ", count: 30)
        return "  " + option.0 + gap + option.1
    }
}
