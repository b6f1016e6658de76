extension DecodeReply {
    /// Appends everything but the bytes of the pixels or the thumbnail, which follow as they are.
    func encodeHead(to wire: inout WireWriter) {
        wire.append(sourceSize)
        wire.append(format)
        wire.append(orientation.rawValue)
        wire.append(isComplete)
        wire.append(isCoarse)
        wire.append(UInt32(frameCount))
        wire.append(UInt32(duration))
        metadata.encode(to: &wire)
        wire.append(pixels?.size) { $0.append($1) }
        wire.append(thumbnail?.count) { $0.append(UInt32(clamping: $1)) }
        wire.append(UInt16(clamping: following.count))
        for picture in following { wire.append(UInt32(picture.duration)) }
    }

    /// Reads an answer to `request`, and refuses every other.
    init(from wire: inout WireReader, for request: DecodeRequest) throws(PixelsError) {
        let sourceSize = try wire.size(largestSide: Self.largestSourceSide)
        let format = try wire.text()
        guard Self.isFormatName(format) else { throw .malformedReply("the format has no proper name") }
        guard let orientation = Orientation(rawValue: try wire.integer()) else {
            throw .malformedReply("there is no such orientation")
        }
        let isComplete = try wire.flag()
        let isCoarse = try wire.flag()
        guard !isCoarse || request.haste == .soon else { throw .malformedReply("nobody asked for haste") }
        let (frameCount, duration) = (Int(try wire.integer(UInt32.self)), Int(try wire.integer(UInt32.self)))
        guard 1...DecodeRequest.frames.count ~= frameCount, duration <= Self.longestDuration else {
            throw .malformedReply("there is no such animation")
        }
        let metadata = try PictureMetadata(from: &wire)
        let size = try wire.optional { wire throws(PixelsError) in
            try wire.size(largestSide: DecodeRequest.largestSide)
        }
        let length = try wire.optional { wire throws(PixelsError) in Int(try wire.integer(UInt32.self)) }
        let durations = try Self.durations(from: &wire, of: frameCount, for: request)
        let layout = PictureLayout(of: sourceSize, for: request)
        var all = try Self.pixels(from: &wire, size, count: 1 + durations.count, of: layout, for: request)
        let first = all.isEmpty ? nil : all.removeFirst()
        self.init(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata,
            pixels: first, thumbnail: try Self.thumbnail(from: &wire, length, for: request),
            following: zip(all, durations).map { AnimationPicture(pixels: $0, duration: $1) })
    }

    /// Reads how long the pictures behind the first are shown: no more than were asked for, and than there are.
    private static func durations(
        from wire: inout WireReader, of frameCount: Int, for request: DecodeRequest
    ) throws(PixelsError) -> [Int] {
        let count = Int(try wire.integer(UInt16.self))
        guard count < request.picturesAtOnce, count == 0 || request.frame + count < frameCount else {
            throw .malformedReply("there are more pictures than were asked for")
        }
        var durations: [Int] = []
        for _ in 0..<count {
            let duration = Int(try wire.integer(UInt32.self))
            guard duration <= longestDuration else { throw .malformedReply("there is no such animation") }
            durations.append(duration)
        }
        return durations
    }

    /// Reads exactly the pixels asked for, of so many pictures: a reply cannot choose how much memory it takes.
    private static func pixels(
        from wire: inout WireReader, _ size: PixelSize?, count: Int, of layout: PictureLayout,
        for request: DecodeRequest
    ) throws(PixelsError) -> [PixelBuffer] {
        guard size == (request.product == .pixels ? layout.output : nil) else {
            throw .malformedReply("the pixels are not those asked for")
        }
        guard let size else { return [] }
        guard let length = PixelBuffer.byteCount(of: size), length * count == wire.remaining else {
            throw .malformedReply("the pixels are not as many as it says")
        }
        var pictures: [PixelBuffer] = []
        for _ in 0..<count {
            guard let picture = PixelBuffer(size: size, bytes: Array(try wire.take(length))) else { break }
            pictures.append(picture)
        }
        return pictures
    }

    /// Reads the thumbnail, if that was asked for. It is as untrusted as the picture it was made from.
    private static func thumbnail(
        from wire: inout WireReader, _ length: Int?, for request: DecodeRequest
    ) throws(PixelsError) -> [UInt8]? {
        guard (length != nil) == (request.product == .thumbnail) else {
            throw .malformedReply("there is a thumbnail or none, against the request")
        }
        guard let length else { return nil }
        guard length <= longestThumbnail, length == wire.remaining else {
            throw .malformedReply("the thumbnail is not as long as it says")
        }
        return Array(try wire.take(length))
    }

    /// A few printable ASCII characters.
    private static func isFormatName(_ text: String) -> Bool {
        1...32 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
}
