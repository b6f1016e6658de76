import Cells
import Settings
import Testing

@testable import UI

/// All text is readable in every theme.
@Suite struct ThemeTests {
    private static let depths: [ColourDepth] = [.sixteen, .palette, .full]
    private static let black = Colour.rgb(0, 0, 0)
    private static let white = Colour.rgb(255, 255, 255)

    /// Returns the text styles of a theme, with their names.
    private func texts(_ theme: Theme) -> [(name: String, style: Style)] {
        [
            ("title", theme.title), ("titleDetail", theme.titleDetail), ("name", theme.name),
            ("selectedName", theme.selectedName), ("mark", theme.mark), ("section", theme.section), ("hit", theme.hit),
            ("trouble", theme.trouble), ("status", theme.status), ("key", theme.key), ("red", theme.red),
            ("green", theme.green), ("blue", theme.blue), ("barDone", theme.barDone),
        ]
    }

    private func theme(_ choice: Settings.Theme, _ depth: ColourDepth, on background: Colour) -> Theme {
        var settings = Settings()
        settings.theme = choice
        return Theme(Capabilities(colours: depth, background: background), settings)
    }

    @Test(
        "Every text style is readable on the background that its theme is for",
        arguments: [
            (Settings.Theme.dark, black, white), (.light, white, black), (.auto, black, white), (.auto, white, black),
            (.contrast, black, white), (.contrast, white, black), (.mono, black, white), (.mono, white, black),
        ])
    func contrast(choice: Settings.Theme, background: Colour, text: Colour) {
        for depth in Self.depths {
            let theme = theme(choice, depth, on: background)
            for (name, style) in texts(theme) {
                let contrast = Palette.contrast(style, text: text, background: background)
                #expect(contrast >= 4.5, "\(name) of \(choice) in \(depth): \(contrast)")
            }
            for (name, style) in [("detail", theme.detail), ("barLeft", theme.barLeft)] {
                let contrast = Palette.contrast(style, text: text, background: background)
                #expect(contrast >= 3, "\(name) of \(choice) in \(depth): \(contrast)")
            }
        }
    }

    /// Backgrounds are seldom black and white.
    @Test(arguments: [
        (Colour.rgb(0x1E, 0x1E, 0x1E), Colour.rgb(0xD4, 0xD4, 0xD4)), (.rgb(0x28, 0x2A, 0x36), .rgb(0xF8, 0xF8, 0xF2)),
        (.rgb(0xFD, 0xF6, 0xE3), .rgb(0x33, 0x3F, 0x44)), (.rgb(0xEE, 0xEE, 0xEE), .rgb(0x22, 0x22, 0x22)),
    ]) func othersBackgrounds(background: Colour, text: Colour) {
        let theme = theme(.auto, .full, on: background)
        for (name, style) in texts(theme) {
            let contrast = Palette.contrast(style, text: text, background: background)
            #expect(contrast >= 4.5, "\(name): \(contrast)")
        }
    }

    @Test func theThemeFollowsTheBackground() {
        func kind(_ background: Colour) -> ThemeKind { ThemeKind(.auto, on: Capabilities(background: background)) }
        #expect(kind(.terminal) == .dark && kind(Self.black) == .dark && kind(.rgb(0x00, 0x2B, 0x36)) == .dark)
        #expect(kind(Self.white) == .light && kind(.rgb(0xFD, 0xF6, 0xE3)) == .light)
        #expect(kind(.rgb(0x75, 0x75, 0x75)) == .dark && kind(.rgb(0x77, 0x77, 0x77)) == .light)
        // An explicit choice has precedence.
        #expect(ThemeKind(.dark, on: Capabilities(background: Self.white)) == .dark)
        #expect(ThemeKind(.light, on: Capabilities()) == .light)
    }

    @Test(arguments: Settings.Theme.allCases) func noThemeUsesMissingColours(choice: Settings.Theme) {
        for background in [Colour.terminal, Self.black, Self.white] {
            let theme = theme(choice, .none, on: background)
            for (name, style) in texts(theme) + [("detail", theme.detail), ("barLeft", theme.barLeft)] {
                #expect(style.foreground == .terminal && style.background == .terminal, "\(name)")
            }
        }
    }

    /// The selection, matches and names differ by more than a colour.
    @Test(arguments: [Settings.Theme.contrast, .mono]) func meaningNeedsNoColour(choice: Settings.Theme) {
        let theme = theme(choice, .full, on: Self.black)
        let attributes = [theme.name, theme.selectedName, theme.hit].map(\.attributes)
        #expect(Set(attributes).count == 3)
    }
}
