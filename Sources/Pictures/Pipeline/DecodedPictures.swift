import Model
import Pixels
import Synchronization

/// A cache of decoded pixels for zoomed photos: the visible part and its surroundings.
///
/// Decoding a part of a JPEG of 24 megapixels takes up to 90 ms, because everything above the part has to be decoded
/// too. A part nine times as large takes 2 ms more, and cutting another piece out of it costs almost nothing. So the
/// decoder also decodes the surroundings of the visible part. While the user pans within these surroundings, Vitrine
/// cuts new views out of them.
final class DecodedParts: Sendable {
    /// Identifies the photo whose pixels the cache holds.
    struct Photo: Hashable {
        let gallery: GalleryID
        let key: PhotoKey
        let edition: Int
    }

    fileprivate struct Part {
        let reply: DecodeReply
        let request: DecodeRequest

        /// Whether another request differs only in region and size.
        func isLike(_ other: DecodeRequest) -> Bool {
            request.turns == other.turns && request.background == other.background && request.frame == other.frame
                && request.isChequered == other.isChequered && request.product == other.product
        }
    }

    private let parts: Mutex<BoundedCache<Photo, Part>>

    /// The largest ratio of decoded width to visible width, and likewise for the height.
    private static let margin = 3.0
    /// The number of decoded pixels per visible pixel along a side, from the best to the least. The photo may have
    /// fewer. With two pixels, a cut that begins between two pixels is blurred by at most half a visible pixel.
    private static let details = [2, 1.75, 1.5, 1.25, 1]
    /// The maximum number of pixels of a part. The cache holds the parts of two photos, which the user may compare.
    private static let mostPixels = 4_000_000.0

    /// Creates a cache of at most `limit` bytes.
    init(limit: Int) {
        parts = Mutex(BoundedCache(limit: limit))
    }

    /// Answers a request from the cache. Returns nil if the cached part is too small or too coarse.
    func reply(to request: DecodeRequest, for photo: Photo) -> DecodeReply? {
        guard let part = parts.withLock({ $0.value(for: photo) }), part.isLike(request), let pixels = part.reply.pixels
        else { return nil }
        let layout = PictureLayout(of: part.reply.sourceSize, for: request)
        guard let rect = part.reply.rect(of: layout.region), part.isFineEnough(for: layout) else { return nil }
        return part.reply.with(pixels: pixels.scaled(rect, to: layout.output), for: request)
    }

    /// Returns a request for a larger part, to decode instead. Returns nil if the request is for a whole photo, or if a
    /// much larger part would have too many pixels.
    ///
    /// - Parameter size: the size of the upright photo, which limits the number of pixels; nil if it is unknown.
    static func wider(than request: DecodeRequest, of size: PixelSize?) -> DecodeRequest? {
        guard request.region != .whole, request.product == .pixels, request.fitting == .inside else { return nil }
        for detail in details {
            let visible = Self.request(request, for: request.region, detail)
            let output = size.map { PictureLayout(of: $0, for: visible).output } ?? visible.box
            let margin = min(margin, (mostPixels / Double(output.width * output.height)).squareRoot())
            guard margin > 1.2, let region = request.region.widened(by: margin) else { continue }
            return Self.request(request, for: region, detail)
        }
        return nil
    }

    private static func request(
        _ request: DecodeRequest, for region: UnitRect, _ detail: Double
    ) -> DecodeRequest {
        var part = request
        part.region = region
        part.box = PixelSize(
            width: Int((Double(request.box.width) * detail * region.width / request.region.width).rounded(.up)),
            height: Int((Double(request.box.height) * detail * region.height / request.region.height).rounded(.up)))
        // Enlarged pixels would show no more detail.
        part.enlarges = false
        return part
    }

    /// Evicts the least recently used parts, down to a fraction of the limit.
    func shrink(toOneIn divisor: Int) { parts.withLock { $0.shrink(toOneIn: divisor) } }

