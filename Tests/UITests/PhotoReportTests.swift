import Model
import Pictures
import Testing

@testable import Cache
@testable import UI

@MainActor struct PhotoReportTests {
    @Test("The lengths of videos are written briefly, to the second")
    func videoMillisecondss() {
        let lengths = [0, 999, 12_000, 62_500, 3_723_000].map { VideoText.length($0) }
        #expect(lengths == ["unknown length", "0:00", "0:12", "1:02", "1:02:03"])
        #expect(VideoText.text(0) == "video" && VideoText.text(12_000) == "video 0:12")
    }

    @Test("The report shows the annotations of the gallery, and no text twice", arguments: [false, true])
    func annotations(hasUnicode: Bool) async throws {
        let screens = try TestScreens()
        var entry = try TestScreens.entry("a", name: "Lake", date: 1)
        (entry.annotations.rating, entry.annotations.isFavorite, entry.annotations.description) = (3, true, "The ferry")
        (entry.annotations.people, entry.annotations.tags) = (["Anna", "Uwe"], ["lake\u{1B}[31m"])
        try await screens.sync([entry])
        var metadata = PhotoMetadata(format: "JPEG", width: 40, height: 30)
        metadata.description = "The ferry"
        let cache = screens.cache
        let lines = try cache.read { reader in
            PhotoReport(
                photo: try screens.photo("a"), metadata: metadata, annotationsIn: reader, hasUnicode: hasUnicode
            ).facts(width: 40)
        }
        func text(_ label: String) -> [String] {
            lines.filter { $0.label == label }.map { String($0.text.drop { $0 == " " }) }
        }
        #expect(text("Rating") == [hasUnicode ? "★★★" : "***"] && text("Favorite") == ["yes"])
        #expect(text("Caption") == ["The ferry"] && text("People") == ["Anna, Uwe"])
        #expect(text("Tags").first?.hasPrefix("lake") == true && text("Tags").first?.contains("\u{1B}") == false)
    }

    @Test("The report names the town of the coordinates, or the way to it")
    func town() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        var metadata = PhotoMetadata(format: "JPEG", width: 40, height: 30)
        func texts() throws -> [String] {
            let report = PhotoReport(photo: try screens.photo("a"), metadata: metadata)
            return report.facts(width: 80).filter { $0.label == "Town" }.map { String($0.text.drop { $0 == " " }) }
        }
        #expect(try texts().isEmpty)
        metadata.town = Town(name: "Lisbon, Portugal")
        #expect(try texts() == ["Lisbon, Portugal"])
        metadata.town = Town(name: "Évora, Portugal", distance: 12)
        #expect(try texts() == ["12 km from Évora, Portugal"])
    }

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
