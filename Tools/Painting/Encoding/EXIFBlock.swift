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
