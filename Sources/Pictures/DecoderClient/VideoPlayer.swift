import Concurrency
import Glibc
import Pixels
import Synchronization

/// Decodes the frames of one video in a separate process.
///
///     let player = try VideoPlayer(decoder: client, file: descriptor, request: request)
///     while let frame = try await player.frame(at: clock.elapsed) { show(frame.reply) }
///     player.end()
///
/// A separate process decodes the video in the sandbox. No call blocks its caller. The player copies the descriptor, so
/// the caller may close the file at once.
public final class VideoPlayer: Sendable {
    /// A picture of the video.
    public struct Frame: Sendable {
        /// The picture as the answer to the player's request, ready for drawing. It always has pixels or a thumbnail.
        public let reply: DecodeReply
        /// The frame's time in the video.
        public let time: Duration
        /// The time of the next frame; nil if unknown.
        public let next: Duration?
        /// Whether no other frame follows, as far as is known.
        public let isLast: Bool

        /// Creates a frame.
        public init(reply: DecodeReply, time: Duration, next: Duration? = nil, isLast: Bool) {
            (self.reply, self.time, self.next, self.isLast) = (reply, time, next, isLast)
        }
    }

    private let shared: Shared
    /// The thread that starts the decoder's process. It is permanent, because the kernel kills the process when this
    /// thread ends.
    private let workers = Workers(name: "video", count: 1)

    /// Prepares to play the video in an open file. The first call of ``frame(at:)`` starts the process.
    ///
    /// - Parameters:
    ///   - decoder: any client. The player does not use the client's server.
    ///   - request: the size and part of each frame. The player ignores `frame`, `run` and `haste`.
    public init(decoder: DecoderClient, file: Int32, request: DecodeRequest) throws(PictureError) {
        let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            throw [EMFILE, ENFILE].contains(errno) ? .tooFewDescriptors : .file(String(cString: strerror(errno)))
        }
        var request = request
        (request.frame, request.run, request.haste) = (0, 1, .whole)
        if request.product == .facts { request.product = .pixels }
        shared = Shared(decoder.program, file: copy, request)
    }

    deinit {
        end()
    }

    /// Returns the frame due at a time of the video. Skips earlier frames. Returns nil after the end.
    ///
    /// If the time is earlier than in the last call, the player goes back in the video. If the decoder cannot keep up,
    /// the frame is older than requested. A call waits until earlier calls have ended. After an error, all calls throw.
    public func frame(at time: Duration) async throws(PictureError) -> Frame? {
        try await withCheckedContinuation { continuation in
            workers.run { [shared] in continuation.resume(returning: shared.frame(at: time)) }
        }.get()
    }

    /// Ends the process at once. A waiting call and all later calls throw `cancelled`.
    public func end() {
        shared.cancellation.cancel()
        // The player's thread waits for the end of the process, because that may take a moment.
        workers.run { [shared] in shared.close() }
    }
}

extension VideoPlayer {
    /// The state that the player shares with its thread.
    private final class Shared: Sendable {
        private struct State {
            var process: PlayingProcess?
            var last: Frame?
            var failure: PictureError?
            var number: UInt32 = 0
        }

        /// Ends the process from any thread.
        let cancellation = DecodeCancellation()
        private let program: DecoderProgram
        private let file: Int32
        private let request: DecodeRequest
        /// The player's thread holds this lock while the decoder works.
        private let state = Mutex(State())

        /// Takes over the descriptor of a file.
        init(_ program: DecoderProgram, file: Int32, _ request: DecodeRequest) {
            (self.program, self.file, self.request) = (program, file, request)
        }

        deinit {
            Glibc.close(file)
        }

        /// Ends the process and waits for its end.
        func close() {
            state.withLock { state in
                _ = cancellation.end()
                state.process = nil
                state.last = nil
            }
        }

