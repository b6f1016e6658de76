extension PictureMetadata {
    /// The most bytes that bounded metadata take on the wire.
    static let longestEncoding = 4 * (3 + longestText) + 3 + 19 + 6 * 9 + 2 + mostFields * 2 * (2 + longestText)

    /// Appends the bounded metadata.
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
        wire.append(UInt16(bounded.fields.count))
        for field in bounded.fields {
            wire.append(field.name)
            wire.append(field.value)
        }
    }

    /// Reads what `encode` wrote, and refuses what it would not have written.
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
        let count = Int(try wire.integer(UInt16.self))
        guard count <= Self.mostFields else { throw .malformedReply("there are too many metadata") }
        for _ in 0..<count {
            fields.append(MetadataField(name: try wire.text(), value: try wire.text()))
        }
        guard self == bounded else { throw .malformedReply("the metadata are out of bounds") }
    }
}
