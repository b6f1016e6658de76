import CTIFF
import Glibc
import Pixels

/// Decodes the first picture of a TIFF file. Supports strips and tiles, bilevel, grey, palette, RGB, YCC and CMYK, 8
/// and 16 bits.
enum TIFFDecoder: PictureDecoder {
    static let name = "TIFF"
    static var library: String? { TIFFPicture.version.map { "libtiff \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // 43 instead of 42 marks files with 64-bit offsets.
        let marks: [[UInt8]] = [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 43]]
        return marks.contains { bytes.starts(with: $0) }
    }

    static var isLoadedAhead: Bool { false }

    static func prepare() {
        _ = TIFFPicture.version
    }

    static func prepareForOne(_ signature: UnsafeRawBufferPointer) {
        prepare()
        if RawContainer.isPossible(signature) { RawDecoder.prepareForOne(signature) }
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        var picture = try TIFFPicture(bytes)
        let size = picture.size
        try PictureBounds.check(size, isHeldWhole: picture.isHeldWhole)
        // A TIFF's first directory has the form of an EXIF block.
        let facts = PictureFacts(format: name, metadata: ExifBlock(tiff: bytes).metadata)
        let plan = DecodePlan(stored: size, orientation: picture.orientation, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        try picture.start()
        let conversion = picture.withProfile { ColourConversion(profile: $0) }
        var output = OutputRows(
            plan, source: size, region: plan.region, channels: picture.channels, conversion: conversion)
        try picture.read(output.sourceRows) { output.add($0) }
        return try output.reply(
            facts, isComplete: !picture.isIncomplete, cameToAnything: picture.cameToAnything)
    }
}

/// A TIFF's first picture. Only rows that are compressed together are in memory at once.
struct TIFFPicture: ~Copyable {
    private let decoder: UnsafeMutablePointer<ctiff_decoder>
    /// Whether any row read so far has contents, or is intentionally blank.
    private(set) var cameToAnything = false

    /// The largest block of memory to allocate, in bytes. It holds the maximum number of pixels with 16 bits per
    /// channel.
    private static let largestBlock = 800 << 20
    /// The approximate number of rows to read at once. If the file compresses more rows together, the decoder reads
    /// those at once.
    private static let fewestRows = 64

    /// libtiff's version; nil if it is not installed.
    static var version: String? {
        guard var library else { return nil }
        let line = String(cString: ctiff_version(&library)).split(separator: "\n").first
        return line?.split(separator: " ").last.map(String.init)
    }

    /// Loads libtiff; nil if it is not installed.
    private static var library: ctiff_library? {
        var library = ctiff_library()
        return ctiff_load(&library) != 0 ? library : nil
    }

