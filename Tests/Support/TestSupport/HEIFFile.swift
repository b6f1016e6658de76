/// Writes HEIC and AVIF files like those of phones, whose numbers a test may falsify.
///
///     var file = HEIFFile(photo: .init("hvc1", bytes), thumbnail: .init("hvc1", few))
///     file.exif = tiff
///     file.bytes
public struct HEIFFile {
    /// A picture of the file.
    public struct Picture {
        /// The four letters of its coding.
        public var type: String
        /// Its coded bytes.
        public var bytes: [UInt8]
        /// Its properties, all essential.
        public var properties: [[UInt8]] = []

        /// Creates a picture.
        public init(_ type: String, _ bytes: [UInt8]) { (self.type, self.bytes) = (type, bytes) }
    }

    /// The photo.
    public var photo: Picture
    /// The photo's thumbnail; nil for none.
    public var thumbnail: Picture?
    /// The EXIF block, from its byte order mark on.
    public var exif: [UInt8]?
    /// Whether the photo's bytes come before those of the other items.
    public var isPhotoFirst = false
    /// Whether the EXIF block comes after the photo.
    public var isBlockLast = false
    /// Whether the list of items comes after their bytes, as in Samsung's files.
    public var isListLast = false
    /// Whether the list of items uses its forms for large files.
    public var isLarge = false
    /// The number of bytes between the EXIF block and the thumbnail.
    public var gap = 0
    /// A false offset for the thumbnail.
    public var thumbnailOffset: Int?
    /// A false length for the thumbnail.
    public var thumbnailLength: Int?
    /// The four letters that name the format.
    public var brand = "heic"

    /// Creates a file.
    public init(photo: Picture, thumbnail: Picture? = nil) { (self.photo, self.thumbnail) = (photo, thumbnail) }

    /// Returns a box.
    public static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count + 8, 4) + Array(type.utf8) + content
    }

    /// Returns a big-endian number.
    public static func number(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private struct Item {
        let number: Int
        let type: String
        let bytes: [UInt8]
        var properties: [[UInt8]] = []
        var reference: String?
        /// The bytes before this item that belong to no item.
        var gap = 0
    }

    private var items: [Item] {
        let photo = Item(number: 1, type: photo.type, bytes: photo.bytes, properties: photo.properties)
        let others = [
            exif.map { Item(number: 3, type: "Exif", bytes: [0, 0, 0, 0] + $0, reference: "cdsc") },
            thumbnail.map {
                Item(
                    number: 2, type: $0.type, bytes: $0.bytes, properties: $0.properties, reference: "thmb", gap: gap)
            },
        ].compactMap { $0 }
        if isBlockLast { return others.reversed().dropLast() + [photo] + others.prefix(1) }
        return isPhotoFirst ? [photo] + others : others + [photo]
    }

    /// The whole file.
    public var bytes: [UInt8] {
        let start = Self.box("ftyp", Array("\(brand)\0\0\0\0mif1\(brand)".utf8))
        let data = Self.box("mdat", items.flatMap { [UInt8](repeating: 0x70, count: $0.gap) + $0.bytes })
        if isListLast { return start + data + meta(from: start.count + 8) }
        return start + meta(from: start.count + meta(from: 0).count + 8) + data
    }

    /// Returns the list of items. The bytes of the first item begin at the offset, after its gap.
    private func meta(from start: Int) -> [UInt8] {
        let (version, width) = (UInt8(isLarge ? 1 : 0), isLarge ? 4 : 2)
        let items = items
        let entries = items.flatMap { item in
            Self.box(
                "infe",
                [isLarge ? 3 : 2, 0, 0, 0] + Self.number(item.number, width) + [0, 0] + Array(item.type.utf8) + [0])
        }
        let references = items.flatMap { item in
            item.reference.map {
                Self.box($0, Self.number(item.number, width) + [0, 1] + Self.number(1, width))
            } ?? []
        }
        var offset = start
        let places = items.flatMap { item -> [UInt8] in
            offset += item.gap
            defer { offset += item.bytes.count }
            let isThumbnail = item.number == 2
            let place = isThumbnail ? thumbnailOffset ?? offset : offset
            let length = isThumbnail ? thumbnailLength ?? item.bytes.count : item.bytes.count
            // The large form splits the offset, and has a method and a number for each piece.
            return isLarge
                ? Self.number(item.number, 4) + [0, 0, 0, 0] + Self.number(100, 8) + [0, 1] + Self.number(7, 4)
                    + Self.number(place - 100, 8) + Self.number(length, 8)
                : Self.number(item.number, 2) + [0, 0, 0, 1] + Self.number(place, 4) + Self.number(length, 4)
        }
        let count = Self.number(items.count, 2)
        let head: [UInt8] = [0, 0, 0, 0]
        return Self.box(
            "meta",
            head + Self.box("hdlr", head + head + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
                + Self.box("pitm", [version, 0, 0, 0] + Self.number(1, width))
                + Self.box("iinf", [version, 0, 0, 0] + Self.number(items.count, width) + entries)
                + Self.box("iref", [version, 0, 0, 0] + references) + properties(of: items, width)
                + Self.box(
                    "iloc",
                    isLarge
                        ? [2, 0, 0, 0, 0x88, 0x84] + Self.number(items.count, 4) + places
                        : head + [0x44, 0] + count + places))
    }

    private func properties(of items: [Item], _ width: Int) -> [UInt8] {
        var number = 0
        let links = items.filter { !$0.properties.isEmpty }.map { item -> [UInt8] in
            let links = item.properties.flatMap { _ -> [UInt8] in
                number += 1
                return isLarge ? Self.number(0x8000 | number, 2) : [0x80 | UInt8(number)]
            }
            return Self.number(item.number, width) + [UInt8(item.properties.count)] + links
        }
        let head: [UInt8] = isLarge ? [1, 0, 0, 1] : [0, 0, 0, 0]
        return Self.box(
            "iprp",
            Self.box("ipco", items.flatMap(\.properties).flatMap { $0 })
                + Self.box("ipma", head + Self.number(links.count, 4) + links.flatMap { $0 }))
    }
}
