import Cells
import Foundation
import Logging
import Settings
import TestSupport
import Testing

@testable import UI

/// The command that sets a setting, and the screen of all settings.
@MainActor @Suite(.unlessItHangs) struct SettingsScreenTests {
    private let screens: TestScreens
    private var file: String { screens.folder.path(".config/vitrine/config") }

    init() throws { screens = try TestScreens(arguments: ["--ascii"]) }

    private func give(_ line: String) {
        screens.type(":" + line)
        screens.press(Key(.enter))
    }

    /// Selects a setting on the screen of settings.
    private func choose(_ name: String) {
        give("search \(name)")
        #expect(screens.text.contains("> \(name)") || screens.text.contains("▌ \(name)"))
    }

    /// A value for each setting that is not its default.
    private nonisolated static let values = [
        "cache-dir": "/c", "cache-limit": "500M", "log-level": "debug", "log-file": "/l",
        "log-exchanges": "example.org",
        "offline": "yes", "require-sandbox": "yes", "ascii": "no", "symbols": "half", "pixels": "sixel",
        "colors": "256",
        "transparency": "chequer", "theme": "light", "plain": "yes", "sync-on-open": "no", "sync-on-focus": "yes",
        "sync-interval": "15", "all-thumbnails": "yes", "row-height": "4", "sort": "size", "sort-reversed": "yes",
        "sections": "month", "all-photos": "yes", "transfers": "12", "ca-file": "/ca.pem",
        "client-certificate": "/me.pem", "client-key": "/key.pem", "client-certificate-host": "example.org",
        "netrc": "/netrc", "passwords": "file", "slideshow": "20", "slideshow-shuffle": "yes", "open-with": "feh",
        "export-folder": "/x", "mouse": "no", "debug-delay": "250", "debug-failures": "3",
    ]

