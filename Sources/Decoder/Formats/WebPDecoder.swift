import CWebP
import Pixels

/// WebP: lossy and lossless, transparent or not; of an animation any picture, over those before it.
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
        guard !file.frames.isEmpty else { throw .damaged("it has a header and no picture") }
        let index = min(request.frame, file.frames.count - 1)
        facts.frameCount = file.frames.count
        if facts.frameCount > 1 { facts.duration = file.frames[index].duration }
        let plan = DecodePlan(stored: canvas, orientation: exif.orientation, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }
        if index == 0, request.picturesAtOnce == 1, file.frames[0].place == (0, 0), file.frames[0].size == canvas {
            let picture = try WebPPicture(file.frames[0].data)
            if picture.size == canvas { return try show(picture, by: plan, facts, file) }
        }
        return try compose(file, at: index, on: canvas, by: plan, facts)
    }

    /// One picture that is all there is to see.
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
                        x: frame.place.x, y: frame.place.y, width: frame.size.width, height: frame.size.height,
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

    /// Unpacks a picture and paints it. Returns how much of it came.
    private static func paint(
        _ frame: WebPFile.Frame, in area: AnimationCanvas.Area, on canvas: AnimationCanvas
    ) throws(DecodeFailure) -> Animation.Extent {
        let picture = try WebPPicture(frame.data)
        guard picture.size == frame.size else { throw .damaged("a picture is not as large as it says") }
        try PictureBounds.check(picture.size, isHeldWhole: true)
        let count = try picture.unpack(WebPPart(whole: picture.size))
        for y in area.rows where y - frame.place.y < count {
            let (source, target) = (picture.row(y - frame.place.y), canvas.row(y))
            for x in area.columns {
                let pixel = x - frame.place.x
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

    /// Paints one pixel of colour and opacity over another, or in its place.
    private static func mix(
        _ above: UnsafeBufferPointer<UInt8>, over below: UnsafeMutableBufferPointer<UInt8>, _ isBlended: Bool
    ) {
        let opacity = UInt32(above[3])
        guard isBlended, opacity < 255 else {
            for channel in 0..<4 { below[channel] = above[channel] }
            return
        }
        guard opacity > 0 else { return }
        // What is left to be seen of the lower one, and both together.
        let rest = UInt32(below[3]) * (255 - opacity) / 255
        let sum = opacity + rest
        for channel in 0..<3 {
            below[channel] = UInt8((UInt32(above[channel]) * opacity + UInt32(below[channel]) * rest + sum / 2) / sum)
        }
        below[3] = UInt8(sum)
    }
}

/// The chunks of a WebP file, walked without the library: of a still picture what lies beside it, of an animation where its
/// pictures are.
struct WebPFile {
    /// One picture of an animation.
    struct Frame {
        let place: (x: Int, y: Int)
        let size: PixelSize
        /// In milliseconds.
        let duration: Int
        /// Whether it is mixed with what is below it, and not put in its place.
        let isBlended: Bool
        let disposal: Animation.Disposal
        /// The packed picture.
        let data: UnsafeRawBufferPointer
    }

    /// The sides of an animation's canvas.
    private(set) var canvas: PixelSize?
    /// The pictures of an animation; none in a file of one picture.
    private(set) var frames: [Frame] = []
    /// The EXIF block, from its byte order on.
    private(set) var exif: UnsafeRawBufferPointer?
    /// The colour profile.
    private(set) var profile: UnsafeRawBufferPointer?
    /// Whether the file says that it is an animation.
    private(set) var isAnimated = false

    /// Walks a file whose signature was recognised. What ends early is taken as far as it goes.
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
            place: (2 * number(content, at: 0), 2 * number(content, at: 3)), size: size(content, at: 6),
            duration: number(content, at: 12), isBlended: content[15] & 2 == 0,
            disposal: content[15] & 1 != 0 ? .clear : .keep,
            data: UnsafeRawBufferPointer(rebasing: content[16...]))
    }

    /// The chunk at `position`, which moves behind it; the last one may lack its end.
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

    /// Two sides of 24 bits, each stored one less than it is.
    private static func size(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> PixelSize {
        PixelSize(width: 1 + number(bytes, at: offset), height: 1 + number(bytes, at: offset + 3))
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16
    }
}

/// Which part of a picture libwebp is asked for, and how far it is to reduce it: to twice the output, of which the area
/// filter makes the rest. Its own scaling alone would put the edges of a region on whole pixels.
struct WebPPart {
    /// The part's columns; they begin with an even one, which libwebp would see to otherwise.
    let columns: Range<Int>
    /// The part's rows, likewise.
    let rows: Range<Int>
    /// The part's sides when it is reduced.
    let scaled: PixelSize
    /// What is wanted, in the reduced part.
    let region: PixelRect

    /// Up to here a transparent picture is not reduced by libwebp, which mixes colours with those of transparent pixels.
    private static let mostTransparentPixels = 1 << 24

    /// All of a picture as it is.
    init(whole size: PixelSize) {
        columns = 0..<size.width
        rows = 0..<size.height
        scaled = size
        region = PixelRect(whole: size)
    }

    /// What a plan needs of a picture.
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

/// One packed picture of a WebP file, unpacked as a whole: all of it, or a part of it that libwebp cuts out and reduces on
/// the way, so that what is in memory is in proportion to what is wanted.
struct WebPPicture: ~Copyable {
    /// The picture's sides.
    let size: PixelSize
    /// Whether parts of it may be transparent.
    let hasAlpha: Bool
    /// Whether libwebp needs to hold all of it in any case.
    let isHeldWhole: Bool

    private let bytes: UnsafeRawBufferPointer
    private let decoder: UnsafeMutablePointer<cwebp_decoder>

    /// The version of the library; nothing where it is not there.
    static var version: String? {
        guard var library else { return nil }
        let number = cwebp_version(&library)
        return "\(number >> 16).\(number >> 8 & 255).\(number & 255)"
    }

    /// Loads the library. Nothing where it is not there.
    private static var library: cwebp_library? {
        var library = cwebp_library()
        return cwebp_load(&library) != 0 ? library : nil
    }

    /// Reads a picture's header. The bytes have to outlive it.
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

    /// Unpacks a part, reduced to no less than `scaled`. Returns how many of its rows came.
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

    /// One of the rows that came, RGB or RGBA.
    func row(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let stride = Int(decoder.pointee.stride)
        return UnsafeBufferPointer(start: decoder.pointee.pixels + index * stride, count: stride)
    }

    private static func failure(_ status: cwebp_status) -> DecodeFailure? {
        switch status {
        case .ok: nil
        case .partial: nil
        case .damaged: .damaged("its data make no sense")
        case .unsupported: .unsupportedFormat("WebP of an unknown kind")
        case .exhausted: .outOfMemory
        }
    }
}
