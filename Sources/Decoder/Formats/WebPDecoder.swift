import CWebP
import Pixels

/// Decodes any frame of WebP files: lossy and lossless, transparent and animated.
enum WebPDecoder: PictureDecoder {
    static let name = "WebP"
    static var library: String? { WebPPicture.version.map { "libwebp \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
    }

    static func prepare() {
        _ = WebPPicture.version
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let file = WebPFile(bytes)
        let exif = ExifBlock(tiff: file.exif)
        var facts = PictureFacts(format: name, metadata: exif.metadata)
        guard file.isAnimated, let canvas = file.canvas else {
            let picture = try WebPPicture(bytes)
            try PictureBounds.check(picture.size, isHeldWhole: picture.isHeldWhole)
            let plan = DecodePlan(stored: picture.size, orientation: exif.orientation, request: request)
            guard request.wantsPixels else { return plan.reply(facts) }
            return try show(picture, by: plan, facts, file)
        }
        try PictureBounds.check(canvas, isHeldWhole: true)
        guard !file.frames.isEmpty else { throw .damaged("it contains no picture") }
        let index = min(request.frame, file.frames.count - 1)
        facts.frameCount = file.frames.count
        if facts.frameCount > 1 { facts.duration = file.frames[index].duration }
        let plan = DecodePlan(stored: canvas, orientation: exif.orientation, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }
        if index == 0, request.picturesAtOnce(of: plan.output) == 1, file.frames[0].origin == (0, 0),
            file.frames[0].size == canvas
        {
            let picture = try WebPPicture(file.frames[0].data)
            if picture.size == canvas { return try show(picture, by: plan, facts, file) }
        }
        return try compose(file, at: index, on: canvas, by: plan, facts)
    }

    /// Decodes a picture that is not animated.
    private static func show(
        _ picture: borrowing WebPPicture, by plan: DecodePlan, _ facts: PictureFacts, _ file: WebPFile
    ) throws(DecodeFailure) -> DecodeReply {
        let part = WebPPart(plan, hasAlpha: picture.hasAlpha)
        var output = OutputRows(
            plan, source: part.scaled, region: part.region, channels: picture.hasAlpha ? .rgba : .rgb,
            conversion: ColourConversion(profile: file.profile))
        let count = try picture.unpack(part)
        let rows = output.sourceRows
        for row in rows where row < count { output.add(picture.row(row)) }
        return try output.reply(facts, isComplete: count >= rows.upperBound)
    }

    private static func compose(
        _ file: WebPFile, at index: Int, on size: PixelSize, by plan: DecodePlan, _ facts: PictureFacts
    ) throws(DecodeFailure) -> DecodeReply {
        let animation = Animation(
            size: size,
            frames: file.frames.map { frame in
                Animation.Frame(
                    area: AnimationCanvas.Area(
                        x: frame.origin.x, y: frame.origin.y, width: frame.size.width, height: frame.size.height,
                        on: size),
                    disposal: frame.disposal, isOpaque: !frame.isBlended,
                    pixelCount: frame.size.width * frame.size.height, duration: frame.duration)
            })
        return try animation.reply(
            at: index, by: plan, facts, ColourConversion(profile: file.profile)
        ) { current, canvas throws(DecodeFailure) in
            try paint(file.frames[current], in: animation.frames[current].area, on: canvas)
        }
    }

    /// Decodes a frame and paints it on the canvas. Returns how much of the frame the file contains.
    private static func paint(
        _ frame: WebPFile.Frame, in area: AnimationCanvas.Area, on canvas: AnimationCanvas
    ) throws(DecodeFailure) -> Animation.Extent {
        let picture = try WebPPicture(frame.data)
        guard picture.size == frame.size else { throw .damaged("a frame’s size is not the one in its header") }
        try PictureBounds.check(picture.size, isHeldWhole: true)
        let count = try picture.unpack(WebPPart(whole: picture.size))
        for y in area.rows where y - frame.origin.y < count {
            let (source, target) = (picture.row(y - frame.origin.y), canvas.row(y))
            for x in area.columns {
                let pixel = x - frame.origin.x
                if picture.hasAlpha {
                    let color = UnsafeBufferPointer(rebasing: source[4 * pixel..<4 * pixel + 4])
                    mix(color, over: UnsafeMutableBufferPointer(rebasing: target[4 * x..<4 * x + 4]), frame.isBlended)
                } else {
                    for channel in 0..<3 { target[4 * x + channel] = source[3 * pixel + channel] }
                    target[4 * x + 3] = 255
                }
            }
        }
        return count == picture.size.height ? .all : .part
    }

    /// Blends one pixel with the pixel below, or replaces that pixel.
    private static func mix(
        _ above: UnsafeBufferPointer<UInt8>, over below: UnsafeMutableBufferPointer<UInt8>, _ isBlended: Bool
    ) {
        let opacity = UInt32(above[3])
        guard isBlended, opacity < 255 else {
            for channel in 0..<4 { below[channel] = above[channel] }
            return
        }
        guard opacity > 0 else { return }
        // The remaining opacity of the lower pixel, and the opacity of both pixels together.
        let rest = UInt32(below[3]) * (255 - opacity) / 255
        let sum = opacity + rest
        for channel in 0..<3 {
            below[channel] = UInt8((UInt32(above[channel]) * opacity + UInt32(below[channel]) * rest + sum / 2) / sum)
        }
        below[3] = UInt8(sum)
    }
}

/// Reads a WebP file's chunks without the library: metadata, and an animation's frames.
struct WebPFile {
    /// One frame of an animation.
    struct Frame {
        let origin: (x: Int, y: Int)
        let size: PixelSize
        /// The number of milliseconds for which to show the frame.
        let duration: Int
        /// Whether the frame is blended with the canvas. Otherwise, it replaces the canvas's pixels.
        let isBlended: Bool
        let disposal: Animation.Disposal
        /// The frame's compressed data.
        let data: UnsafeRawBufferPointer
    }

