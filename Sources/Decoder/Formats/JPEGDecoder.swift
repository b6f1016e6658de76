import CJPEG
import Pixels

/// Decodes JPEG: baseline and progressive, Huffman and arithmetic coding, grey, YCC, RGB and CMYK.
enum JPEGDecoder: PictureDecoder {
    static let name = "JPEG"
    static var library: String? { "libjpeg-turbo " + String(cString: cjpeg_version()) }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: [0xFF, 0xD8, 0xFF])
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        var jpeg = try Self.open(bytes)
        let segments = JPEGSegments(bytes)
        let exif = ExifBlock(tiff: segments.exif)
        let plan = DecodePlan(stored: jpeg.size, orientation: exif.orientation, request: request)
        let facts = PictureFacts(format: name, metadata: exif.metadata)
        guard request.wantsPixels else { return plan.reply(facts) }

        let conversion = conversion(of: &jpeg, segments, exif)
        if request.haste == .soon, let reply = thumbnail(exif.thumbnail, by: plan, facts, conversion) { return reply }
        return try show(&jpeg, by: plan, facts, conversion)
    }

    /// Decodes a JPEG inside another file, with the plan for that file. The JPEG may be smaller than the planned
    /// picture.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, by plan: DecodePlan, _ facts: PictureFacts
    ) throws(DecodeFailure) -> DecodeReply {
        var jpeg = try Self.open(bytes)
        let segments = JPEGSegments(bytes)
        let conversion = conversion(of: &jpeg, segments, ExifBlock(tiff: segments.exif))
        return try show(&jpeg, by: plan, facts, conversion)
    }

    private static func open(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) -> JPEGStream {
        let jpeg = try JPEGStream(bytes)
        try PictureBounds.check(jpeg.size, isHeldWhole: jpeg.hasMultipleScans)
        return jpeg
    }

    /// Returns the conversion for RGB colours. CMYK colours are converted by the stream itself, with the profile's
    /// table if there is one. Cameras write no profile for Adobe RGB, but entries in the EXIF block.
    private static func conversion(
        of jpeg: inout JPEGStream, _ segments: JPEGSegments, _ exif: ExifBlock
    ) -> ColourConversion? {
        let profile = segments.profile
        guard !jpeg.hasInks else {
            jpeg.useProfile(profile)
            return nil
        }
        return profile == nil && exif.isAdobeRGB ? ColourConversion.adobeRGB : ColourConversion(profile: profile)
    }

    /// Decodes the EXIF block's thumbnail instead of the picture. This is about 300 times faster. Applies the picture's
    /// colour profile. Returns nil if the thumbnail is no intact JPEG, uses CMYK, or has other proportions.
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
        // The region at the reduced scale. Its last column and row may extend beyond the picture: 13 pixels at 1/8
        // become 2, of which the picture covers 1.625.
        var region = whole.scaled(by: Double(eighths) / 8)
        region.x -= Double(try jpeg.crop(to: region.columns(of: jpeg.output.width)))
        var output = OutputRows(plan, source: jpeg.output, region: region, channels: .rgb, conversion: conversion)
        try jpeg.skip(rows: output.sourceRows.lowerBound)
        let isWhole = try read(&jpeg, into: &output)
        var facts = facts
        facts.isCoarse = facts.isCoarse || jpeg.isCoarse
        return try output.reply(facts, isComplete: isWhole && !jpeg.isIncomplete, missing: JPEGStream.missing)
    }

    /// Reads rows up to the end or the first damage. Returns true if it read all rows.
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

    /// Returns the smallest scale with at least one pixel per output pixel. `AreaFilter` then scales the picture to the
    /// exact size.
    static func eighths(for region: PixelRect, _ output: PixelSize) -> Int {
        JPEGStream.reductions.first { eighths in
            // Allows a thousandth of a pixel for rounding.
            let region = region.scaled(by: Double(eighths) / 8)
            return region.width + 1e-3 >= Double(output.width)
                && region.height + 1e-3 >= Double(output.height)
        } ?? 8
    }
}

