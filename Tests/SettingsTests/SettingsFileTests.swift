import Testing

@testable import Settings

@Suite struct SettingsFileTests {
    private func apply(_ text: String) -> (settings: Settings, mistakes: [String]) {
        var settings = Settings()
        let mistakes = SettingsFile.apply(text, path: "/home/me/config", to: &settings)
        return (settings, mistakes.map(\.description))
    }

    @Test func linesCommentsAndSpaces() {
        let (settings, mistakes) = apply(
            """
            # what I like
              # and why
            offline=yes

            \trow-height  =  5\t
            cache-dir = /a folder/with = and # in it
            """)
        #expect(mistakes.isEmpty)
        #expect(settings.offline && settings.rowHeight == 5)
        #expect(settings.cacheFolder == "/a folder/with = and # in it")
    }

    @Test func mistakesAreNamedByLineAndTheRestHolds() {
        let (settings, mistakes) = apply(
            """
            offline
            colours = 16

            # fine
            row-height = tall
            ascii = yes
            help = yes
            = 3
            """)
        #expect(
            mistakes == [
                "/home/me/config:1: “offline” is not of the form “name = value”.",
                "/home/me/config:2: There is no option “colours”; see --help.",
                "/home/me/config:5: “tall” is no value for “row-height”: a number from 0 to 20.",
                "/home/me/config:7: There is no option “help”; see --help.",
                "/home/me/config:8: There is no option “”; see --help.",
            ])
        var expected = Settings()
        expected.ascii = true
        #expect(settings == expected)
    }

    @Test func laterLinesCount() {
        #expect(apply("row-height = 3\nrow-height = 7\n").settings.rowHeight == 7)
        #expect(apply("row-height = 3\nrow-height = x\n").settings.rowHeight == 3)
    }

    @Test func lineEndsOfOtherSystems() {
        let (settings, mistakes) = apply("# mine\r\noffline = yes\r\nrow-height = 5\r\nx\r\n")
        #expect(settings.offline && settings.rowHeight == 5)
        #expect(mistakes == ["/home/me/config:4: “x” is not of the form “name = value”."])
    }

    @Test func commandLineComesAfterTheFile() throws {
        var settings = apply("row-height = 3\noffline = yes\ncolors = 16\n").settings
        try Invocation(["--row-height", "9", "--offline=no"]).apply(to: &settings)
        #expect(settings.rowHeight == 9 && !settings.offline && settings.colours == .sixteen)
    }
}
