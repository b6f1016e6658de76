import CExif
import Pixels

/// What a picture's EXIF says. Whatever is wrong with it, the picture is still shown: what makes no sense is left out.
struct ExifBlock {
    /// How the picture is to be turned.
    private(set) var orientation = Orientation.upright
    /// The small picture inside, a JPEG if it is any.
    private(set) var thumbnail: [UInt8] = []
    /// Everything else.
    private(set) var metadata = PictureMetadata()

    /// Reads a block from its byte order mark ("II" or "MM") on; where there is none, it says nothing.
    init(tiff: UnsafeRawBufferPointer?) {
        guard let exif = tiff.flatMap(ExifReader.init(tiff:)) else { return }
        orientation = Orientation(exif: exif.integer(EXIF_TAG_ORIENTATION, in: EXIF_IFD_0) ?? 1)
        thumbnail = exif.thumbnail
        metadata.camera = Self.camera(exif)
        metadata.lens = exif.text(EXIF_TAG_LENS_MODEL, in: EXIF_IFD_EXIF)
        metadata.takenAt =
            Self.timestamp(exif.text(EXIF_TAG_DATE_TIME_ORIGINAL, in: EXIF_IFD_EXIF))
            ?? Self.timestamp(exif.text(EXIF_TAG_DATE_TIME_DIGITIZED, in: EXIF_IFD_EXIF))
        metadata.exposureSeconds = exif.number(EXIF_TAG_EXPOSURE_TIME, in: EXIF_IFD_EXIF)
        metadata.aperture = exif.number(EXIF_TAG_FNUMBER, in: EXIF_IFD_EXIF)
        metadata.iso = exif.integer(EXIF_TAG_ISO_SPEED_RATINGS, in: EXIF_IFD_EXIF)
        metadata.focalLength = exif.number(EXIF_TAG_FOCAL_LENGTH, in: EXIF_IFD_EXIF)
        metadata.latitude = Self.degrees(exif, GPSTag.latitude, negative: "S")
        metadata.longitude = Self.degrees(exif, GPSTag.longitude, negative: "W")
        metadata.title = exif.text(EXIF_TAG_XP_TITLE, in: EXIF_IFD_0)
        metadata.description =
            exif.text(EXIF_TAG_IMAGE_DESCRIPTION, in: EXIF_IFD_0)
            ?? exif.text(EXIF_TAG_USER_COMMENT, in: EXIF_IFD_EXIF)
        metadata.fields = exif.fields(atMost: PictureMetadata.mostFields)
        metadata = metadata.bounded
    }

    /// A place's coordinate and, before it, the hemisphere: the tags' numbers, which libexif keeps out of its enum
    /// because those of other directories have the same.
    private enum GPSTag {
        static let latitude = (hemisphere: ExifTag(rawValue: 1), value: ExifTag(rawValue: 2))
        static let longitude = (hemisphere: ExifTag(rawValue: 3), value: ExifTag(rawValue: 4))
    }

    /// Maker and model; most makers begin the model with their name.
    private static func camera(_ exif: borrowing ExifReader) -> String? {
        let maker = exif.text(EXIF_TAG_MAKE, in: EXIF_IFD_0)
        let model = exif.text(EXIF_TAG_MODEL, in: EXIF_IFD_0)
        guard let maker, let model else { return model ?? maker }
        return model.lowercased().hasPrefix(maker.lowercased()) ? model : "\(maker) \(model)"
    }

    /// "2006:07:30 07:47:17" as "2006-07-30T07:47:17"; whether that is a time, `PictureMetadata.bounded` judges.
    private static func timestamp(_ text: String?) -> String? {
        guard let text, text.utf8.count == 19 else { return nil }
        var bytes = Array(text.utf8)
        (bytes[4], bytes[7], bytes[10]) = (UInt8(ascii: "-"), UInt8(ascii: "-"), UInt8(ascii: "T"))
        return String(validating: bytes, as: UTF8.self)
    }

    private static func degrees(
        _ exif: borrowing ExifReader, _ tags: (hemisphere: ExifTag, value: ExifTag), negative: String
    ) -> Double? {
        let parts = exif.numbers(tags.value, in: EXIF_IFD_GPS)
        guard parts.count == 3, let hemisphere = exif.text(tags.hemisphere, in: EXIF_IFD_GPS) else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        return hemisphere == negative ? -degrees : degrees
    }
}
