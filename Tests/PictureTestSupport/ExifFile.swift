/// Writes EXIF blocks, right ones and wrong ones.
public struct ExifFile {
    /// An entry's value.
    public enum Value: Sendable {
        /// Text; a zero byte is added.
        case text(String)
        /// A 16-bit number.
        case short(UInt16)
        /// Fractions.
        case rationals([(UInt32, UInt32)])
        /// An offset, to another directory for example.
        case long(UInt32)
    }

    /// Entries of the main directory, by tag.
    public var main: [(tag: UInt16, value: Value)] = []
    /// Entries of the EXIF directory.
    public var exif: [(tag: UInt16, value: Value)] = []
    /// Entries of the GPS directory.
    public var gps: [(tag: UInt16, value: Value)] = []

    /// The small picture behind the directories, a JPEG if it is right.
    public var thumbnail: [UInt8] = []

    /// Begins an empty block.
    public init() {}

    /// A block that says the orientation only.
    public init(orientation: UInt16) {
        main = [(0x0112, .short(orientation))]
    }

    /// The block, big-endian, from the byte order mark on.
    public var tiff: [UInt8] {
        // Directories one after the other, each followed by its long values; offsets need the lengths beforehand.
        let mainLength = Self.length(main) + 24
        let exifStart = 8 + mainLength
        let gpsStart = exifStart + Self.length(exif)
        let links: [(tag: UInt16, value: Value)] = [
            (0x8769, .long(UInt32(exifStart))), (0x8825, .long(UInt32(gpsStart))),
        ]
        let ifd1Start = gpsStart + Self.length(gps)
        var block = Array("MM".utf8) + [0, 42, 0, 0, 0, 8] + Self.directory(main + links, at: 8)
        if !thumbnail.isEmpty {
            // The directory's last four bytes, before its long values, say where the next one is.
            let link = 8 + 2 + 12 * (main.count + links.count)
            block.replaceSubrange(link..<link + 4, with: Self.big(UInt32(ifd1Start)))
        }
        block += Self.directory(exif, at: exifStart) + Self.directory(gps, at: gpsStart)
        guard !thumbnail.isEmpty else { return block }
        let entries: [(tag: UInt16, value: Value)] = [
            (0x0103, .short(6)), (0x0201, .long(UInt32(ifd1Start + 2 + 12 * 3 + 4))),
            (0x0202, .long(UInt32(thumbnail.count))),
        ]
        return block + Self.directory(entries, at: ifd1Start) + thumbnail
    }

    /// The block as a JPEG's APP1 segment.
    public var segment: [UInt8] { Self.segment(tiff) }

    /// Any bytes as a JPEG's EXIF segment.
    public static func segment(_ tiff: [UInt8]) -> [UInt8] {
        let content = Array("Exif\0\0".utf8) + tiff
        let length = content.count + 2
        return [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    /// A JPEG with this segment in it, right behind its start.
    public static func jpeg(_ jpeg: [UInt8], inserting segment: [UInt8]) -> [UInt8] {
        jpeg[..<2] + segment + jpeg[2...]
    }

    private static func directory(_ entries: [(tag: UInt16, value: Value)], at start: Int) -> [UInt8] {
        var table = big(UInt16(entries.count))
        var data: [UInt8] = []
        let dataStart = start + 2 + 12 * entries.count + 4
        for (tag, value) in entries.sorted(by: { $0.tag < $1.tag }) {
            let (type, count, bytes) = encoded(value)
            table += big(tag) + big(type) + big(UInt32(count))
            if bytes.count <= 4 {
                table += bytes + Array(repeating: 0, count: 4 - bytes.count)
            } else {
                table += big(UInt32(dataStart + data.count))
                data += bytes
            }
        }
        return table + [0, 0, 0, 0] + data
    }

    private static func length(_ entries: [(tag: UInt16, value: Value)]) -> Int {
        directory(entries, at: 0).count
    }

    private static func encoded(_ value: Value) -> (type: UInt16, count: Int, bytes: [UInt8]) {
        switch value {
        case .text(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
        case .short(let number): (3, 1, big(number))
        case .long(let number): (4, 1, big(number))
        case .rationals(let ratios): (5, ratios.count, ratios.flatMap { big($0.0) + big($0.1) })
        }
    }

    private static func big(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
