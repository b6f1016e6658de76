/// The metadata in a photo's file. The texts may contain control characters, so make them harmless before a screen
/// shows them.
///
///     var metadata = PhotoMetadata(format: "JPEG", width: 6_000, height: 4_000)
///     metadata.camera = "FUJIFILM X-T4"
public struct PhotoMetadata: Hashable, Sendable {
    /// The name of the file format, such as "JPEG".
    public var format: String
    /// The width of the upright photo in pixels.
    public var width: Int
    /// The height of the upright photo in pixels.
    public var height: Int
    /// The EXIF orientation, 1 to 8; nil if unknown.
    public var orientation: Int?
    /// The time of the photo by the camera's clock, such as "2006-07-30T07:47:17", or in UTC, with a "Z" at the end.
    public var takenAt: String?
    /// The camera's maker and model.
    public var camera: String?
    /// The model of the lens.
    public var lens: String?
    /// The exposure time in seconds.
    public var exposure: Double?
    /// The lens opening as an f-number.
    public var aperture: Double?
    /// The ISO sensitivity.
    public var iso: Int?
    /// The focal length in millimetres.
    public var focalLength: Double?
    /// The latitude in degrees, positive to the north.
    public var latitude: Double?
    /// The longitude in degrees, positive to the east.
    public var longitude: Double?
    /// The title in the photo's file.
    public var title: String?
    /// The description in the photo's file, by its owner or the camera.
    public var description: String?
    /// The town at or near the coordinates. The cache finds it when it stores metadata.
    public var town: Town?

    /// The length of the video in milliseconds; nil for a picture.
    public var videoMilliseconds: Int?
    /// The name of the video's codec, such as "H.264".
    public var codec: String?
    /// The number of frames in a second of the video.
    public var frameRate: Double?

    /// Creates metadata with the fields that every picture has.
    public init(format: String, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }
}

/// A town at or near a photo's coordinates.
public struct Town: Hashable, Sendable {
    /// The names of town and country, such as `Lisbon, Portugal`.
    public let name: String
    /// The distance from the photo to the town's centre in kilometres; 0 for a photo in the town.
    public let distance: Int

    /// Creates a town. The distance is at least 0.
    public init(name: String, distance: Int = 0) {
        (self.name, self.distance) = (name, max(0, distance))
    }

    /// The town as text, such as `Lisbon, Portugal` or `12 km from Évora, Portugal`.
    public var text: String { distance == 0 ? name : "\(distance) km from \(name)" }
}

