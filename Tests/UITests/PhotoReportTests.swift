import Model
import Pictures
import Testing

@testable import Cache
@testable import UI

@MainActor struct PhotoReportTests {
    @Test("In ASCII, degrees are written as a word", arguments: [false, true])
    func degrees(hasUnicode: Bool) async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        var metadata = PhotoMetadata(format: "JPEG", width: 40, height: 30)
        (metadata.latitude, metadata.longitude, metadata.description) = (52.51628, 13.37771, "23°C, at 5 ° and °")
        let report = PhotoReport(photo: try screens.photo("a"), metadata: metadata, hasUnicode: hasUnicode)
        let text = report.facts(width: 80).map(\.text).joined(separator: "\n")
        #expect(text.contains(hasUnicode ? "52.51628° N, 13.37771° E" : "52.51628 deg N, 13.37771 deg E"))
        #expect(text.contains(hasUnicode ? "23°C, at 5 ° and °" : "23 deg C, at 5 deg and deg"))
    }
}
