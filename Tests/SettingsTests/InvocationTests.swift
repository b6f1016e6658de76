import Testing

@testable import Settings

@Suite struct InvocationTests {
    private func command(_ line: String) throws -> Invocation.Command {
        try Invocation(line.split(separator: " ").map(String.init)).command
    }

    @Test func browse() throws {
        #expect(try command("") == .browse(nil))
        #expect(try command("http://example.org/a.xml") == .browse("http://example.org/a.xml"))
        #expect(try command("-") == .browse("-"))
        // After “--”, words are galleries even if they look like options.
        #expect(try command("-- -C") == .browse("-C"))
        #expect(try command("./sync") == .browse("./sync"))
    }

    @Test func sync() throws {
        #expect(try command("sync") == .sync(.thumbnails, []))
        #expect(try command("sync --all") == .sync(.thumbnails, []))
        #expect(try command("sync a b") == .sync(.thumbnails, ["a", "b"]))
        #expect(try command("sync --list-only a") == .sync(.list, ["a"]))
        #expect(try command("--photos sync a") == .sync(.photos, ["a"]))
        #expect(try command("sync --list-only --albums a") == .sync(.list, ["a"], albums: true))
    }

    @Test func listShowInfo() throws {
        #expect(try command("list a") == .list(json: false, "a"))
        #expect(try command("list --json a") == .list(json: true, "a"))
        #expect(try command("list --albums a") == .list(json: false, albums: true, "a"))
        #expect(try command("show a b") == .show(size: nil, ["a", "b"]))
        let size = Invocation.ShowSize(columns: 80, rows: 24)
        #expect(try command("show --size 80x24 a") == .show(size: size, ["a"]))
        #expect(try command("show a --size=80x24") == .show(size: size, ["a"]))
        #expect(try command("show -- -a --b") == .show(size: nil, ["-a", "--b"]))
        #expect(try command("info a#1") == .info(json: false, ["a#1"]))
        #expect(try command("info a --json") == .info(json: true, ["a"]))
        #expect(try command("info --json a b#1") == .info(json: true, ["a", "b#1"]))
    }

    @Test func publish() throws {
        #expect(try command("publish a") == .publish("a"))
        #expect(try command("publish -- -a") == .publish("-a"))
        #expect(try command("publish a s3://b/c") == .publish("a", to: "s3://b/c"))
    }

    @Test func cache() throws {
        #expect(try command("cache info") == .cache(.info, .all))
        #expect(try command("cache check") == .cache(.check, .all))
        #expect(try command("cache check a") == .cache(.check, .gallery("a")))
        #expect(try command("cache clear a") == .cache(.clear, .gallery("a")))
        #expect(try command("cache clear --all") == .cache(.clear, .all))
        #expect(try command("cache clear --photos a") == .cache(.clearPhotos, .gallery("a")))
        #expect(try command("cache --photos --all clear") == .cache(.clearPhotos, .all))
    }

    @Test func manAndCompletions() throws {
        #expect(try command("man") == .man)
        for shell in Invocation.Shell.allCases {
            #expect(try command("completions \(shell.rawValue)") == .completions(shell))
        }
    }

    @Test func config() throws {
        #expect(try command("config list") == .config(.list(json: false)))
        #expect(try command("config --json list") == .config(.list(json: true)))
        #expect(try command("config path") == .config(.path))
        #expect(try command("config check") == .config(.check(json: false, nil)))
        #expect(try command("config check --json a") == .config(.check(json: true, "a")))
    }

    @Test func helpAndVersionIgnoreOtherMistakes() throws {
        #expect(try command("--help") == .help)
        #expect(try command("-h") == .help)
        #expect(try command("show -h") == .help)
        #expect(try command("-V") == .version(isVerbose: false))
        #expect(try command("cache --version") == .version(isVerbose: false))
        #expect(try command("--version --verbose") == .version(isVerbose: true))
        #expect(try command("--verbose -V") == .version(isVerbose: true))
        #expect(try command("-Vh") == .help)
    }

    @Test func settings() throws {
        let invocation = try Invocation([
            "-C", "/my/config", "-c/caches", "-l", "debug", "--log-file=/log", "--offline", "--ascii", "--no-color",
            "--sync-on-open=no", "--row-height", "4", "gallery",
        ])
        #expect(invocation.command == .browse("gallery") && invocation.settingsFile == "/my/config")
        var settings = Settings()
        try invocation.apply(to: &settings)
        var expected = Settings()
        expected.cacheFolder = "/caches"
        expected.logLevels = LogLevels(.debug)
        expected.logFile = "/log"
        expected.offline = true
        expected.ascii = true
        expected.colours = .none
        expected.syncOnOpen = false
        expected.rowHeight = 4
        #expect(settings == expected)
        #expect(try Invocation(["--config=/x"]).settingsFile == "/x")
        #expect(try Invocation(["--config", "/x", "-C/y"]).settingsFile == "/y")
    }

