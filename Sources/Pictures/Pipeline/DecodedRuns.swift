import Pixels
import Synchronization

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
