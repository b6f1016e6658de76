import CHEIF
import Pixels

/// The main picture of a HEIF file, or the small one that is embedded for it.
struct HEIFPicture: ~Copyable {
    private let decoder: UnsafeMutablePointer<cheif_decoder>

    /// Whether libheif is there. It is looked for once, since it keeps a list of its decoders that must not be written while
    /// it is read.
    static let isReadable = cheif_load() != 0

    /// The version of libheif; nothing where it is not there.
    static var version: String? { cheif_version().map { String(cString: $0) } }

    /// Cameras put notes of their own there, and small pictures.
    private static let longestExif = 4 << 20

    /// Opens a file. The bytes have to outlive it.
    init(_ bytes: UnsafeRawBufferPointer, format: String) throws(DecodeFailure) {
        guard Self.isReadable else {
            throw .missingLibrary(format: format, library: "libheif", package: "libheif1")
        }
        guard let decoder = cheif_new() else { throw .outOfMemory }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard cheif_open(decoder, start, bytes.count, Int32(DecodeReply.largestSourceSide)) != 0 else {
            defer { cheif_free(decoder) }
            throw .damaged(Self.message(of: decoder))
        }
        self.decoder = decoder
    }

    deinit {
        cheif_free(decoder)
    }

    /// The picture's sides, upright.
    var size: PixelSize { PixelSize(width: Int(cheif_width(decoder)), height: Int(cheif_height(decoder))) }

    /// How the rows come.
    var channels: OutputRows.Channels {
        guard cheif_has_alpha(decoder) != 0 else { return .rgb }
        return cheif_is_premultiplied(decoder) != 0 ? .premultiplied : .rgba
    }

    /// The EXIF block, from its byte order on. "exif_tiff_header_offset" comes before it (ISO/IEC 23008-12, A.2.1).
    var exif: [UInt8]? {
        var block: heif_item_id = 0
        let length = cheif_exif_length(decoder, &block)
        guard length > 4, length <= Self.longestExif else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        guard cheif_copy_exif(decoder, block, &bytes) != 0 else { return nil }
        let offset = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        return offset < length - 4 ? Array(bytes[(4 + offset)...]) : nil
    }

    /// The colour profile.
    var profile: [UInt8]? {
        let length = cheif_profile_length(decoder)
        guard length > 0, length <= ICCProfile.longest else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        return cheif_copy_profile(decoder, &bytes) != 0 ? bytes : nil
    }

    /// Goes over to the embedded thumbnail. Returns whether there is one.
    mutating func takeThumbnail() -> Bool {
        cheif_take_thumbnail(decoder) != 0
    }

    /// Decodes the picture, all of it: its parts may lie in any order, and one over the other.
    mutating func decode() throws(DecodeFailure) {
        guard cheif_decode(decoder, channels == .rgb ? 0 : 1) != 0 else { throw .damaged(Self.message(of: decoder)) }
    }

    /// One row of what was decoded.
    func row(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let stride = Int(decoder.pointee.stride)
        return UnsafeBufferPointer(start: decoder.pointee.pixels + index * stride, count: stride)
    }

    private static func message(of decoder: UnsafeMutablePointer<cheif_decoder>) -> String {
        withUnsafeBytes(of: &decoder.pointee.message) { LibraryWords($0).text }
    }
}
