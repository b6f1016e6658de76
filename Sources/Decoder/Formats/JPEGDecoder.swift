import CJPEG
import Pixels

/// JPEG: baseline and progressive, Huffman and arithmetic coding, grey, YCC, RGB and inks.
enum JPEGDecoder: PictureDecoder {
    static let name = "JPEG"
    static var library: String? { "libjpeg-turbo " + String(cString: cjpeg_version()) }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: [0xFF, 0xD8, 0xFF])
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        var jpeg = try JPEGStream(bytes)
        try PictureBounds.check(jpeg.size, isHeldWhole: jpeg.hasMultipleScans)
        let segments = JPEGSegments(bytes)
        let exif = ExifBlock(tiff: segments.exif)
        let plan = DecodePlan(stored: jpeg.size, orientation: exif.orientation, request: request)
        let facts = PictureFacts(format: name, metadata: exif.metadata)
        guard request.wantsPixels else { return plan.reply(facts) }

        // A profile of inks is not understood, and inks come as plain RGB.
        let conversion = jpeg.hasInks ? nil : ColourConversion(profile: segments.profile)
        if request.haste == .soon, let reply = thumbnail(exif.thumbnail, by: plan, facts, conversion) { return reply }
        return try show(&jpeg, by: plan, facts, conversion)
    }

    /// The thumbnail that cameras put into the EXIF block, decoded in the picture's place: about 300 times sooner. It has the
    /// picture's colours. Nothing where it is none, or shows something of another shape.
    private static func thumbnail(
        _ bytes: [UInt8], by plan: DecodePlan, _ facts: PictureFacts, _ conversion: ColourConversion?
    ) -> DecodeReply? {
        bytes.withUnsafeBytes { bytes in
            guard recognises(bytes), var jpeg = try? JPEGStream(bytes), plan.isLike(jpeg.size), !jpeg.hasInks,
                (try? PictureBounds.check(jpeg.size, isHeldWhole: jpeg.hasMultipleScans)) != nil
            else { return nil }
            var facts = facts
            facts.isCoarse = true
            let reply = try? show(&jpeg, by: plan, facts, conversion)
            return reply?.isComplete == true ? reply : nil
        }
    }

    private static func show(
        _ jpeg: inout JPEGStream, by plan: DecodePlan, _ facts: PictureFacts, _ conversion: ColourConversion?
    ) throws(DecodeFailure) -> DecodeReply {
        let whole = plan.region(of: jpeg.size)
        let eighths = eighths(for: whole, plan.output)
        try jpeg.start(eighths: eighths, haste: plan.request.haste)
        // The region at the reduced scale, whose last column and row may reach beyond the picture's edge: 13 pixels at
        // 1/8 come out as 2, of which the picture is 1.625.
        var region = whole.scaled(by: Double(eighths) / 8)
        region.x -= Double(try jpeg.crop(to: region.columns(of: jpeg.output.width)))
        var output = OutputRows(plan, source: jpeg.output, region: region, channels: .rgb, conversion: conversion)
        try jpeg.skip(rows: output.sourceRows.lowerBound)
        let isWhole = try read(&jpeg, into: &output)
        var facts = facts
        facts.isCoarse = facts.isCoarse || jpeg.isCoarse
        return try output.reply(facts, isComplete: isWhole && !jpeg.isIncomplete)
    }

    /// Reads rows until there are enough, or until the stream breaks: what came before is then shown. Returns whether
    /// there were enough.
    private static func read(
        _ jpeg: inout JPEGStream, into output: inout OutputRows
    ) throws(DecodeFailure) -> Bool {
        do {
            for _ in 0..<output.sourceRows.count {
                try jpeg.withNextRow { output.add($0) }
            }
            return true
        } catch .damaged where output.hasRows {
            return false
        }
    }

    /// The greatest reduction during decoding that still leaves a pixel for each output pixel; the area filter does the
    /// rest.
    static func eighths(for region: PixelRect, _ output: PixelSize) -> Int {
        JPEGStream.reductions.first { eighths in
            // A thousandth of a pixel: what arithmetic may have cost an exact fit.
            let region = region.scaled(by: Double(eighths) / 8)
            return region.width + 1e-3 >= Double(output.width)
                && region.height + 1e-3 >= Double(output.height)
        } ?? 8
    }
}

/// One JPEG picture, row after row, reduced and cropped while it is decoded. A row is all that is in memory, unless the
/// picture comes in several scans.
struct JPEGStream: ~Copyable {
    /// The scales, in eighths, that are worth asking for.
    ///
    /// libjpeg-turbo has vector code for these only: 5/8, 6/8 and 7/8 take longer than the whole picture (24 MP: 110 to
    /// 160 ms against 100), and 3/8 as long as 4/8.
    static let reductions = [1, 2, 4, 8]

