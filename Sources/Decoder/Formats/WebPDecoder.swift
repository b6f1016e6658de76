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