/// Decodes one JPEG row by row, at a reduced scale and cropped. Holds one row in memory, unless the picture has several
/// scans.
struct JPEGStream: ~Copyable {
    /// The scales that save time, in eighths: 1 is an eighth, 8 the full size.
    ///
    /// libjpeg-turbo has vector code only for these scales. The scales 5/8, 6/8 and 7/8 take longer than the full size
    /// (110 to 160 ms against 100 ms for 24 megapixels), and 3/8 takes as long as 4/8.
    static let reductions = [1, 2, 4, 8]

    /// The maximum number of scans to read. Encoders write about ten; with thousands, a small file could keep a decoder
    /// busy for minutes.
    private static let mostScans = 500
    /// The maximum number of pixels to read in all scans together. So many pixels take about two seconds.
    private static let mostScannedPixels = 1 << 31

    /// The colour of missing pixels: the grey that libjpeg makes of absent coefficients.
    static let missing = PixelColor(red: 128, green: 128, blue: 128)

    private let decoder: UnsafeMutablePointer<cjpeg_decoder>
    /// One row as the library returns it.
    private var row: [UInt8] = []
    /// One row converted from CMYK to RGB.
    private var converted: [UInt8] = []
    /// The profile's table for CMYK. Without a table, the decoder multiplies each colour by the black channel.
    private var inkTable: ColourTable?
    /// Whether the decoder skipped scans because there were too many.
    private var stoppedEarly = false
    /// Whether the decoder skipped scans because a preview needs only the first ones.
    private(set) var isCoarse = false

    /// Opens a picture and reads its header. The bytes must outlive the stream.
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

    /// The stored picture's size.
    var size: PixelSize { Self.size(of: decoder) }

    /// Whether the decoder must read all coefficients before the first row.
    var hasMultipleScans: Bool { decoder.pointee.has_multiple_scans != 0 }

    /// The size after scaling and cropping.
    var output: PixelSize {
        PixelSize(width: Int(decoder.pointee.info.output_width), height: Int(decoder.pointee.info.output_height))
    }

    /// Whether the decoder has met missing or broken data so far.
    var isIncomplete: Bool { decoder.pointee.is_incomplete != 0 || stoppedEarly }

    /// Whether the picture's colours are CMYK.
    var hasInks: Bool {
        let space = decoder.pointee.info.jpeg_color_space
        return space == JCS_CMYK || space == JCS_YCCK
    }

    /// Sets the profile whose table converts CMYK.
    mutating func useProfile(_ profile: [UInt8]?) {
        inkTable = profile?.withUnsafeBytes { bytes in
            guard let profile = ICCProfile(bytes), profile.space == ICCProfile.signature("CMYK") else { return nil }
            return ColourTable(profile, channels: 4)
        }
    }

    /// Sets the scale and prepares to read rows. For a preview of a progressive picture, reads scans only until every
    /// block has a value.
    mutating func start(eighths: Int, haste: DecodeRequest.Haste) throws(DecodeFailure) {
        // At full scale, smooth chroma is 1 dB more accurate, and takes no more time. At reduced scales, the inverse
        // DCT enlarges most chroma, and averaging the other chroma without smoothing is 1 to 2 dB more accurate.
        try check(cjpeg_start(decoder, UInt32(eighths), eighths == 8 ? 1 : 0))
        if hasMultipleScans { try gatherScans(haste) }
    }

    /// Restricts the rows to these columns and a few before them. Returns the index of the first column in the rows.
    mutating func crop(to columns: Range<Int>) throws(DecodeFailure) -> Int {
        var left = UInt32(columns.lowerBound)
        var width = UInt32(columns.count)
        try check(cjpeg_crop(decoder, &left, &width))
        row = Array(repeating: 0, count: Int(width) * Int(decoder.pointee.info.output_components))
        if hasInks { converted = Array(repeating: 0, count: Int(width) * PixelBuffer.bytesPerPixel) }
        return Int(left)
    }

    /// Skips the first rows.
    mutating func skip(rows: Int) throws(DecodeFailure) {
        if rows > 0 { try check(cjpeg_skip(decoder, UInt32(rows))) }
    }

    /// Reads the next row, in RGB.
    mutating func withNextRow(_ body: (UnsafeBufferPointer<UInt8>) -> Void) throws(DecodeFailure) {
        try check(row.withUnsafeMutableBufferPointer { cjpeg_read_row(decoder, $0.baseAddress) })
        if hasInks {
            convertInks()
            if isIncomplete { showMissingInks() }
            converted.withUnsafeBufferPointer(body)
        } else {
            row.withUnsafeBufferPointer(body)
        }
    }

