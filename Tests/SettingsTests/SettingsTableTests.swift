import Testing

@testable import Settings

@Suite struct SettingsTableTests {
    /// For each option a value that is not its default, as it stands in a file.
    static let values = [
        "cache-dir": "/c", "cache-limit": "500M", "log-level": "debug", "log-file": "/l", "offline": "yes",
        "ascii": "yes",
        "symbols": "half", "pixels": "sixel", "colors": "256", "transparency": "chequer", "theme": "light",
        "plain": "yes", "sync-on-open": "no",
        "sync-on-focus": "yes",
        "sync-interval": "15",
        "all-thumbnails": "yes", "row-height": "4", "sort": "size", "sort-reversed": "yes", "sections": "month",
        "all-photos": "yes", "transfers": "12", "ca-file": "/ca.pem", "client-certificate": "/me.pem",
        "client-key": "/key.pem", "client-certificate-host": "example.org", "netrc": "/netrc", "passwords": "file",
        "slideshow": "20", "slideshow-shuffle": "yes", "open-with": "feh", "export-folder": "/x", "mouse": "no",
        "debug-delay": "250", "debug-failures": "3",
    ]

    @Test func everyOptionIsSetAndReadBack() throws {
        #expect(Set(SettingsTable.options.map(\.name)) == Set(Self.values.keys))
        for option in SettingsTable.options {
            let value = try #require(Self.values[option.name])
            #expect(option.defaultValue != value, "\(option.name)")
            var settings = Settings()
            try option.set(value, in: &settings)
            #expect(option.current(settings) == value, "\(option.name)")
            // It sets what it says, and nothing else.
            for other in SettingsTable.options where other.name != option.name {
                #expect(other.current(settings) == other.defaultValue, "\(option.name) sets \(other.name)")
            }
        }
    }

    @Test func defaultsAreThoseOfTheSettings() throws {
        var settings = Settings()
        for option in SettingsTable.options where !option.defaultValue.isEmpty {
            try option.set(option.defaultValue, in: &settings)
        }
        #expect(settings == Settings())
    }

    @Test func noNameAndNoLetterStandsForTwo() {
        let names = SettingsTable.options.map(\.name)
        #expect(Set(names).count == names.count)
        let letters = SettingsTable.options.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
        #expect(Set(letters).isDisjoint(with: ["C", "h", "V"]))
    }

    @Test(arguments: [
        ("cache-dir", "", "“cache-dir” needs a value."),
        ("log-file", "", "“log-file” needs a value."),
        ("cache-limit", "", "“” is no value for “cache-limit”: a size, like 2G or 500M, or none."),
        ("cache-limit", "2 G", "“2 G” is no value for “cache-limit”: a size, like 2G or 500M, or none."),
        ("cache-limit", "-1", "“-1” is no value for “cache-limit”: a size, like 2G or 500M, or none."),
        ("cache-limit", "G", "“G” is no value for “cache-limit”: a size, like 2G or 500M, or none."),
        (
            "cache-limit", "9999999999T",
            "“9999999999T” is no value for “cache-limit”: a size, like 2G or 500M, or none."
        ),
        ("log-level", "loud", "“loud” is no value for “log-level”: one of error, info, debug."),
        ("offline", "true", "“true” is no value for “offline”: yes or no."),
        ("ascii", "", "“” is no value for “ascii”: yes or no."),
        ("symbols", "dots", "“dots” is no value for “symbols”: one of auto, ascii, ramp, half, quad, sextant."),
        ("colors", "8", "“8” is no value for “colors”: one of auto, none, 16, 256, full."),
        ("pixels", "yes", "“yes” is no value for “pixels”: one of auto, none, sixel, kitty, iterm."),
        ("transparency", "grid", "“grid” is no value for “transparency”: one of background, chequer."),
        ("sync-on-open", "YES", "“YES” is no value for “sync-on-open”: yes or no."),
        ("sync-on-focus", "1", "“1” is no value for “sync-on-focus”: yes or no."),
        ("sync-interval", "-1", "“-1” is no value for “sync-interval”: a number from 0 to 10080."),
        ("sync-interval", "10081", "“10081” is no value for “sync-interval”: a number from 0 to 10080."),
        ("sync-interval", "1.5", "“1.5” is no value for “sync-interval”: a number from 0 to 10080."),
        ("all-thumbnails", "on", "“on” is no value for “all-thumbnails”: yes or no."),
        ("transfers", "0", "“0” is no value for “transfers”: auto, or a number from 1 to 64."),
        ("transfers", "65", "“65” is no value for “transfers”: auto, or a number from 1 to 64."),
        ("transfers", "many", "“many” is no value for “transfers”: auto, or a number from 1 to 64."),
        ("netrc", "", "“netrc” needs a value."),
        ("passwords", "cloud", "“cloud” is no value for “passwords”: one of session, file, keyring."),
        ("debug-delay", "-1", "“-1” is no value for “debug-delay”: a number from 0 to 600000."),
        ("debug-failures", "half", "“half” is no value for “debug-failures”: a number from 0 to 1000000."),
        ("slideshow", "0", "“0” is no value for “slideshow”: a number from 1 to 3600."),
        ("mouse", "off", "“off” is no value for “mouse”: yes or no."),
        ("row-height", "21", "“21” is no value for “row-height”: a number from 0 to 20."),
    ]) func badValuesAreRefusedInASentence(name: String, value: String, sentence: String) throws {
        let option = try #require(SettingsTable.option(named: name))
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) { try option.set(value, in: &settings) }
        #expect(error?.description == sentence)
        #expect(settings == Settings())
    }
}
