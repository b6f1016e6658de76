import Model
import Pixels
import Text

/// What there is to say of one photo: to programs, by names that stay as they are, and to people, in words.
struct PhotoDescription {
    /// A name and what it stands for.
    private typealias Members = [(String, JSONText)]

    private var members: Members = []
    /// For people: what it is called, and what it is. Not yet made harmless.
    private(set) var lines: [(label: String, text: String)] = []

    /// For programs.
    var json: JSONText { .object(members) }

    /// Adds something that is called the same for both, if it is known.
    mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        members.append((name, .string(text)))
        lines.append((name, text))
    }

    /// Adds what the photo says of itself.
    mutating func add(_ metadata: PhotoMetadata) {
        let words = MetadataText(metadata)
        add("format", metadata.format)
        members += [("width", .number(metadata.width)), ("height", .number(metadata.height))]
        lines.append(("size", words.size))
        add("title", metadata.title)
        add("description", metadata.description)
        add("camera", metadata.camera)
        add("lens", metadata.lens)
        add("taken", metadata.takenAt.map { .string($0) }, "taken", words.taken)
        add("exposure", metadata.exposure.map { .decimal($0) }, "exposure", words.exposure)
        add("aperture", metadata.aperture.map { .decimal($0) }, "aperture", words.aperture)
        add("iso", metadata.iso.map { .number($0) }, "sensitivity", words.sensitivity)
        add("focalLength", metadata.focalLength.map { .decimal($0) }, "focal length", words.focalLength)
        add("latitude", metadata.latitude.map { .decimal($0) }, "place", words.place)
        add("longitude", metadata.longitude.map { .decimal($0) }, "map", words.map)
        add("orientation", metadata.orientation.map { .number($0) }, "stored", words.turning)
    }

    /// Adds the size of its file.
    mutating func add(bytes: Int64?) {
        guard let bytes else { return }
        add("bytes", .number(Int(bytes)), "file size", ByteText.text(bytes))
    }

    /// Adds all fields of its file, as they are there.
    mutating func add(_ fields: [MetadataField]) {
        guard !fields.isEmpty else { return }
        members.append(("exif", .object(fields.map { ($0.name, .string($0.value)) })))
        lines.append(("exif", ""))
        lines += fields.map { ("  " + $0.name, $0.value) }
    }

    /// Adds something that is called one thing by programs and another by people; whatever of it is known.
    private mutating func add(_ name: String, _ value: JSONText?, _ label: String, _ text: String?) {
        if let value { members.append((name, value)) }
        if let text { lines.append((label, text)) }
    }
}
