/// A picture's metadata. Each value is optional. Texts are untrusted: they are valid UTF-8, but may contain control
/// characters.
public struct PictureMetadata: Hashable, Sendable {
    /// The maximum number of fields that Vitrine keeps.
    public static let mostFields = 256
    /// The maximum number of bytes of UTF-8 that Vitrine keeps of a text.
    public static let longestText = 1024

    /// The camera's maker and model, such as "FUJIFILM X-T4".
    public var camera: String?
    /// The lens's model.
    public var lens: String?
    /// The time of the photo, such as "2006-07-30T07:47:17". The time is in UTC if the text ends with "Z", otherwise by
    /// the camera's clock.
    public var takenAt: String?
    /// The exposure time in seconds.
    public var exposureSeconds: Double?
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
    /// The title that the owner gave to the photo.
    public var title: String?
    /// The description by the owner or the camera.
    public var description: String?
    /// The properties of a video; nil for a picture.
    public var video: VideoFacts?
    /// All metadata fields, in the file's order.
    public var fields: [MetadataField] = []

    /// Creates empty metadata.
    public init() {}

    /// A copy of the metadata within bounds. Long texts are shortened. Empty texts, excess fields and impossible
    /// numbers are removed. The decoder sends only bounded metadata, so Vitrine can print every number.
    public var bounded: PictureMetadata {
        var bounded = self
        bounded.camera = camera.flatMap(Self.cut)
        bounded.lens = lens.flatMap(Self.cut)
        bounded.title = title.flatMap(Self.cut)
        bounded.description = description.flatMap(Self.cut)
        bounded.takenAt = takenAt.flatMap { Self.isTimestamp($0) ? $0 : nil }
        bounded.exposureSeconds = Self.keep(exposureSeconds, within: 1e-9...1e6)
        bounded.aperture = Self.keep(aperture, within: 1e-3...1e4)
        bounded.iso = Self.keep(iso, within: 1...100_000_000)
        bounded.focalLength = Self.keep(focalLength, within: 1e-3...1e6)
        bounded.latitude = Self.keep(latitude, within: -90...90)
        bounded.longitude = Self.keep(longitude, within: -180...180)
        // Cameras without a fix, and programs that remove the place, write zeros.
        if bounded.latitude == 0, bounded.longitude == 0 { (bounded.latitude, bounded.longitude) = (nil, nil) }
        bounded.video = video?.bounded
        bounded.fields = fields.prefix(Self.mostFields).compactMap { field in
            Self.cut(field.name).map { MetadataField(name: $0, value: Self.cut(field.value) ?? "") }
        }
        return bounded
    }

    /// Shortens a text to the limit, at a character boundary. Returns nil for an empty text.
    private static func cut(_ text: String) -> String? {
        guard !text.isEmpty else { return nil }
        guard text.utf8.count > longestText else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: longestText)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return end > text.startIndex ? String(text.unicodeScalars[..<end]) : nil
    }

    /// Returns the number if it lies in the range. Returns nil for NaN, which is in no range.
    private static func keep<Number: Comparable>(_ number: Number?, within range: ClosedRange<Number>) -> Number? {
        number.flatMap { range.contains($0) ? $0 : nil }
    }

    /// Whether a text is a time such as "2006-07-30T07:47:17".
    ///
    /// The month, day and time must exist. A "Z" may follow.
    public static func isTimestamp(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard 19...20 ~= bytes.count else { return false }
        for (byte, pattern) in zip(bytes, "0000-00-00T00:00:00Z".utf8) {
            let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            guard pattern == UInt8(ascii: "0") ? isDigit : byte == pattern else { return false }
        }
        func number(at offset: Int) -> Int { Int(bytes[offset] - 48) * 10 + Int(bytes[offset + 1] - 48) }
        return 1...12 ~= number(at: 5) && 1...31 ~= number(at: 8)
            && number(at: 11) < 24 && number(at: 14) < 60 && number(at: 17) <= 60
    }
}

extension PictureMetadata {
    /// The maximum number of bytes of encoded metadata.
    static let longestEncoding =
        4 * (3 + longestText) + 3 + 20 + 6 * 9 + VideoFacts.longestEncoding + 2 + mostFields * 2 * (2 + longestText)

