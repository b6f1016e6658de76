/// What the decoder made of a picture.
public struct DecodeReply: Hashable, Sendable {
    /// The longest side a picture may have: libjpeg's own limit.
    public static let largestSourceSide = 65_500

    /// The whole picture's sides as it is seen upright, in its own pixels.
    public let sourceSize: PixelSize
    /// The format's name: "JPEG".
    public let format: String
    /// How it was stored; everything else here is upright already.
    public let orientation: Orientation
    /// False when bytes were missing or broken, and `pixels` show what there was.
    ///
    /// Said of what was decoded: of a region only as far as its last row, of a request without pixels the header.
    public let isComplete: Bool
    /// Whether it was made in haste of less than there is: decoding the whole would show more.
    public let isCoarse: Bool
    /// How many pictures the file shows one after the other, 1 for most. No more than the request can ask for. Where its first
    /// picture was asked for, 2 may stand for any number above 1: they are counted when another one is, or no pixels are.
    public let frameCount: Int
    /// How long the picture that was asked for is to be shown, in milliseconds as the file says; many say 0 and leave it
    /// to whoever shows them. 0 where there is one only.
    public let duration: Int
    /// What it says about itself.
    public let metadata: PictureMetadata
    /// The part that `pixels` show.
    public let region: UnitRect
    /// The pixels, where they were wanted.
    public let pixels: PixelBuffer?
    /// The same part as a JPEG, where that was wanted.
    public let thumbnail: [UInt8]?

    /// The pictures of an animation that come behind it, where several were wanted at once: as many as there were at hand.
    public let following: [AnimationPicture]

    /// The longest time to show one picture of an animation that a file can say, in milliseconds: WebP's 24 bits.
    static let longestDuration = 0xFF_FFFF
    /// The most bytes of a thumbnail; more than a JPEG of any box needs that is worth keeping.
    public static let longestThumbnail = 4 << 20

    /// Answers `request`, which lays the region out.
    ///
    /// The pixels are to be of the layout's size, or the other side will refuse them.
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
    /// The same answer to another request for the same picture: with pixels of the size that it lays out, or a thumbnail.
    public func with(pixels: PixelBuffer?, thumbnail: [UInt8]? = nil, for request: DecodeRequest) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata, pixels: pixels,
            thumbnail: thumbnail)
    }

    /// The same answer with pictures behind it.
    public func with(following: [AnimationPicture], for request: DecodeRequest) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: duration, metadata: metadata, pixels: pixels,
            thumbnail: thumbnail, following: following)
    }

    /// The answer to who asks for one of the pictures behind it, from 0 on; nothing where there is none.
    public func answer(following place: Int, for request: DecodeRequest) -> DecodeReply? {
        guard following.indices.contains(place) else { return nil }
        let picture = following[place]
        return DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            isCoarse: isCoarse, frameCount: frameCount, duration: picture.duration, metadata: metadata,
            pixels: picture.pixels)
    }
}

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

/// A picture of an animation that comes behind the one that was asked for.
public struct AnimationPicture: Hashable, Sendable {
    /// Its pixels, as many as the first one's.
    public let pixels: PixelBuffer
    /// How long it is to be shown, in milliseconds as the file says.
    public let duration: Int

    /// Makes one of its two parts.
    public init(pixels: PixelBuffer, duration: Int) {
        self.pixels = pixels
        self.duration = max(0, min(duration, DecodeReply.longestDuration))
    }
}