    /// Opens a file at its first picture. The bytes must outlive the picture.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        guard var library = Self.library else {
            throw .missingLibrary(format: TIFFDecoder.name, library: "libtiff", package: "libtiff6")
        }
        guard let decoder = ctiff_new(&library) else { throw .outOfMemory }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard ctiff_open(decoder, start, bytes.count, Self.largestBlock) != 0 else {
            defer { ctiff_free(decoder) }
            throw .damaged(Self.message(of: decoder))
        }
        self.decoder = decoder
    }

    deinit {
        ctiff_free(decoder)
    }

    /// The stored picture's size.
    var size: PixelSize {
        PixelSize(
            width: Int(ctiff_number(decoder, ctiff_width_tag, 0)),
            height: Int(ctiff_number(decoder, ctiff_height_tag, 0))
        )
    }

    /// The picture's orientation.
    var orientation: Orientation { Orientation(exif: Int(ctiff_short(decoder, ctiff_orientation_tag, 1))) }

    /// Whether libtiff must decompress the whole picture at once.
    var isHeldWhole: Bool { rowsTogether >= size.height && size.height > Self.fewestRows }

    /// The channels of the decoded rows. Valid after `start`.
    ///
    /// libtiff drops the opacity of grey pictures with 16 bits, so those are opaque.
    var channels: OutputRows.Channels {
        guard decoder.pointee.image.alpha != 0, ctiff_states_opacity(decoder) != 0 else { return .rgb }
        return ctiff_is_unmultiplied(decoder) != 0 ? .rgba : .premultiplied
    }

    /// Whether libtiff has met missing or broken data so far.
    var isIncomplete: Bool { decoder.pointee.error_count > 0 }

    /// Calls `body` with the colour profile. If the colours are CMYK, `body` gets nil, because libtiff converts CMYK to
    /// plain RGB.
    func withProfile<Value>(_ body: (UnsafeRawBufferPointer?) -> Value) -> Value {
        var length: UInt32 = 0
        guard let profile = ctiff_profile(decoder, &length) else { return body(nil) }
        return body(UnsafeRawBufferPointer(start: profile, count: Int(length)))
    }

    /// Prepares libtiff's conversion to RGB. Throws with libtiff's message if libtiff cannot convert the picture.
    mutating func start() throws(DecodeFailure) {
        guard ctiff_begin(decoder) != 0 else {
            throw .unsupportedFormat("TIFF (\(Self.message(of: decoder)))")
        }
        // Errors before this point did not prevent decoding.
        decoder.pointee.error_count = 0
    }

    /// Reads rows and passes each to `body`, with the picture's `channels`.
    mutating func read(
        _ rows: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(DecodeFailure) {
        let (width, height) = (size.width, size.height)
        let together = rowsTogether
        let stripe = min(height, max(1, Self.fewestRows / together) * together)
        guard let memory = calloc(stripe, width * 4) else { throw .outOfMemory }
        defer { free(memory) }
        let pixels = memory.bindMemory(to: UInt32.self, capacity: stripe * width)
        var opaque = [UInt8](repeating: 0, count: channels == .rgb ? width * PixelBuffer.bytesPerPixel : 0)
        for top in stride(from: rows.lowerBound / stripe * stripe, to: rows.upperBound, by: stripe) {
            let count = min(stripe, height - top)
            pixels.update(repeating: 0, count: count * width)
            let errors = decoder.pointee.error_count
            _ = ctiff_read(decoder, UInt32(top), UInt32(count), pixels)
            // Data that libtiff cannot decompress become zeros, so all pixels have the same colour. If only the end of
            // a strip is missing, the pixels have several colours.
            if !cameToAnything {
                cameToAnything =
                    decoder.pointee.error_count == errors
                    || UnsafeBufferPointer(start: pixels, count: count * width).contains { $0 != pixels[0] }
            }
            for row in max(top, rows.lowerBound)..<min(top + count, rows.upperBound) {
                let start = memory.assumingMemoryBound(to: UInt8.self) + (row - top) * width * 4
                guard !opaque.isEmpty else {
                    body(UnsafeBufferPointer(start: start, count: width * 4))
                    continue
                }
                for pixel in 0..<width {
                    for channel in 0..<3 { opaque[3 * pixel + channel] = start[4 * pixel + channel] }
                }
                opaque.withUnsafeBufferPointer(body)
            }
        }
    }

    /// The number of rows that the file compresses together.
    private var rowsTogether: Int {
        let rows =
            ctiff_is_tiled(decoder) != 0
            ? ctiff_number(decoder, ctiff_tile_height_tag, 0)
            : ctiff_number(decoder, ctiff_rows_per_strip_tag, UInt32.max)
        return max(1, min(Int(rows), size.height))
    }

    private static func message(of decoder: UnsafeMutablePointer<ctiff_decoder>) -> String {
        withUnsafeBytes(of: &decoder.pointee.message) { LibraryWords($0).text }
    }
}

/// Copies a TIFF's first directory, with its EXIF and GPS directories, into a block for libexif.
///
/// libexif reads only the first 64 KiB of a block, but TIFFs often have their directory behind the pixels, and a
/// camera's notes can make a block longer. libexif does not read BigTIFF with its 64-bit offsets either. The useful
/// entries are short, so this type copies them, with 32-bit offsets. It checks every offset before use, because the
/// file is untrusted.
struct TIFFDirectories {
    private typealias Entry = (tag: UInt16, type: UInt16, count: UInt32, value: [UInt8])

    private enum Tag {
        static let exif: UInt16 = 0x8769
        static let gps: UInt16 = 0x8825
        /// The tag of the camera's own notes. The offsets in these notes are valid only in the original file.
        static let makerNote: UInt16 = 0x927C
        /// The tags about the location and compression of pixels.
        static let ofPixels: Set<UInt16> = [0x0111, 0x0117, 0x0144, 0x0145, 0x015B, 0x8773]
        /// The tags about a raw file's first picture. That picture is only a thumbnail, or it is the sensor's data.
        static let ofThumbnail: Set<UInt16> = [
            0x00FE, 0x00FF, 0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0115, 0x0116, 0x011A, 0x011B, 0x011C, 0x0128,
            0x014A, 0x0201, 0x0202, 0x0211, 0x0212, 0x0213, 0x0214,
        ]
    }

    private let bytes: UnsafeRawBufferPointer
    private let isBigEndian: Bool
    /// Whether offsets and counts have 64 bits.
    let isBig: Bool
    private let longest: Int
    private let omitted: Set<UInt16>

    /// The maximum number of entries to read from a directory.
    private static let mostEntries = 512
    /// The longest value to copy, in bytes.
    private static let longestValue = 4_096
    /// The number of bytes per value of each type. The last three types have 64 bits.
    private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
    /// The number of the last type that files with 32-bit offsets have.
    private static let lastSmallType: UInt16 = 13
    /// The type number of an offset in the new block.
    private static let long: UInt16 = 4

