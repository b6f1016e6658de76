/// What a photo's file says of itself. Every text comes from strangers, and is not yet made harmless for a screen.
///
///     var metadata = PhotoMetadata(format: "JPEG", width: 6_000, height: 4_000)
///     metadata.camera = "FUJIFILM X-T4"
public struct PhotoMetadata: Hashable, Sendable {
    /// The format's name: "JPEG".
    public var format: String
    /// Its width as it is seen upright, in pixels.
    public var width: Int
    /// Its height as it is seen upright, in pixels.
    public var height: Int
    /// How it is stored, with EXIF's numbers from 1 to 8; nil if nothing is known of it.
    public var orientation: Int?
    /// When it was taken by the camera's clock: "2006-07-30T07:47:17".
    public var takenAt: String?
    /// Maker and model.
    public var camera: String?
    /// The lens's model.
    public var lens: String?
    /// Exposure time in seconds.
    public var exposure: Double?
    /// The f-number.
    public var aperture: Double?
    /// Sensitivity.
    public var iso: Int?
    /// Focal length in millimetres.
    public var focalLength: Double?
    /// Degrees, north positive.
    public var latitude: Double?
    /// Degrees, east positive.
    public var longitude: Double?
    /// A title its owner gave it.
    public var title: String?
    /// A description its owner, or the camera, gave it.
    public var description: String?

    /// Begins with what every picture has.
    public init(format: String, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }
}

extension PhotoMetadata {
    /// What photos are searched by, beside their names: texts as they are, numbers as people type them.
    ///
    /// Whoever searches takes what was typed apart at everything that is neither letter nor digit, as was done with these
    /// words. So `f2.8` is looked for as `f2` and `8`, `f/2.8` as `f`, `2` and `8`, `ISO 400` as `iso` and `400`; and each
    /// number is here in every way in which it is written.
    public var words: String {
        let texts = [title, description, camera, lens].compactMap { $0 }
        return (texts + numbers).joined(separator: "\n")
    }

    private var numbers: [String] {
        var words: [String] = []
        if let aperture, let number = MetadataText.number(aperture) { words += ["f\(number)", "f/\(number)"] }
        if let focalLength, let number = MetadataText.number(focalLength) { words += ["\(number)mm", "\(number) mm"] }
        if let iso { words += ["iso\(iso)", "iso \(iso)"] }
        if let time = exposure.flatMap(MetadataText.seconds) { words += ["\(time)s", "\(time) s"] }
        return words
    }
}

/// What photos say of themselves, in the words that people use: the same ones wherever it is shown.
///
///     let words = MetadataText(metadata)
///     words.exposure      // "1/250 s"
///     words.aperture      // "f/5.6"
///
/// Nil where the photo says nothing, or what no camera does. Texts of the file itself are not made harmless here.
public struct MetadataText: Hashable, Sendable {
    private let metadata: PhotoMetadata

    /// Puts into words what is known of a photo.
    public init(_ metadata: PhotoMetadata) {
        self.metadata = metadata
    }

    /// `4000 × 3000, 12.0 MP`.
    public var size: String { Self.size(width: metadata.width, height: metadata.height) }

    /// `1/250 s`, `0.5 s`, `30 s`.
    public var exposure: String? { metadata.exposure.flatMap(Self.exposure) }

    /// `f/5.6`.
    public var aperture: String? { metadata.aperture.flatMap(Self.number).map { "f/\($0)" } }

    /// `35 mm`.
    public var focalLength: String? { metadata.focalLength.flatMap(Self.number).map { "\($0) mm" } }

    /// `ISO 200`.
    public var sensitivity: String? { metadata.iso.map { "ISO \($0)" } }

    /// All of these that are known, as people say it: `1/250 s, f/5.6, 35 mm, ISO 200`. Nil if none is.
    public var settings: String? {
        let parts = [exposure, aperture, focalLength, sensitivity].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The camera's clock: `2006-07-30 07:47:17`.
    public var taken: String? {
        metadata.takenAt.map { String($0.map { $0 == "T" ? " " : $0 }) }
    }

    /// `52.51628° N, 13.37771° E`: to a metre, which is more than cameras know.
    public var place: String? {
        guard let latitude = metadata.latitude, let longitude = metadata.longitude,
            let north = Self.degrees(abs(latitude)), let east = Self.degrees(abs(longitude))
        else { return nil }
        return "\(north)° \(latitude < 0 ? "S" : "N"), \(east)° \(longitude < 0 ? "W" : "E")"
    }

    /// The place on a map, as an address that any browser opens. Nobody is asked anything before somebody opens it.
    public var map: String? {
        guard let latitude = metadata.latitude, let longitude = metadata.longitude,
            let north = Self.degrees(abs(latitude)), let east = Self.degrees(abs(longitude))
        else { return nil }
        let (y, x) = ((latitude < 0 ? "-" : "") + north, (longitude < 0 ? "-" : "") + east)
        return "https://www.openstreetmap.org/?mlat=\(y)&mlon=\(x)#map=15/\(y)/\(x)"
    }

    /// What is done to the stored picture so that it stands upright; nil where it does already, or nothing is known of it.
    public var turning: String? {
        switch metadata.orientation {
        case 2: "mirrored"
        case 3: "turned by half"
        case 4: "flipped"
        case 5, 7: "mirrored and turned by a quarter"
        case 6: "turned right by a quarter"
        case 8: "turned left by a quarter"
        default: nil
        }
    }

    /// `4000 × 3000, 12.0 MP`.
    public static func size(width: Int, height: Int) -> String {
        let sides = "\(width) × \(height)"
        let pixels = Double(width) * Double(height)
        // Smaller ones have none to speak of; and larger ones there are not.
        guard (50_000...1e15).contains(pixels) else { return sides }
        let tenths = Int((pixels / 100_000).rounded())
        return "\(sides), \(tenths / 10).\(tenths % 10) MP"
    }

    /// Seconds as cameras show them, without the unit: `1/250`, `0.5`, `30`.
    static func seconds(_ seconds: Double) -> String? {
        seconds > 1e-9 && seconds < 0.3 ? "1/\(Int((1 / seconds).rounded()))" : number(seconds)
    }

    /// Two decimals at most, and none that say nothing: `2.8`, `50`. Nil for what no lens has.
    static func number(_ number: Double) -> String? {
        guard (0...1e6).contains(number) else { return nil }
        return decimals(number, scale: 100)
    }

    private static func exposure(_ time: Double) -> String? { seconds(time).map { "\($0) s" } }

    private static func degrees(_ number: Double) -> String? {
        guard (0...180).contains(number) else { return nil }
        return decimals(number, scale: 100_000, keepingZeros: true)
    }

    /// A number that is not negative, with as many decimals as the scale has zeros.
    private static func decimals(_ number: Double, scale: Int, keepingZeros: Bool = false) -> String {
        let parts = Int((number * Double(scale)).rounded())
        var decimals = "\(scale + parts % scale)".dropFirst()
        while !keepingZeros, decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? "\(parts / scale)" : "\(parts / scale).\(decimals)"
    }
}
