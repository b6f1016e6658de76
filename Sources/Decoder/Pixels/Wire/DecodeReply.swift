/// A decoded picture and its metadata.
public struct DecodeReply: Hashable, Sendable {
    /// The longest side of a picture in pixels, which is libjpeg's own limit.
    public static let largestSourceSide = 65_500

    /// The size of the whole upright picture, before scaling.
    public let sourceSize: PixelSize
    /// The format's name, such as "JPEG".
    public let format: String
    /// The stored picture's orientation. All other values are for the upright picture.
    public let orientation: Orientation
    /// False if bytes were missing or broken. `pixels` then show the intact part.
    ///
    /// The decoder checks only the bytes that it reads: up to the last row of the region, or only the header if no
    /// pixels were requested.
    public let isComplete: Bool
    /// Whether the pixels are a quick preview. Full decoding would show more detail.
    public let isCoarse: Bool
    /// The number of frames, 1 for most formats. If only the first frame's pixels are requested, the decoder may stop
    /// counting; then 2 means two or more. The number is at most the count of `DecodeRequest.frames`.
    public let frameCount: Int
    /// The number of milliseconds for which to show the frame. If it is 0, the viewer chooses the time; still pictures
    /// always have 0.
    public let duration: Int
    /// The picture's metadata.
    public let metadata: PictureMetadata
    /// The part of the picture that `pixels` or `thumbnail` show.
    public let region: UnitRect
    /// The pixels; nil if not requested.
    public let pixels: PixelBuffer?
    /// The part of the picture as a JPEG file; nil if not requested.
    public let thumbnail: [UInt8]?

    /// The requested frames of an animation after the first one. There may be fewer frames than requested.
    public let following: [AnimationPicture]

    /// The longest duration of a frame in milliseconds. WebP files store durations in 24 bits.
    static let longestDuration = 0xFF_FFFF
    /// The maximum number of bytes of a thumbnail. Any useful thumbnail is smaller.
    public static let longestThumbnail = 4 << 20

    /// Creates a reply to a request.
    ///
    /// The pixels must have the output size of the request's `PictureLayout`; otherwise, the client refuses them.
    public init(
        to request: DecodeRequest, sourceSize: PixelSize, format: String, orientation: Orientation,
        isComplete: Bool, isCoarse: Bool = false, frameCount: Int = 1, duration: Int = 0, metadata: PictureMetadata,
        pixels: PixelBuffer?, thumbnail: [UInt8]? = nil, following: [AnimationPicture] = []
    ) {
        self.sourceSize = sourceSize
        self.format = format
        self.orientation = orientation
        self.isComplete = isComplete
        self.isCoarse = isCoarse
        self.frameCount = max(1, min(frameCount, DecodeRequest.frames.count))
        self.duration = max(0, min(duration, Self.longestDuration))
        self.metadata = metadata
        self.pixels = pixels
        self.thumbnail = thumbnail
        self.following = following
        region = PictureLayout(of: sourceSize, for: request).region
    }
    /// Returns a copy with new pixels or a new thumbnail. The copy answers another request for the same picture.
    public func with(pixels: PixelBuffer?, thumbnail: [UInt8]? = nil, for request: DecodeRequest) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata, pixels: pixels,
            thumbnail: thumbnail)
    }

    /// Returns a copy of this reply with further frames.
    public func with(following: [AnimationPicture], for request: DecodeRequest) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata, pixels: pixels,
            thumbnail: thumbnail, following: following)
    }

    /// Returns the reply for one of the frames in `following`. Returns nil if the index is too large.
    public func answer(following index: Int, for request: DecodeRequest) -> DecodeReply? {
        guard following.indices.contains(index) else { return nil }
        let picture = following[index]
        return DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: picture.duration, metadata: metadata,
            pixels: picture.pixels)
    }
}

extension DecodeReply {
    /// Appends all values of the reply except the bytes of pixels and thumbnail.
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

