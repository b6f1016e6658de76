/// A camera's metadata in a photo's file: the contents of a JPEG's APP1 segment.
struct EXIFBlock: Sendable {
    var title: String
    /// The date in EXIF's form: `yyyy:MM:dd HH:mm:ss`.
    var taken: String
    var settings: CameraSettings
    var orientation: Orientation
    /// The stored picture's size in pixels.
    var width: Int
    var height: Int
    var place: Place?
    var order: ByteSink.Order = .littleEndian

    /// The segment's contents, starting with “Exif”.
    var bytes: [UInt8] {
        // The directories follow each other; each contains the offset of the next one.
        let firstStart = 8
        let placeholder = first(detailStart: 0, placeStart: 0)
        let detailStart = firstStart + placeholder.size
        let placeStart = detailStart + detail.size
        let directory = first(detailStart: detailStart, placeStart: placeStart)

        var tiff = ByteSink(order)
        tiff.append(Array((order == .littleEndian ? "II" : "MM").utf8))
        tiff.append16(42)
        tiff.append32(UInt32(firstStart))
        tiff.append(directory.bytes(at: firstStart, order))
        tiff.append(detail.bytes(at: detailStart, order))
        if let position { tiff.append(position.bytes(at: placeStart, order)) }
        return Array("Exif".utf8) + [0, 0] + tiff.bytes
    }

    private func first(detailStart: Int, placeStart: Int) -> TIFFDirectory {
        var directory = TIFFDirectory()
        directory.add(0x010E, .text(title))
        directory.add(0x010F, .text("Vitrine"))
        directory.add(0x0110, .text("Procedural 1"))
        directory.add(0x0112, .short(orientation.rawValue))
        directory.add(0x011A, .ratios([.init(72, 1)]))
        directory.add(0x011B, .ratios([.init(72, 1)]))
        directory.add(0x0128, .short(2))
        directory.add(0x0132, .text(taken))
        directory.add(0x0213, .short(1))
        directory.add(0x8769, .long(UInt32(detailStart)))
        if place != nil { directory.add(0x8825, .long(UInt32(placeStart))) }
        return directory
    }

    private var detail: TIFFDirectory {
        var directory = TIFFDirectory()
        directory.add(0x829A, .ratios([settings.exposureTime]))
        directory.add(0x829D, .ratios([settings.aperture]))
        directory.add(0x8827, .short(settings.sensitivity))
        directory.add(0x9000, .opaque(Array("0232".utf8)))
        directory.add(0x9003, .text(taken))
        directory.add(0x9004, .text(taken))
        directory.add(0x9101, .opaque([1, 2, 3, 0]))
        directory.add(0x920A, .ratios([settings.focalLength]))
        directory.add(0xA000, .opaque(Array("0100".utf8)))
        directory.add(0xA001, .short(1))
        directory.add(0xA002, .long(UInt32(width)))
        directory.add(0xA003, .long(UInt32(height)))
        directory.add(0xA434, .text(settings.lens))
        return directory
    }

    private var position: TIFFDirectory? {
        guard let place else { return nil }
        var directory = TIFFDirectory()
        directory.add(0x0000, .bytes([2, 3, 0, 0]))
        directory.add(0x0001, .text(place.latitude < 0 ? "S" : "N"))
        directory.add(0x0002, .ratios(Place.degreesMinutesSeconds(place.latitude)))
        directory.add(0x0003, .text(place.longitude < 0 ? "W" : "E"))
        directory.add(0x0004, .ratios(Place.degreesMinutesSeconds(place.longitude)))
        directory.add(0x0005, .bytes([place.altitude < 0 ? 1 : 0]))
        directory.add(0x0006, .ratios([.init(UInt32(abs(place.altitude)), 1)]))
        return directory
    }
}

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

/// A fraction of integers, as EXIF stores measured values.
struct Ratio: Sendable, Equatable {
    let numerator: UInt32
    let denominator: UInt32

    init(_ numerator: UInt32, _ denominator: UInt32) {
        self.numerator = numerator
        self.denominator = denominator
    }
}

/// A TIFF directory: entries of twelve bytes, then the values that do not fit into four.
struct TIFFDirectory: Sendable {
    /// A value with its type.
    enum Value: Sendable {
        case bytes([UInt8])
        case text(String)
        case short(UInt16)
        case long(UInt32)
        case ratios([Ratio])
        case opaque([UInt8])
    }

    private var entries: [(tag: UInt16, value: Value)] = []

    /// Appends an entry; tags must be rising.
    mutating func add(_ tag: UInt16, _ value: Value) {
        entries.append((tag, value))
    }

    /// The size in bytes, including long values.
    var size: Int { bytes(at: 0, .bigEndian).count }

    /// Returns the bytes for a directory at an offset from the TIFF header.
    func bytes(at start: Int, _ order: ByteSink.Order) -> [UInt8] {
        var table = ByteSink(order)
        var overflow = ByteSink(order)
        let overflowStart = start + 2 + entries.count * 12 + 4
        table.append16(UInt16(entries.count))
        for (tag, value) in entries {
            let (type, count, content) = Self.encode(value, order)
            table.append16(tag)
            table.append16(type)
            table.append32(UInt32(count))
            if content.count <= 4 {
                table.append(content + [UInt8](repeating: 0, count: 4 - content.count))
            } else {
                table.append32(UInt32(overflowStart + overflow.bytes.count))
                overflow.append(content)
                // Values begin at even offsets.
                if !content.count.isMultiple(of: 2) { overflow.append([0]) }
            }
        }
        table.append32(0)
        return table.bytes + overflow.bytes
    }

    private static func encode(_ value: Value, _ order: ByteSink.Order) -> (UInt16, Int, [UInt8]) {
        var sink = ByteSink(order)
        switch value {
        case .bytes(let bytes):
            return (1, bytes.count, bytes)
        case .text(let text):
            let bytes = Array(text.utf8) + [0]
            return (2, bytes.count, bytes)
        case .short(let number):
            sink.append16(number)
            return (3, 1, sink.bytes)
        case .long(let number):
            sink.append32(number)
            return (4, 1, sink.bytes)
        case .ratios(let ratios):
            for ratio in ratios {
                sink.append32(ratio.numerator)
                sink.append32(ratio.denominator)
            }
            return (5, ratios.count, sink.bytes)
        case .opaque(let bytes):
            return (7, bytes.count, bytes)
        }
    }
}
