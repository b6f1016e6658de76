import Commands

/// All options. The command line, the settings file, the help and the manual are made from this table.
public enum SettingsTable {
    /// In the order in which the help lists them.
    public static let options: [SettingsOption] = [
        .path("cache-dir", letter: "c", "DIR", "keep caches here", \.cacheFolder),
        .size("cache-limit", "room for all caches, like 2G or 500M; none: as much as they like", \.cacheLimit),
        .choice("log-level", letter: "l", "how much goes into the log", \.logLevel),
        .path("log-file", letter: "d", "FILE", "write the log to this file too", \.logFile),
        .flag("offline", "fetch nothing; show what is there") { set(&$0.offline, $1) },
        .flag("ascii", "draw with ASCII alone") { set(&$0.ascii, $1) },
        .choice("symbols", "characters that pictures are drawn with", \.symbols),
        .choice("colors", "colours that are used", \.colours),
        .choice("pixels", "how pictures are sent to terminals that take pixels", \.pixels),
        .choice("transparency", "what is seen through transparent parts of pictures", \.transparency),
        .choice("theme", "colours that can be read on a dark or a light background; auto: on what there is", \.theme),
        .flag("plain", "words in place of pictures, rules and bars, for screen readers") { set(&$0.plain, $1) },
        .flag("sync-on-open", "update a gallery when it is opened") { set(&$0.syncOnOpen, $1) },
        .flag("sync-on-focus", "update when the window comes to the front") { set(&$0.syncOnFocus, $1) },
        .number("sync-interval", "MINUTES", 0...10_080, "update every so many minutes; 0: never", \.syncInterval),
        .flag("all-thumbnails", "fetch every thumbnail, not only those near the screen") {
            set(&$0.allThumbnails, $1)
        },
        .flag("all-photos", "fetch every photo too, after everything else") { set(&$0.allPhotos, $1) },
        .number(
            "transfers", "NUMBER", 1...64, orAuto: true, "transfers at once; auto: as the network takes them",
            \.transfers),
        .path("ca-file", letter: nil, "FILE", "trust these certificates in place of the system’s", \.caFile),
        .path(
            "client-certificate", letter: nil, "FILE", "show this certificate to servers that want one",
            \.clientCertificate),
        .path(
            "client-key", letter: nil, "FILE", "its key, if that is in another file; not an encrypted one", \.clientKey),
        .path(
            "client-certificate-host", letter: nil, "HOST", "show the certificate to this host alone",
            \.clientCertificateHost),
        .path("netrc", letter: nil, "FILE", "look for users and passwords here; default: ~/.netrc", \.netrc),
        .choice("passwords", "where a password that is asked for is kept, unless you say otherwise", \.passwords),
        .choice("sort", "what photos are sorted by at first", \.order.criterion),
        .flag("sort-reversed", "the other way round: the newest, the largest first") { settings, new in
            if let new { settings.order.ascending = !new }
            return !settings.order.ascending
        },
        .choice("sections", "how photos sorted by date are divided at first", \.sections),
        .number("row-height", "ROWS", 0...20, "rows for each photo in a list; 0: as suits the screen", \.rowHeight),
        .number("slideshow", "SECONDS", 1...3_600, "seconds for each photo of a slideshow", \.slideshow),
        .flag("slideshow-shuffle", "show the photos of a slideshow in no order") { set(&$0.slideshowShuffled, $1) },
        .path(
            "open-with", letter: nil, "PROGRAM", "open photos with this program; default: $BROWSER or xdg-open",
            \.openWith),
        .path(
            "export-folder", letter: nil, "DIR", "propose this folder to save photos to", \.exportFolder),
        .flag("mouse", "follow the mouse; text is then selected with Shift") { set(&$0.mouse, $1) },
        .number("debug-delay", "MILLISECONDS", 0...600_000, "begin each transfer that much later", \.debugDelay),
        .number("debug-failures", "N", 0...1_000_000, "let every Nth request fail; 0: none", \.debugFailures),
    ]

    static func option(named name: String) -> SettingsOption? {
        options.first { $0.name == name }
    }

    static func option(lettered letter: Character) -> SettingsOption? {
        options.first { $0.letter == letter }
    }

    /// The option that was probably meant by a name that none has; with its dashes, where the command line was read.
    static func nearest(to name: String) -> String? {
        guard name.hasPrefix("--") else { return Misspelling.nearest(to: name, among: options.map(\.name)) }
        // In a file there are no dashes.
        if let option = option(named: String(name.dropFirst(2))) { return option.name }
        return Misspelling.nearest(to: String(name.dropFirst(2)), among: InvocationTable.everyOption.map(\.name)).map {
            "--" + $0
        }
    }

    /// Sets a switch, or only says how it stands.
    private static func set(_ value: inout Bool, _ new: Bool?) -> Bool {
        if let new { value = new }
        return value
    }
}
