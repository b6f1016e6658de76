import Model

/// A photo's embedded thumbnail, with the photo's orientation and date.
///
///     let embedded = EmbeddedThumbnail(inPhoto: bytes)
///     embedded.picture      // a small JPEG, or nil
///     embedded.takenAt      // "2006-07-30T07:47:17"
///
/// Cameras write a thumbnail into the EXIF block at the beginning of a JPEG. Raw files that are TIFFs have the same
/// structure as an EXIF block. Raw files of Fujifilm contain a JPEG. For HEIC and AVIF, see ``HEIFThumbnail``. In other
/// formats this type finds nothing. The bytes are untrusted: every offset and length is checked, and at most three
/// directories are read.
public struct EmbeddedThumbnail: Hashable, Sendable {
    /// The thumbnail as a JPEG file that decoders show upright; nil if the photo contains none.
    public let picture: [UInt8]?
    /// The EXIF orientation of photo and thumbnail, from 1 to 8.
    public let orientation: Int
    /// The time of the photo by the camera's clock, such as "2006-07-30T07:47:17"; nil if unknown.
    ///
    /// It has the form of ``PhotoMetadata/takenAt``. Like the decoder, this type ignores zones and fractions of
    /// seconds. So photos of one camera have the same order, whether the date comes from the first bytes or from the
    /// whole photo.
    public let takenAt: String?

    /// The number of a photo's first bytes that may contain the thumbnail.
    ///
    /// An EXIF block has at most 64 KB. In all sample photos, the thumbnail ends within the first 48 KB.
    public static let reach = 61_440

    /// The maximum number of bytes of a thumbnail.
    private static let maximumLength = 65_536

    /// Reads a photo's first bytes. Bytes beyond ``reach`` are ignored.
    public init(inPhoto bytes: [UInt8]) {
        self.init(TIFFBlock(inPhoto: Array(bytes.prefix(Self.reach))))
    }

    /// Reads an EXIF block, which begins with its byte order mark.
    init(exif bytes: [UInt8]) {
        self.init(TIFFBlock(bytes))
    }

    init(picture: [UInt8]?, orientation: Int, takenAt: String?) {
        (self.picture, self.orientation, self.takenAt) = (picture, orientation, takenAt)
    }

    private init(_ block: TIFFBlock?) {
        guard let block, let main = block.long(at: 4).map({ block.directory(at: $0, of: [Tag.orientation, Tag.exif]) })
        else {
            (picture, orientation, takenAt) = (nil, 1, nil)
            return
        }
        let stated = block.integer(main.entries[Tag.orientation])
        let orientation = stated.flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
        self.orientation = orientation
        takenAt = Self.takenAt(in: block, main)
        picture = Self.thumbnail(in: block, after: main).flatMap { Self.upright($0, orientation) }
    }

    private enum Tag {
        static let orientation = 0x0112
        static let thumbnailOffset = 0x0201
        static let thumbnailLength = 0x0202
        static let exif = 0x8769
        static let timeTaken = 0x9003
        static let timeDigitized = 0x9004
    }

    /// Returns the time when the photo was taken, or else digitized. The decoder follows the same rule.
    private static func takenAt(in block: TIFFBlock, _ main: TIFFBlock.Directory) -> String? {
        guard let offset = block.integer(main.entries[Tag.exif]) else { return nil }
        let exif = block.directory(at: offset, of: [Tag.timeTaken, Tag.timeDigitized])
        return timestamp(block.text(exif.entries[Tag.timeTaken]))
            ?? timestamp(block.text(exif.entries[Tag.timeDigitized]))
    }

