import Model
import Pixels
import Synchronization

/// Decoded pixels of photos that are looked at closely: what is seen, and as much around it, so that a photo can be moved
/// about in without being decoded again at each step.
///
/// A JPEG of 24 megapixels is decoded down to where one looks, which takes up to 90 ms; nine times as much of it takes 2 ms
/// more, and to cut another part out of that costs next to nothing. So a part is decoded with what lies around it, and what is
/// seen is cut out of that, until somebody looks beyond it.
final class DecodedParts: Sendable {
    /// Whose pixels they are.
    struct Photo: Hashable {
        let gallery: GalleryID
        let key: PhotoKey
        let edition: Int
    }

    fileprivate struct Part {
        let reply: DecodeReply
        let request: DecodeRequest

        /// Whether what is asked for is of the same picture, the same side up and on the same ground.
        func isLike(_ other: DecodeRequest) -> Bool {
            request.turns == other.turns && request.background == other.background && request.frame == other.frame
                && request.isChequered == other.isChequered && request.product == other.product
        }
    }

    private let parts: Mutex<BoundedCache<Photo, Part>>

    /// How many times as wide and as high as what is seen is what is decoded, at most.
    private static let margin = 3.0
    /// How many decoded pixels there are for each that is seen, along a side, where the photo has as many: what is cut out
    /// begins between two of them, and is blurred no more than half of one.
    private static let detail = 2.0
    /// The most pixels of a part; a screen's worth at least.
    private static let mostPixels = 8_000_000.0

    /// Keeps as many as fit into so many bytes.
    init(limit: Int) {
        parts = Mutex(BoundedCache(limit: limit))
    }

    /// Answers from what is there; nil if that does not reach as far, or shows less than there is.
    func reply(to request: DecodeRequest, for photo: Photo) -> DecodeReply? {
        guard let part = parts.withLock({ $0.value(for: photo) }), part.isLike(request), let pixels = part.reply.pixels
        else { return nil }
        let layout = PictureLayout(of: part.reply.sourceSize, for: request)
        guard let rect = part.reply.place(of: layout.region), part.isFineEnough(for: layout) else { return nil }
        return part.reply.with(pixels: pixels.scaled(rect, to: layout.output), for: request)
    }

    /// What to decode in a request's place: more, if a part of a photo is asked for; nil if it is not.
    static func wider(than request: DecodeRequest) -> DecodeRequest? {
        guard request.region != .whole, request.product == .pixels, request.fitting == .inside else { return nil }
        let pixels = Double(request.box.width * request.box.height) * detail * detail
        let margin = min(margin, (mostPixels / pixels).squareRoot())
        guard margin > 1.2, let region = request.region.widened(by: margin) else { return nil }
        var wider = request
        wider.region = region
        wider.box = PixelSize(
            width: Int((Double(request.box.width) * detail * region.width / request.region.width).rounded(.up)),
            height: Int((Double(request.box.height) * detail * region.height / request.region.height).rounded(.up)))
        // There is no more to a photo than its pixels.
        wider.enlarges = false
        return wider
    }

    /// Keeps what was decoded, in the place of what was kept of the photo before.
    func keep(_ reply: DecodeReply, to request: DecodeRequest, of photo: Photo) {
        guard let pixels = reply.pixels else { return }
        let part = Part(reply: reply, request: request)
        parts.withLock { $0.insert(part, for: photo, cost: pixels.bytes.count) }
    }
}

extension DecodedParts.Part {
    /// Whether it has a pixel for each that is wanted, or each that the photo has.
    fileprivate func isFineEnough(for layout: PictureLayout) -> Bool {
        guard let size = reply.pixels?.size else { return false }
        let source = request.turns.isMultiple(of: 2) ? reply.sourceSize : reply.sourceSize.turned
        func isFine(_ pixels: Int, _ part: Double, _ wanted: Int, _ shown: Double, _ all: Int) -> Bool {
            // Pixels along the whole side; whole ones leave a little over.
            let (there, needed) = (Double(pixels) / part, Double(wanted) / shown)
            return there * 1.01 >= min(needed, Double(all))
        }
        return isFine(size.width, reply.region.width, layout.output.width, layout.region.width, source.width)
            && isFine(size.height, reply.region.height, layout.output.height, layout.region.height, source.height)
    }
}

extension UnitRect {
    /// So many times as wide and as high around the same middle, as far as there is a picture.
    fileprivate func widened(by factor: Double) -> UnitRect? {
        let left = max(0, x - width * (factor - 1) / 2)
        let top = max(0, y - height * (factor - 1) / 2)
        let right = min(1, x + width * (factor + 1) / 2)
        let bottom = min(1, y + height * (factor + 1) / 2)
        return UnitRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}

extension DecodeReply {
    /// Where a part of the picture lies in the pixels; nil if it is not all there.
    fileprivate func place(of part: UnitRect) -> PixelRect? {
        guard let size = pixels?.size else { return nil }
        // A thousandth of a pixel is what fractions leave over.
        let (slackX, slackY) = (1e-3 * region.width / Double(size.width), 1e-3 * region.height / Double(size.height))
        guard part.x >= region.x - slackX, part.y >= region.y - slackY,
            part.x + part.width <= region.x + region.width + slackX,
            part.y + part.height <= region.y + region.height + slackY
        else { return nil }
        let (columns, rows) = (Double(size.width) / region.width, Double(size.height) / region.height)
        return PixelRect(
            x: (part.x - region.x) * columns, y: (part.y - region.y) * rows, width: part.width * columns,
            height: part.height * rows)
    }
}

/// Decoded pictures of animations that are played: of each the last run of them, so that what lies over what came before is not
/// composed anew for every picture.
final class DecodedRuns: Sendable {
    private struct Run {
        let reply: DecodeReply
        let request: DecodeRequest
    }

    private let runs: Mutex<BoundedCache<DecodedParts.Photo, Run>>

    /// Keeps as many as fit into so many bytes.
    init(limit: Int) {
        runs = Mutex(BoundedCache(limit: limit))
    }

    /// What to decode in the place of one picture: those behind it too.
    static func run(from request: DecodeRequest) -> DecodeRequest {
        var run = request
        run.run = DecodeRequest.runs.upperBound
        return run
    }

    /// Answers from what is there; nil if that does not reach as far.
    func reply(to request: DecodeRequest, for photo: DecodedParts.Photo) -> DecodeReply? {
        guard let run = runs.withLock({ $0.value(for: photo) }) else { return nil }
        var first = Self.run(from: request)
        first.frame = run.request.frame
        // Of the same picture, as large, and on the same ground.
        guard first == run.request else { return nil }
        let place = request.frame - first.frame
        return place == 0
            ? run.reply.with(pixels: run.reply.pixels, for: request)
            : run.reply.answer(following: place - 1, for: request)
    }

    /// Keeps what was decoded, in the place of what was kept of the photo before.
    func keep(_ reply: DecodeReply, to request: DecodeRequest, of photo: DecodedParts.Photo) {
        guard let pixels = reply.pixels else { return }
        let cost = pixels.bytes.count * (1 + reply.following.count)
        runs.withLock { $0.insert(Run(reply: reply, request: request), for: photo, cost: cost) }
    }
}
