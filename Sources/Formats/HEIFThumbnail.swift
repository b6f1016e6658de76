import Model
import Numbers

/// The thumbnail of a HEIC or AVIF photo, found in few bytes.
///
///     var heif = HEIFThumbnail(inPhoto: firstBytes)
///     while let range = heif?.missing { heif?.add(part(range), at: range.lowerBound) }    // at most three times
///     heif?.embedded.picture      // a HEIC file that contains only the thumbnail
///
/// Phones store photos in these formats. A file consists of boxes, and one box lists the file's items: the photo, an
/// EXIF block, and often a thumbnail. The bytes of the items may be anywhere in the file. Most programs write the list
/// at the beginning, but Samsung's phones write it behind the photo. The file is untrusted: every offset and length is
/// checked, and a thumbnail has at most 64 KB.
public struct HEIFThumbnail: Sendable {
    /// An item, and its bytes once they are known.
    private struct Content {
        let place: Range<ByteCount>
        var bytes: [UInt8]?

        init?(_ place: Range<ByteCount>?) {
            guard let place, !place.isEmpty, place.length <= HEIFThumbnail.longest else { return nil }
            self.place = place
        }

        mutating func take(from part: [UInt8], at offset: ByteCount) {
            guard bytes == nil, place.lowerBound >= offset, place.upperBound <= offset + ByteCount(part.count) else {
                return
            }
            bytes = Array(part[(place.lowerBound - offset).int..<(place.upperBound - offset).int])
        }
    }

    /// The place of the list of items.
    private struct ListPlace {
        let offset: ByteCount
        /// The length of the list; nil if unknown.
        var length: ByteCount?

        /// The range to fetch: the list, and bytes before the list.
        ///
        /// Samsung's phones write the thumbnail before the list. If the length of the list is unknown, the range allows
        /// for 20 KB, which is more than most lists have. If the list is at the beginning of the file, the range also
        /// contains bytes after the list, where the thumbnail usually is.
        var range: Range<ByteCount> {
            let end = max(offset + (length ?? 20_480), HEIFThumbnail.longest)
            return end - HEIFThumbnail.longest..<end
        }
    }

    /// The thumbnail as it is in the photo's file: coded pixels and properties.
    private struct Picture {
        let type: BoxType
        let properties: [HEIFItems.Property]
        var content: Content
    }

    /// The box that names the file's format.
    private let fileType: [UInt8]
    /// The place of the list, if the list must still be fetched; otherwise nil.
    private var list: ListPlace?
    private var thumbnail: Picture?
    private var exif: Content?

    /// The maximum number of bytes of an item or fetched part.
    private static let longest: ByteCount = 65_536
    /// The number of an EXIF block's first bytes. These contain the photo's time.
    private static let beginningOfBlock: ByteCount = 8_192

    /// The number of a photo's first bytes to read. In photos of iPhones, the list, the thumbnail and the EXIF block
    /// are in the first 28 KB.
    public static let reach = 32_768

    /// Reads the first bytes of a photo. Returns nil for other formats, and if the photo is known to have neither a
    /// thumbnail nor an EXIF block.
    public init?(inPhoto bytes: [UInt8]) {
        var file = BoxReader(bytes[...])
        guard let first = file.box(), first.type == "ftyp" else { return nil }
        fileType = Array(first.whole)
        while let box = file.box() {
            guard box.type == "meta" else { continue }
            read(box, bytes, at: 0)
            guard thumbnail != nil || exif != nil else { return nil }
            return
        }
        guard let box = file.header() else { return nil }
        let (offset, length) = (ByteCount(bytes.count - file.rest.count), ByteCount(box.length))
        if box.type == "meta", length <= Self.longest {
            list = ListPlace(offset: offset, length: length)
        } else if box.type == "mdat" {
            list = ListPlace(offset: offset + length)
        } else {
            return nil
        }
    }

    /// The part of the file to fetch next; nil if no bytes are missing.
    ///
    /// If the thumbnail and the EXIF block are too far apart for one part, this is the part with the thumbnail.
    public var missing: Range<ByteCount>? {
        if let list { return list.range }
        let places = [thumbnail?.content, exif].compactMap { $0 }.filter { $0.bytes == nil }.map(\.place)
        guard let first = places.first, let last = places.last else { return nil }
        let both = min(first.lowerBound, last.lowerBound)..<max(first.upperBound, last.upperBound)
        return both.length <= Self.longest ? both : first
    }

