import Pixels

/// TIFF: in strips and tiles, bilevel, grey, palette, RGB, YCC, inks, of 8 and 16 bits; of several pictures the first.
enum TIFFDecoder: PictureDecoder {
    static let name = "TIFF"
    static var library: String? { TIFFPicture.version.map { "libtiff \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // 43 in the place of 42 are files with offsets of 64 bits.
        let marks: [[UInt8]] = [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 43]]
        return marks.contains { bytes.starts(with: $0) }
    }

    static var isLoadedAhead: Bool { false }

    static func prepare() {
        _ = TIFFPicture.version
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        var picture = try TIFFPicture(bytes)
        let size = picture.size
        try PictureBounds.check(size, isHeldWhole: picture.isHeldWhole)
        // A TIFF's own directory is what an EXIF block begins with.
        let facts = PictureFacts(format: name, metadata: ExifBlock(tiff: bytes).metadata)
        let plan = DecodePlan(stored: size, orientation: picture.orientation, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        try picture.start()
        let conversion = picture.withProfile { ColourConversion(profile: $0) }
        var output = OutputRows(
            plan, source: size, region: plan.region, channels: picture.channels, conversion: conversion)
        try picture.read(output.sourceRows) { output.add($0) }
        return try output.reply(
            facts, isComplete: !picture.isIncomplete, cameToAnything: picture.cameToAnything)
    }
}
