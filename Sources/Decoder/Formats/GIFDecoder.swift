import Glibc
import Pixels

/// GIF: 87a and 89a, interlaced or not, transparent or not; of an animation any picture, over those before it.
enum GIFDecoder: PictureDecoder {
    static let name = "GIF"

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8)
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        // For the first picture it is enough that there is a second one. A file is as long as it likes, and to count all of
        // them is to walk all of it.
        let isCounted = request.frame > 0 || request.run > 1 || !request.wantsPixels
        guard let file = GIFFile(bytes, atMost: isCounted ? DecodeRequest.frames.count : 2) else {
            throw .damaged("its header is missing")
        }
        try PictureBounds.check(file.size, isHeldWhole: true)
        guard !file.frames.isEmpty else { throw .damaged("it has a header and no picture") }
        let index = min(request.frame, file.frames.count - 1)
        var facts = PictureFacts(format: name, frameCount: file.frames.count)
        if facts.frameCount > 1 { facts.duration = file.frames[index].duration }
        let plan = DecodePlan(stored: file.size, orientation: .upright, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        let animation = Animation(size: file.size, frames: file.frames.map { placed($0, on: file.size) })
        return try animation.reply(at: index, by: plan, facts, nil) { current, canvas throws(DecodeFailure) in
            try paint(file.frames[current], of: file, in: animation.frames[current].area, on: canvas)
        }
    }

    private static func placed(_ frame: GIFFile.Frame, on size: PixelSize) -> Animation.Frame {
        Animation.Frame(
            area: AnimationCanvas.Area(
                x: frame.place.x, y: frame.place.y, width: frame.size.width, height: frame.size.height, on: size),
            disposal: frame.disposal, isOpaque: frame.transparent == nil,
            pixelCount: frame.size.width * frame.size.height, duration: frame.duration)
    }

    /// Unpacks a picture and paints what is not transparent of it. Returns how much of it came; of one that was cut
    /// short, the rows are coarse if they are interlaced, and missing at the bottom if they are not.
    private static func paint(
        _ frame: GIFFile.Frame, of file: GIFFile, in area: AnimationCanvas.Area, on canvas: AnimationCanvas
    ) throws(DecodeFailure) -> Animation.Extent {
        let size = frame.size
        guard size.width > 0, size.height > 0 else { return .all }
        try PictureBounds.check(size, isHeldWhole: true)
        guard let memory = malloc(size.width * size.height) else { throw .outOfMemory }
        defer { free(memory) }
        let pixels = UnsafeMutableBufferPointer(
            start: memory.assumingMemoryBound(to: UInt8.self), count: size.width * size.height)
        var reader = LZWReader(file.data(of: frame))
        let rowsThere = reader.read(into: pixels) / size.width
        let colours = file.colours(of: frame)
        let order = GIFRowOrder(height: size.height, isInterlaced: frame.isInterlaced)
        for y in area.rows {
            guard let row = order.place(of: y - frame.place.y, among: rowsThere) else { continue }
            let target = canvas.row(y)
            for x in area.columns {
                let index = pixels[row * size.width + x - frame.place.x]
                guard index != frame.transparent else { continue }
                let colour = colours[Int(index)]
                target[4 * x] = colour.red
                target[4 * x + 1] = colour.green
                target[4 * x + 2] = colour.blue
                target[4 * x + 3] = 255
            }
        }
        return rowsThere == size.height ? .all : rowsThere > 0 ? .part : .nothing
    }
}
