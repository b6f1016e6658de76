import Pixels
import Testing

struct PictureMetadataTests {
    @Test func cutsTextsBetweenScalars() {
        var metadata = PictureMetadata()
        metadata.title = String(repeating: "ä", count: 600)
        metadata.description = "x" + String(repeating: "😀", count: 600)
        metadata.camera = ""
        let bounded = metadata.bounded
        #expect(bounded.title == String(repeating: "ä", count: 512))
        #expect(bounded.description == "x" + String(repeating: "😀", count: 255))
        #expect(bounded.camera == nil)
        #expect(bounded.bounded == bounded)
    }

    @Test func dropsImpossibleNumbers() {
        var metadata = PictureMetadata()
        metadata.exposureSeconds = .nan
        metadata.aperture = .infinity
        metadata.iso = -1
        metadata.focalLength = 0
        metadata.latitude = 91
        metadata.longitude = -181
        #expect(metadata.bounded == PictureMetadata())
    }

    @Test("Two zeros are no place, but a place may lie on the equator or the first meridian")
    func zeroPlaces() {
        for (latitude, longitude) in [(0.0, 0.0), (-0.0, 0.0), (0.0, 9.5), (51.5, 0.0)] {
            var metadata = PictureMetadata()
            (metadata.latitude, metadata.longitude) = (latitude, longitude)
            let isPlace = latitude != 0 || longitude != 0
            #expect(metadata.bounded == (isPlace ? metadata : PictureMetadata()))
        }
    }

    @Test func keepsUsualValues() {
        var metadata = PictureMetadata()
        metadata.exposureSeconds = 1.0 / 8000
        metadata.aperture = 0.95
        metadata.iso = 409_600
        metadata.focalLength = 1200
        metadata.latitude = -90
        metadata.longitude = 180
        for time in ["2006-07-30T07:47:17", "2006-07-30T07:47:17Z"] {
            metadata.takenAt = time
            #expect(metadata.bounded == metadata)
        }
    }

    @Test(arguments: [
        "0000-00-00T00:00:00", "2006-13-30T07:47:17", "2006-07-30 07:47:17", "2006-07-30T24:00:00",
        "2006-07-30T07:47:1７", "", "2006-07-30T07:47:17+", "2006-07-30T07:47:17ZZ", "2OO6-07-30T07:47:17",
    ])
    func dropsInvalidTimes(text: String) {
        var metadata = PictureMetadata()
        metadata.takenAt = text
        #expect(metadata.bounded.takenAt == nil)
    }

    @Test func keepsTheFirstFields() {
        var metadata = PictureMetadata()
        metadata.fields = (0..<300).map { MetadataField(name: $0 == 3 ? "" : "\($0)", value: "value") }
        #expect(metadata.bounded.fields.map(\.name).last == "255")
        #expect(metadata.bounded.fields.count == 255)
    }
}
