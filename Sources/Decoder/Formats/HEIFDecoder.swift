import CHEIF
import Pixels

/// Decodes HEIC and AVIF if libheif is installed, including grids of tiles and transparency.
///
/// libheif turns pictures upright itself. As the standard demands, it uses the file's own properties and not EXIF.
enum HEIFDecoder: PictureDecoder {
    private static let heic = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
    private static let avif = ["avif", "avis"]

    static var library: String? { HEIFPicture.version.map { "libheif \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        name(of: bytes) != nil
    }

    static var isLoadedAhead: Bool { false }

    static func prepare() {
        _ = HEIFPicture.isReadable
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let name = name(of: bytes) ?? "HEIC"
        guard HEIFReferences(bytes).areFinite else { throw .damaged("it contains a picture that contains itself") }
        var picture = try HEIFPicture(bytes, format: name)
        let size = picture.size
        try PictureBounds.check(size, isHeldWhole: true)
        let exif = picture.exif
        let metadata = exif.map { $0.withUnsafeBytes { ExifBlock(tiff: $0).metadata } }
        var facts = PictureFacts(format: name, metadata: metadata ?? PictureMetadata())
        let plan = DecodePlan(stored: size, orientation: .upright, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        let conversion = picture.conversion
        // Some encoders make thumbnails by omitting pixels. One of twice the wanted size serves as well as the picture.
        // A preview may show a smaller thumbnail, or one without the picture's opacity.
        let channels = picture.channels
        var small = try HEIFPicture(bytes, format: name)
        if small.takeThumbnail() {
            let isEnough = plan.isLike(small.size, enlargedBy: 0.5) && small.channels == channels
            let isPreview = request.haste == .soon && plan.isLike(small.size, enlargedBy: 8)
            if isEnough || isPreview, (try? small.decode()) != nil {
                facts.isCoarse = !isEnough
                return try show(small, by: plan, facts, conversion)
            }
        }
        try picture.decode()
        return try show(picture, by: plan, facts, conversion)
    }

    private static func show(
        _ picture: borrowing HEIFPicture, by plan: DecodePlan, _ facts: PictureFacts, _ conversion: ColourConversion?
    ) throws(DecodeFailure) -> DecodeReply {
        var output = OutputRows(
            plan, source: picture.size, region: plan.region(of: picture.size), channels: picture.channels,
            conversion: conversion)
        for row in output.sourceRows { output.add(picture.row(row)) }
        return try output.reply(facts, isComplete: true)
    }

    /// Returns the name of the format, according to the file's main brand. The brands "mif1" and "msf1" mean any HEIF
    /// file.
    private static func name(of bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count >= 12, bytes.dropFirst(4).starts(with: "ftyp".utf8) else { return nil }
        let brand = bytes[8..<12]
        if avif.contains(where: { brand.elementsEqual($0.utf8) }) { return "AVIF" }
        return heic.contains { brand.elementsEqual($0.utf8) } ? "HEIC" : nil
    }
}

/// A HEIF file's primary picture, or its embedded thumbnail.
struct HEIFPicture: ~Copyable {
    private let decoder: UnsafeMutablePointer<cheif_decoder>
    private let bytes: UnsafeRawBufferPointer
    private let format: String

    /// Whether libheif is installed. The process loads libheif only once, because nothing may write libheif's list of
    /// decoders while another thread reads it.
    static let isReadable = cheif_load() != 0

    /// libheif's version; nil if it is not installed.
    static var version: String? { cheif_version().map { String(cString: $0) } }

    /// The longest EXIF block to read, in bytes. Cameras also store notes and thumbnails in the block.
    private static let longestExif = 4 << 20

    /// Opens a file. The bytes must outlive the picture.
    init(_ bytes: UnsafeRawBufferPointer, format: String) throws(DecodeFailure) {
        guard Self.isReadable else {
            throw .missingLibrary(format: format, library: "libheif", package: "libheif1")
        }
        guard let decoder = cheif_new() else { throw .outOfMemory }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard cheif_open(decoder, start, bytes.count, Int32(DecodeReply.largestSourceSide)) != 0 else {
            defer { cheif_free(decoder) }
            throw Self.failure(of: decoder, bytes, format)
        }
        (self.decoder, self.bytes, self.format) = (decoder, bytes, format)
    }

    deinit {
        cheif_free(decoder)
    }

    /// The upright picture's size.
    var size: PixelSize { PixelSize(width: Int(cheif_width(decoder)), height: Int(cheif_height(decoder))) }

    /// The channels of the decoded rows.
    var channels: OutputRows.Channels {
        guard cheif_has_alpha(decoder) != 0 else { return .rgb }
        return cheif_is_premultiplied(decoder) != 0 ? .premultiplied : .rgba
    }

    /// The EXIF block, from its byte order mark on. In the file, the block follows an "exif_tiff_header_offset"
    /// (ISO/IEC 23008-12, A.2.1).
    var exif: [UInt8]? {
        var block: heif_item_id = 0
        let length = cheif_exif_length(decoder, &block)
        guard length > 4, length <= Self.longestExif else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        guard cheif_copy_exif(decoder, block, &bytes) != 0 else { return nil }
        let offset = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        return offset < length - 4 ? Array(bytes[(4 + offset)...]) : nil
    }

    /// The conversion of the picture's colours to sRGB; nil if none is needed. Code numbers for a high dynamic range
    /// take priority over a profile.
    var conversion: ColourConversion? {
        var (transfer, primaries) = (CInt(0), CInt(0))
        let isStated = cheif_get_coding(decoder, &transfer, &primaries) != 0
        let coded = isStated ? ColourConversion(transfer: Int(transfer), primaries: Int(primaries)) : nil
        if let coded, coded.isForHighRange { return coded }
        guard let profile else { return coded }
        return ColourConversion(profile: profile)
    }

    /// The colour profile; nil if it is missing or too long.
    private var profile: [UInt8]? {
        let length = cheif_profile_length(decoder)
        guard length > 0, length <= ICCProfile.longest else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        return cheif_copy_profile(decoder, &bytes) != 0 ? bytes : nil
    }

    /// Switches to the embedded thumbnail. Returns false if the file has no thumbnail.
    mutating func takeThumbnail() -> Bool {
        cheif_take_thumbnail(decoder) != 0
    }

    /// Decodes the whole picture at once, because its parts may have any order and overlap.
    mutating func decode() throws(DecodeFailure) {
        guard cheif_decode(decoder, channels == .rgb ? 0 : 1) != 0 else {
            throw Self.failure(of: decoder, bytes, format)
        }
    }

    /// Returns the bytes of a decoded row.
    func row(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let stride = Int(decoder.pointee.stride)
        return UnsafeBufferPointer(start: decoder.pointee.pixels + index * stride, count: stride)
    }

    private static func failure(
        of decoder: UnsafeMutablePointer<cheif_decoder>, _ bytes: UnsafeRawBufferPointer, _ format: String
    ) -> DecodeFailure {
        failure(
            code: decoder.pointee.code.rawValue, detail: decoder.pointee.subcode.rawValue, format: format,
            message: withUnsafeBytes(of: &decoder.pointee.message) { LibraryWords($0).text },
            missing: HEIFCodec.needed(by: bytes).first { !$0.isLoaded })
    }

    /// Returns the failure for an error of libheif.
    ///
    /// - Parameters:
    ///   - code: libheif's number of the error.
    ///   - detail: libheif's number of the details.
    ///   - missing: a codec that the file needs and that is not loaded; nil if there is none.
    static func failure(
        code: UInt32, detail: UInt32, format: String, message: String, missing: HEIFCodec?
    ) -> DecodeFailure {
        // If no codec is suitable, libheif's versions return either of these errors.
        let isUnsupported =
            code == heif_error_Plugin_loading_error.rawValue
            || code == heif_error_Unsupported_feature.rawValue && detail == heif_suberror_Unsupported_codec.rawValue
        // Without the missing library, libheif may also have tried a codec that fails in the sandbox.
        if let missing, isUnsupported || code == heif_error_Decoder_plugin_error.rawValue {
            return .missingLibrary(format: format, library: missing.library, package: missing.package)
        }
        return isUnsupported ? .unsupportedFormat("\(format) (\(message))") : .damaged(message)
    }
}

/// A codec in HEIF files, whose library libheif needs.
enum HEIFCodec: CaseIterable {
    case hevc, av1

    /// The codec's library.
    var library: String { self == .hevc ? "libde265" : "libdav1d" }

    /// The Debian packages that contain the library.
    var package: String { self == .hevc ? "libde265-0" : "libdav1d7 or libdav1d6" }

    /// Whether the library is loaded.
    var isLoaded: Bool {
        switch self {
        case .hevc: cheif_hevc_priority(heif_compression_HEVC) > 0
        case .av1: cheif_av1_priority(heif_compression_AV1) > 0
        }
    }

    /// Returns the codecs that a file needs.
    ///
    /// The file has a configuration of each codec, in the box "ipco" of the box "iprp" of the box "meta"
    /// (ISO/IEC 23008-12, 9.3).
    static func needed(by bytes: UnsafeRawBufferPointer) -> [HEIFCodec] {
        var properties: Set<UInt32> = []
        ISOBoxes.each(in: bytes[...]) { type, content in
            guard type == ISOBoxes.name("meta") else { return }
            ISOBoxes.each(in: content.dropFirst(4), along: ["iprp", "ipco"]) { type, _ in properties.insert(type) }
        }
        return allCases.filter { properties.contains(ISOBoxes.name($0 == .hevc ? "hvcC" : "av1C")) }
    }
}

/// Checks a HEIF file for pictures that contain themselves, which overflow libheif's stack.
///
///     guard HEIFReferences(bytes).areFinite else { … }
///
/// A composed picture has references "dimg" to its parts, in the box "iref" of the box "meta" (ISO/IEC 14496-12,
/// 8.11.12, and 23008-12, 6.6.2). libheif reports all other faults itself.
struct HEIFReferences {
    /// For each composed picture, the pictures that are its parts.
    private var parts: [UInt32: [UInt32]] = [:]

    /// The deepest nesting allowed. Cameras nest pictures one level deep.
    private static let deepest = 8

    init(_ bytes: UnsafeRawBufferPointer) {
        ISOBoxes.each(in: bytes[...]) { type, content in
            // In the box "meta", a version and flags come before the inner boxes.
            guard type == ISOBoxes.name("meta") else { return }
            ISOBoxes.each(in: content.dropFirst(4)) { type, content in
                guard type == ISOBoxes.name("iref"), let version = content.first else { return }
                ISOBoxes.each(in: content.dropFirst(4)) { type, content in
                    if type == ISOBoxes.name("dimg") { read(content, numberLength: version == 0 ? 2 : 4) }
                }
            }
        }
    }

    /// Whether no picture contains itself, directly or indirectly, and none is nested too deeply.
    var areFinite: Bool {
        var depths: [UInt32: Int] = [:]
        return parts.keys.allSatisfy { depth(of: $0, level: 1, &depths) != nil }
    }

    /// Returns the number of levels from a picture down to its deepest part. Returns nil if there are too many levels.
    private func depth(of picture: UInt32, level: Int, _ depths: inout [UInt32: Int]) -> Int? {
        if let depth = depths[picture] { return depth }
        guard level <= Self.deepest else { return nil }
        var deepest = 0
        for part in parts[picture] ?? [] {
            guard let depth = depth(of: part, level: level + 1, &depths) else { return nil }
            deepest = max(deepest, depth)
        }
        guard deepest < Self.deepest else { return nil }
        depths[picture] = deepest + 1
        return deepest + 1
    }

    /// Reads one picture's references: its number, the count of its parts, and their numbers.
    private mutating func read(_ content: Slice<UnsafeRawBufferPointer>, numberLength length: Int) {
        guard let picture = ISOBoxes.number(content, length) else { return }
        let rest = content.dropFirst(length + 2)
        for start in stride(from: rest.startIndex, to: rest.endIndex - length + 1, by: length) {
            guard let part = ISOBoxes.number(rest[start...], length) else { return }
            parts[picture, default: []].append(part)
        }
    }
}

/// Reads the boxes of ISO media files.
enum ISOBoxes {
    /// Calls `body` for each box in a sequence. A box has a length that includes its header, a type, and contents. If
    /// the length is 1, the real length follows in eight bytes; 0 means up to the end (ISO/IEC 14496-12, 4.2).
    static func each(
        in bytes: Slice<UnsafeRawBufferPointer>, _ body: (UInt32, Slice<UnsafeRawBufferPointer>) -> Void
    ) {
        var rest = bytes
        while let short = number(rest, 4), let type = number(rest.dropFirst(4), 4) {
            var (length, header) = (Int(short), 8)
            if short == 1 {
                // No file is long enough to need the upper half of the length.
                guard number(rest.dropFirst(8), 4) == 0, let long = number(rest.dropFirst(12), 4) else { return }
                (length, header) = (Int(long), 16)
            } else if short == 0 {
                length = rest.count
            }
            guard length >= header, length <= rest.count else { return }
            body(type, rest.prefix(length).dropFirst(header))
            rest = rest.dropFirst(length)
        }
    }

    /// Calls `body` for each box inside a nested box. `path` lists the types of the boxes that lead there; the first
    /// box of each type is used.
    static func each(
        in bytes: Slice<UnsafeRawBufferPointer>, along path: [StaticString],
        _ body: (UInt32, Slice<UnsafeRawBufferPointer>) -> Void
    ) {
        var inner: Slice<UnsafeRawBufferPointer>? = bytes
        for step in path {
            guard let outer = inner else { return }
            inner = nil
            each(in: outer) { type, content in
                if inner == nil, type == name(step) { inner = content }
            }
        }
        if let inner { each(in: inner, body) }
    }

    /// Returns a big-endian number of up to four bytes.
    static func number(_ bytes: Slice<UnsafeRawBufferPointer>, _ length: Int) -> UInt32? {
        guard bytes.count >= length else { return nil }
        return bytes.prefix(length).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Converts a type's four letters to its number.
    static func name(_ text: StaticString) -> UInt32 {
        text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }
}
