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