        /// Asks the process for a frame, and waits for the answer.
        func frame(at time: Duration) -> Result<Frame?, PictureError> {
            state.withLock { state in
                if cancellation.isCancelled { return .failure(.cancelled) }
                if let failure = state.failure { return .failure(failure) }
                do throws(PictureError) {
                    return .success(try frame(at: time, &state))
                } catch {
                    // Forget the identifier before the process is reaped, because the kernel may use it again.
                    let failure = cancellation.end() ? .cancelled : error
                    state.failure = failure
                    state.process = nil
                    return .failure(failure)
                }
            }
        }

        private func frame(at time: Duration, _ state: inout State) throws(PictureError) -> Frame? {
            let process: PlayingProcess
            if let running = state.process { process = running } else { process = try start() }
            state.process = process
            state.number &+= 1
            let microseconds = Double(time.components.seconds) * 1e6 + Double(time.components.attoseconds) / 1e12
            let order = VideoService.Order(
                number: state.number, microseconds: Int64(max(0, min(microseconds, Double(VideoService.latest)))))
            let answer = try process.answer(to: order, within: program.budget)
            let next = answer.next.map { Duration.microseconds($0) }
            switch answer.kind {
            case .end: return nil
            case .same:
                guard let last = state.last else { throw .decoderDied }
                return Frame(reply: last.reply, time: last.time, next: next, isLast: answer.isLast)
            case .picture:
                let frame = Frame(
                    reply: try process.reply(answer.count, to: request), time: .microseconds(answer.microseconds),
                    next: next, isLast: answer.isLast)
                state.last = frame
                return frame
            }
        }

        private func start() throws(PictureError) -> PlayingProcess {
            try program.checkRestrictions()
            let process = try PlayingProcess(path: program.path, file: file, request)
            guard cancellation.begin(.program(process.number)) else { throw .cancelled }
            return process
        }
    }
}

/// A process that decodes one video. The process ends when this object is released.
private final class PlayingProcess: Sendable {
    /// The process's identifier, valid until this object is released.
    let number: pid_t
    private let socket: PacketSocket
    private let memory: SharedBlock

    /// Starts the decoder's program. Call this on a permanent thread, because the process ends with the thread.
    init(path: String, file: Int32, _ request: DecodeRequest) throws(PictureError) {
        let ends: (ours: PacketSocket, theirs: PacketSocket)
        do {
            ends = try PacketSocket.pair()
            memory = try SharedBlock(count: DecodeOutcome.longestEncoding(for: request))
        } catch {
            throw PictureError(starting: error)
        }
        socket = ends.ours
        let descriptors = [file, memory.descriptor, ends.theirs.descriptor]
        number = try SpawnedProgram.start(path, [VideoService.argument, request.argument]) { actions in
            for (number, descriptor) in descriptors.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            }
        }
        withExtendedLifetime(ends.theirs) {}
    }

    deinit {
        kill(number, SIGKILL)
        SpawnedProgram.reap(number)
    }

    /// Sends an order and waits for its answer.
    func answer(to order: VideoService.Order, within budget: Int32) throws(PictureError) -> VideoService.Answer {
        guard (try? socket.send(order.packet)) != nil else { throw .decoderDied }
        var deadline = Deadline(milliseconds: budget)
        guard deadline.poll(socket.descriptor) != nil else { throw .tookTooLong }
        let packet = try? socket.receive(atMost: VideoService.Answer.length)
        packet?.descriptors.forEach { close($0) }
        guard let packet, packet.descriptors.isEmpty, let answer = try? VideoService.Answer(packet: packet.bytes),
            answer.number == order.number
        else { throw .decoderDied }
        return answer
    }

    /// Reads the picture in the shared memory. Reads from a copy, which the process cannot change.
    func reply(_ count: Int, to request: DecodeRequest) throws(PictureError) -> DecodeReply {
        guard let block = try? memory.copy(count),
            let outcome = block.withUnsafeBytes({ try? DecodeOutcome(reading: $0, for: request) })
        else { throw .decoderDied }
        switch outcome {
        case .picture(let reply): return reply
        case .failure(let failure): throw .undecodable(failure)
        }
    }
}
