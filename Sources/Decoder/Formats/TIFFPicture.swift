import CTIFF
import Glibc
import Pixels

/// The first picture of a TIFF, read in stripes as it is stored: as many rows as are packed together are in memory.
struct TIFFPicture: ~Copyable {
    private let decoder: UnsafeMutablePointer<ctiff_decoder>
    /// Whether any of the rows that were read are not blank, or are meant to be.
    private(set) var cameToAnything = false

    /// No single block may be larger: an uncompressed picture of the most pixels that are held, at 16 bits a channel.
    private static let largestBlock = 800 << 20
    /// Rows are read by at least that many, where they are packed by fewer.
    private static let fewestRows = 64

    /// The version of the library; nothing where it is not there.
    static var version: String? {
        guard var library else { return nil }
        let line = String(cString: ctiff_version(&library)).split(separator: "\n").first
        return line?.split(separator: " ").last.map(String.init)
    }

    /// Loads the library. Nothing where it is not there.
    private static var library: ctiff_library? {
        var library = ctiff_library()
        return ctiff_load(&library) != 0 ? library : nil
    }

    /// Opens a file at its first picture. The bytes have to outlive it.
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

    /// The picture's sides as stored.
    var size: PixelSize {
        PixelSize(
            width: Int(ctiff_number(decoder, ctiff_width_tag, 0)),
            height: Int(ctiff_number(decoder, ctiff_height_tag, 0))
        )
    }

    /// How it is to be turned.
    var orientation: Orientation { Orientation(exif: Int(ctiff_short(decoder, ctiff_orientation_tag, 1))) }

    /// Whether it is so packed that all of it has to be unpacked at once.
    var isHeldWhole: Bool { rowsTogether >= size.height && size.height > Self.fewestRows }

    /// How the rows come, once `start` was called.
    var channels: OutputRows.Channels { decoder.pointee.image.alpha != 0 ? .premultiplied : .rgb }

    /// Whether something was missing or broken so far.
    var isIncomplete: Bool { decoder.pointee.error_count > 0 }

    /// The colour profile of a picture whose colours come as they are stored: not of inks, which libtiff turns to plain RGB.
    func withProfile<Value>(_ body: (UnsafeRawBufferPointer?) -> Value) -> Value {
        var length: UInt32 = 0
        guard let profile = ctiff_profile(decoder, &length) else { return body(nil) }
        return body(UnsafeRawBufferPointer(start: profile, count: Int(length)))
    }

    /// Sets the conversion up. What libtiff cannot convert is refused in its words.
    mutating func start() throws(DecodeFailure) {
        guard ctiff_begin(decoder) != 0 else {
            throw .unsupportedFormat("TIFF (\(Self.message(of: decoder)))")
        }
        // What it complained of until here, did not keep it from going on.
        decoder.pointee.error_count = 0
    }

    /// Reads rows and hands each on, RGB or RGBA with colours multiplied by the opacity.
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
            // What cannot be unpacked comes out as zeros, and so in one colour; what breaks off in the middle does not.
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

    /// How many rows are packed together.
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
