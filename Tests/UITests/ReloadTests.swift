import Cells
import Model
import Settings
import TestSupport
import Testing

@testable import UI

/// Reloading the settings while the program runs.
@MainActor @Suite(.unlessItHangs) struct ReloadTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// Replaces the settings as another settings file does.
    private func reload(_ settings: Settings) {
        screens.context.live.replace(with: settings)
        screens.press(Key(.function(5)))
    }

    @Test func theCommandReadsTheFile() async throws {
        let screens = try TestScreens(arguments: [])
        screens.folder.write(".config/vitrine/config", "row-height = 7\ntheme = blue\n")
        screens.press(Key(.function(5)))
        try await screens.until { screens.text.contains(" config:2: Invalid value “blue” for “theme”") }
        #expect(screens.context.settings.rowHeight == 7)
        screens.open()
        screens.folder.write(".config/vitrine/config", "row-height = 3\n")
        screens.press(Key(.function(5)))
        try await screens.until { screens.context.settings.rowHeight == 3 }
    }

    @Test("A reload shows the mistakes in the file, and then the settings that need a restart")
    func mistakes() async throws {
        let screens = try TestScreens(arguments: [])
        screens.folder.write(".config/vitrine/config", "row-height = tall\nmouse = 2\ncache-dir = /other\n")
        screens.press(Key(.function(5)))
        try await screens.until { ["tall", "reloaded"].contains { screens.status.contains($0) } }
        #expect(screens.status.hasPrefix(" config:1: Invalid value “tall” for “row-height”"), "\(screens.status)")
        screens.press("j")
        try await screens.until { screens.status.hasPrefix(" config:2: Invalid value “2” for “mouse”") }
        screens.press("j")
        try await screens.until { screens.status.hasPrefix(" Settings reloaded. Restart Vitrine") }
    }

    @Test("A reload takes its turn behind a change that waits for the disk")
    func reloadsKeepTheirOrder() async throws {
        let screens = try TestScreens(arguments: [])
        screens.folder.write(".config/vitrine/config", "row-height = 3\n")
        screens.press(":")
        screens.type("set! row-height 7")
        screens.press(Key(.enter))
        screens.press(Key(.function(5)))
        #expect(screens.context.settings.rowHeight != 7)
        try await screens.until { screens.status == " Settings reloaded." }
        #expect(screens.context.settings.rowHeight == 7)
    }

    @Test func visibleSettingsApplyAtOnce() async throws {
        try await screens.sync(["a", "b"])
        screens.open()
        #expect(screens.text.contains("▌ Photo a"))
        var settings = Settings()
        (settings.plain, settings.theme) = (true, .light)
        let frames = screens.wantedFrames
        reload(settings)
        try await screens.until { screens.wantedFrames > frames && screens.status == " Settings reloaded." }
        #expect(screens.text.contains("> Photo a") && !screens.text.contains("▌"))
        #expect(screens.context.theme.key.foreground == .palette(24))
    }

    @Test func theHelpShowsTheReloadedKeys() async throws {
        screens.press("?")
        screens.type("quit")
        #expect(!screens.text.contains("F8"))
        var settings = Settings()
        try settings.keys.bind("F8", to: "quit", in: "everywhere")
        reload(settings)
        try await screens.until { screens.text.contains("F8") }
    }

    @Test func transparencyFollowsTheSetting() async throws {
        let former = screens.context.drawingStyle
        var settings = Settings()
        settings.transparency = .chequer
        reload(settings)
        #expect(!former.isChequered)
        try await screens.until { screens.context.drawingStyle.isChequered }
        // Until new pictures are drawn, the screen shows those in the former style.
        #expect(screens.context.formerStyle == former)
    }

    @Test func settingsThatNeedARestartAreNamed() async throws {
        var settings = Settings()
        (settings.cacheFolder, settings.rowHeight) = ("/other", 7)
        reload(settings)
        try await screens.until { screens.status == " Settings reloaded. Restart Vitrine to apply: “cache-dir”." }
        #expect(screens.context.settings.cacheFolder == nil && screens.context.settings.rowHeight == 7)
    }

    @Test func theUpdateIntervalFollowsTheSetting() async throws {
        try await screens.sync(["a"])
        screens.open()
        #expect(screens.waits.count == 0)
        var settings = Settings()
        settings.syncInterval = 10
        reload(settings)
        let duration = try #require(await screens.waits.nextBegin())
        #expect(duration > .seconds(590) && duration <= .seconds(600))
        reload(Settings())
        await screens.waits.nextEnd()
        #expect(screens.waits.count == 0)
    }
}