    /// The most scans of a picture that are read. Encoders make about ten; with thousands, a small file keeps a decoder
    /// busy for minutes.
    private static let mostScans = 500
    /// The most pixels that all scans together may go over, about two seconds' work.
    private static let mostScannedPixels = 1 << 31

    private let decoder: UnsafeMutablePointer<cjpeg_decoder>
    /// One row as the library delivers it.
    private var row: [UInt8] = []
    /// One row in RGB, used for inks only.
    private var converted: [UInt8] = []
    /// Whether scans were left unread, because there were more than anybody makes.
    private var stoppedEarly = false
    /// Whether scans were left unread, because the first ones were enough.
    private(set) var isCoarse = false

    /// Opens a picture and reads its header. The bytes have to outlive the stream.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        guard let decoder = cjpeg_new() else { throw .outOfMemory }
        let status = cjpeg_open(decoder, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
        guard status == .ok else {
            defer { cjpeg_free(decoder) }
            throw Self.failure(status, of: decoder)
        }
        self.decoder = decoder
    }

    deinit {
        cjpeg_free(decoder)
    }

    /// The whole picture's sides, as stored.
    var size: PixelSize { Self.size(of: decoder) }

    /// Whether the whole picture's coefficients have to be gathered before its first row.
    var hasMultipleScans: Bool { decoder.pointee.has_multiple_scans != 0 }

    /// The sides of what is decoded, after reducing and cropping.
    var output: PixelSize {
        PixelSize(width: Int(decoder.pointee.info.output_width), height: Int(decoder.pointee.info.output_height))
    }

    /// Whether data were missing or broken so far.
    var isIncomplete: Bool { decoder.pointee.is_incomplete != 0 || stoppedEarly }

    /// Whether its colours are inks'.
    var hasInks: Bool {
        let space = decoder.pointee.info.jpeg_color_space
        return space == JCS_CMYK || space == JCS_YCCK
    }

    /// Sets the scale; the rows can then be read. In haste, of a progressive picture only the scans that it takes to know
    /// something of every block.
    mutating func start(eighths: Int, haste: DecodeRequest.Haste) throws(DecodeFailure) {
        // Smooth chroma helps by 1 dB where pixels come out one for one, at no cost in time. Below that, most chroma is
        // scaled up within the inverse DCT, and the rest averages out 1 to 2 dB nearer the truth when left sharp.
        try check(cjpeg_start(decoder, UInt32(eighths), eighths == 8 ? 1 : 0))
        if hasMultipleScans { try gatherScans(haste) }
    }

    /// Narrows the rows to those columns and some before them; returns the first one that is left.
    mutating func crop(to columns: Range<Int>) throws(DecodeFailure) -> Int {
        var left = UInt32(columns.lowerBound)
        var width = UInt32(columns.count)
        try check(cjpeg_crop(decoder, &left, &width))
        row = Array(repeating: 0, count: Int(width) * Int(decoder.pointee.info.output_components))
        if hasInks { converted = Array(repeating: 0, count: Int(width) * PixelBuffer.bytesPerPixel) }
        return Int(left)
    }

    /// Passes over the first rows.
    mutating func skip(rows: Int) throws(DecodeFailure) {
        if rows > 0 { try check(cjpeg_skip(decoder, UInt32(rows))) }
    }

    /// Reads the next row, RGB.
    mutating func withNextRow(_ body: (UnsafeBufferPointer<UInt8>) -> Void) throws(DecodeFailure) {
        try check(row.withUnsafeMutableBufferPointer { cjpeg_read_row(decoder, $0.baseAddress) })
        if hasInks {
            convertInks()
            converted.withUnsafeBufferPointer(body)
        } else {
            row.withUnsafeBufferPointer(body)
        }
    }

    /// Reads the scans of a progressive picture, as many as are good for it, and sets up the output of their sum.
    private mutating func gatherScans(_ haste: DecodeRequest.Haste) throws(DecodeFailure) {
        let affordable = min(Self.mostScans, max(1, Self.mostScannedPixels / (size.width * size.height)))
        var scans = 0
        var progress = cjpeg_progress.reading
        while progress != .ended, !stoppedEarly, !isCoarse {
            try check(cjpeg_consume(decoder, &progress))
            guard progress == .scanned else { continue }
            scans += 1
            isCoarse = haste == .soon && cjpeg_shows_every_block(decoder) != 0
            stoppedEarly = !isCoarse && scans == affordable
        }
        try check(cjpeg_show_scans(decoder))
    }

