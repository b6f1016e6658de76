import TestSupport
import Testing

@testable import Settings

/// Typical mistakes in settings files, and their messages.
@Suite struct SettingsMistakesTests {
    private func apply(_ text: String) -> (settings: Settings, mistakes: [String]) {
        var settings = Settings()
        let mistakes = SettingsFile.apply(text, path: "/c", to: &settings)
        return (settings, mistakes.map(\.description))
    }

    /// Wrong lines and their messages.
    static let kinds: [(line: String, sentence: String)] = [
        ("offline", "“offline” is not of the form “name = value”."),
        ("row-height: 3", "“row-height: 3” is not of the form “name = value”."),
        ("= 3", "Unknown option “”; see --help."),
        ("colours = 16", "Unknown option “colours”; did you mean “colors”?"),
        ("Offline = yes", "Unknown option “Offline”; did you mean “offline”?"),
        ("--offline = yes", "Unknown option “--offline”; did you mean “offline”?"),
        ("set mouse = no", "Unknown option “set mouse”; see --help."),
        ("nonsense = 1", "Unknown option “nonsense”; see --help."),
        ("help = yes", "Unknown option “help”; see --help."),
        ("offline = true", "Invalid value “true” for “offline”: use yes or no."),
        ("ascii =", "Invalid value “” for “ascii”: use yes or no."),
        ("mouse = \"no\"", "Invalid value “\"no\"” for “mouse”: use yes or no."),
        ("offline = yes # on trains", "Invalid value “yes # on trains” for “offline”: use yes or no."),
        ("pixels = sixels", "Invalid value “sixels” for “pixels”: use one of auto, none, sixel, kitty, iterm."),
        ("row-height = tall", "Invalid value “tall” for “row-height”: use a number from 0 to 20."),
        ("row-height = 21", "Invalid value “21” for “row-height”: use a number from 0 to 20."),
        ("slideshow = 2.5", "Invalid value “2.5” for “slideshow”: use a number from 1 to 3600."),
        ("transfers = 0", "Invalid value “0” for “transfers”: use auto, or a number from 1 to 64."),
        ("cache-limit = 2 GB", "Invalid value “2 GB” for “cache-limit”: use a size, like 2G or 500M, or none."),
        ("log-file =", "“log-file” needs a value."),
        ("http://me:s3cret@a.org/", "“http://a.org/” is not of the form “name = value”."),
        (
            "mouse = http://me:\(String(repeating: "s3cret", count: 20))@a.org",
            "Invalid value “http://a.org” for “mouse”: use yes or no."
        ),
        ("bind http://me:s3cret@a.org", "“bind http://a.org” is not of the form “bind SCOPE KEY = command”."),
        ("cache-dir = /caf\u{FFFD}", "The line is not UTF-8."),
        (
            "sort = " + String(repeating: "x", count: 99),
            """
            Invalid value “\(String(repeating: "x", count: 59))…” for “sort”: use one of date, name, size, state, rating.
            """
        ),
    ]

    @Test func eachMistakeIsReportedAndTheRestCounts() {
        let lines = ["row-height = 7"] + Self.kinds.map(\.line) + ["row-height = 9", "sections = month"]
        let (settings, mistakes) = apply(lines.joined(separator: "\n"))
        let repeated = "/c:\(lines.count - 1): Line 1 also sets “row-height”. Vitrine uses the last of these lines."
        #expect(Self.kinds.count > 20)
        #expect(mistakes == Self.kinds.enumerated().map { "/c:\($0.offset + 2): \($0.element.sentence)" } + [repeated])
        var expected = Settings()
        (expected.rowHeight, expected.sections) = (9, .month)
        #expect(settings == expected)
    }

    @Test func byteOrderMarkIsIgnored() {
        let (settings, mistakes) = apply("\u{FEFF}offline = yes\r\n")
        #expect(settings.offline && mistakes.isEmpty)
        #expect(apply("\u{FEFF}# mine\n").mistakes.isEmpty)
    }

    @Test func fileWithNULIsRefused() {
        let (settings, mistakes) = apply("offline = yes\nascii = \0yes\n")
        #expect(mistakes == ["/c: not a text file. Vitrine ignores the file."] && settings == Settings())
    }

    @Test func invalidUTF8InCommentsIsIgnored() {
        #expect(apply("# caf\u{FFFD}\noffline = yes\n").mistakes.isEmpty)
    }

    // MARK: - Files

    private func inForce(_ folder: TestFolder, _ arguments: String...) throws -> SettingsInForce {
        let variables = ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        return try SettingsInForce(try Invocation(arguments), Locations { variables[$0] })
    }

    @Test func missingFileIsNoMistake() throws {
        let inForce = try inForce(TestFolder(), "--offline")
        #expect(inForce.mistakes.isEmpty && inForce.settings.offline)
    }

    @Test func unreadableDefaultFileIsIgnored() throws {
        let folder = TestFolder()
        folder.write("vitrine/config/x", "offline = yes\n")
        let path = folder.path("vitrine/config")
        #expect(try inForce(folder).mistakes.map(\.description) == ["\(path): not a file. Vitrine ignores the file."])
        #expect(try inForce(folder).notices == ["config: not a file. Vitrine ignores the file."])
        let large = TestFolder()
        large.write("vitrine/config", String(repeating: "# long\n", count: 200_000))
        #expect(try inForce(large).notices == ["config: the file is larger than 1 MiB. Vitrine ignores the file."])
    }

    @Test func namedFileMustBeReadable() throws {
        let folder = TestFolder()
        folder.write("settings", "row-height = tall\n")
        let named = try inForce(folder, "-C", folder.path("settings"))
        #expect(named.notices == ["settings:1: Invalid value “tall” for “row-height”: use a number from 0 to 20."])
        for path in [folder.path("nothing"), folder.path] {
            #expect(throws: SettingsError.self) { try inForce(folder, "-C", path) }
        }
    }

    @Test func screenShowsTheFirstMistakes() throws {
        let folder = TestFolder()
        folder.write("vitrine/config", Self.kinds.map(\.line).joined(separator: "\n"))
        let notices = try inForce(folder).notices
        #expect(notices.count == 6 && notices[0] == "config:1: “offline” is not of the form “name = value”.")
        #expect(notices[5] == "20 more mistakes; run “vitrine config check”.")
    }
}
