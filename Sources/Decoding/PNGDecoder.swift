import CPNG
import Pixels

/// PNG: all colour types and depths, interlaced or not; of an animation the first picture.
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
        guard request.wantsPixels else { return plan.reply(format: name, metadata: exif.metadata) }

        var png = try PNGStream(bytes, size: header.size, background: request.background)
        var filter = AreaFilter(source: header.size, region: plan.region, output: plan.output)
        var rows = plan.emptyRows()
        let isWhole =
            header.isInterlaced
            ? try png.readInterlaced(filter.sourceRows) { filter.add(row: $0, appendingOutputTo: &rows) }
            : try png.read(filter.sourceRows) { filter.add(row: $0, appendingOutputTo: &rows) }
        return plan.reply(format: name, metadata: exif.metadata, rows: rows, isComplete: isWhole)
    }
}
