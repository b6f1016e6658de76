import Pixels

/// HEIC and AVIF, where libheif is there: one picture or many put together, transparent or not. libheif turns it upright
/// itself, by what the file says about the picture and not by what EXIF says, as the format wants it.
enum HEIFDecoder: PictureDecoder {
    private static let heic = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
    private static let avif = ["avif", "avis"]

    static var library: String? { HEIFPicture.version.map { "libheif \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        name(of: bytes) != nil
    }

    static var isLoadedAhead: Bool { false }

    static func prepare() {
        _ = HEIFPicture.isReadable
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let name = name(of: bytes) ?? "HEIC"
        guard HEIFReferences(bytes).areFinite else { throw .damaged("a picture in it is made of itself") }
        var picture = try HEIFPicture(bytes, format: name)
        let size = picture.size
        try PictureBounds.check(size, isHeldWhole: true)
        let exif = picture.exif
        let metadata = exif.map { $0.withUnsafeBytes { ExifBlock(tiff: $0).metadata } }
        var facts = PictureFacts(format: name, metadata: metadata ?? PictureMetadata())
        let plan = DecodePlan(stored: size, orientation: .upright, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        let conversion = ColourConversion(profile: picture.profile)
        if request.haste == .soon {
            var small = try HEIFPicture(bytes, format: name)
            if small.takeThumbnail(), plan.isLike(small.size), (try? small.decode()) != nil {
                facts.isCoarse = true
                return try show(small, by: plan, facts, conversion)
            }
        }
        try picture.decode()
        return try show(picture, by: plan, facts, conversion)
    }

    private static func show(
        _ picture: borrowing HEIFPicture, by plan: DecodePlan, _ facts: PictureFacts, _ conversion: ColourConversion?
    ) throws(DecodeFailure) -> DecodeReply {
        var output = OutputRows(
            plan, source: picture.size, region: plan.region(of: picture.size), channels: picture.channels,
            conversion: conversion)
        for row in output.sourceRows { output.add(picture.row(row)) }
        return try output.reply(facts, isComplete: true)
    }

    /// The format by the file's main brand. "mif1" and "msf1" say only that the boxes are those of HEIF.
    private static func name(of bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count >= 12, bytes.dropFirst(4).starts(with: "ftyp".utf8) else { return nil }
        let brand = bytes[8..<12]
        if avif.contains(where: { brand.elementsEqual($0.utf8) }) { return "AVIF" }
        return heic.contains { brand.elementsEqual($0.utf8) } ? "HEIC" : nil
    }
}
