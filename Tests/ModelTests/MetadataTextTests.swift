import Testing

@testable import Model

@Suite struct MetadataTextTests {
    private func words(_ set: (inout PhotoMetadata) -> Void) -> MetadataText {
        var metadata = PhotoMetadata(format: "JPEG", width: 4_000, height: 3_000)
        set(&metadata)
        return MetadataText(metadata)
    }

    @Test(arguments: [
        (0.004, "1/250 s"), (1.0 / 8_000, "1/8000 s"), (0.25, "1/4 s"), (0.3, "0.3 s"), (0.5, "0.5 s"), (30, "30 s"),
        (1.3, "1.3 s"), (0, "0 s"), (-1, nil), (.infinity, nil), (.nan, nil),
    ]) func exposure(seconds: Double, text: String?) {
        #expect(words { $0.exposure = seconds }.exposure == text)
    }

    @Test(arguments: [(5.6, "f/5.6"), (2, "f/2"), (0.95, "f/0.95"), (1.414, "f/1.41"), (1e9, nil)])
    func aperture(number: Double, text: String?) {
        #expect(words { $0.aperture = number }.aperture == text)
    }

    @Test func settingsCombineTheKnownFields() {
        let all = words {
            ($0.exposure, $0.aperture, $0.focalLength, $0.iso) = (0.004, 5.6, 35, 200)
        }
        #expect(all.settings == "1/250 s, f/5.6, 35 mm, ISO 200")
        #expect(words { $0.iso = 100 }.settings == "ISO 100")
        #expect(words { _ in }.settings == nil)
    }

    @Test(arguments: [
        (4_000, 3_000, "4000 × 3000, 12.0 MP"), (1_600, 1_067, "1600 × 1067, 1.7 MP"), (320, 240, "320 × 240, 0.1 MP"),
        (16, 16, "16 × 16"),
    ]) func size(width: Int, height: Int, text: String) {
        #expect(MetadataText.size(width: width, height: height) == text)
    }

    @Test func places() {
        let berlin = words { ($0.latitude, $0.longitude) = (52.516284, 13.377712) }
        #expect(berlin.place == "52.51628° N, 13.37771° E")
        #expect(berlin.map == "https://www.openstreetmap.org/?mlat=52.51628&mlon=13.37771#map=15/52.51628/13.37771")
        let south = words { ($0.latitude, $0.longitude) = (-33.9, -0.5) }
        #expect(south.place == "33.90000° S, 0.50000° W")
        #expect(south.map == "https://www.openstreetmap.org/?mlat=-33.90000&mlon=-0.50000#map=15/-33.90000/-0.50000")
        #expect(words { $0.latitude = 1 }.place == nil)
        #expect(words { ($0.latitude, $0.longitude) = (.nan, 1) }.map == nil)
    }

    @Test func timeAndTurning() {
        #expect(words { $0.takenAt = "2006-07-30T07:47:17" }.taken == "2006-07-30 07:47:17")
        #expect(words { $0.takenAt = "2006-07-30T07:47:17Z" }.taken == "2006-07-30 07:47:17 UTC")
        #expect(words { $0.frameRate = 30_000.0 / 1_001 }.frameRate == "29.97 frames/s")
        #expect(words { $0.orientation = 1 }.turning == nil && words { $0.orientation = 6 }.turning != nil)
    }
}