    /// Reads a progressive picture's scans, as many as the limits allow, and prepares their output.
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

    /// Converts the current row from CMYK to RGB. "Adobe Photoshop writes inverted data in CMYK JPEG files: 0
    /// represents 100% ink coverage, rather than 0% ink as you'd expect" (libjpeg.txt). So do other programs that write
    /// Adobe's marker.
    private mutating func convertInks() {
        let inversion: UInt8 = decoder.pointee.info.saw_Adobe_marker != 0 ? 0 : 255
        if let inkTable { return inkTable.convert(inks: row, inversion: ~inversion, into: &converted) }
        for pixel in 0..<row.count / 4 {
            let black = UInt32(row[4 * pixel + 3] ^ inversion)
            for channel in 0..<3 {
                let absence = UInt32(row[4 * pixel + channel] ^ inversion)
                converted[3 * pixel + channel] = UInt8((absence * black + 127) / 255)
            }
        }
    }

    /// Gives the missing pixels of the current row their colour, as in pictures without inks.
    private mutating func showMissingInks() {
        let last = Self.missing.red
        // From YCCK, libjpeg computes all but the last channel as 255 minus a colour.
        let others = decoder.pointee.info.jpeg_color_space == JCS_YCCK ? 255 - last : last
        for pixel in 0..<row.count / 4
        where row[4 * pixel] == others && row[4 * pixel + 1] == others && row[4 * pixel + 2] == others
            && row[4 * pixel + 3] == last
        {
            for channel in 0..<3 { converted[3 * pixel + channel] = last }
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

/// Reads the marker segments before a JPEG's first scan, without the library. The library would copy every requested
/// segment, and a file can contain any number of segments.
struct JPEGSegments {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The first EXIF segment's content, without the "Exif\0\0" at its start.
    var exif: UnsafeRawBufferPointer? {
        var position = 2
        while let segment = segment(at: &position) {
            if segment.marker == 0xE1, segment.content.starts(with: "Exif\0\0".utf8) {
                return UnsafeRawBufferPointer(rebasing: segment.content.dropFirst(6))
            }
        }
        return nil
    }

    /// The size that the frame's header states. Nil if there is no header, or if the JPEG decoder cannot decode the
    /// frame: a lossless frame, or one with more than 8 bits.
    var frameSize: PixelSize? {
        var position = 2
        while let segment = segment(at: &position) {
            // All of these markers begin a frame, except three (T.81, table B.1).
            guard 0xC0...0xCF ~= segment.marker, ![0xC4, 0xC8, 0xCC].contains(segment.marker) else { continue }
            let content = segment.content
            guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(segment.marker), content.count >= 6, content[0] == 8 else {
                return nil
            }
            return PixelSize(
                width: Int(content[3]) << 8 | Int(content[4]), height: Int(content[1]) << 8 | Int(content[2]))
        }
        return nil
    }

    /// The colour profile, joined from its parts. Each part begins with "ICC_PROFILE\0", its number from 1 on, and the
    /// number of parts. Nil if a part is missing or the profile is too long.
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

    /// Returns the segment at `position` and advances `position`. Returns nil at the first scan, or if there is no
    /// marker.
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

/// Encodes thumbnails as JPEGs.
enum JPEGEncoder {
    /// The JPEG quality of thumbnails, about that of cameras: ten kilobytes for 320 × 240 pixels.
    private static let quality: Int32 = 80

    /// Encodes a picture. Throws if the file is longer than `longest`, the space in the decoder's answer.
    static func encode(
        _ picture: PixelBuffer, longest: Int = DecodeReply.longestThumbnail
    ) throws(DecodeFailure) -> [UInt8] {
        var status = cjpeg_status.ok
        let bytes = [UInt8](unsafeUninitializedCapacity: longest) { buffer, length in
            status = picture.bytes.withUnsafeBufferPointer { pixels in
                cjpeg_encode(
                    pixels.baseAddress, UInt32(picture.width), UInt32(picture.height), quality, buffer.baseAddress,
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
