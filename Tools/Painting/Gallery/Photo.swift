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