    /// Rewrites "2006:07:30 07:47:17" as "2006-07-30T07:47:17". Returns nil if the text is no time.
    private static func timestamp(_ text: [UInt8]?) -> String? {
        guard let text else { return nil }
        let isSpace = { (byte: UInt8) in byte == 0x20 }
        var bytes = Array(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
        guard bytes.count == 19 else { return nil }
        (bytes[4], bytes[7], bytes[10]) = (UInt8(ascii: "-"), UInt8(ascii: "-"), UInt8(ascii: "T"))
        guard let stamp = String(validating: bytes, as: UTF8.self), Timestamp(iso8601: stamp + "Z") != nil else {
            return nil
        }
        return stamp
    }

    /// Returns the thumbnail's bytes, whose place the second directory states.
    private static func thumbnail(in block: TIFFBlock, after main: TIFFBlock.Directory) -> [UInt8]? {
        guard let next = main.next, next != 0 else { return nil }
        let entries = block.directory(at: next, of: [Tag.thumbnailOffset, Tag.thumbnailLength]).entries
        guard let offset = block.integer(entries[Tag.thumbnailOffset]),
            let length = block.integer(entries[Tag.thumbnailLength]), length <= maximumLength
        else { return nil }
        return block.bytes(at: offset, length: length)
    }

    /// Adds the orientation to a thumbnail. Decoders then rotate the thumbnail like any photo. Returns nil for bytes
    /// that do not begin like a JPEG.
    ///
    /// A thumbnail is stored like the photo's pixels, not upright, and the photo's orientation applies to both.
    private static func upright(_ thumbnail: [UInt8], _ orientation: Int) -> [UInt8]? {
        guard thumbnail.starts(with: [0xFF, 0xD8]) else { return nil }
        var hasFrame = false
        var picture: [UInt8] = [0xFF, 0xD8]
        // An upright thumbnail gets no EXIF block, because decoders are faster without one.
        if orientation != 1 { picture += block(UInt8(orientation)) }
        for segment in JPEGSegments(thumbnail) {
            guard segment.isWhole else { return nil }
            if segment.isFrame { hasFrame = true }
            if segment.isScan { return hasFrame ? picture + thumbnail[segment.start...] : nil }
            // The thumbnail's own EXIF block is left out, because it would compete with the added one.
            if !segment.isExif(in: thumbnail) {
                picture += thumbnail[segment.start..<segment.content.upperBound]
            }
        }
        return nil
    }

    /// Returns an EXIF segment that contains only an orientation.
    private static func block(_ orientation: UInt8) -> [UInt8] {
        let directory: [UInt8] = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        return [0xFF, 0xE1, 0, 34] + JPEGSegments.exif + [0x4D, 0x4D, 0, 42, 0, 0, 0, 8] + directory
    }
}

/// The segments of a JPEG before its pixels.
private struct JPEGSegments: Sequence, IteratorProtocol {
    /// A segment. Its last bytes may be missing.
    struct Segment {
        let marker: UInt8
        /// The offset of the marker.
        let start: Int
        /// The offsets of the content, which follows the length.
        let content: Range<Int>
        let isWhole: Bool

        /// Whether the pixels follow this segment.
        var isScan: Bool { marker == 0xDA }

        /// Whether the segment describes the picture's size and components.
        var isFrame: Bool { (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker) }

        func isExif(in bytes: [UInt8]) -> Bool { marker == 0xE1 && bytes[content].starts(with: JPEGSegments.exif) }
    }

    static let exif = Array("Exif\0\0".utf8)

    private let bytes: [UInt8]
    private var offset = 2

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the next segment. Returns nil after the last segment before the pixels, and if no segment begins at the
    /// current offset.
    mutating func next() -> Segment? {
        let start = offset
        // Any number of bytes FF may precede a marker.
        while offset < bytes.count, bytes[offset] == 0xFF { offset += 1 }
        guard offset > start, bytes.count - offset >= 3 else { return nil }
        let marker = bytes[offset]
        let length = Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        // A marker without a length is invalid before the pixels.
        guard marker > 1, !(0xD0...0xD9).contains(marker), length >= 2 else { return nil }
        let (begin, end) = (offset + 3, offset + 1 + length)
        offset = marker == 0xDA ? bytes.count : Swift.min(end, bytes.count)
        return Segment(
            marker: marker, start: start, content: begin..<Swift.min(end, bytes.count), isWhole: end <= bytes.count)
    }
}

/// An EXIF block, which is a TIFF file without pixels. No method reads beyond the block's bytes.
private struct TIFFBlock {
    /// The requested entries of a directory.
    struct Directory {
        var entries: [Int: Entry] = [:]
        /// The offset of the next directory; 0 if there is none, nil if the block is truncated.
        var next: Int?
    }