    @Test func clearOptions() throws {
        let both = try Invocation(["--clear-setup", "sync", "--clear-cache", "a"])
        #expect(both.clearsSetup && both.clearsCache && both.command == .sync(.thumbnails, ["a"]))
        let none = try Invocation([])
        #expect(!none.clearsSetup && !none.clearsCache)
    }

    @Test(arguments: [
        ("--nonsense", "Unknown option “--nonsense”; see --help."),
        ("list --photos a", "“--photos” does not apply to this command; see --help."),
        ("--verbose", "“--verbose” does not apply to this command; see --help."),
        ("list --verbose a", "“--verbose” does not apply to this command; see --help."),
        ("--version --verbose=yes", "“--verbose” takes no value."),
        ("--json", "“--json” does not apply to this command; see --help."),
        ("show --all a", "“--all” does not apply to this command; see --help."),
        ("sync --photos --list-only a", "Use only one of “--list-only” and “--photos”."),
        ("--nonsense=3", "Unknown option “--nonsense”; see --help."),
        ("-x", "Unknown option “-x”; see --help."),
        ("-hx", "Unknown option “-x”; see --help."),
        ("--row-height", "“--row-height” needs a value."),
        ("-c", "“-c” needs a value."),
        ("-C", "“-C” needs a value."),
        ("--config", "“--config” needs a value."),
        ("show a --size", "“--size” needs a value."),
        ("show --size=80 a", "Invalid value “80” for “--size”: use columns and rows, like 80x24."),
        ("show --size=0x24 a", "Invalid value “0x24” for “--size”: use columns and rows, like 80x24."),
        ("show --size=80x24x2 a", "Invalid value “80x24x2” for “--size”: use columns and rows, like 80x24."),
        ("show --size=80x9999 a", "Invalid value “80x9999” for “--size”: use columns and rows, like 80x24."),
        ("list --json=yes a", "“--json” takes no value."),
        ("--clear-cache=yes", "“--clear-cache” takes no value."),
        ("--help=me", "“--help” takes no value."),
        ("sync --all=x", "“--all” takes no value."),
        ("a b", "Unexpected argument “b”; see --help."),
        ("sync --all a", "Unexpected argument “a”; see --help."),
        ("list", "Missing gallery; see --help."),
        ("list a b", "Unexpected argument “b”; see --help."),
        ("show", "Missing file; see --help."),
        ("info", "Missing file or GALLERY#ID; see --help."),
        ("publish", "Missing folder; see --help."),
        ("publish a s3://b c", "Unexpected argument “c”; see --help."),
        ("publish --json a", "“--json” does not apply to this command; see --help."),
        ("cache", "Missing “info”, “clear” or “check”; see --help."),
        ("config", "Missing “list”, “path” or “check”; see --help."),
        ("config empty", "Unknown command “config empty”; see --help."),
        ("config list a", "Unexpected argument “a”; see --help."),
        ("config check a b", "Unexpected argument “b”; see --help."),
        ("config path --json", "“--json” does not apply to this command; see --help."),
        ("config list --all", "“--all” does not apply to this command; see --help."),
        ("--offlin", "Unknown option “--offlin”; did you mean “--offline”?"),
        ("--vresion", "Unknown option “--vresion”; did you mean “--version”?"),
        ("cache empty", "Unknown command “cache empty”; see --help."),
        ("cache clear", "Missing gallery or --all; see --help."),
        ("cache clear --photos", "Missing gallery or --all; see --help."),
        ("cache check --photos a", "“--photos” does not apply to this command; see --help."),
        ("cache clear --list-only a", "“--list-only” does not apply to this command; see --help."),
        ("cache info --all a", "Unexpected argument “a”; see --help."),
        ("cache info a b", "Unexpected argument “b”; see --help."),
        ("man a", "Unexpected argument “a”; see --help."),
        ("man --json", "“--json” does not apply to this command; see --help."),
        ("completions", "Missing “bash”, “zsh” or “fish”; see --help."),
        ("completions tcsh", "Unknown command “completions tcsh”; see --help."),
        ("completions bash zsh", "Unexpected argument “zsh”; see --help."),
    ]) func mistakesHaveMessages(line: String, sentence: String) {
        let error = #expect(throws: SettingsError.self) { try command(line) }
        #expect(error?.description == sentence)
    }

    @Test func applyingRefusesInvalidValues() throws {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) {
            try Invocation(["--offline=perhaps"]).apply(to: &settings)
        }
        #expect(error?.description == "Invalid value “perhaps” for “offline”: use yes or no.")
    }
}