    /// Reads the reply to a request. Throws if the reply does not fit the request.
    init(from wire: inout WireReader, for request: DecodeRequest) throws(PixelsError) {
        let sourceSize = try wire.size(largestSide: Self.largestSourceSide)
        let format = try wire.text()
        guard Self.isFormatName(format) else { throw .malformedReply("bad format name") }
        guard let orientation = Orientation(rawValue: try wire.integer()) else {
            throw .malformedReply("unknown orientation")
        }
        let isComplete = try wire.flag()
        let isCoarse = try wire.flag()
        guard !isCoarse || request.haste == .soon else { throw .malformedReply("a preview was not requested") }
        let (frameCount, duration) = (Int(try wire.integer(UInt32.self)), Int(try wire.integer(UInt32.self)))
        guard 1...DecodeRequest.frames.count ~= frameCount, duration <= Self.longestDuration else {
            throw .malformedReply("frame count or duration out of bounds")
        }
        let metadata = try PictureMetadata(from: &wire)
        let size = try wire.optional { wire throws(PixelsError) in
            try wire.size(largestSide: DecodeRequest.largestSide)
        }
        let length = try wire.optional { wire throws(PixelsError) in Int(try wire.integer(UInt32.self)) }
        let layout = PictureLayout(of: sourceSize, for: request)
        let durations = try Self.durations(from: &wire, of: frameCount, layout.output, for: request)
        var all = try Self.pixels(from: &wire, size, count: 1 + durations.count, of: layout, for: request)
        let first = all.isEmpty ? nil : all.removeFirst()
        self.init(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata,
            pixels: first, thumbnail: try Self.thumbnail(from: &wire, length, for: request),
            following: zip(all, durations).map { AnimationPicture(pixels: $0, duration: $1) })
    }

    /// Reads the durations of the further frames. Throws if there are more frames than requested.
    private static func durations(
        from wire: inout WireReader, of frameCount: Int, _ output: PixelSize, for request: DecodeRequest
    ) throws(PixelsError) -> [Int] {
        let count = Int(try wire.integer(UInt16.self))
        guard count < request.picturesAtOnce(of: output), count == 0 || request.frame + count < frameCount else {
            throw .malformedReply("more frames than requested")
        }
        var durations: [Int] = []
        for _ in 0..<count {
            let duration = Int(try wire.integer(UInt32.self))
            guard duration <= longestDuration else { throw .malformedReply("frame count or duration out of bounds") }
            durations.append(duration)
        }
        return durations
    }

    /// Reads exactly the requested pixels; throws for any other number. So a compromised decoder cannot make Vitrine
    /// allocate too much memory.
    private static func pixels(
        from wire: inout WireReader, _ size: PixelSize?, count: Int, of layout: PictureLayout,
        for request: DecodeRequest
    ) throws(PixelsError) -> [PixelBuffer] {
        guard size == (request.product == .pixels ? layout.output : nil) else {
            throw .malformedReply("the pixels differ from the request")
        }
        guard let size else { return [] }
        guard let length = PixelBuffer.byteCount(of: size), length * count == wire.remaining else {
            throw .malformedReply("wrong number of pixels")
        }
        var pictures: [PixelBuffer] = []
        for _ in 0..<count {
            guard let picture = PixelBuffer(size: size, bytes: Array(try wire.take(length))) else { break }
            pictures.append(picture)
        }
        return pictures
    }

    /// Reads the thumbnail, if requested. The thumbnail is as untrusted as the picture.
    private static func thumbnail(
        from wire: inout WireReader, _ length: Int?, for request: DecodeRequest
    ) throws(PixelsError) -> [UInt8]? {
        guard (length != nil) == (request.product == .thumbnail) else {
            throw .malformedReply("the thumbnail differs from the request")
        }
        guard let length else { return nil }
        guard length <= longestThumbnail, length == wire.remaining else {
            throw .malformedReply("wrong length of the thumbnail")
        }
        return Array(try wire.take(length))
    }

    /// Whether a text consists of 1 to 32 printable ASCII characters.
    private static func isFormatName(_ text: String) -> Bool {
        1...32 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
}

/// A frame of an animation, after the first frame of a reply.
public struct AnimationPicture: Hashable, Sendable {
    /// The frame's pixels, as many as in the first frame.
    public let pixels: PixelBuffer
    /// The number of milliseconds for which to show the frame.
    public let duration: Int

    /// Creates a frame.
    public init(pixels: PixelBuffer, duration: Int) {
        self.pixels = pixels
        self.duration = max(0, min(duration, DecodeReply.longestDuration))
    }
}
