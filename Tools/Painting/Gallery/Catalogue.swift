/// The gallery's photos in index order, which is neither by date nor by name.
struct Catalogue: Sendable {
    /// All photos. Those that take longest to paint come first, so that all cores finish together.
    let photos: [Photo] = stillLifes + landscapes + patterns + figures + nights

    private static let stillLifes = [
        Photo(
            id: "three-pears", title: "Three pears", date: "2012-10-06T13:24:50Z", scene: ThreePears(),
            settings: CameraSettings((1, 60), f: 56, iso: 200, millimetres: 70)),
        Photo(
            id: "blue-cup", title: "Cup & saucer", date: "2020-05-30T06:58:03Z", scene: BlueCup(),
            settings: CameraSettings((1, 160), f: 40, iso: 100, millimetres: 50), orientation: .halfTurned),
        Photo(
            id: "two-eggs", title: "Two eggs, white", date: "2021-04-04T08:30:00Z", scene: TwoEggs(),
            settings: CameraSettings((1, 200), f: 56, iso: 100, millimetres: 70)),
        Photo(
            id: "on-the-shelf", title: "On the shelf", date: "2019-02-17T15:11:26Z", scene: FourBottles(),
            settings: CameraSettings((1, 15), f: 80, iso: 100, millimetres: 70),
            orientation: .quarterTurnedRight),
    ]

    private static let landscapes = [
        Photo(
            id: "still-lake", title: "Twice the mountain", date: "2016-09-21T15:20:44Z", scene: StillLake(),
            settings: CameraSettings((1, 250), f: 80, iso: 100, millimetres: 24),
            place: Place(51.3276, -116.1811, altitude: 1887)),
        Photo(
            id: "dawn-ridge", title: "Dawn over the ridge", date: "2006-07-30T07:47:17Z", scene: DawnRidge(),
            settings: CameraSettings((1, 125), f: 80, iso: 100, millimetres: 85)),
        Photo(
            id: "noon-sail", title: "Noon, one sail", date: "2011-07-14T11:52:40Z", scene: NoonSea(),
            settings: CameraSettings((1, 1000), f: 80, iso: 100, millimetres: 135),
            place: Place(39.3991, 2.9214, altitude: 2)),
        Photo(
            id: "misty-hills", title: "Hills in the mist", date: "2009-05-03T04:38:52Z", scene: MistyHills(),
            settings: CameraSettings((1, 80), f: 110, iso: 100, millimetres: 120), orientation: .mirrored,
            place: Place(43.0613, 11.6048, altitude: 412), exifOrder: .bigEndian),
        Photo(
            id: "desert-dusk", title: "Desert, dusk", date: "2014-11-08T17:31:05Z", scene: DesertDusk(),
            settings: CameraSettings((1, 30), f: 56, iso: 200, millimetres: 35),
            place: Place(31.1462, -3.9808, altitude: 763), sampling: .full),
        Photo(
            id: "october-oak", title: "The oak in October", date: "2008-10-26T14:05:31Z", scene: OctoberOak(),
            settings: CameraSettings((1, 320), f: 71, iso: 100, millimetres: 50)),
        Photo(
            id: "tulips", title: "Tulips to the horizon", date: "2023-04-22T11:15:09Z", scene: TulipField(),
            settings: CameraSettings((1, 500), f: 110, iso: 100, millimetres: 20),
            place: Place(52.2698, 4.5496, altitude: -1), exifOrder: .bigEndian),
        Photo(
            id: "snow", title: "Snow, before noon", date: "2010-01-09T09:40:12Z", scene: SnowBeforeNoon(),
            settings: CameraSettings((1, 800), f: 90, iso: 100, millimetres: 40), orientation: .transposed),
        Photo(
            id: "jetty", title: "The jetty in fog", date: "2012-11-18T08:02:37Z", scene: JettyInFog(),
            settings: CameraSettings((1, 100), f: 80, iso: 200, millimetres: 35)),
        Photo(
            id: "low-tide", title: "Low tide", date: "2013-08-25T17:46:20Z", scene: LowTide(),
            settings: CameraSettings((1, 125), f: 110, iso: 100, millimetres: 28),
            place: Place(48.6403, -1.5747, altitude: 3)),
    ]

