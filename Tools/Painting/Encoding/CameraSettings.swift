/// The camera's settings for a photo.
struct CameraSettings: Sendable {
    /// In seconds.
    var exposureTime: Ratio
    /// The f-number.
    var aperture: Ratio
    var sensitivity: UInt16
    /// In millimetres.
    var focalLength: Ratio

    /// Creates settings as photographers write them: 1/250 s, f/8, ISO 100, 35 mm.
    ///
    /// - Parameters:
    ///   - time: The exposure time in seconds, as numerator and denominator.
    ///   - tenths: Ten times the f-number.
    ///   - iso: The sensitivity.
    ///   - millimetres: The focal length.
    init(_ time: (UInt32, UInt32), f tenths: UInt32, iso: UInt16, millimetres: UInt32) {
        exposureTime = Ratio(time.0, time.1)
        aperture = Ratio(tenths, 10)
        sensitivity = iso
        focalLength = Ratio(millimetres, 1)
    }

    /// The lens with this focal length.
    var lens: String {
        switch focalLength.numerator {
        case ..<35: "Vitrine Wide 16-35mm F2.8"
        case ..<80: "Vitrine Standard 35-70mm F2.8"
        default: "Vitrine Long 80-400mm F4.5"
        }
    }
}
