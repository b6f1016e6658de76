import Glibc
import Pixels
import Synchronization

/// The processes that decode small pictures, as many as are at work at once, and those that wait for the next picture.
///
/// One that is lost or answers nonsense is thrown away, and its picture is decoded in a process of its own; one that hangs is ended
/// when the picture's time is up. None lasts for many pictures: see `DecoderServer` for why that is better, though here no
/// picture can do anything to its process.
final class SmallPictureDecoders: Sendable {
    private struct Place {
        let decoder: SmallPictureDecoder
        /// How many pictures it has taken.
        var count = 0
    }

    private struct State {
        var idle: [Place] = []
        /// How many were lost since one has answered.
        var losses = 0
    }

    private let path: String
    private let budget: Int32
    private let state = Mutex(State())
    /// The most that wait: as many as there are processors, and so threads that have pictures decoded.
    private let mostIdle = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// As many pictures as one process takes. All of them together have the time that a decoder has for one: on a slow machine it
    /// may end sooner.
    static let lifetime = 1_000
    /// When so many are lost in a row, there is no use in others.
    static let mostLosses = 3

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Has a picture decoded, if it is one for them, and holds up the calling thread until it is; nil if it is to be decoded in
    /// another way.
    func decode(
        _ picture: [UInt8], _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> DecodeReply? {
        guard SmallPictureService.takes(picture, for: request) else { return nil }
        // Nobody is given a picture whose answer he would not be there for.
        guard !cancellation.isCancelled else { throw .cancelled }
        guard var place = take() else { return nil }
        place.count += 1
        let outcome: SmallPictureDecoder.Outcome
        do {
            outcome = try place.decoder.run(
                UInt32(place.count), picture, request, budget: budget, cancellation)
        } catch {
            if error == .tookTooLong { lose() }
            throw error
        }
        switch outcome {
        case .answered(let reply):
            giveBack(place)
            return reply
        case .elsewhere: giveBack(place)
        case .lost: lose()
        }
        return nil
    }

    // MARK: -

    /// One that nobody uses.
    private func take() -> Place? {
        let (idle, losses) = state.withLock { ($0.idle.popLast(), $0.losses) }
        if let idle { return idle }
        guard losses < Self.mostLosses else { return nil }
        do {
            return Place(decoder: try SmallPictureDecoder(path: path))
        } catch {
            if error != .tooFewDescriptors { lose() }
            return nil
        }
    }

    /// Keeps one for the next picture, unless it has taken all that it should.
    private func giveBack(_ place: Place) {
        state.withLock { state in
            state.losses = 0
            guard place.count < Self.lifetime, state.idle.count < mostIdle else { return }
            state.idle.append(place)
        }
    }

    private func lose() {
        state.withLock { $0.losses += 1 }
    }
}