    /// Adds the missing part of the file. If an item is not complete in the part, this method gives up the item.
    ///
    /// - Parameter part: the bytes that arrived; empty if the part could not be fetched.
    public mutating func add(_ part: [UInt8], at offset: ByteCount) {
        guard let place = list else {
            take(from: part, at: offset)
            if thumbnail?.content.bytes == nil { thumbnail = nil }
            if exif?.bytes == nil { exif = nil }
            return
        }
        list = nil
        guard place.offset >= offset, place.offset < offset + ByteCount(part.count) else { return }
        var file = BoxReader(part[(place.offset - offset).int...])
        while let box = file.box() {
            guard box.type == "meta" else { continue }
            return read(box, part, at: offset)
        }
        guard let box = file.header(), box.type == "meta", place.length == nil, ByteCount(box.length) <= Self.longest
        else { return }
        // The list is longer than assumed, so the next part to fetch ends where the list ends.
        list = ListPlace(
            offset: offset + ByteCount(part.count - file.rest.count), length: ByteCount(box.length))
    }

    private mutating func take(from part: [UInt8], at offset: ByteCount) {
        thumbnail?.content.take(from: part, at: offset)
        exif?.take(from: part, at: offset)
    }

    /// Reads the list of items. Also reads those items that are in the same part of the file.
    private mutating func read(_ list: BoxReader.Box, _ part: [UInt8], at offset: ByteCount) {
        guard let items = HEIFItems(list.content) else { return }
        thumbnail =
            items.thumbnails.lazy.compactMap { item in
                guard let type = items.types[item], let properties = items.properties[item],
                    let content = Content(items.places[item])
                else { return nil }
                return Picture(type: type, properties: properties, content: content)
            }.first
        let longest = thumbnail == nil ? Self.longest : Self.beginningOfBlock
        exif = items.exif.flatMap { items.places[$0] }.flatMap {
            Content($0.lowerBound..<min($0.upperBound, $0.lowerBound + longest))
        }
        take(from: part, at: offset)
    }

    /// The thumbnail and the photo's time, as far as known. If the thumbnail from the list of items is missing, this
    /// value contains the EXIF block's thumbnail.
    public var embedded: EmbeddedThumbnail {
        let block = exif?.bytes.map { EmbeddedThumbnail(exif: Self.tiff(in: $0)) }
        guard let thumbnail, let coded = thumbnail.content.bytes else { return block ?? EmbeddedThumbnail(exif: []) }
        return EmbeddedThumbnail(picture: file(of: thumbnail, coded), orientation: 1, takenAt: block?.takenAt)
    }

    /// Returns the TIFF block of an EXIF item. The item begins with the number of bytes to skip (ISO/IEC 23008-12,
    /// A.2.1).
    private static func tiff(in item: [UInt8]) -> [UInt8] {
        var reader = BoxReader(item[...])
        guard let skipped = reader.number(4), reader.bytes(skipped) != nil else { return [] }
        return Array(reader.rest)
    }

    /// Returns a file that contains only the thumbnail, with its properties.
    private func file(of picture: Picture, _ coded: [UInt8]) -> [UInt8] {
        let number: [UInt8] = [0, 1]
        let handler = Array("pict".utf8) + [UInt8](repeating: 0, count: 13)
        let entry = BoxWriter.box("infe", [2, 0, 0, 0] + number + [0, 0] + picture.type.bytes + [0])
        let links = picture.properties.indices.map { UInt8(clamping: $0 + 1) }
        let marks = zip(links, picture.properties).map { $1.isEssential ? $0 | 0x80 : $0 }
        let properties =
            BoxWriter.box("ipco", picture.properties.flatMap(\.box))
            + BoxWriter.box("ipma", [0, 0, 0, 0, 0, 0, 0, 1] + number + [UInt8(clamping: marks.count)] + marks)
        func list(_ offset: Int) -> [UInt8] {
            let place = number + [0, 0, 0, 1] + BoxWriter.number(offset) + BoxWriter.number(coded.count)
            return BoxWriter.box(
                "meta",
                [0, 0, 0, 0] + BoxWriter.box("hdlr", [0, 0, 0, 0, 0, 0, 0, 0] + handler)
                    + BoxWriter.box("pitm", [0, 0, 0, 0] + number)
                    + BoxWriter.box("iinf", [0, 0, 0, 0] + number + entry)
                    + BoxWriter.box("iprp", properties)
                    // The offset and the length have four bytes each, and no base precedes them.
                    + BoxWriter.box("iloc", [0, 0, 0, 0, 0x44, 0] + number + place))
        }
        let offset = fileType.count + list(0).count + BoxWriter.box("mdat", []).count
        return fileType + list(offset) + BoxWriter.box("mdat", coded)
    }
}

