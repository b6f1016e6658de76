import TestSupport
import Testing

@testable import Settings

/// Settings that are reloaded while Vitrine runs.
@Suite struct SettingsReadingTests {
    /// The options that need a restart.
    private static let atStart: Set = ["cache-dir"]

    @Test func eachOptionTakesEffectOrNeedsARestart() throws {
        for option in SettingsTable.options {
            let value = try #require(SettingsTableTests.values[option.name])
            var new = Settings()
            try option.set(value, in: &new)
            let adopted = Settings().adopting(new)
            #expect(adopted == (Self.atStart.contains(option.name) ? Settings() : new), "\(option.name)")
        }
        #expect(Self.atStart.isSubset(of: SettingsTable.options.map(\.name)))
    }

    @Test("A path that begins with ~/ lies in the home folder, and so does a named settings file")
    func pathsInTheHomeFolder() throws {
        let folder = TestFolder()
        let file = folder.write("dotfiles/vitrine", "netrc = ~/.secrets\n")
        let home = folder.path
        let invocation = try Invocation(["--config=~/dotfiles/vitrine", "--open-with=~/bin/view --file=%s"])
        let inForce = try SettingsInForce(invocation, Locations { $0 == "HOME" ? home : nil })
        #expect(inForce.path == file && inForce.mistakes.isEmpty)
        #expect(inForce.settings.netrc == folder.path(".secrets"))
        #expect(inForce.settings.openWith == folder.path("bin/view --file=%s"))
    }
}
