import CPNG
import Glibc
import Pixels

/// Decodes PNG files of all colour types and depths, interlaced or not. Decodes only the first frame of an animation.
enum PNGDecoder: PictureDecoder {
    static let name = "PNG"
    static var library: String? { "libpng " + String(cString: png_get_libpng_ver(nil)) }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: PNGChunks.signature)
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let chunks = PNGChunks(bytes)
        guard let header = chunks.header else { throw .damaged("its header is missing") }
        try PictureBounds.check(header.size, isHeldWhole: header.isInterlaced)
        let exif = ExifBlock(tiff: chunks.exif)
        let plan = DecodePlan(stored: header.size, orientation: exif.orientation, request: request)
        let facts = PictureFacts(format: name, metadata: exif.metadata)
        guard request.wantsPixels else { return plan.reply(facts) }

        var png = try PNGStream(bytes, size: header.size)
        var output = OutputRows(
            plan, source: header.size, region: plan.region, channels: png.channels, conversion: png.conversion)
        let isWhole =
            header.isInterlaced
            ? try png.readInterlaced(output.sourceRows) { output.add($0) }
            : try png.read(output.sourceRows) { output.add($0) }
        return try output.reply(facts, isComplete: isWhole)
    }
}

/// Reads a PNG's rows. Holds one row in memory, unless the picture is interlaced.
struct PNGStream: ~Copyable {
    private let decoder: UnsafeMutablePointer<cpng_decoder>
    private let size: PixelSize
    /// The channels of the decoded rows.
    let channels: OutputRows.Channels
    /// The conversion to sRGB, if the file has a supported profile. "When the iCCP chunk is present, PNG decoders that
    /// recognize it and are capable of colour management shall ignore the gAMA and cHRM chunks" (PNG, 11.3.2.1). If the
    /// profile is not supported, libpng uses gAMA.
    let conversion: ColourConversion?

    /// Opens a picture with an already checked header. The bytes must outlive the stream.
    init(_ bytes: UnsafeRawBufferPointer, size: PixelSize) throws(DecodeFailure) {
        guard let decoder = cpng_new() else { throw .outOfMemory }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        var status = cpng_open(decoder, start, bytes.count, UInt32(DecodeReply.largestSourceSide))
        var length: UInt32 = 0
        let profile = status == .ok ? cpng_profile(decoder, &length) : nil
        let conversion = ColourConversion(profile: UnsafeRawBufferPointer(start: profile, count: Int(length)))
        if status == .ok { status = cpng_start(decoder, conversion == nil ? 1 : 0) }
        guard status == .ok else {
            defer { cpng_free(decoder) }
            throw Self.failure(status, of: decoder)
        }
        self.decoder = decoder
        self.size = size
        self.conversion = conversion
        channels = cpng_channels(decoder) == 4 ? .rgba : .rgb
    }

    deinit {
        cpng_free(decoder)
    }

    /// Reads a picture that is not interlaced, and passes its rows to `body`. Returns true if it read all rows.
    mutating func read(
        _ rows: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(DecodeFailure) -> Bool {
        var row = [UInt8](repeating: 0, count: size.width * channels.count)
        for index in 0..<rows.upperBound {
            let status = row.withUnsafeMutableBufferPointer { cpng_read_row(decoder, $0.baseAddress) }
            guard try goesOn(status, canShow: index > rows.lowerBound) else { return false }
            guard index >= rows.lowerBound else { continue }
            row.withUnsafeBufferPointer(body)
        }
        return true
    }

    /// Reads an interlaced picture into memory, then passes its rows to `body`. Returns true if it read all passes. A
    /// truncated picture is coarse.
    mutating func readInterlaced(
        _ rows: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(DecodeFailure) -> Bool {
        let bytesPerRow = size.width * channels.count
        // `calloc`, because the process ends without an answer when an array's allocation fails.
        guard let memory = calloc(rows.count, bytesPerRow) else { throw .outOfMemory }
        defer { free(memory) }
        let pixels = memory.assumingMemoryBound(to: UInt8.self)
        let isWhole = try refine(rows) { pixels + ($0 - rows.lowerBound) * bytesPerRow }
        for index in 0..<rows.count {
            body(UnsafeBufferPointer(start: pixels + index * bytesPerRow, count: bytesPerRow))
        }
        return isWhole
    }

    private func refine(
        _ rows: Range<Int>, _ memory: (Int) -> UnsafeMutablePointer<UInt8>
    ) throws(DecodeFailure) -> Bool {
        for pass in 0..<7 {
            for index in 0..<size.height {
                let status = cpng_refine_row(decoder, rows.contains(index) ? memory(index) : nil)
                guard try goesOn(status, canShow: pass > 0 || index > rows.lowerBound) else { return false }
            }
        }
        return true
    }

    /// Returns whether to continue after a row. Throws after a damaged row if there is nothing to show yet.
    private func goesOn(_ status: cpng_status, canShow: Bool) throws(DecodeFailure) -> Bool {
        if status == .ok { return true }
        if status == .damaged, canShow { return false }
        throw Self.failure(status, of: decoder)
    }

    private static func failure(
        _ status: cpng_status, of decoder: UnsafeMutablePointer<cpng_decoder>
    ) -> DecodeFailure {
        status == .exhausted ? .outOfMemory : .damaged(String(cString: cpng_message(decoder)))
    }
}

/// Reads a PNG's chunks without the library. So Vitrine can check the header first. It can also find EXIF data after
/// the pixels; for a region at the top, libpng would not read that far.
struct PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The size and interlacing from the first chunk, which must be IHDR.
    var header: (size: PixelSize, isInterlaced: Bool)? {
        var position = Self.signature.count
        guard let chunk = chunk(at: &position), chunk.type.elementsEqual("IHDR".utf8), chunk.content.count == 13 else {
            return nil
        }
        let size = PixelSize(width: Int(number(chunk.content, at: 0)), height: Int(number(chunk.content, at: 4)))
        return (size, chunk.content[12] != 0)
    }

    /// The EXIF chunk's contents, which begin with the byte order mark.
    var exif: UnsafeRawBufferPointer? {
        var position = Self.signature.count
        while let chunk = chunk(at: &position) {
            if chunk.type.elementsEqual("eXIf".utf8) { return chunk.content }
        }
        return nil
    }

    /// Returns the chunk at `position` and advances `position`. Returns nil at the end of the file.
    private func chunk(
        at position: inout Int
    ) -> (type: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer)? {
        guard position + 8 <= bytes.count else { return nil }
        let length = Int(number(bytes, at: position))
        let (type, content) = (position + 4, position + 8)
        guard length <= bytes.count - content else { return nil }
        position = content + length + 4
        return (
            UnsafeRawBufferPointer(rebasing: bytes[type..<content]),
            UnsafeRawBufferPointer(rebasing: bytes[content..<content + length])
        )
    }

    private func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