    private static let patterns = [
        Photo(
            id: "star-tiles", title: "Stars and crosses", date: "2008-04-19T10:27:55Z", scene: StarTiles(),
            settings: CameraSettings((1, 60), f: 56, iso: 400, millimetres: 60),
            place: Place(37.3831, -5.9902, altitude: 14)),
        Photo(
            id: "sun-window", title: "The sun window", date: "2017-01-22T12:09:18Z", scene: SunWindow(),
            settings: CameraSettings((1, 40), f: 40, iso: 800, millimetres: 50),
            orientation: .quarterTurnedLeft,
            exifOrder: .bigEndian),
        Photo(
            id: "island-map", title: "An island that isn't there", date: "2020-03-29T14:33:41Z",
            scene: ContourMap(), settings: CameraSettings((1, 60), f: 80, iso: 200, millimetres: 70),
            orientation: .flipped),
        Photo(
            id: "bulge", title: "Something behind it", date: "2022-06-11T16:50:02Z", scene: Bulge(),
            settings: CameraSettings((1, 125), f: 80, iso: 100, millimetres: 70), sampling: .full),
    ]

    private static let figures = [
        Photo(
            id: "paper-fox", title: "Paper fox", date: "2015-12-24T15:45:00Z", scene: PaperFox(),
            settings: CameraSettings((1, 60), f: 63, iso: 200, millimetres: 70)),
        Photo(
            id: "lighthouse", title: "Last light", date: "2007-09-15T18:42:29Z", scene: Lighthouse(),
            settings: CameraSettings((1, 8), f: 56, iso: 200, millimetres: 80),
            orientation: .quarterTurnedLeft,
            place: Place(48.4715, -5.0975, altitude: 18)),
        Photo(
            id: "balloon", title: "Up before six", date: "2018-06-02T03:52:09Z", scene: Balloon(),
            settings: CameraSettings((1, 400), f: 71, iso: 100, millimetres: 100),
            place: Place(47.0498, 4.8306, altitude: 330)),
        Photo(
            id: "owl", title: "Owl, awake", date: "2010-10-23T20:14:33Z", scene: Owl(),
            settings: CameraSettings((1, 30), f: 45, iso: 1600, millimetres: 300)),
        Photo(
            id: "looking-down", title: "Looking down", date: "2018-02-11T11:38:16Z", scene: SpiralStairs(),
            settings: CameraSettings((1, 50), f: 28, iso: 800, millimetres: 16), sampling: .grey),
    ]

    private static let nights = [
        Photo(
            id: "milky-way", title: "Camp under the Milky Way", date: "2019-08-02T20:31:58Z",
            scene: MilkyWay(),
            settings: CameraSettings((20, 1), f: 28, iso: 3200, millimetres: 16),
            place: Place(-24.7276, 15.3422, altitude: 1250)),
        Photo(
            id: "northern-lights", title: "Northern lights", date: "2015-03-17T21:22:07Z",
            scene: NorthernLights(),
            settings: CameraSettings((6, 1), f: 28, iso: 1600, millimetres: 16),
            place: Place(68.3495, 18.8312, altitude: 385), exifOrder: .bigEndian),
        Photo(
            id: "city-at-ten", title: "City, ten at night", date: "2024-03-08T21:00:00Z", scene: CityAtTen(),
            settings: CameraSettings((1, 4), f: 40, iso: 400, millimetres: 35), orientation: .transversed),
        Photo(
            id: "fireworks", title: "Harbour, midnight", date: "2024-01-01T00:00:30Z", scene: Fireworks(),
            settings: CameraSettings((2, 1), f: 110, iso: 100, millimetres: 24)),
        Photo(
            id: "moon", title: "Moon in the branches", date: "2021-11-19T06:25:54Z", scene: MoonInBranches(),
            settings: CameraSettings((1, 125), f: 80, iso: 200, millimetres: 400)),
    ]
}

/// A photo of the gallery: its scene and its metadata.
struct Photo: Sendable {
    /// The identifier, also used as file name.
    let id: String
    let title: String
    /// The date, as `yyyy-MM-ddTHH:mm:ssZ`.
    let date: String
    let scene: any Scene
    let settings: CameraSettings
    var orientation = Orientation.upright
    var place: Place?
    var sampling = JPEGWriter.Sampling.halved
    var exifOrder = ByteSink.Order.littleEndian

    /// The photo's album entry.
    var entry: AlbumEntry {
        AlbumEntry(
            id: id, name: title, date: date, image: "images/\(id).jpg", thumbnail: "thumbnails/\(id).jpg")
    }

    /// Returns the photo's file, for a picture in its upright form.
    func file(of seen: Raster, within budget: Int) -> [UInt8] {
        let stored = orientation.stored(seen)
        let exif = EXIFBlock(
            title: title, taken: Self.exifDate(date), settings: settings, orientation: orientation,
            width: stored.width, height: stored.height, place: place, order: exifOrder)
        return JPEGWriter(stored, sampling: sampling).file(within: budget, exif: exif.bytes)
    }

    /// Converts a date to EXIF's form, with colons and without time zone.
    private static func exifDate(_ date: String) -> String {
        let parts = date.dropLast().split(separator: "T")
        return parts[0].split(separator: "-").joined(separator: ":") + " " + parts[1]
    }
}
