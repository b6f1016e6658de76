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