/// The items of a HEIF file, with references, places and properties (ISO/IEC 14496-12, 8.11, and 23008-12, 9.3).
private struct HEIFItems {
    typealias Number = Int

    /// A property of an item, such as its size or rotation.
    struct Property {
        let box: [UInt8]
        /// Whether a decoder that does not know the property must not show the item.
        let isEssential: Bool
    }

    private(set) var types: [Number: BoxType] = [:]
    private(set) var places: [Number: Range<ByteCount>] = [:]
    private(set) var properties: [Number: [Property]] = [:]
    private let references: [BoxType: [(from: Number, to: [Number])]]
    private let primary: Number

    /// The item numbers of the photo's thumbnails, in file order. Thumbnails whose transparency is another item are
    /// left out.
    var thumbnails: [Number] {
        referring("thmb", to: primary).filter {
            (types[$0] == "hvc1" || types[$0] == "av01") && referring("auxl", to: $0).isEmpty
        }
    }

    /// The item number of the photo's EXIF block; nil if there is none.
    var exif: Number? { referring("cdsc", to: primary).first { types[$0] == "Exif" } }

    private func referring(_ kind: BoxType, to item: Number) -> [Number] {
        references[kind, default: []].filter { $0.to.contains(item) }.map(\.from)
    }

    /// Reads the contents of the box "meta". Returns nil if the box does not state which item is the photo.
    init?(_ content: ArraySlice<UInt8>) {
        var boxes: [BoxType: ArraySlice<UInt8>] = [:]
        for box in BoxReader(content.dropFirst(4)).boxes where boxes[box.type] == nil {
            boxes[box.type] = box.content
        }
        guard let primary = boxes["pitm"].flatMap(Self.primary) else { return nil }
        self.primary = primary
        references = boxes["iref"].map(Self.references) ?? [:]
        boxes["iinf"].map { types = Self.types($0) }
        boxes["iloc"].map { places = Self.places($0) }
        boxes["iprp"].map { properties = Self.properties($0, of: Set(thumbnails)) }
    }

    private static func primary(_ content: ArraySlice<UInt8>) -> Number? {
        var reader = BoxReader(content)
        guard let version = reader.version() else { return nil }
        return reader.number(version == 0 ? 2 : 4)
    }

    private static func types(_ content: ArraySlice<UInt8>) -> [Number: BoxType] {
        var reader = BoxReader(content)
        guard let version = reader.version(), reader.number(version == 0 ? 2 : 4) != nil else { return [:] }
        var types: [Number: BoxType] = [:]
        for box in reader.boxes where box.type == "infe" {
            var entry = BoxReader(box.content)
            // Entries of versions 0 and 1 state no type.
            guard let version = entry.version(), version == 2 || version == 3,
                let item = entry.number(version == 2 ? 2 : 4), entry.number(2) != nil, let type = entry.bytes(4)
            else { continue }
            types[item] = BoxType(type)
        }
        return types
    }

    private static func references(_ content: ArraySlice<UInt8>) -> [BoxType: [(from: Number, to: [Number])]] {
        var reader = BoxReader(content)
        guard let version = reader.version() else { return [:] }
        let length = version == 0 ? 2 : 4
        var references: [BoxType: [(from: Number, to: [Number])]] = [:]
        for box in reader.boxes {
            var list = BoxReader(box.content)
            guard let from = list.number(length), let count = list.number(2),
                count <= list.rest.count / length
            else { continue }
            references[box.type, default: []].append((from, (0..<count).compactMap { _ in list.number(length) }))
        }
        return references
    }

