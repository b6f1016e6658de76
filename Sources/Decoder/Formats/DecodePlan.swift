import Pixels

/// The geometry for decoding one picture, computed from its header and the request.
///
/// The decoder scales the stored rows first, and then turns only the small result upright.
struct DecodePlan {
    /// The part of the stored picture to read.
    let region: PixelRect
    /// The size of the output before it is turned upright.
    let output: PixelSize
    /// The stored picture's size.
    let stored: PixelSize
    /// The request.
    let request: DecodeRequest

    /// The file's orientation.
    private let orientation: Orientation
    /// The file's orientation followed by the request's turns.
    private let turning: Orientation
    private let sourceSize: PixelSize

    /// Plans the decoding of a picture of `stored` pixels.
    init(stored: PixelSize, orientation: Orientation, request: DecodeRequest) {
        let upright = orientation.turned(stored)
        let layout = PictureLayout(of: upright, for: request)
        turning = orientation.turned(by: request.turns)
        region = turning.stored(layout.region).scaled(to: stored)
        output = turning.turned(layout.output)
        sourceSize = upright
        self.stored = stored
        self.orientation = orientation
        self.request = request
    }

    /// Returns the part to read from a smaller copy of the picture.
    func region(of copy: PixelSize) -> PixelRect {
        let horizontally = Double(copy.width) / Double(stored.width)
        let vertically = Double(copy.height) / Double(stored.height)
        return PixelRect(
            x: region.x * horizontally, y: region.y * vertically, width: region.width * horizontally,
            height: region.height * vertically)
    }

    /// Whether a smaller copy can serve as a preview. The copy must be large enough and have nearly the same
    /// proportions. Cameras' thumbnails of 160 × 120 often have black bars, so their proportions differ.
    ///
    /// - Parameter factor: the maximum enlargement of the copy along a side.
    func isLike(_ copy: PixelSize, enlargedBy factor: Double = 8) -> Bool {
        guard copy.width > 0, copy.height > 0, copy.width <= stored.width, copy.height <= stored.height else {
            return false
        }
        let (one, other) = (stored.width * copy.height, stored.height * copy.width)
        let slack = max(stored.width, stored.height)
        let region = region(of: copy)
        return abs(one - other) <= max(slack, one / 64)
            && (copy == stored
                // Allows a thousandth of a pixel for rounding.
                || region.width * factor + 1e-3 >= Double(output.width)
                    && region.height * factor + 1e-3 >= Double(output.height))
    }

    /// Returns an array with capacity for the output.
    func emptyRows() -> [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(PixelBuffer.byteCount(of: output) ?? 0)
        return rows
    }

    /// Returns a reply without pixels.
    func reply(_ facts: PictureFacts) -> DecodeReply {
        reply(facts, isComplete: true, pixels: nil)
    }

    /// Returns a reply with the output's rows, and turns them upright. Missing rows get the background.
    func reply(_ facts: PictureFacts, rows: [UInt8], isComplete: Bool) -> DecodeReply {
        reply(facts, isComplete: isComplete, pixels: upright(rows))
    }

    /// Returns a reply for a transparent picture on a chequerboard.
    func reply(_ facts: PictureFacts, rows: Chequer.Rows, isComplete: Bool) -> DecodeReply {
        let chequer = Chequer(pixelAspect: request.pixelAspect)
        let pixels = chequer.joined(Chequer.Pair(light: upright(rows.light), dark: upright(rows.dark)))
        return reply(facts, isComplete: isComplete, pixels: pixels)
    }

    private func upright(_ rows: [UInt8]) -> PixelBuffer {
        turning.turned(PixelBuffer(size: output, rows: rows, background: request.background))
    }

    private func reply(_ facts: PictureFacts, isComplete: Bool, pixels: PixelBuffer?) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: facts.format, orientation: orientation, isComplete: isComplete,
            isCoarse: facts.isCoarse, frameCount: facts.frameCount, duration: facts.duration, metadata: facts.metadata,
            pixels: pixels)
    }
}

/// A picture's properties besides its pixels.
struct PictureFacts {
    /// The format's name, as the user sees it.
    let format: String
    /// The picture's metadata.
    var metadata = PictureMetadata()
    /// The number of frames in the picture.
    var frameCount = 1
    /// The number of milliseconds for which to show the requested frame.
    var duration = 0
    /// Whether the pixels are only a preview.
    var isCoarse = false
}

/// Limits for the size that a header claims. A file of 291 bytes can claim 65,500 × 65,500 pixels and cost seconds and
/// gigabytes, so decoders check the claim before any allocation.
enum PictureBounds {
    /// The maximum number of pixels of a picture that a decoder reads row by row. Many pixels then cost only time.
    static let mostPixels = 300_000_000
    /// The maximum number of pixels of a picture that a decoder must hold in memory as a whole. Each pixel needs 3 to 8
    /// bytes.
    static let mostBufferedPixels = 100_000_000

    /// Throws if a picture is empty or too large.
    static func check(_ size: PixelSize, isHeldWhole: Bool) throws(DecodeFailure) {
        guard size.width > 0, size.height > 0 else { throw .damaged("it has no pixels") }
        let side = DecodeReply.largestSourceSide
        let most = isHeldWhole ? mostBufferedPixels : mostPixels
        guard size.width <= side, size.height <= side, size.width * size.height <= most else {
            throw .tooLarge(width: size.width, height: size.height)
        }
    }
}