    @Test("BEHAVIOURS 6.6: every setting changes the running program, or its sentence says why not")
    func everySetting() async throws {
        for option in SettingsTable.options {
            let value = try #require(Self.values[option.name], "\(option.name)")
            let before = option.text(in: screens.context.settings)
            give("set \(option.name) \(value)")
            // A setting that names a file changes off the main actor.
            try await screens.until {
                option.effectSentence == nil
                    ? screens.status == " \(option.name) = \(value)"
                    : ["takes effect only at", "applies to"].contains {
                        screens.text.contains("“\(option.name)” \($0)")
                    }
            }
            let now = option.text(in: screens.context.settings)
            if case .atNextStart = option.effect { #expect(now == before) } else { #expect(now == value) }
            give("set \(option.name)&")
            try await screens.until { option.text(in: screens.context.settings) == option.defaultValue }
            screens.press(Key(.escape))
        }
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func theCommandShowsAndChecksValues() throws {
        give("set theme")
        #expect(screens.status == " theme = auto (default). Default: auto.")
        give("set ascii?")
        #expect(screens.status == " ascii = yes (command line). Default: no.")
        give("set theme=mono")
        #expect(screens.status == " theme = mono" && screens.context.settings.theme == .mono)
        give("set theme purple")
        #expect(screens.text.contains("Invalid value “purple” for “theme”: use one of auto, dark,"))
        give("set them light")
        #expect(screens.status == " Unknown setting “them”; did you mean “theme”?")
        give("set open-with feh --fullscreen = %s")
        #expect(screens.context.settings.openWith == "feh --fullscreen = %s")
        give("set")
        #expect(screens.status.contains("The command “set” needs an argument"))
    }

    @Test func namesAndValuesAreCompleted() throws {
        screens.type(":set th")
        #expect(screens.text.contains("interface colours; auto: match"))
        screens.press(Key(.tab))
        #expect(screens.status == ":set theme")
        #expect(screens.text.contains(" dark") && screens.text.contains("now, default"))
        screens.type("l")
        screens.press(Key(.tab))
        #expect(screens.status == ":set theme light")
        screens.press(Key(.escape))
        screens.type(":set! theme m")
        screens.press(Key(.tab))
        #expect(screens.status == ":set! theme mono")
        screens.press(Key(.escape))
        screens.type(":set log-level info,net")
        screens.press(Key(.tab))
        #expect(screens.status == ":set log-level info,network=")
        screens.press(Key(.escape))
        // Tab offers the present value of a setting without words.
        screens.type(":set row-height ")
        screens.press(Key(.tab))
        #expect(screens.status == ":set row-height 0")
        screens.press(Key(.tab))
        #expect(screens.status == ":set row-height 0")
    }

    @Test func theSignKeepsTheSetting() async throws {
        screens.folder.write(".config/vitrine/config", "# mine\nplain = no\n")
        give("set! theme mono")
        try await screens.until { screens.status.contains("saved to the settings file") }
        #expect(try PrivateFile.read(file) == "# mine\nplain = no\ntheme = mono\n")
        #expect(screens.context.settings.theme == .mono)
        give("set! theme&")
        try await screens.until { screens.context.settings.theme == .auto }
        #expect(try PrivateFile.read(file) == "# mine\nplain = no\n")
        chmod(file, 0o444)
        screens.size = Size(columns: 200, rows: 24)
        give("set! theme light")
        try await screens.until { screens.text.contains("the file is read-only.") }
        #expect(screens.context.settings.theme == .auto)
    }

    @Test func theScreenChangesKeepsAndResets() async throws {
        screens.press(Key(.function(2)))
        #expect(screens.title.hasPrefix(" Settings") && screens.text.contains("cache-dir"))
        choose("theme")
        screens.press(Key(.enter))
        #expect(screens.context.settings.theme == .dark && screens.text.contains("changed here"))
        screens.press("s")
        try await screens.until { screens.status.contains("saved to the settings file") }
        #expect(try PrivateFile.read(file) == "theme = dark\n" && screens.text.contains("config, line 1"))
        screens.press("d")
        #expect(screens.context.settings.theme == .auto)
        screens.press("s")
        try await screens.until { screens.status.contains("Removed the setting from the settings file") }
        #expect(try PrivateFile.read(file) == "")
        choose("row-height")
        screens.press(Key(.enter))
        #expect(screens.status == " row-height: 0")
        screens.press(Key(.backspace))
        screens.type("7")
        screens.press(Key(.enter))
        #expect(screens.context.settings.rowHeight == 7)
        screens.press(Key(.enter), Key(.backspace))
        screens.type("70")
        screens.press(Key(.enter))
        #expect(screens.text.contains("use a number from 0 to 20") && screens.context.settings.rowHeight == 7)
        // Without text, the setting returns to its default.
        screens.press(Key(.escape), Key(.enter), Key(.backspace), Key(.enter))
        #expect(screens.context.settings.rowHeight == 0)
        screens.press("q")
        #expect(!screens.title.hasPrefix(" Settings"))
    }

    @Test func theScreenSearchesNamesAndMeanings() {
        screens.press(Key(.function(2)))
        screens.type("/certificate")
        #expect(screens.status.hasPrefix(" 4 found"))
        screens.press(Key(.enter))
        #expect(screens.title.contains("1 of 4") && screens.text.contains("ca-file"))
        screens.press("n")
        #expect(screens.title.contains("2 of 4"))
    }

    @Test(arguments: [
        Size(columns: 80, rows: 24), Size(columns: 200, rows: 60), Size(columns: 40, rows: 12),
        Size(columns: 20, rows: 5),
    ]) func everySettingIsReachable(size: Size) {
        screens.size = size
        screens.press(Key(.function(2)))
        for option in SettingsTable.options {
            let name = option.name.prefix(size.columns - 5)
            #expect(screens.text.contains(size.columns == 20 ? name.prefix(14) : name), "\(option.name)")
            screens.press("j")
        }
    }

    /// The settings module does not know the log.
    @Test func theLogAndTheSettingsNameTheSameParts() {
        #expect(LogLevels.Part.allCases.map(\.rawValue) == LogSubsystem.allCases.map(\.name))
    }
}