    /// Converts a row of CMYK. "Adobe Photoshop writes inverted data in CMYK JPEG files: 0 represents 100% ink coverage,
    /// rather than 0% ink as you'd expect" (libjpeg.txt), and so does everybody who sets Adobe's marker.
    private mutating func convertInks() {
        let inversion: UInt8 = decoder.pointee.info.saw_Adobe_marker != 0 ? 0 : 255
        for pixel in 0..<row.count / 4 {
            let black = UInt32(row[4 * pixel + 3] ^ inversion)
            for channel in 0..<3 {
                let absence = UInt32(row[4 * pixel + channel] ^ inversion)
                converted[3 * pixel + channel] = UInt8((absence * black + 127) / 255)
            }
        }
    }

    private func check(_ status: cjpeg_status) throws(DecodeFailure) {
        if status != .ok { throw Self.failure(status, of: decoder) }
    }

    private static func failure(
        _ status: cjpeg_status, of decoder: UnsafeMutablePointer<cjpeg_decoder>
    ) -> DecodeFailure {
        let message = String(cString: cjpeg_message(decoder))
        return switch status {
        case .ok, .damaged: .damaged(message)
        case .unsupported: .unsupportedFormat("JPEG (\(message))")
        case .oversized: .tooLarge(width: size(of: decoder).width, height: size(of: decoder).height)
        case .exhausted: .outOfMemory
        }
    }

    private static func size(of decoder: UnsafeMutablePointer<cjpeg_decoder>) -> PixelSize {
        PixelSize(width: Int(decoder.pointee.info.image_width), height: Int(decoder.pointee.info.image_height))
    }
}

/// The marker segments before a JPEG's first scan, walked without the library: it would keep a copy of every segment
/// that it is asked for, and a file can hold any number of them.
struct JPEGSegments {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The first EXIF segment's content, behind the "Exif\0\0" that tells it from other segments of its kind.
    var exif: UnsafeRawBufferPointer? {
        var position = 2
        while let segment = segment(at: &position) {
            if segment.marker == 0xE1, segment.content.starts(with: "Exif\0\0".utf8) {
                return UnsafeRawBufferPointer(rebasing: segment.content.dropFirst(6))
            }
        }
        return nil
    }

    /// The colour profile, put together of its parts: "ICC_PROFILE\0", the part's number from 1 on, and how many there are.
    /// Nothing where one is missing, or where they are longer together than any profile that is understood.
    var profile: [UInt8]? {
        let mark = "ICC_PROFILE\0".utf8
        var parts: [Int: UnsafeRawBufferPointer] = [:]
        var (count, length) = (0, 0)
        var position = 2
        while let segment = segment(at: &position) {
            let content = segment.content
            guard segment.marker == 0xE2, content.count > mark.count + 2, content.starts(with: mark) else { continue }
            let part = UnsafeRawBufferPointer(rebasing: content[(mark.count + 2)...])
            guard parts.updateValue(part, forKey: Int(content[mark.count])) == nil else { return nil }
            count = Int(content[mark.count + 1])
            length += part.count
            guard length <= ICCProfile.longest else { return nil }
        }
        guard count > 0, parts.count == count else { return nil }
        let inOrder = (1...count).compactMap { parts[$0] }
        return inOrder.count == count ? inOrder.flatMap { Array($0) } : nil
    }

    /// The segment at `position`, which moves behind it; nothing from the first scan on, or where there is no marker.
    private func segment(at position: inout Int) -> (marker: UInt8, content: UnsafeRawBufferPointer)? {
        // "Any marker may optionally be preceded by any number of fill bytes, X'FF'" (T.81, B.1.1.2).
        guard position < bytes.count, bytes[position] == 0xFF else { return nil }
        while position < bytes.count, bytes[position] == 0xFF { position += 1 }
        guard position + 3 <= bytes.count else { return nil }
        let marker = bytes[position]
        let length = Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
        guard marker != 0xDA, marker != 0xD9, length >= 2, position + 1 + length <= bytes.count else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes[position + 3..<position + 1 + length])
        position += 1 + length
        return (marker, content)
    }
}

/// Makes the JPEG of a thumbnail that a gallery did not have.
enum JPEGEncoder {
    /// About what cameras use for their own thumbnails: ten kilobytes for 320 × 240.
    private static let quality: Int32 = 80

    /// Refuses a picture that would be longer than so many bytes: more would not pass the wire.
    static func encode(
        _ picture: PixelBuffer, longest: Int = DecodeReply.longestThumbnail
    ) throws(DecodeFailure) -> [UInt8] {
        var status = cjpeg_status.ok
        let bytes = [UInt8](unsafeUninitializedCapacity: longest) { room, length in
            status = picture.bytes.withUnsafeBufferPointer { pixels in
                cjpeg_encode(
                    pixels.baseAddress, UInt32(picture.width), UInt32(picture.height), quality, room.baseAddress,
                    longest, &length)
            }
        }
        switch status {
        case .ok: return bytes
        case .oversized: throw .tooLarge(width: picture.width, height: picture.height)
        default: throw .outOfMemory
        }
    }
}
