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
        let exif = ExifBlock(tiff: JPEGSegments(bytes).exif)
        let plan = DecodePlan(stored: jpeg.size, orientation: exif.orientation, request: request)
        guard request.wantsPixels else { return plan.reply(format: name, metadata: exif.metadata) }

        let eighths = eighths(for: plan)
        try jpeg.start(eighths: eighths)
        // The region at the reduced scale, whose last column and row may reach beyond the picture's edge: 13 pixels at
        // 1/8 come out as 2, of which the picture is 1.625.
        var region = plan.region.scaled(by: Double(eighths) / 8)
        region.x -= Double(try jpeg.crop(to: region.columns(of: jpeg.output.width)))
        var filter = AreaFilter(source: jpeg.output, region: region, output: plan.output)
        try jpeg.skip(rows: filter.sourceRows.lowerBound)
        var rows = plan.emptyRows()
        let isWhole = try read(filter.sourceRows.count, of: &jpeg, through: &filter, into: &rows)
        return plan.reply(
            format: name, metadata: exif.metadata, rows: rows, isComplete: isWhole && !jpeg.isIncomplete)
    }

    /// Reads rows until there are enough, or until the stream breaks: what came before is then shown. Returns whether
    /// there were enough.
    private static func read(
        _ count: Int, of jpeg: inout JPEGStream, through filter: inout AreaFilter, into rows: inout [UInt8]
    ) throws(DecodeFailure) -> Bool {
        do {
            for _ in 0..<count {
                try jpeg.withNextRow { filter.add(row: $0, appendingOutputTo: &rows) }
            }
            return true
        } catch .damaged where !rows.isEmpty {
            return false
        }
    }

    /// The greatest reduction during decoding that still leaves a pixel for each output pixel; the area filter does the
    /// rest.
    private static func eighths(for plan: DecodePlan) -> Int {
        JPEGStream.reductions.first { eighths in
            // A thousandth of a pixel: what arithmetic may have cost an exact fit.
            let region = plan.region.scaled(by: Double(eighths) / 8)
            return region.width + 1e-3 >= Double(plan.output.width)
                && region.height + 1e-3 >= Double(plan.output.height)
        } ?? 8
    }
}
