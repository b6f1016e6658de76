import Testing

@testable import Settings

@Suite struct LogLevelsTests {
    @Test func partsHaveTheirOwnLevels() throws {
        let levels = try #require(LogLevels("info, network=debug,xml=off,network-detail=debug"))
        #expect(levels.general == .info && levels.parts.count == 3 && levels.parts[.xml] == .some(nil))
        #expect(levels.text == "info,network=debug,network-detail=debug,xml=off")
        #expect(LogLevels("debug") == LogLevels(.debug))
        for text in ["", "off", "info,", "info,network", "info,network=loud", "info,disk=debug", "network=debug"] {
            #expect(LogLevels(text) == nil, "\(text)")
        }
    }

    @Test func partsAndLevelsAreCompleted() {
        #expect(LogLevels.completions(of: "") == ["error", "info", "debug"])
        #expect(LogLevels.completions(of: "info,net") == ["info,network=", "info,network-detail="])
        #expect(LogLevels.completions(of: "info,xml=o") == ["info,xml=off"])
    }
}
