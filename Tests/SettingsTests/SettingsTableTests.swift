import Testing

@testable import Settings

@Suite struct SettingsTableTests {
    /// A value for each option that is not its default.
    static let values = [
        "cache-dir": "/c", "cache-limit": "500M", "log-level": "debug,xml=off", "log-file": "/l",
        "log-exchanges": "example.org", "offline": "yes", "require-sandbox": "yes",
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

    @Test func everyOptionRoundTrips() throws {
        #expect(Set(SettingsTable.options.map(\.name)) == Set(Self.values.keys))
        for option in SettingsTable.options {
            let value = try #require(Self.values[option.name])
            #expect(option.defaultValue != value, "\(option.name)")
            var settings = Settings()
            try option.set(value, in: &settings)
            #expect(option.text(in: settings) == value, "\(option.name)")
            // The option changes only its own setting.
            for other in SettingsTable.options where other.name != option.name {
                #expect(other.text(in: settings) == other.defaultValue, "\(option.name) sets \(other.name)")
            }
        }
    }

    @Test func tableAndSettingsHaveTheSameDefaults() throws {
        var settings = Settings()
        for option in SettingsTable.options where !option.defaultValue.isEmpty {
            try option.set(option.defaultValue, in: &settings)
        }
        #expect(settings == Settings())
    }

    @Test func namesAndLettersAreUnique() {
        let names = SettingsTable.options.map(\.name)
        #expect(Set(names).count == names.count)
        let letters = SettingsTable.options.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
        #expect(Set(letters).isDisjoint(with: ["C", "h", "V"]))
    }

    @Test(arguments: [
        ("cache-dir", "", "“cache-dir” needs a value."),
        ("log-file", "", "“log-file” needs a value."),
        ("cache-limit", "", "Invalid value “” for “cache-limit”: use a size, like 2G or 500M, or none."),
        ("cache-limit", "2 G", "Invalid value “2 G” for “cache-limit”: use a size, like 2G or 500M, or none."),
        ("cache-limit", "-1", "Invalid value “-1” for “cache-limit”: use a size, like 2G or 500M, or none."),
        ("cache-limit", "G", "Invalid value “G” for “cache-limit”: use a size, like 2G or 500M, or none."),
        (
            "cache-limit", "9999999999T",
            "Invalid value “9999999999T” for “cache-limit”: use a size, like 2G or 500M, or none."
        ),
        (
            "log-level", "loud",
            "Invalid value “loud” for “log-level”: use one of error, info, debug, optionally with another level for one part, as in info,network=debug."
        ),
        (
            "log-exchanges", "http://example.org/",
            "Invalid value “http://example.org/” for “log-exchanges”: use a host, like example.org."
        ),
        ("offline", "true", "Invalid value “true” for “offline”: use yes or no."),
        ("ascii", "", "Invalid value “” for “ascii”: use yes or no."),
        ("symbols", "dots", "Invalid value “dots” for “symbols”: use one of auto, ascii, ramp, half, quad, sextant."),
        ("colors", "8", "Invalid value “8” for “colors”: use one of auto, none, 16, 256, full."),
        ("pixels", "yes", "Invalid value “yes” for “pixels”: use one of auto, none, sixel, kitty, iterm."),
        ("transparency", "grid", "Invalid value “grid” for “transparency”: use one of background, chequer."),
        ("sync-on-open", "YES", "Invalid value “YES” for “sync-on-open”: use yes or no."),
        ("sync-on-focus", "1", "Invalid value “1” for “sync-on-focus”: use yes or no."),
        ("sync-interval", "-1", "Invalid value “-1” for “sync-interval”: use a number from 0 to 10080."),
        ("sync-interval", "10081", "Invalid value “10081” for “sync-interval”: use a number from 0 to 10080."),
        ("sync-interval", "1.5", "Invalid value “1.5” for “sync-interval”: use a number from 0 to 10080."),
        ("all-thumbnails", "on", "Invalid value “on” for “all-thumbnails”: use yes or no."),
        ("transfers", "0", "Invalid value “0” for “transfers”: use auto, or a number from 1 to 64."),
        ("transfers", "65", "Invalid value “65” for “transfers”: use auto, or a number from 1 to 64."),
        ("transfers", "many", "Invalid value “many” for “transfers”: use auto, or a number from 1 to 64."),
        ("netrc", "", "“netrc” needs a value."),
        ("passwords", "cloud", "Invalid value “cloud” for “passwords”: use one of session, file, keyring."),
        ("debug-delay", "-1", "Invalid value “-1” for “debug-delay”: use a number from 0 to 600000."),
        ("debug-failures", "half", "Invalid value “half” for “debug-failures”: use a number from 0 to 1000000."),
        ("slideshow", "0", "Invalid value “0” for “slideshow”: use a number from 1 to 3600."),
        ("mouse", "off", "Invalid value “off” for “mouse”: use yes or no."),
        ("row-height", "21", "Invalid value “21” for “row-height”: use a number from 0 to 20."),
    ]) func invalidValuesHaveMessages(name: String, value: String, sentence: String) throws {
        let option = try #require(SettingsTable.option(named: name))
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) { try option.set(value, in: &settings) }
        #expect(error?.description == sentence)
        #expect(settings == Settings())
    }
}
