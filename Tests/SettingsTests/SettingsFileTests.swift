import Cells
import Commands
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

    @Test func mistakesHaveLinesAndTheRestCounts() {
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
                "/home/me/config:2: Unknown option “colours”; did you mean “colors”?",
                "/home/me/config:5: Invalid value “tall” for “row-height”: use a number from 0 to 20.",
                "/home/me/config:7: Unknown option “help”; see --help.",
                "/home/me/config:8: Unknown option “”; see --help.",
            ])
        var expected = Settings()
        expected.ascii = true
        #expect(settings == expected)
    }

    @Test func keysAreBound() {
        let (settings, mistakes) = apply(
            """
            bind photos J = next-section
            bind  photo\t= = fill
            bind galleries # = save
            bind everywhere ^Z = none
            offline = yes
            """)
        #expect(mistakes.isEmpty && settings.offline)
        #expect(settings.keys.command(for: .character("J"), in: [.photos, .lists]) == .nextSection)
        #expect(settings.keys.command(for: .character("="), in: [.photo]) == .fill)
        #expect(settings.keys.command(for: .character("#"), in: [.galleries]) == .save)
        #expect(settings.keys.command(for: .control("z"), in: [.everywhere]) == nil)
    }

    @Test func wrongBindingsAreReportedAndTheRestCounts() {
        let (settings, mistakes) = apply(
            """
            bind
            bind photos = next-section
            bind photos J next-section
            bind photos J K = next-section
            bind photos J =
            bind nowhere J = open
            bind errors J = zoom-in
            bind errors JJ = open
            bind errors J = leave
            bind errors J = open
            bind errors J = copy
            binding = yes
            offline = yes
            """)
        let (lines, sentences) = (1...12, mistakes)
        #expect(sentences.count == 11)
        for (line, sentence) in zip(lines.filter { $0 != 10 }, sentences) {
            #expect(sentence.hasPrefix("/home/me/config:\(line): "))
        }
        #expect(sentences[0].hasSuffix(": “bind” is not of the form “bind SCOPE KEY = command”."))
        #expect(sentences[5].contains(": Unknown scope “nowhere”. Use one of everywhere, lists, "))
        #expect(sentences[6].contains(": “zoom-in” is not a command of the scope “errors”. Use one of open, retry, "))
        #expect(sentences[7].contains(": Unknown key “JJ”. "))
        #expect(sentences[8].contains(": Unknown command “leave”. In the scope “errors”, use one of open, "))
        #expect(sentences[9].hasSuffix(": The key “J” is already bound in the scope “errors”."))
        #expect(sentences[10].hasSuffix(": Unknown option “binding”; see --help."))
        #expect(settings.offline && settings.keys.command(for: .character("J"), in: [.errors]) == .open)
    }

    @Test func lastLineCounts() {
        #expect(apply("row-height = 3\nrow-height = 7\n").settings.rowHeight == 7)
        #expect(apply("row-height = 3\nrow-height = x\n").settings.rowHeight == 3)
    }

    @Test func otherLineEndings() {
        let (settings, mistakes) = apply("# mine\r\noffline = yes\r\nrow-height = 5\r\nx\r\n")
        #expect(settings.offline && settings.rowHeight == 5)
        #expect(mistakes == ["/home/me/config:4: “x” is not of the form “name = value”."])
    }

    @Test func commandLineOverridesTheFile() throws {
        var settings = apply("row-height = 3\noffline = yes\ncolors = 16\n").settings
        try Invocation(["--row-height", "9", "--offline=no"]).apply(to: &settings)
        #expect(settings.rowHeight == 9 && !settings.offline && settings.colours == .sixteen)
    }
}