    /// Checks the start of a file. Returns nil if there is no byte order mark.
    ///
    /// - Parameters:
    ///   - longest: the maximum number of bytes of the block.
    ///   - isRaw: whether this is a camera's raw file. Some raw files begin with other bytes than TIFF.
    init?(_ bytes: UnsafeRawBufferPointer, longest: Int, isRaw: Bool = false) {
        // After the number 43 come "the size of offsets", 8, and a constant zero.
        var marks: [(mark: [UInt8], isBig: Bool)] = [
            ([0x49, 0x49, 42, 0], false), ([0x4D, 0x4D, 0, 42], false),
            ([0x49, 0x49, 43, 0, 8, 0, 0, 0], true), ([0x4D, 0x4D, 0, 43, 0, 8, 0, 0], true),
        ]
        if isRaw {
            let own = [[0x49, 0x49, 0x55, 0], Array("IIRO".utf8), Array("IIRS".utf8), Array("MMOR".utf8)]
            marks += own.map { ($0, false) }
        }
        guard let (_, isBig) = marks.first(where: { bytes.starts(with: $0.mark) }), bytes.count > (isBig ? 16 : 8)
        else { return nil }
        self.bytes = bytes
        self.longest = longest
        omitted = isRaw ? Tag.ofPixels.union(Tag.ofThumbnail) : Tag.ofPixels
        self.isBig = isBig
        isBigEndian = bytes[0] == 0x4D
    }

    /// The number of bytes per offset.
    private var width: Int { isBig ? 8 : 4 }

    /// The new block, in the file's byte order. Omits entries that do not fit.
    var block: [UInt8] { block(exif: nil, gps: nil) }

    /// Returns a block that also contains the directories of other files. Ignores files with another byte order.
    func block(exif: TIFFDirectories?, gps: TIFFDirectories?) -> [UInt8] {
        let main = firstEntries
        var block = Array(bytes[0..<2]) + written(UInt16(42)) + [0, 0, 0, 0]
        // The subdirectories come first, so that their offsets are known.
        var own = main.filter { $0.tag != Tag.exif && $0.tag != Tag.gps }
        var below = main.filter { [Tag.exif, Tag.gps].contains($0.tag) && [4, width].contains($0.value.count) }
            .map { ($0.tag, entries(at: number($0.value))) }
        for (tag, file) in [(Tag.exif, exif), (Tag.gps, gps)] {
            if let file, file.isBigEndian == isBigEndian { below.append((tag, file.firstEntries)) }
        }
        for (tag, entries) in below {
            guard let start = append(entries, to: &block) else { continue }
            own.append((tag, Self.long, 1, written(UInt32(start))))
        }
        let start = append(own, to: &block) ?? 0
        block.replaceSubrange(4..<8, with: written(UInt32(start)))
        return block
    }

    private var firstEntries: [Entry] { entries(at: number(bytes[width..<2 * width])) }

    /// Returns a directory's entries with short and valid values.
    private func entries(at offset: Int) -> [Entry] {
        let (head, length) = (isBig ? 8 : 2, 4 + 2 * width)
        guard offset >= 8, offset <= bytes.count - head else { return [] }
        let there = min(
            number(bytes[offset..<offset + head]), (bytes.count - offset - head) / length, Self.mostEntries)
        return (0..<max(0, there)).compactMap { entry(at: offset + head + length * $0) }
    }

    private func entry(at offset: Int) -> Entry? {
        let tag = UInt16(number(bytes[offset..<offset + 2]))
        let (type, count) = (number(bytes[offset + 2..<offset + 4]), number(bytes[offset + 4..<offset + 4 + width]))
        guard Self.sizes.indices.contains(type), Self.sizes[type] > 0, 1...Self.longestValue ~= count,
            tag != Tag.makerNote, !omitted.contains(tag)
        else { return nil }
        let length = count * Self.sizes[type]
        let value = offset + 4 + width
        let start = length <= width ? value : number(bytes[value..<value + width])
        guard length <= Self.longestValue, start >= 8, start <= bytes.count - length else { return nil }
        return (tag, UInt16(type), UInt32(count), Array(bytes[start..<start + length]))
    }

    /// Appends a directory: its entries sorted by tag, then the values longer than four bytes. Returns the directory's
    /// offset, or nil if no entry fits.
    private func append(_ entries: [Entry], to block: inout [UInt8]) -> Int? {
        var free = longest - block.count - 6
        let taken = entries.filter { entry in
            guard entry.type <= Self.lastSmallType else { return false }
            let length = 12 + (entry.value.count > 4 ? entry.value.count + entry.value.count % 2 : 0)
            guard length <= free else { return false }
            free -= length
            return true
        }
        guard !taken.isEmpty else { return nil }
        let start = block.count
        let first = start + 2 + 12 * taken.count + 4
        var (table, values) = (written(UInt16(taken.count)), [UInt8]())
        for entry in taken.sorted(by: { $0.tag < $1.tag }) {
            table += written(entry.tag) + written(entry.type) + written(entry.count)
            if entry.value.count <= 4 {
                table += entry.value + Array(repeating: 0, count: 4 - entry.value.count)
            } else {
                table += written(UInt32(first + values.count))
                values += entry.value + Array(repeating: 0, count: entry.value.count % 2)
            }
        }
        block += table + [0, 0, 0, 0] + values
        return start
    }

    /// Reads a number of two, four or eight bytes. A number of eight bytes may become negative.
    private func number(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        isBigEndian ? bytes.reduce(0) { $0 << 8 | Int($1) } : bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private func written(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: isBigEndian ? number.bigEndian : number.littleEndian) { Array($0) }
    }
}
