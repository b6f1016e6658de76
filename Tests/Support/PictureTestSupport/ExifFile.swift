/// Writes valid and invalid EXIF blocks.
public struct ExifFile {
    /// An entry's value.
    public enum Value: Sendable {
        /// Text; a zero byte is added.
        case text(String)
        /// Bytes of the type “undefined”.
        case undefined([UInt8])
        /// A 16-bit number.
        case short(UInt16)
        /// Fractions.
        case rationals([(UInt32, UInt32)])
        /// An offset, such as to another directory.
        case long(UInt32)
        /// The offset of another directory.
        case directory(Int)
    }

    /// The size of numbers: TIFF, or BigTIFF with 64-bit offsets.
    private enum Width {
        case small, big

        var header: Int { self == .small ? 8 : 16 }
        var entry: Int { self == .small ? 12 : 20 }
        var offset: Int { self == .small ? 4 : 8 }

        func word(_ number: Int) -> [UInt8] {
            self == .small ? ExifFile.big(UInt32(number)) : ExifFile.big(UInt64(number))
        }

        func count(_ number: Int) -> [UInt8] {
            self == .small ? ExifFile.big(UInt16(number)) : ExifFile.big(UInt64(number))
        }
    }

    /// Entries of the main directory, by tag.
    public var main: [(tag: UInt16, value: Value)] = []
    /// Entries of the EXIF directory.
    public var exif: [(tag: UInt16, value: Value)] = []
    /// Entries of the GPS directory.
    public var gps: [(tag: UInt16, value: Value)] = []
    /// Entries of the interoperability directory, which is left out if it is empty.
    public var interoperability: [(tag: UInt16, value: Value)] = []

    /// The thumbnail behind the directories, normally a JPEG.
    public var thumbnail: [UInt8] = []

    /// Creates an empty block.
    public init() {}

    /// Creates a block with an orientation only.
    public init(orientation: UInt16) {
        main = [(0x0112, .short(orientation))]
    }

    /// The block, big-endian, from the byte order mark on.
    public var tiff: [UInt8] { block(.small) }

    /// The same as BigTIFF, without the thumbnail.
    public var bigTIFF: [UInt8] { block(.big) }

    private func block(_ width: Width) -> [UInt8] {
        // The directories in order, each followed by its long values. Offsets need the lengths in advance.
        let mainLength = Self.length(main, width) + 2 * width.entry
        let exifStart = width.header + mainLength
        // The place of the last directory does not change the lengths.
        var exif = exif
        if !interoperability.isEmpty { exif.append((0xA005, .directory(0))) }
        let gpsStart = exifStart + Self.length(exif, width)
        let lastStart = gpsStart + Self.length(gps, width)
        if !interoperability.isEmpty { exif[exif.count - 1].value = .directory(lastStart) }
        let last = interoperability.isEmpty ? [] : Self.directory(interoperability, at: lastStart, width)
        let links: [(tag: UInt16, value: Value)] = [(0x8769, .directory(exifStart)), (0x8825, .directory(gpsStart))]
        let ifd1Start = lastStart + last.count
        var block = Array("MM".utf8) + (width == .small ? [0, 42] : [0, 43, 0, 8, 0, 0])
        block += width.word(width.header) + Self.directory(main + links, at: width.header, width)
        let thumbnail = width == .small ? thumbnail : []
        if !thumbnail.isEmpty {
            // The directory's last four bytes, before its long values, contain the offset of the next one.
            let link = 8 + 2 + 12 * (main.count + links.count)
            block.replaceSubrange(link..<link + 4, with: Self.big(UInt32(ifd1Start)))
        }
        block += Self.directory(exif, at: exifStart, width) + Self.directory(gps, at: gpsStart, width) + last
        guard !thumbnail.isEmpty else { return block }
        let entries: [(tag: UInt16, value: Value)] = [
            (0x0103, .short(6)), (0x0201, .long(UInt32(ifd1Start + 2 + 12 * 3 + 4))),
            (0x0202, .long(UInt32(thumbnail.count))),
        ]
        return block + Self.directory(entries, at: ifd1Start, width) + thumbnail
    }

    /// The block as a JPEG's APP1 segment.
    public var segment: [UInt8] { Self.segment(tiff) }

    /// Returns any bytes as a JPEG's EXIF segment.
    public static func segment(_ tiff: [UInt8]) -> [UInt8] {
        let content = Array("Exif\0\0".utf8) + tiff
        let length = content.count + 2
        return [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    /// Returns a JPEG with this segment inserted at its start.
    public static func jpeg(_ jpeg: [UInt8], inserting segment: [UInt8]) -> [UInt8] {
        jpeg[..<2] + segment + jpeg[2...]
    }

    private static func directory(
        _ entries: [(tag: UInt16, value: Value)], at start: Int, _ width: Width
    ) -> [UInt8] {
        var table = width.count(entries.count)
        var data: [UInt8] = []
        let dataStart = start + table.count + width.entry * entries.count + width.offset
        for (tag, value) in entries.sorted(by: { $0.tag < $1.tag }) {
            let (type, count, bytes) = encoded(value, width)
            table += big(tag) + big(type) + width.word(count)
            if bytes.count <= width.offset {
                table += bytes + Array(repeating: 0, count: width.offset - bytes.count)
            } else {
                table += width.word(dataStart + data.count)
                data += bytes
            }
        }
        return table + Array(repeating: 0, count: width.offset) + data
    }

    private static func length(_ entries: [(tag: UInt16, value: Value)], _ width: Width) -> Int {
        directory(entries, at: 0, width).count
    }

    private static func encoded(_ value: Value, _ width: Width) -> (type: UInt16, count: Int, bytes: [UInt8]) {
        switch value {
        case .directory(let start): (width == .small ? 4 : 18, 1, width.word(start))
        case .text(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
        case .undefined(let bytes): (7, bytes.count, bytes)
        case .short(let number): (3, 1, big(number))
        case .long(let number): (4, 1, big(number))
        case .rationals(let ratios): (5, ratios.count, ratios.flatMap { big($0.0) + big($0.1) })
        }
    }

    private static func big(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
