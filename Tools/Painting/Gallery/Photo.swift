/// A photo of the gallery: what is on it and what its file tells about how it was taken.
struct Photo: Sendable {
    /// The identifier, which is the file's name too.
    let id: String
    let title: String
    /// When it was taken, as `yyyy-MM-ddTHH:mm:ssZ`.
    let date: String
    let scene: any Scene
    let settings: CameraSettings
    var orientation = Orientation.upright
    var place: Place?
    var sampling = JPEGWriter.Sampling.halved
    var exifOrder = ByteSink.Order.littleEndian

    /// The entry that an album has for this photo.
    var entry: AlbumEntry {
        AlbumEntry(
            id: id, name: title, date: date, image: "images/\(id).jpg", thumbnail: "thumbnails/\(id).jpg")
    }

    /// The photo's file, made of the picture as it is to be seen.
    func file(of seen: Raster, within budget: Int) -> [UInt8] {
        let stored = orientation.stored(seen)
        let exif = EXIFBlock(
            title: title, taken: Self.exifDate(date), settings: settings, orientation: orientation,
            width: stored.width, height: stored.height, place: place, order: exifOrder)
        return JPEGWriter(stored, sampling: sampling).file(within: budget, exif: exif.bytes)
    }

    /// EXIF separates the parts of a date with colons and knows no time zone.
    private static func exifDate(_ date: String) -> String {
        let parts = date.dropLast().split(separator: "T")
        return parts[0].split(separator: "-").joined(separator: ":") + " " + parts[1]
    }
}
