import Pixels
import Synchronization

/// The processes that decode small pictures, as many as are at work at once, and those that wait for the next picture.
///
/// One that is lost, hangs or answers nonsense is thrown away, and its picture is decoded in a process of its own. None lasts for
/// many pictures: see `DecoderServer` for why that is better, though here no picture can do anything to its process.
final class SmallPictureDecoders: Sendable {
    private struct Place {
        let decoder: SmallPictureDecoder
        /// How many pictures it has taken.
        var count = 0
    }

    private struct State {
        var idle: [Place] = []
        /// Whether one was lost before any had answered: there is no use in others.
        var isUseless = false
        var hasServed = false
    }

    private let path: String
    private let budget: Int32
    private let state = Mutex(State())

    /// As many pictures as one process takes.
    static let lifetime = 1_000
    /// The most that wait. More than that many are at work where somebody asks from more threads.
    private static let mostIdle = 4

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Has a picture decoded, if it is one for them, and holds up the calling thread until it is; nil if it is to be decoded in
    /// another way.
    func decode(
        _ picture: [UInt8], _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> DecodeOutcome? {
        guard SmallPictureService.takes(picture, for: request), var place = take() else { return nil }
        place.count += 1
        switch try place.decoder.run(picture, request, budget: budget, cancellation) {
        case .lost:
            lose()
            return nil
        case .elsewhere:
            giveBack(place)
            return nil
        case .answered(let block):
            let outcome = block.withUnsafeBytes { try? DecodeOutcome(reading: $0, for: request) }
            // One that talks nonsense is not asked again; the picture may still be well.
            if outcome == nil { lose() } else { giveBack(place) }
            return outcome
        }
    }

    // MARK: -

    /// One that nobody uses.
    private func take() -> Place? {
        let (idle, isUseless) = state.withLock { ($0.idle.popLast(), $0.isUseless) }
        if let idle { return idle }
        guard !isUseless else { return nil }
        do {
            return Place(decoder: try SmallPictureDecoder(path: path))
        } catch {
            lose()
            return nil
        }
    }

    /// Keeps one for the next picture, unless it has taken all that it should.
    private func giveBack(_ place: Place) {
        state.withLock { state in
            state.hasServed = true
            guard place.count < Self.lifetime, state.idle.count < Self.mostIdle else { return }
            state.idle.append(place)
        }
    }

    private func lose() {
        state.withLock { $0.isUseless = !$0.hasServed }
    }
}
