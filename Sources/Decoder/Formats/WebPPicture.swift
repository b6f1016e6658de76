import CWebP
import Pixels

/// One packed picture of a WebP file, unpacked as a whole: all of it, or a part of it that libwebp cuts out and reduces on
/// the way, so that what is in memory is in proportion to what is wanted.
struct WebPPicture: ~Copyable {
    /// The picture's sides.
    let size: PixelSize
    /// Whether parts of it may be transparent.
    let hasAlpha: Bool
    /// Whether libwebp needs to hold all of it in any case.
    let isHeldWhole: Bool

    private let bytes: UnsafeRawBufferPointer
    private let decoder: UnsafeMutablePointer<cwebp_decoder>

    /// The version of the library; nothing where it is not there.
    static var version: String? {
        guard var library else { return nil }
        let number = cwebp_version(&library)
        return "\(number >> 16).\(number >> 8 & 255).\(number & 255)"
    }

    /// Loads the library. Nothing where it is not there.
    private static var library: cwebp_library? {
        var library = cwebp_library()
        return cwebp_load(&library) != 0 ? library : nil
    }

    /// Reads a picture's header. The bytes have to outlive it.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        guard var library = Self.library else {
            throw .missingLibrary(format: WebPDecoder.name, library: "libwebp", package: "libwebp7")
        }
        var features = cwebp_features()
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        let status = cwebp_read_features(&library, start, bytes.count, &features)
        guard status == .ok else { throw Self.failure(status) ?? .damaged("its header is missing") }
        guard let decoder = cwebp_new(&library) else { throw .outOfMemory }
        self.bytes = bytes
        self.decoder = decoder
        size = PixelSize(width: Int(features.width), height: Int(features.height))
        hasAlpha = features.has_alpha != 0
        isHeldWhole = hasAlpha || features.is_lossless != 0
    }

    deinit {
        cwebp_free(decoder)
    }

    /// Unpacks a part, reduced to no less than `scaled`. Returns how many of its rows came.
    func unpack(_ part: WebPPart) throws(DecodeFailure) -> Int {
        var extent = cwebp_extent(
            left: Int32(part.columns.lowerBound), top: Int32(part.rows.lowerBound), width: Int32(part.columns.count),
            height: Int32(part.rows.count), scaled_width: Int32(part.scaled.width),
            scaled_height: Int32(part.scaled.height))
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        let status = cwebp_decode(decoder, start, bytes.count, &extent, hasAlpha ? 1 : 0)
        if status != .partial, let failure = Self.failure(status) { throw failure }
        let count = Int(decoder.pointee.row_count)
        guard count > 0 else { throw .damaged("it ends before its first row") }
        return count
    }

    /// One of the rows that came, RGB or RGBA.
    func row(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let stride = Int(decoder.pointee.stride)
        return UnsafeBufferPointer(start: decoder.pointee.pixels + index * stride, count: stride)
    }

    private static func failure(_ status: cwebp_status) -> DecodeFailure? {
        switch status {
        case .ok: nil
        case .partial: nil
        case .damaged: .damaged("its data make no sense")
        case .unsupported: .unsupportedFormat("WebP of an unknown kind")
        case .exhausted: .outOfMemory
        }
    }
}