    /// The canvas's size; nil if the file is not an animation.
    private(set) var canvas: PixelSize?
    /// The frames of an animation; empty for still pictures.
    private(set) var frames: [Frame] = []
    /// The EXIF block, from its byte order mark on.
    private(set) var exif: UnsafeRawBufferPointer?
    /// The colour profile; nil if the file has none.
    private(set) var profile: UnsafeRawBufferPointer?
    /// Whether the file claims to be an animation.
    private(set) var isAnimated = false

    /// Reads a file with a valid signature, up to its end or the first damage.
    init(_ bytes: UnsafeRawBufferPointer) {
        var position = 12
        while let chunk = Self.chunk(of: bytes, at: &position) {
            switch chunk.type {
            case "VP8X" where chunk.content.count >= 10:
                isAnimated = chunk.content[0] & 2 != 0
                canvas = Self.size(chunk.content, at: 4)
            case "ANMF" where chunk.content.count >= 16 && frames.count < DecodeRequest.frames.count:
                frames.append(Self.frame(chunk.content))
            case "EXIF":
                let hasName = chunk.content.starts(with: "Exif\0\0".utf8)
                exif = exif ?? UnsafeRawBufferPointer(rebasing: chunk.content.dropFirst(hasName ? 6 : 0))
            case "ICCP":
                profile = profile ?? chunk.content
            default: break
            }
        }
    }

    private static func frame(_ content: UnsafeRawBufferPointer) -> Frame {
        Frame(
            origin: (2 * number(content, at: 0), 2 * number(content, at: 3)), size: size(content, at: 6),
            duration: number(content, at: 12), isBlended: content[15] & 2 == 0,
            disposal: content[15] & 1 != 0 ? .clear : .keep,
            data: UnsafeRawBufferPointer(rebasing: content[16...]))
    }

    /// Returns the chunk at `position` and advances `position`. The last chunk may be incomplete.
    private static func chunk(
        of bytes: UnsafeRawBufferPointer, at position: inout Int
    ) -> (type: String, content: UnsafeRawBufferPointer)? {
        guard position + 8 <= bytes.count else { return nil }
        let type = String(decoding: bytes[position..<position + 4], as: UTF8.self)
        let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)))
        let content = position + 8..<min(position + 8 + length, bytes.count)
        // "If Chunk Size is odd, a single padding byte [...] is added" (RIFF container, WebP).
        position += 8 + length + length % 2
        return (type, UnsafeRawBufferPointer(rebasing: bytes[content]))
    }

    /// Reads a width and a height of 24 bits each. The file stores both numbers minus one.
    private static func size(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> PixelSize {
        PixelSize(width: 1 + number(bytes, at: offset), height: 1 + number(bytes, at: offset + 3))
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16
    }
}

/// The part of a picture that libwebp decodes, and its reduced size.
///
/// libwebp reduces the part to twice the output's size, and `AreaFilter` then scales it to the exact size. libwebp
/// alone would round a region's edges to whole pixels.
struct WebPPart {
    /// The part's columns. The first column is even, as libwebp requires.
    let columns: Range<Int>
    /// The rows of pixels in this part. The first row is even, as libwebp requires.
    let rows: Range<Int>
    /// The part's size after the reduction.
    let scaled: PixelSize
    /// The requested region within the reduced part.
    let region: PixelRect