    /// Reads the places of items that are stored in one piece.
    private static func places(_ content: ArraySlice<UInt8>) -> [Number: Range<ByteCount>] {
        var reader = BoxReader(content)
        guard let version = reader.version(), version <= 2, let sizes = reader.number(2) else { return [:] }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 0xF, sizes >> 4 & 0xF)
        let indexSize = version == 0 ? 0 : sizes & 0xF
        guard let count = reader.number(version == 2 ? 4 : 2) else { return [:] }
        var places: [Number: Range<ByteCount>] = [:]
        for _ in 0..<count {
            guard let item = reader.number(version == 2 ? 4 : 2), let method = version == 0 ? 0 : reader.number(2),
                let source = reader.number(2), let base = reader.number(baseSize), let extents = reader.number(2)
            else { break }
            // The product cannot overflow: there are at most 65,535 pieces, each described by at most 45 bytes.
            guard let table = reader.bytes(extents * (indexSize + offsetSize + lengthSize)) else { break }
            var pieces = BoxReader(table)
            guard extents == 1, method & 0xF == 0, source == 0, pieces.number(indexSize) != nil,
                let offset = pieces.number(offsetSize), let length = pieces.number(lengthSize)
            else { continue }
            let start = ByteCount(base) + ByteCount(offset)
            places[item] = start..<start + ByteCount(length)
        }
        return places
    }

    private static func properties(_ content: ArraySlice<UInt8>, of items: Set<Number>) -> [Number: [Property]] {
        let boxes = Array(BoxReader(content).boxes)
        guard let all = boxes.first(where: { $0.type == "ipco" }) else { return [:] }
        let known = Array(BoxReader(all.content).boxes)
        var properties: [Number: [Property]] = [:]
        for box in boxes where box.type == "ipma" {
            var reader = BoxReader(box.content)
            guard let header = reader.number(4), let count = reader.number(4) else { continue }
            // The version is in the first byte, and the flags are in the others.
            let (itemLength, linkLength) = (header >> 24 == 0 ? 2 : 4, header & 1 == 0 ? 1 : 2)
            for _ in 0..<count {
                guard let item = reader.number(itemLength), let links = reader.number(1) else { break }
                for _ in 0..<links {
                    guard let link = reader.number(linkLength) else { break }
                    let mark = linkLength == 1 ? 0x80 : 0x8000
                    guard items.contains(item), known.indices.contains(link % mark - 1) else { continue }
                    properties[item, default: []].append(
                        Property(box: Array(known[link % mark - 1].whole), isEssential: link >= mark))
                }
            }
        }
        return properties.filter { item in
            item.value.count <= mostProperties
                && item.value.reduce(0) { $0 + $1.box.count } <= longestProperties
        }
    }

    private static let mostProperties = 32
    /// The maximum number of bytes of an item's properties. A colour profile has some hundred bytes.
    private static let longestProperties = 16_384
}

/// The type of a box or item, which has four letters.
private struct BoxType: Hashable, ExpressibleByStringLiteral {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    init(stringLiteral letters: String) { self.init(letters.utf8) }
}

/// Reads big-endian numbers and boxes.
private struct BoxReader {
    /// A box: a length that includes its header, a type, and contents (ISO/IEC 14496-12, 4.2).
    struct Box {
        let type: BoxType
        let whole: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>
    }

    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The boxes from the current position to the first incomplete box.
    var boxes: some Sequence<Box> { sequence(state: self) { $0.box() } }

    /// Returns the next bytes; nil if there are fewer.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard (0...rest.count).contains(count) else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Returns a number of up to eight bytes; nil if it is missing or exceeds 63 bits. A number of no bytes is 0.
    mutating func number(_ length: Int) -> Int? {
        guard length <= 8, let digits = bytes(length), length < 8 || digits.first.map({ $0 < 0x80 }) ?? true else {
            return nil
        }
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the version number of a box, and skips its flags.
    mutating func version() -> Int? { number(4).map { $0 >> 24 } }

    /// Returns the next box; nil if the box is incomplete.
    mutating func box() -> Box? {
        guard let header = header(), let whole = bytes(header.length) else { return nil }
        return Box(type: header.type, whole: whole, content: whole.dropFirst(header.size))
    }

    /// Returns the next box's type, its length, and its header's size.
    func header() -> (type: BoxType, length: Int, size: Int)? {
        var reader = self
        // A length of 1 means that the actual length follows, and 0 that the box extends to the end of the file.
        guard let short = reader.number(4), let type = reader.bytes(4),
            let length = short == 1 ? reader.number(8) : short == 0 ? rest.count : short
        else { return nil }
        let size = rest.count - reader.rest.count
        return length >= size ? (BoxType(type), length, size) : nil
    }
}

/// Writes boxes.
private enum BoxWriter {
    static func box(_ type: BoxType, _ content: [UInt8]) -> [UInt8] {
        number(content.count + 8) + type.bytes + content
    }

    /// Returns a number as four big-endian bytes.
    static func number(_ number: Int) -> [UInt8] {
        let number = UInt32(clamping: number)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
