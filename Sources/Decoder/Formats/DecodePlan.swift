import Pixels

/// How one request is met for one picture: all the geometry, decided from the header before the first pixel.
///
/// Rows are scaled as they are stored, and only the small result is turned upright.
struct DecodePlan {
    /// The part of the stored picture to be read.
    let region: PixelRect
    /// The output's sides as long as it is not turned yet.
    let output: PixelSize
    /// The stored picture's sides.
    let stored: PixelSize
    /// What is to come of it.
    let request: DecodeRequest

    /// As the file says.
    private let orientation: Orientation
    /// The same, turned on as the request says.
    private let turning: Orientation
    private let sourceSize: PixelSize

    /// Plans for a picture of `stored` pixels.
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

    /// The part to be read of a smaller copy of the picture.
    func region(of copy: PixelSize) -> PixelRect {
        let horizontally = Double(copy.width) / Double(stored.width)
        let vertically = Double(copy.height) / Double(stored.height)
        return PixelRect(
            x: region.x * horizontally, y: region.y * vertically, width: region.width * horizontally,
            height: region.height * vertically)
    }

    /// Whether another picture can stand for this one for a moment: its proportions are the same but for what whole pixels
    /// leave over, and it is not so small that nothing would be seen. (Cameras' thumbnails of 160 × 120 often have black
    /// bars; those are of other proportions.)
    func isLike(_ copy: PixelSize) -> Bool {
        guard copy.width > 0, copy.height > 0, copy.width <= stored.width, copy.height <= stored.height else {
            return false
        }
        let (one, other) = (stored.width * copy.height, stored.height * copy.width)
        let slack = max(stored.width, stored.height)
        let region = region(of: copy)
        return abs(one - other) <= max(slack, one / 64)
            && region.width * 8 >= Double(output.width) && region.height * 8 >= Double(output.height)
    }

    /// Room for the output's rows.
    func emptyRows() -> [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(PixelBuffer.byteCount(of: output) ?? 0)
        return rows
    }

    /// The answer without pixels.
    func reply(_ facts: PictureFacts) -> DecodeReply {
        reply(facts, isComplete: true, pixels: nil)
    }

    /// The answer with the output's rows, as stored and as many as there were.
    func reply(_ facts: PictureFacts, rows: [UInt8], isComplete: Bool) -> DecodeReply {
        reply(facts, isComplete: isComplete, pixels: upright(rows))
    }

    /// The answer with a transparent picture's rows over each of a chequer's greys.
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

/// What a decoder found out about a picture besides its pixels.
struct PictureFacts {
    /// The format's name, for the user.
    let format: String
    /// What the picture says of itself.
    var metadata = PictureMetadata()
    /// How many pictures the file shows one after the other.
    var frameCount = 1
    /// How long the one that was asked for is shown, in milliseconds.
    var duration = 0
    /// Whether the pixels were made of less than there is.
    var isCoarse = false
}

/// How large a picture may claim to be. A file of 291 bytes can claim 65,500 × 65,500 pixels and cost seconds and
/// gigabytes; so the claim is judged before anything is allocated for it.
enum PictureBounds {
    /// The most pixels of a picture that is read row by row: what costs time only.
    static let mostPixels = 300_000_000
    /// The most pixels of a picture that has to be held whole before its first row is final, at 3 to 8 bytes each.
    static let mostBufferedPixels = 100_000_000

    /// Refuses what is empty or too large.
    static func check(_ size: PixelSize, isHeldWhole: Bool) throws(DecodeFailure) {
        guard size.width > 0, size.height > 0 else { throw .damaged("it has no pixels") }
        let side = DecodeReply.largestSourceSide
        let most = isHeldWhole ? mostBufferedPixels : mostPixels
        guard size.width <= side, size.height <= side, size.width * size.height <= most else {
            throw .tooLarge(width: size.width, height: size.height)
        }
    }
}