    struct Entry {
        let type: Int
        let count: Int
        /// The offset of a value of up to four bytes, or of a longer value's offset.
        let place: Int
    }

    private let bytes: [UInt8]
    private let isLittleEndian: Bool

    /// Finds the EXIF block of a JPEG or of a Fujifilm file. A TIFF file as a whole counts as a block. The end of the
    /// photo may be missing.
    init?(inPhoto photo: [UInt8]) {
        if photo.starts(with: [0xFF, 0xD8]) {
            self.init(inJPEG: photo)
        } else if photo.starts(with: "FUJIFILMCCD-RAW ".utf8) {
            // The bytes 84 to 87 contain the offset of the JPEG as a big-endian number.
            let place = photo.dropFirst(84).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            self.init(inJPEG: Array(photo.dropFirst(place)))
        } else {
            self.init(photo)
        }
    }

    private init?(inJPEG jpeg: [UInt8]) {
        guard jpeg.starts(with: [0xFF, 0xD8]),
            let segment = JPEGSegments(jpeg).first(where: { $0.isExif(in: jpeg) })
        else { return nil }
        self.init(Array(jpeg[segment.content].dropFirst(JPEGSegments.exif.count)))
    }

    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        switch Array(bytes.prefix(4)) {
        // "IIRO" and "IIRS" begin Olympus's files.
        case [0x49, 0x49, 42, 0], Array("IIRO".utf8), Array("IIRS".utf8): isLittleEndian = true
        case [0x4D, 0x4D, 0, 42]: isLittleEndian = false
        default: return nil
        }
    }

    /// Returns the first entry of each given tag in a directory.
    func directory(at offset: Int, of tags: Set<Int>) -> Directory {
        var directory = Directory()
        guard let count = short(at: offset) else { return directory }
        let table = offset + 2
        for index in 0..<count {
            let place = table + index * 12
            guard let tag = short(at: place), let type = short(at: place + 2), let count = long(at: place + 4) else {
                return directory
            }
            guard tags.contains(tag), directory.entries[tag] == nil else { continue }
            directory.entries[tag] = Entry(type: type, count: count, place: place + 8)
        }
        directory.next = long(at: table + count * 12)
        return directory
    }

    /// Returns an entry's value, if it is one integer.
    func integer(_ entry: Entry?) -> Int? {
        guard let entry, entry.count == 1 else { return nil }
        switch entry.type {
        case 3: return short(at: entry.place)
        case 4: return long(at: entry.place)
        default: return nil
        }
    }

    /// Returns an entry's text up to its first zero byte.
    func text(_ entry: Entry?) -> [UInt8]? {
        guard let entry, entry.type == 2, entry.count > 4, let offset = long(at: entry.place) else { return nil }
        return bytes(at: offset, length: entry.count).map { Array($0.prefix { $0 != 0 }) }
    }

    /// Returns bytes of the block; nil if the range exceeds the block.
    func bytes(at offset: Int, length: Int) -> [UInt8]? {
        guard offset >= 0, length >= 0, length <= bytes.count, offset <= bytes.count - length else { return nil }
        return Array(bytes[offset..<offset + length])
    }

    private func short(at offset: Int) -> Int? { number(at: offset, length: 2) }

    /// Returns the four-byte number at an offset.
    func long(at offset: Int) -> Int? { number(at: offset, length: 4) }

    /// Returns a number; nil beyond the block. Offsets have 32 bits, and a table has at most 65,535 entries of 12
    /// bytes, so sums of these numbers do not overflow.
    private func number(at offset: Int, length: Int) -> Int? {
        guard offset >= 0, length <= bytes.count, offset <= bytes.count - length else { return nil }
        let field = bytes[offset..<offset + length]
        return isLittleEndian
            ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }
}
