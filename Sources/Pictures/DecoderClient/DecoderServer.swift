import Glibc
import Pixels
import Synchronization

/// The decoder's server, as long as there is one: started when it is first needed, and started again when it is lost, and
/// after a number of pictures in any case.
///
/// Processes that are copies of one program have their code and their first data at the same addresses. Who breaks one learns where
/// they are, and if he can tell the next picture, he need not guess. So no server lasts for many pictures.
final class DecoderServer: Sendable {
    /// What came of a picture.
    enum Outcome {
        /// Its process ended as it should.
        case answered
        /// It is not decoded here: there is no server, or it leaves the picture to a program.
        case unserved
        /// The server came to an end meanwhile.
        case lost
    }

    private struct State {
        var process: ServerProcess?
        /// How many pictures it has taken.
        var count = 0
        /// Whether a server has ended without having served anybody: there is no use in another one.
        var isUseless = false
    }

    private let path: String
    private let budget: Int32
    /// Guards the process that new pictures are given to. Those that it has are between it and their callers.
    private let state = Mutex(State())

    /// As many pictures as one server takes.
    static let lifetime = 256
    /// Milliseconds that it may take to say that it has ended a process, which it does at once, on a machine with much to do.
    private static let grace: Int32 = 2_000

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Has a picture decoded, and holds up the calling thread until its process has ended.
    func run(
        _ request: DecodeRequest, input: Int32, output: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> Outcome {
        guard let process = process() else { return .unserved }
        guard let connection = process.begin(request, input: input, output: output) else { return lose(process) }
        // The connection is closed on every way out, and with it the picture's process is ended.
        guard cancellation.begin(.connection(connection)) else { throw .cancelled }
        var patience = Deadline(milliseconds: budget)
        let isInTime = patience.poll(connection.descriptor) != nil
        if cancellation.end() { throw .cancelled }
        if !isInTime {
            connection.finish()
            var grace = Deadline(milliseconds: Self.grace)
            // It says that it has ended the process, or it is the server that hangs.
            if grace.poll(connection.descriptor) == nil { _ = lose(process) }
        }
        let packet = try? connection.receive(atMost: DecoderService.longestPacket)
        packet?.descriptors.forEach { close($0) }
        let end = packet.flatMap { DecoderService.End(bytes: $0.bytes) }
        if end != nil { process.noteService() }
        guard isInTime else { throw .tookTooLong }
        switch end {
        case .ended(0): return .answered
        case .ended(DecoderService.elsewhere << 8), .notBegun: return .unserved
        case .ended: throw .decoderDied
        // It is gone, or makes no sense.
        case nil: return lose(process)
        }
    }

    // MARK: -

    /// The server that takes the next picture.
    private func process() -> ServerProcess? {
        state.withLock { state -> ServerProcess? in
            guard !state.isUseless else { return nil }
            if state.process == nil || state.count == Self.lifetime {
                // One that has taken all that it should ends with the last of them.
                state.process = nil
                state.count = 0
                do throws(PictureError) {
                    state.process = try ServerProcess(path: path)
                } catch {
                    // The next picture may find free descriptors again.
                    state.isUseless = error != .tooFewDescriptors
                }
            }
            state.count += 1
            return state.process
        }
    }

    /// Ends a server that cannot be relied on.
    private func lose(_ process: ServerProcess) -> Outcome {
        process.end()
        state.withLock { state in
            // Another picture may have noticed before, and there may be a new one.
            if state.process === process { state.process = nil }
            if !process.hasServed { state.isUseless = true }
        }
        return .lost
    }
}