    /// Keeps a reply, which replaces the photo's earlier reply.
    func keep(_ reply: DecodeReply, to request: DecodeRequest, of photo: Photo) {
        guard let pixels = reply.pixels else { return }
        let part = Part(reply: reply, request: request)
        parts.withLock { $0.insert(part, for: photo, cost: pixels.bytes.count) }
    }
}

extension DecodedParts.Part {
    /// Whether the part is fine enough for a layout. The part must have a pixel for each requested pixel, or all pixels
    /// that the photo has.
    fileprivate func isFineEnough(for layout: PictureLayout) -> Bool {
        guard let size = reply.pixels?.size else { return false }
        let source = request.turns.isMultiple(of: 2) ? reply.sourceSize : reply.sourceSize.turned
        func isFine(_ pixels: Int, _ part: Double, _ wanted: Int, _ shown: Double, _ all: Int) -> Bool {
            // Compare the pixels along the photo's whole side. 1 % is allowed for rounding to whole pixels.
            let (there, needed) = (Double(pixels) / part, Double(wanted) / shown)
            return there * 1.01 >= min(needed, Double(all))
        }
        return isFine(size.width, reply.region.width, layout.output.width, layout.region.width, source.width)
            && isFine(size.height, reply.region.height, layout.output.height, layout.region.height, source.height)
    }
}

extension UnitRect {
    /// Returns the region enlarged by a factor around its middle. The picture's edges limit the result.
    fileprivate func widened(by factor: Double) -> UnitRect? {
        let left = max(0, x - width * (factor - 1) / 2)
        let top = max(0, y - height * (factor - 1) / 2)
        let right = min(1, x + width * (factor + 1) / 2)
        let bottom = min(1, y + height * (factor + 1) / 2)
        return UnitRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}

extension DecodeReply {
    /// Returns the pixel coordinates of a region. Returns nil if the pixels do not cover the region.
    fileprivate func rect(of part: UnitRect) -> PixelRect? {
        guard let size = pixels?.size else { return nil }
        // Allow a rounding error of a thousandth of a pixel.
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

/// A cache of decoded frames of running animations, with consecutive frames for each photo.
///
/// A frame may change only a part of the frame before it, so the decoder may have to compose all earlier frames first.
/// If it decodes several frames in a row, it composes each frame only once.
final class DecodedRuns: Sendable {
    private struct Run {
        let reply: DecodeReply
        let request: DecodeRequest
    }

    private let runs: Mutex<BoundedCache<DecodedParts.Photo, Run>>

    /// Creates a cache of at most `limit` bytes.
    init(limit: Int) {
        runs = Mutex(BoundedCache(limit: limit))
    }

    /// Returns the request for a frame and as many following frames as possible.
    static func run(from request: DecodeRequest) -> DecodeRequest {
        var run = request
        run.run = DecodeRequest.runs.upperBound
        return run
    }

    /// Answers a request from the cache. Returns nil if the cached frames do not include the requested frame.
    func reply(to request: DecodeRequest, for photo: DecodedParts.Photo) -> DecodeReply? {
        guard let run = runs.withLock({ $0.value(for: photo) }) else { return nil }
        var first = Self.run(from: request)
        first.frame = run.request.frame
        // The requests must be equal in everything except the frame.
        guard first == run.request else { return nil }
        let index = request.frame - first.frame
        return index == 0
            ? run.reply.with(pixels: run.reply.pixels, for: request)
            : run.reply.answer(following: index - 1, for: request)
    }

    /// Evicts the least recently used frames, down to a fraction of the limit.
    func shrink(toOneIn divisor: Int) { runs.withLock { $0.shrink(toOneIn: divisor) } }

    /// Keeps a reply, which replaces the photo's earlier reply.
    func keep(_ reply: DecodeReply, to request: DecodeRequest, of photo: DecodedParts.Photo) {
        guard let pixels = reply.pixels else { return }
        let cost = pixels.bytes.count * (1 + reply.following.count)
        runs.withLock { $0.insert(Run(reply: reply, request: request), for: photo, cost: cost) }
    }
}