    /// The maximum number of pixels of a transparent picture that libwebp decodes without reduction. When libwebp
    /// reduces, it mixes colours with those of transparent pixels.
    private static let mostTransparentPixels = 1 << 24

    /// Creates a part that covers the whole picture without reduction.
    init(whole size: PixelSize) {
        columns = 0..<size.width
        rows = 0..<size.height
        scaled = size
        region = PixelRect(whole: size)
    }

    /// Creates the part that a plan needs.
    init(_ plan: DecodePlan, hasAlpha: Bool) {
        let wanted = plan.region
        let (touchedColumns, touchedRows) = (wanted.columns(of: plan.stored.width), wanted.rows(of: plan.stored.height))
        let (left, top) = (touchedColumns.lowerBound & ~1, touchedRows.lowerBound & ~1)
        columns = left..<touchedColumns.upperBound
        rows = top..<touchedRows.upperBound
        let mayReduce = !hasAlpha || columns.count * rows.count > Self.mostTransparentPixels
        scaled = PixelSize(
            width: mayReduce ? min(columns.count, 2 * plan.output.width) : columns.count,
            height: mayReduce ? min(rows.count, 2 * plan.output.height) : rows.count)
        let horizontally = Double(scaled.width) / Double(columns.count)
        let vertically = Double(scaled.height) / Double(rows.count)
        region = PixelRect(
            x: (wanted.x - Double(left)) * horizontally, y: (wanted.y - Double(top)) * vertically,
            width: wanted.width * horizontally, height: wanted.height * vertically)
    }
}

/// One compressed picture. The library libwebp can crop and reduce the picture while it decodes, so that memory is
/// proportional to the output.
struct WebPPicture: ~Copyable {
    /// The picture's size.
    let size: PixelSize
    /// Whether the picture has an alpha channel.
    let hasAlpha: Bool
    /// Whether libwebp must hold the whole picture in memory even for a small part.
    let isHeldWhole: Bool

    private let bytes: UnsafeRawBufferPointer
    private let decoder: UnsafeMutablePointer<cwebp_decoder>

    /// libwebp's version; nil if it is not installed.
    static var version: String? {
        guard var library else { return nil }
        let number = cwebp_version(&library)
        return "\(number >> 16).\(number >> 8 & 255).\(number & 255)"
    }

    /// Loads libwebp; nil if it is not installed.
    private static var library: cwebp_library? {
        var library = cwebp_library()
        return cwebp_load(&library) != 0 ? library : nil
    }

    /// Reads a picture's header. The bytes must outlive the picture.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        guard var library = Self.library else {
            throw .missingLibrary(format: WebPDecoder.name, library: "libwebp", package: "libwebp7")
        }
        var features = cwebp_features()
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        let status = cwebp_read_features(&library, start, bytes.count, &features)
        guard status == .ok else { throw Self.failure(status) ?? .damaged("its header is missing") }
        guard let decoder = cwebp_new(&library) else { throw .outOfMemory }
        self.bytes = bytes
        self.decoder = decoder
        size = PixelSize(width: Int(features.width), height: Int(features.height))
        hasAlpha = features.has_alpha != 0
        isHeldWhole = hasAlpha || features.is_lossless != 0
    }

    deinit {
        cwebp_free(decoder)
    }

    /// Decodes a part, reduced to the part's `scaled` size. Returns the number of decoded rows.
    func unpack(_ part: WebPPart) throws(DecodeFailure) -> Int {
        var extent = cwebp_extent(
            left: Int32(part.columns.lowerBound), top: Int32(part.rows.lowerBound), width: Int32(part.columns.count),
            height: Int32(part.rows.count), scaled_width: Int32(part.scaled.width),
            scaled_height: Int32(part.scaled.height))
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        let status = cwebp_decode(decoder, start, bytes.count, &extent, hasAlpha ? 1 : 0)
        if status != .partial, let failure = Self.failure(status) { throw failure }
        let count = Int(decoder.pointee.row_count)
        guard count > 0 else { throw .damaged("it ends before its first row") }
        return count
    }

    /// Returns the bytes of a decoded row, in RGB or RGBA.
    func row(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let stride = Int(decoder.pointee.stride)
        return UnsafeBufferPointer(start: decoder.pointee.pixels + index * stride, count: stride)
    }

    private static func failure(_ status: cwebp_status) -> DecodeFailure? {
        switch status {
        case .ok: nil
        case .partial: nil
        case .damaged: .damaged("its data are invalid")
        case .unsupported: .unsupportedFormat("unknown kind of WebP")
        case .exhausted: .outOfMemory
        }
    }
}