    /// Appends the metadata, limited by `bounded`.
    func encode(to wire: inout WireWriter) {
        let bounded = bounded
        wire.append(bounded.camera) { $0.append($1) }
        wire.append(bounded.lens) { $0.append($1) }
        wire.append(bounded.takenAt) { $0.append($1) }
        wire.append(bounded.exposureSeconds) { $0.append($1) }
        wire.append(bounded.aperture) { $0.append($1) }
        wire.append(bounded.iso) { $0.append(Int64($1)) }
        wire.append(bounded.focalLength) { $0.append($1) }
        wire.append(bounded.latitude) { $0.append($1) }
        wire.append(bounded.longitude) { $0.append($1) }
        wire.append(bounded.title) { $0.append($1) }
        wire.append(bounded.description) { $0.append($1) }
        wire.append(bounded.video) { $1.encode(to: &$0) }
        wire.append(UInt16(bounded.fields.count))
        for field in bounded.fields {
            wire.append(field.name)
            wire.append(field.value)
        }
    }

    /// Reads metadata that `encode` wrote. Throws for any other bytes.
    init(from wire: inout WireReader) throws(PixelsError) {
        self.init()
        camera = try wire.optional { wire throws(PixelsError) in try wire.text() }
        lens = try wire.optional { wire throws(PixelsError) in try wire.text() }
        takenAt = try wire.optional { wire throws(PixelsError) in try wire.text() }
        exposureSeconds = try wire.optional { wire throws(PixelsError) in try wire.number() }
        aperture = try wire.optional { wire throws(PixelsError) in try wire.number() }
        iso = try wire.optional { wire throws(PixelsError) in Int(try wire.integer(Int64.self)) }
        focalLength = try wire.optional { wire throws(PixelsError) in try wire.number() }
        latitude = try wire.optional { wire throws(PixelsError) in try wire.number() }
        longitude = try wire.optional { wire throws(PixelsError) in try wire.number() }
        title = try wire.optional { wire throws(PixelsError) in try wire.text() }
        description = try wire.optional { wire throws(PixelsError) in try wire.text() }
        video = try wire.optional { wire throws(PixelsError) in try VideoFacts(from: &wire) }
        let count = Int(try wire.integer(UInt16.self))
        guard count <= Self.mostFields else { throw .malformedReply("too many fields") }
        for _ in 0..<count {
            fields.append(MetadataField(name: try wire.text(), value: try wire.text()))
        }
        guard self == bounded else { throw .malformedReply("metadata out of bounds") }
    }
}

/// A metadata field in readable words, such as "Exposure Time" and "1/250 sec.".
///
/// Both texts are untrusted: they are valid UTF-8, but may contain control characters.
public struct MetadataField: Hashable, Sendable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The properties of a video, except the size of its frames.
public struct VideoFacts: Hashable, Sendable {
    /// The codec's name as users know it, such as "H.264". The name is printable ASCII.
    public var codec: String
    /// The length in milliseconds; nil if unknown.
    public var durationMilliseconds: Int?
    /// The number of frames per second, on average if it varies; nil if unknown.
    public var framesPerSecond: Double?

    /// The longest video in milliseconds: a thousand days.
    static let longest = 1_000 * 86_400_000
    /// The maximum number of bytes of a codec's name.
    private static let longestCodec = 32
    /// The maximum number of bytes of the encoded facts.
    static let longestEncoding = 1 + 2 + longestCodec + 2 * 9

    /// Creates facts without checking them.
    public init(codec: String, durationMilliseconds: Int?, framesPerSecond: Double?) {
        self.codec = codec
        self.durationMilliseconds = durationMilliseconds
        self.framesPerSecond = framesPerSecond
    }

    /// A copy without impossible numbers; nil if the codec's name is too long or not printable.
    var bounded: VideoFacts? {
        guard 1...Self.longestCodec ~= codec.utf8.count, codec.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            return nil
        }
        return VideoFacts(
            codec: codec,
            durationMilliseconds: durationMilliseconds.flatMap { 1...Self.longest ~= $0 ? $0 : nil },
            framesPerSecond: framesPerSecond.flatMap { 0.001...1_000 ~= $0 ? $0 : nil })
    }

    func encode(to wire: inout WireWriter) {
        wire.append(codec)
        wire.append(durationMilliseconds) { $0.append(Int64($1)) }
        wire.append(framesPerSecond) { $0.append($1) }
    }

    init(from wire: inout WireReader) throws(PixelsError) {
        codec = try wire.text()
        durationMilliseconds = try wire.optional { wire throws(PixelsError) in Int(try wire.integer(Int64.self)) }
        framesPerSecond = try wire.optional { wire throws(PixelsError) in try wire.number() }
    }
}
