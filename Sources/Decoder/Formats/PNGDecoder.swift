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
