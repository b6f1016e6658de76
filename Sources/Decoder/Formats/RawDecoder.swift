import CRaw
import Pixels

/// Decodes the JPEG previews in cameras' raw files: CR2, CR3, NEF, ARW, DNG, RAF, ORF, RW2, PEF and SRW.
///
/// Cameras embed up to four JPEGs, from a thumbnail to a picture of full size. The decoder uses the smallest JPEG that
/// is large enough for the request. The picture's size is that of the largest JPEG. If a file has no preview or only a
/// tiny one, and LibRaw is installed, LibRaw develops the sensor's data.
enum RawDecoder: PictureDecoder {
    static var library: String? { RawSensor.version.map { "LibRaw \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        RawContainer.name(of: bytes) != nil
    }

    static func prepareForOne(_ signature: UnsafeRawBufferPointer) {
        _ = RawSensor.version
    }

    static func isLeftToPrograms(_ bytes: UnsafeRawBufferPointer) -> Bool {
        recognises(bytes) && RawContainer(bytes).hasTinyPreview
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let container = RawContainer(bytes)
        if container.hasTinyPreview, let reply = try develop(bytes, container, request) { return reply }
        guard let largest = container.previews.last else { return try decodeThumbnail(of: container, request) }
        try PictureBounds.check(largest.size, isHeldWhole: false)
        let own = ExifBlock(rewritten: container.exif)
        let inner = ExifBlock(tiff: JPEGSegments(largest.bytes).exif)
        // If a program turns the photo, it changes only the file's own orientation.
        let orientation = own.statedOrientation ?? inner.orientation
        let facts = PictureFacts(format: container.name, metadata: own.metadata.completed(by: inner.metadata))
        let plan = DecodePlan(stored: largest.size, orientation: orientation, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }
        guard let reply = try decodePreview(of: container, by: plan, facts) else {
            throw .noPreview(format: container.name)
        }
        return reply
    }
}

extension RawDecoder {
    /// Decodes the smallest preview that is large enough. Returns nil if no preview is large enough.
    private static func decodePreview(
        of container: RawContainer, by plan: DecodePlan, _ facts: PictureFacts
    ) throws(DecodeFailure) -> DecodeReply? {
        // If a preview is damaged, a larger one may be intact.
        var failure: DecodeFailure?
        var partial: DecodeReply?
        let isSoon = plan.request.haste == .soon
        for preview in container.previews where plan.isLike(preview.size, enlargedBy: isSoon ? 8 : 1) {
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
        if let failure { throw failure }
        return nil
    }

    /// Develops the sensor's data, unless a preview is large enough for the request. Returns nil if LibRaw cannot
    /// develop the data. If the file has a preview, also returns nil if the sensor's picture is no larger, exceeds the
    /// limits or is damaged.
    private static func develop(
        _ bytes: UnsafeRawBufferPointer, _ container: RawContainer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply? {
        guard var sensor = RawSensor(bytes) else { return nil }
        let size = sensor.size
        if let preview = container.largestSize {
            let isSmaller = preview.width < size.width && preview.height < size.height
            guard isSmaller, (try? PictureBounds.check(size, isHeldWhole: true)) != nil else { return nil }
        } else {
            try PictureBounds.check(size, isHeldWhole: true)
        }
        let own = ExifBlock(rewritten: container.exif)
        let inner = ExifBlock(tiff: container.previews.last.flatMap { JPEGSegments($0.bytes).exif })
        let facts = PictureFacts(format: container.name, metadata: own.metadata.completed(by: inner.metadata))
        let plan = DecodePlan(
            stored: size, orientation: own.statedOrientation ?? sensor.orientation, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        if let reply = try? decodePreview(of: container, by: plan, facts), reply.isComplete { return reply }
        guard sensor.develop(for: plan), container.largestSize == nil || !sensor.isDamaged else { return nil }
        let developed = sensor.developedSize
        var output = OutputRows(
            plan, source: developed, region: plan.region(of: developed), channels: .rgb, conversion: nil)
        var row = [UInt8](repeating: 0, count: developed.width * PixelBuffer.bytesPerPixel)
        for index in output.sourceRows {
            sensor.copyRow(index, to: &row)
            row.withUnsafeBufferPointer { output.add($0) }
        }
        return try output.reply(facts, isComplete: !sensor.isDamaged)
    }

    /// Returns a reply with the file's thumbnail. Throws if the file has no thumbnail.
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
    /// Returns the metadata, with missing values from a preview's metadata. Some cameras write most values only into
    /// the preview.
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

/// The sensor's data in a raw file, which LibRaw develops.
///
/// The decoder's sandbox permits one thread and limited memory, so LibRaw develops large pictures only at half size.
struct RawSensor: ~Copyable {
    private let reader: UnsafeMutablePointer<craw_reader>

    /// LibRaw's version; nil if it is not installed. Loads the library.
    static var version: String? {
        var library = craw_library()
        guard craw_load(&library, 1) != 0 else { return nil }
        let number = craw_version(&library)
        return "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
    }

    /// Opens a file. Returns nil if LibRaw is not loaded yet or cannot read the file. The bytes must outlive this
    /// value.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var library = craw_library()
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard craw_load(&library, 0) != 0, let reader = craw_open(&library, start, bytes.count) else { return nil }
        self.reader = reader
    }

    deinit {
        craw_free(reader)
    }

    /// The size of the sensor's picture before rotation, in square pixels.
    var size: PixelSize {
        // Sides have 16 bits, and the library's factor is below 4.
        PixelSize(width: Int(reader.pointee.width.rounded()), height: Int(reader.pointee.height.rounded()))
    }

    /// The camera's rotation, as the library reads it.
    var orientation: Orientation {
        switch reader.pointee.flip {
        case 3: .turnedHalf
        case 5: .turnedLeft
        case 6: .turnedRight
        default: .upright
        }
    }

    /// The maximum number of pixels to develop at full size. LibRaw needs thirteen bytes of memory for each pixel.
    private static let mostWholePixels = 34_000_000.0

    /// Develops the picture. Uses half size if that is large enough for the plan, or if full size would need too much
    /// memory. Returns false on failure.
    mutating func develop(for plan: DecodePlan) -> Bool {
        let size = size
        let half = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        let isHalf = plan.isLike(half, enlargedBy: 1) || reader.pointee.sensor_pixels > Self.mostWholePixels
        return craw_develop(reader, isHalf ? 1 : 0) != 0
    }

    /// Whether LibRaw has found damage in the sensor's data.
    var isDamaged: Bool { reader.pointee.is_damaged != 0 }

    /// The size of the developed picture.
    var developedSize: PixelSize {
        let picture = craw_get_picture(reader)
        return PixelSize(width: Int(picture.width), height: Int(picture.height))
    }

    /// Copies a row of the developed picture as red, green and blue.
    func copyRow(_ index: Int, to row: inout [UInt8]) {
        let picture = craw_get_picture(reader)
        let (width, channels) = (Int(picture.width), Int(picture.channels))
        guard let bytes = picture.bytes, 0..<Int(picture.height) ~= index else { return }
        let source = UnsafeBufferPointer(start: bytes + index * width * channels, count: width * channels)
        for byte in 0..<min(row.count, 3 * width) { row[byte] = source[channels == 3 ? byte : byte / 3] }
    }
}
