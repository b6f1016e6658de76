/// A position on the Earth.
struct Place: Sendable {
    /// In degrees, north positive.
    var latitude: Double
    /// In degrees, east positive.
    var longitude: Double
    /// In metres above the sea.
    var altitude: Int

    init(_ latitude: Double, _ longitude: Double, altitude: Int) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }

    /// Returns an angle without its sign as degrees, minutes and hundredths of seconds.
    static func degreesMinutesSeconds(_ angle: Double) -> [Ratio] {
        let hundredths = UInt32((abs(angle) * 360_000).rounded())
        return [
            Ratio(hundredths / 360_000, 1), Ratio(hundredths / 6000 % 60, 1), Ratio(hundredths % 6000, 100),
        ]
    }
}
