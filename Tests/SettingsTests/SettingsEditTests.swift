import Testing

@testable import Settings

/// One setting changes in the settings file. The user's comments, order and blank lines stay.
@Suite("BEHAVIOURS 6.6: the settings file") struct SettingsEditTests {
    private func edited(_ text: String, _ name: String = "theme", to value: String? = "light") throws -> String {
        SettingsEdit(text).setting(try #require(SettingsTable.option(named: name)), to: value)
    }

    @Test(arguments: [
        ("", "theme = light\n"),
        ("theme = dark\n", "theme = light\n"),
        ("# mine\n\n  theme=dark   \n\nplain = yes", "# mine\n\n  theme=light\n\nplain = yes"),
        // The last line counts, so only the last line changes.
        ("theme = dark\nplain = no\ntheme = mono\n", "theme = dark\nplain = no\ntheme = light\n"),
        ("plain = yes", "plain = yes\ntheme = light\n"),
        ("plain = yes\r\n# end\r\n", "plain = yes\r\n# end\r\ntheme = light\r\n"),
        ("theme = dark\r\nplain = yes\r\n", "theme = light\r\nplain = yes\r\n"),
        ("plain = yes\r\n\r\n#", "plain = yes\r\n\r\n#\r\ntheme = light\r\n"),
        // A comment does not set anything, and a binding may contain the name.
        ("# theme = dark\nbind photos = = theme\n", "# theme = dark\nbind photos = = theme\ntheme = light\n"),
        ("theme =\n", "theme = light\n"),
        ("theme=\n", "theme=light\n"),
        // The byte order mark stays.
        ("\u{FEFF}theme = dark\n", "\u{FEFF}theme = light\n"),
        // A comment after a value spoils the value, so it gets its own line.
        ("theme = dark  # at night\n", "# at night\ntheme = light\n"),
        ("theme = dark#night\n", "theme = light\n"),
    ]) func theLineThatCountsChanges(before: String, after: String) throws {
        #expect(try edited(before) == after)
        // Reading the result gives the value.
        var settings = Settings()
        _ = SettingsFile.apply(try edited(before), path: "config", to: &settings)
        #expect(settings.theme == .light)
        #expect(try edited(after) == after)
    }

    @Test func theDefaultRemovesAllLinesThatSetIt() throws {
        let text = "# mine\ntheme = dark\n\nplain = yes\r\ntheme = mono"
        #expect(try edited(text, to: nil) == "# mine\n\nplain = yes\r\n")
        #expect(try edited("# mine\n", to: nil) == "# mine\n")
    }

    @Test func aPathKeepsItsNumberSign() throws {
        #expect(try edited("log-file = /a #1\n", "log-file", to: "/b") == "log-file = /b\n")
    }
}