extension PhotoMetadata {
    /// The words that a search can find, in addition to the photo's name.
    ///
    /// A search splits its text at everything except letters and digits, and so does the index of these words. A user
    /// may type `f2.8` (`f2`, `8`), `f/2.8` (`f`, `2`, `8`) or `ISO 400` (`iso`, `400`), so each number appears in
    /// every spelling.
    public var words: String {
        let texts = [title, description, camera, lens, codec, town?.name].compactMap { $0 }
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

/// A photo's metadata as texts, the same on every screen.
///
///     let words = MetadataText(metadata)
///     words.exposure      // "1/250 s"
///     words.aperture      // "f/5.6"
///
/// A property is nil if the field is missing or implausible. Texts from the file may contain control characters.
public struct MetadataText: Hashable, Sendable {
    private let metadata: PhotoMetadata

    /// Creates the texts for a photo's metadata.
    public init(_ metadata: PhotoMetadata) {
        self.metadata = metadata
    }

    /// The size, such as `4000 × 3000, 12.0 MP`.
    public var size: String { Self.size(width: metadata.width, height: metadata.height) }

    /// The exposure time, such as `1/250 s`, `0.5 s` or `30 s`.
    public var exposure: String? { metadata.exposure.flatMap(Self.exposure) }

    /// The lens opening, such as `f/5.6`.
    public var aperture: String? { metadata.aperture.flatMap(Self.number).map { "f/\($0)" } }

    /// The focal length, such as `35 mm`.
    public var focalLength: String? { metadata.focalLength.flatMap(Self.number).map { "\($0) mm" } }

    /// The sensitivity, such as `ISO 200`.
    public var sensitivity: String? { metadata.iso.map { "ISO \($0)" } }

    /// The known exposure settings, such as `1/250 s, f/5.6, 35 mm, ISO 200`, if any.
    public var settings: String? {
        let parts = [exposure, aperture, focalLength, sensitivity].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The codec and frame rate of the video, such as `H.264, 29.97 frames/s`, if any.
    public var coding: String? {
        let parts = [metadata.codec, frameRate].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The frame rate of the video, such as `29.97 frames/s`.
    public var frameRate: String? {
        metadata.frameRate.flatMap { $0 > 0 ? Self.number($0) : nil }.map { "\($0) frames/s" }
    }

    /// The time of the photo by the camera's clock, such as `2006-07-30 07:47:17`, or `2006-07-30 07:47:17 UTC`.
    public var taken: String? {
        metadata.takenAt.map { text in
            let isUTC = text.hasSuffix("Z")
            return String(text.dropLast(isUTC ? 1 : 0).map { $0 == "T" ? " " : $0 }) + (isUTC ? " UTC" : "")
        }
    }

    /// The place of the photo, such as `52.51628° N, 13.37771° E`. The precision of one metre exceeds that of cameras.
    public var place: String? {
        guard let latitude = metadata.latitude, let longitude = metadata.longitude,
            let north = Self.degrees(abs(latitude)), let east = Self.degrees(abs(longitude))
        else { return nil }
        return "\(north)° \(latitude < 0 ? "S" : "N"), \(east)° \(longitude < 0 ? "W" : "E")"
    }

    /// The address of the place on a web map. Vitrine does not request this address; the user may open it.
    public var map: String? {
        guard let latitude = metadata.latitude, let longitude = metadata.longitude,
            let north = Self.degrees(abs(latitude)), let east = Self.degrees(abs(longitude))
        else { return nil }
        let (y, x) = ((latitude < 0 ? "-" : "") + north, (longitude < 0 ? "-" : "") + east)
        return "https://www.openstreetmap.org/?mlat=\(y)&mlon=\(x)#map=15/\(y)/\(x)"
    }

    /// The rotation or mirroring that makes the stored picture upright, if needed and known.
    public var turning: String? {
        switch metadata.orientation {
        case 2: "mirrored"
        case 3: "rotated 180°"
        case 4: "flipped"
        case 5, 7: "mirrored and rotated 90°"
        case 6: "rotated 90° right"
        case 8: "rotated 90° left"
        default: nil
        }
    }

    /// Returns a size as text, such as `4000 × 3000, 12.0 MP`.
    public static func size(width: Int, height: Int) -> String {
        let sides = "\(width) × \(height)"
        let pixels = Double(width) * Double(height)
        // For smaller pictures, megapixels are no useful unit. Larger pictures do not exist.
        guard (50_000...1e15).contains(pixels) else { return sides }
        let tenths = Int((pixels / 100_000).rounded())
        return "\(sides), \(tenths / 10).\(tenths % 10) MP"
    }

    /// Formats an exposure time as cameras do, without the unit: `1/250`, `0.5`, `30`. Returns nil for implausible
    /// values.
    static func seconds(_ seconds: Double) -> String? {
        seconds > 1e-9 && seconds < 0.3 ? "1/\(Int((1 / seconds).rounded()))" : number(seconds)
    }

    /// Formats a number with up to two decimals, such as `2.8` or `50`. Returns nil for implausible values.
    static func number(_ number: Double) -> String? {
        guard (0...1e6).contains(number) else { return nil }
        return decimals(number, scale: 100)
    }

    private static func exposure(_ time: Double) -> String? { seconds(time).map { "\($0) s" } }

    private static func degrees(_ number: Double) -> String? {
        guard (0...180).contains(number) else { return nil }
        return decimals(number, scale: 100_000, keepingZeros: true)
    }

    /// Formats a non-negative number with as many decimals as the scale has zeros.
    private static func decimals(_ number: Double, scale: Int, keepingZeros: Bool = false) -> String {
        let parts = Int((number * Double(scale)).rounded())
        var decimals = "\(scale + parts % scale)".dropFirst()
        while !keepingZeros, decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? "\(parts / scale)" : "\(parts / scale).\(decimals)"
    }
}
