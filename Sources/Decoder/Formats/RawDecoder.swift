import Pixels

/// Decodes the JPEG previews in cameras' raw files: CR2, CR3, NEF, ARW, DNG, RAF, ORF, RW2, PEF and SRW.
///
/// Cameras embed up to four JPEGs, from a thumbnail to a picture of full size. Decoding takes the smallest one that is
/// large enough for the request. The picture's size is that of the largest one.
enum RawDecoder: PictureDecoder {
    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        RawContainer.name(of: bytes) != nil
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let container = RawContainer(bytes)
        guard let largest = container.previews.last else { return try decodeThumbnail(of: container, request) }
        try PictureBounds.check(largest.size, isHeldWhole: false)
        let own = ExifBlock(rewritten: container.exif)
        let inner = ExifBlock(tiff: JPEGSegments(largest.bytes).exif)
        // A program that turns the photo changes only the file's own orientation.
        let orientation = own.statedOrientation ?? inner.orientation
        let facts = PictureFacts(format: container.name, metadata: own.metadata.completed(by: inner.metadata))
        let plan = DecodePlan(stored: largest.size, orientation: orientation, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        // If a preview is damaged, a larger one may be intact.
        var failure: DecodeFailure?
        var partial: DecodeReply?
        for preview in container.previews where plan.isLike(preview.size, enlargedBy: request.haste == .soon ? 8 : 1) {
            var facts = facts
            facts.isCoarse = !plan.isLike(preview.size, enlargedBy: 1)
            do throws(DecodeFailure) {
                let reply = try JPEGDecoder.decode(preview.bytes, by: plan, facts)
                if reply.isComplete { return reply }
                partial = reply
            } catch {
                failure = error
            }
        }
        if let partial { return partial }
        throw failure ?? .noPreview(format: container.name)
    }
}

extension RawDecoder {
    /// Shows a file by its thumbnail, if it has one.
    private static func decodeThumbnail(
        of container: RawContainer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        guard let thumbnail = container.thumbnail else { throw .noPreview(format: container.name) }
        try PictureBounds.check(thumbnail.size, isHeldWhole: false)
        let exif = ExifBlock(rewritten: container.exif)
        let plan = DecodePlan(stored: thumbnail.size, orientation: exif.orientation, request: request)
        let facts = PictureFacts(format: container.name, metadata: exif.metadata)
        guard request.wantsPixels else { return plan.reply(facts) }
        var output = OutputRows(
            plan, source: thumbnail.size, region: plan.region, channels: .rgb, conversion: nil)
        for row in output.sourceRows { output.add(thumbnail.row(row)) }
        return try output.reply(facts, isComplete: true)
    }
}

extension PictureMetadata {
    /// Returns the metadata with missing ones from a preview. Some cameras write most of them only there.
    fileprivate func completed(by preview: PictureMetadata) -> PictureMetadata {
        guard !fields.isEmpty else { return preview }
        var completed = self
        completed.camera = camera ?? preview.camera
        completed.lens = lens ?? preview.lens
        completed.takenAt = takenAt ?? preview.takenAt
        completed.iso = iso ?? preview.iso
        completed.description = description ?? preview.description
        if latitude == nil || longitude == nil {
            (completed.latitude, completed.longitude) = (preview.latitude, preview.longitude)
        }
        return completed
    }
}
