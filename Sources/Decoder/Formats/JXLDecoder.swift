import CJXL
import Pixels

/// Decodes JPEG XL if libjxl is installed. Decodes only the first frame of an animation.
///
/// libjxl turns pictures upright itself. As the standard demands, it uses the file's own header and not EXIF.
enum JXLDecoder: PictureDecoder {
    static let name = "JPEG XL"
    static var library: String? { JXLPicture.version.map { "libjxl \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // A file is either the picture alone, or a container of boxes.
        bytes.starts(with: [0xFF, 0x0A])
            || bytes.starts(with: [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A])
    }

    static var isLoadedAhead: Bool { false }

    static func prepare() {
        _ = JXLPicture.version
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        var picture = try JXLPicture(bytes)
        let size = picture.size
        try PictureBounds.check(size, isHeldWhole: true)
        try picture.checkMemory()
        var facts = PictureFacts(format: name)
        if let exif = picture.exif { facts.metadata = ExifBlock(tiff: exif).metadata }
        let plan = DecodePlan(stored: size, orientation: .upright, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        let conversion = picture.conversion
        let outcome = try picture.decode(soon: request.haste == .soon)
        facts.isCoarse = outcome == .coarse
        var output = OutputRows(
            plan, source: size, region: plan.region, channels: picture.channels, conversion: conversion)
        for row in output.sourceRows { output.add(picture.row(row)) }
        return try output.reply(facts, isComplete: outcome != .partial)
    }
}

/// A JPEG XL file's first frame.
struct JXLPicture: ~Copyable {
    /// The result of decoding: the whole picture, a part, or a coarse preview.
    enum Outcome {
        case whole, partial, coarse
    }

    private let decoder: UnsafeMutablePointer<cjxl_decoder>

    /// libjxl's version; nil if it is not installed.
    static var version: String? {
        guard var library else { return nil }
        let number = cjxl_version(&library)
        return "\(number / 1_000_000).\(number / 1_000 % 1_000).\(number % 1_000)"
    }

    /// Loads libjxl; nil if it is not installed.
    private static var library: cjxl_library? {
        var library = cjxl_library()
        return cjxl_load(&library) != 0 ? library : nil
    }

    /// The Debian package of the version that Vitrine was built for, such as `libjxl0.7`.
    private static var package: String { String(cString: cjxl_package) }

    /// The longest EXIF block to read, in bytes. Cameras also store notes and thumbnails in the block.
    private static let longestExif = 4 << 20

    /// Opens a file and reads its header. The bytes must outlive the picture.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        guard var library = Self.library else {
            throw .missingLibrary(format: JXLDecoder.name, library: "libjxl", package: Self.package)
        }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let decoder = cjxl_new(&library, start, bytes.count) else { throw .outOfMemory }
        guard cjxl_read_header(decoder, ICCProfile.longest, Self.longestExif) != 0 else {
            defer { cjxl_free(decoder) }
            throw .damaged("its header is incomplete")
        }
        self.decoder = decoder
    }

    deinit {
        cjxl_free(decoder)
    }

    /// The upright picture's size.
    var size: PixelSize {
        PixelSize(width: Int(decoder.pointee.info.xsize), height: Int(decoder.pointee.info.ysize))
    }

    /// The maximum memory in bytes that libjxl may need. If libjxl cannot allocate memory, it ends the process.
    private static let mostMemory = 800 << 20

    /// Throws if libjxl would need too much memory. Lossless pictures need more than twice as much as lossy ones.
    func checkMemory() throws(DecodeFailure) {
        let isLossless = decoder.pointee.info.uses_original_profile != 0
        // The alpha channel is one of the extra channels.
        let count = 3 + Int(decoder.pointee.info.num_extra_channels)
        let perPixel = isLossless ? 5 * count : 2 * count + 2
        guard size.width * size.height <= Self.mostMemory / perPixel else {
            throw .tooLarge(width: size.width, height: size.height)
        }
    }

    /// The channels of the decoded rows.
    var channels: OutputRows.Channels {
        guard decoder.pointee.info.alpha_bits > 0 else { return .rgb }
        return decoder.pointee.info.alpha_premultiplied != 0 ? .premultiplied : .rgba
    }

    /// The EXIF block, from its byte order mark on. In the file, a number before the block states the block's offset.
    var exif: UnsafeRawBufferPointer? {
        let file = FileBytes(UnsafeRawBufferPointer(start: decoder.pointee.exif, count: decoder.pointee.exif_length))
        guard let offset = file.number(at: 0, length: 4, isBigEndian: true) else { return nil }
        return file.beginning(at: 4 + offset, count: file.count)
    }

    /// The conversion of the pixels' colours to sRGB; nil if none is needed.
    var conversion: ColourConversion? {
        let coded = ColourConversion(
            transfer: Int(decoder.pointee.transfer), primaries: Int(decoder.pointee.primaries))
        if let coded, coded.isForHighRange { return coded }
        return ColourConversion(
            profile: UnsafeRawBufferPointer(start: decoder.pointee.profile, count: decoder.pointee.profile_length))
    }

    /// Decodes the whole frame at once, because its parts may overlap.
    mutating func decode(soon: Bool) throws(DecodeFailure) -> Outcome {
        switch cjxl_decode(decoder, UInt32(channels.count), soon ? 1 : 0) {
        case cjxl_whole: return .whole
        case cjxl_partial: return .partial
        case cjxl_coarse: return .coarse
        case cjxl_exhausted: throw .outOfMemory
        default: throw .damaged("its data are invalid")
        }
    }

    /// Returns the bytes of a decoded row.
    func row(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let stride = size.width * channels.count
        return UnsafeBufferPointer(start: decoder.pointee.pixels + index * stride, count: stride)
    }
}
